"""Stable-Baselines3: a `VecEnv` whose games are one compiled batch, with masks for sb3-contrib's `MaskablePPO`.

Example:
    >>> from sb3_contrib import MaskablePPO
    >>> from threeup_env import Rules
    >>> from threeup_env.sb3 import ThreeUpVecEnv
    >>> model = MaskablePPO("MlpPolicy", ThreeUpVecEnv(Rules.standard(2), 64, "greedy", seed=1), n_steps=32)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from .errors import ResetNeededError
from .learner import LearnerBatch, OpponentSpec, Reward, Seat, SeedLike, read_rules
from .render.renderer import DEFAULT_SIZE, RENDER_FPS, Renderer, Size
from .render.table import Viewer
from .rules import Rules
from .spaces import action_space, observation_space


class ThreeUpVecEnv(VecEnv):
    """`num_envs` games with one seat for the learner, as Stable-Baselines3 expects them.

    Games restart within the step that ends them. The infos of a step are new dicts: empty where nothing ended,
    else with `terminal_observation`, `TimeLimit.truncated` and `episode` (return `r`, length `l` and seconds `t`,
    as `Monitor` has them, so that returns are logged without it); after an illegal action `illegal_action` too.

    Args:
        rules: The rules, or their switches as a mapping.
        num_envs: Number of games N.
        opponent: As for `LearnerBatch`.
        weights: As for `LearnerBatch`.
        seat: The learner's seat, `"random"` or `"rotate"`.
        reward: `"win"`, `"place"` or `"score"`.
        seed: Seeds the games; None draws from the system. `seed()` before a `reset` does it again.
        num_threads: How many threads play.
        render_mode: None, or `"rgb_array"`: `get_images` and `render` draw every game, for `VecVideoRecorder`.
        render_seat: Whose view is drawn: a seat; None for the learner's; `"all"` for every card.
        render_size: Width and height of the picture of one game in pixels.

    Attributes:
        batch: The games; `batch.set_opponents` changes the opponents between two steps.
    """

    _RENDERING: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": RENDER_FPS}

    def __init__(
        self,
        rules: Rules | Mapping[str, Any] | None = None,
        num_envs: int = 1,
        opponent: OpponentSpec = "greedy",
        weights: Sequence[float] | None = None,
        *,
        seat: Seat = "rotate",
        reward: Reward = "win",
        seed: SeedLike | None = None,
        num_threads: int = 1,
        render_mode: str | None = None,
        render_seat: Viewer = None,
        render_size: Size = DEFAULT_SIZE,
    ) -> None:
        self.rules = read_rules(rules)
        self._renderer = Renderer(render_mode, render_seat, render_size, self.rules, self._RENDERING)
        self.batch = LearnerBatch(
            self.rules,
            num_envs,
            opponent,
            weights,
            seat=seat,
            reward=reward,
            seed=seed,
            num_threads=num_threads,
            track_colors=render_mode is not None,
        )
        self._values: dict[str, list[Any]] = {"render_mode": [render_mode] * num_envs}
        self._actions: npt.NDArray[Any] | None = None
        self._started = np.zeros(num_envs)
        # The first reset shows the games that the constructor dealt.
        self._dealt = True
        super().__init__(num_envs, observation_space(self.rules), action_space(self.rules))
        self.metadata["render_fps"] = RENDER_FPS  # type: ignore[assignment]  # annotated as if all values were lists

    def reset(self) -> VecEnvObs:
        """Start new games, seeded if `seed()` was called; observations, int8 `(N, D)`."""
        seeded = any(seed is not None for seed in self._seeds)
        options = self._options[0]
        if any(other != options for other in self._options):
            raise ValueError("options: the games are one batch; allowed: the same options for all")
        if seeded or options or not self._dealt:
            self.batch.reset(self._seeds if seeded else None, options)
        self._dealt = False
        self._actions = None
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._started[:] = time.perf_counter()
        return self.batch.observation.copy()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Take the actions of the next `step_wait`, integers `(N,)`."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Play: observations, rewards (float32), dones and infos.

        Raises:
            IllegalActionError: The actions are no integers `(N,)`.
            ResetNeededError: There are no actions, or there was no reset.
        """
        if self._actions is None or self._dealt:
            raise ResetNeededError("step: reset() and step_async() first")
        actions, self._actions = self._actions, None
        batch = self.batch
        batch.step(actions)
        assert batch.action_mask.any(axis=1).all(), "a running game has no legal action"
        dones = batch.terminated | batch.truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(dones)
        if len(ended):
            self._tell_ended(ended.tolist(), infos)
        return batch.observation.copy(), batch.reward.copy(), dones, infos

    def _tell_ended(self, ended: list[int], infos: list[dict[str, Any]]) -> None:
        batch, now = self.batch, time.perf_counter()
        steps, illegal = batch.last_steps, batch.illegal
        for game in ended:
            info = infos[game]
            info["terminal_observation"] = batch.final_observation[game].copy()
            info["TimeLimit.truncated"] = bool(batch.truncated[game])
            # All of the reward comes with the last step.
            seconds = round(now - float(self._started[game]), 6)
            info["episode"] = {"r": float(batch.exact_reward[game]), "l": int(steps[game]), "t": seconds}
            if illegal[game]:
                info["illegal_action"] = True
            self._started[game] = now

    def get_images(self) -> list[npt.NDArray[np.uint8] | None]:
        """A picture of every game as its learner sees it, or as `render_seat` says, uint8 `(H, W, 3)` each."""
        if self.render_mode is None:
            return [None] * self.num_envs
        frames = (self._renderer.frame(self.batch.game(game), int(seat)) for game, seat in enumerate(self.batch.seat))
        return [frame for frame in frames if isinstance(frame, np.ndarray)]

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The masks of all games, bool `(N, A)`."""
        return self.batch.action_mask.astype(np.bool_)

    def _mask(self, game: int) -> npt.NDArray[np.bool_]:
        mask: npt.NDArray[np.bool_] = self.batch.action_mask[game].astype(np.bool_)
        return mask

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of some games: `action_masks`, `rules`, `seat`, spaces, or what `set_attr` set.

        Raises:
            AttributeError: There is no such attribute.
        """
        games = self._get_indices(indices)
        if attr_name in self._values:
            return [self._values[attr_name][game] for game in games]
        each: dict[str, Callable[[int], Any]] = {
            "action_masks": lambda game: partial(self._mask, game),
            "seat": lambda game: int(self.batch.seat[game]),
            "rules": lambda game: self.rules,
            "observation_space": lambda game: self.observation_space,
            "action_space": lambda game: self.action_space,
        }
        if attr_name not in each:
            raise AttributeError(f"the games have no attribute {attr_name!r}; there are {', '.join(each)}")
        return [each[attr_name](game) for game in games]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Keep a value for some games, for `get_attr` to find; it changes nothing in the games."""
        values = self._values.setdefault(attr_name, [None] * self.num_envs)
        for game in self._get_indices(indices):
            values[game] = value

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of some games: `action_masks`, bool `(A,)` each.

        Raises:
            AttributeError: There is no such method.
        """
        if method_name == "action_masks" and indices is None:
            return list(self.action_masks())
        return [method(*method_args, **method_kwargs) for method in self.get_attr(method_name, indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """No wrappers; but infos tell of episodes as `Monitor` does, so nobody needs to add one."""
        return [issubclass(wrapper_class, Monitor)] * len(list(self._get_indices(indices)))
