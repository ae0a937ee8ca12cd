"""Gymnasium's vector environment: a learner's seat in many games, as one compiled batch.

Example:
    >>> import gymnasium
    >>> envs = gymnasium.make_vec("ThreeUp/2p-v0", num_envs=8, opponent="random")
    >>> observations, infos = envs.reset(seed=1)
    >>> actions = infos["action_mask"].argmax(axis=1)
    >>> observations, rewards, terminated, truncated, infos = envs.step(actions)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .errors import InvalidConfigError, ResetNeededError
from .learner import IllegalAction, LearnerBatch, OpponentSpec, Reward, Seat, read_rules
from .render.renderer import BATCH_RENDER_MODES, DEFAULT_SIZE, RENDER_FPS, Frame, Renderer, Size
from .render.table import Viewer
from .rules import Rules
from .spaces import action_space, masked_observation_space, observation_space

Array = npt.NDArray[Any]
Observations = Array | dict[str, Array]


class ThreeUpVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` games in which one seat is the learner's, stepped together.

    `infos["action_mask"]`, int8 `(N, A)`, holds the legal actions of each game, and `action_masks()` gives them too.
    An action that ends a game with an illegal one says so in `infos["illegal_action"]`.

    - `NEXT_STEP`: a step that ends a game shows its last observation and a mask of zeros; the next step ignores the
      action of that game and starts a new one, with reward 0.
    - `SAME_STEP`: a new game starts within the step; the last observation is in `infos["final_obs"]`, its info in
      `infos["final_info"]`.

    Args:
        num_envs: Number of games N.
        rules: The rules, or their switches as a mapping; `Rules.standard(2)` when left out.
        opponent: As for `LearnerBatch`.
        weights: As for `LearnerBatch`.
        seat: The learner's seat, `"random"` or `"rotate"`.
        reward: `"win"`, `"place"` or `"score"`.
        illegal_action: `"end"` or `"raise"`.
        mask_in_observation: Whether observations are dicts `{"observation", "action_mask"}`.
        autoreset_mode: `NEXT_STEP` (default) or `SAME_STEP`, or their values.
        num_threads: How many threads play.
        copy: Whether arrays are the caller's; if False, they are those of the batch, overwritten by every step.
        render_mode: None, `"ansi"` or `"rgb_array"`: `render` gives a text or a picture of every game.
        render_seat: Whose view is drawn: a seat; None for the learner's; `"all"` for every card.
        render_size: Width and height of pictures in pixels.

    Attributes:
        batch: The games; `batch.set_opponents` changes the opponents between two steps.
        autoreset_mode: The mode, as Gymnasium's own vector environments tell it beside `metadata`; TorchRL asks for it.
    """

    metadata: dict[str, Any]
    _MODES: ClassVar = {AutoresetMode.NEXT_STEP: "next", AutoresetMode.SAME_STEP: "same"}

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | Mapping[str, Any] | None = None,
        opponent: OpponentSpec = "greedy",
        weights: Sequence[float] | None = None,
        *,
        seat: Seat = "rotate",
        reward: Reward = "win",
        illegal_action: IllegalAction = "end",
        mask_in_observation: bool = False,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        copy: bool = True,
        render_mode: str | None = None,
        render_seat: Viewer = None,
        render_size: Size = DEFAULT_SIZE,
    ) -> None:
        mode = _read_mode(autoreset_mode)
        self.rules = read_rules(rules)
        self.metadata = {
            "render_modes": list(BATCH_RENDER_MODES),
            "render_fps": RENDER_FPS,
            "autoreset_mode": mode,
        }
        self._renderer = Renderer(render_mode, render_seat, render_size, self.rules, self.metadata)
        self.batch = LearnerBatch(
            self.rules,
            num_envs,
            opponent,
            weights,
            seat=seat,
            reward=reward,
            illegal_action=illegal_action,
            autoreset=self._MODES[mode],  # type: ignore[arg-type]
            num_threads=num_threads,
            track_colors=render_mode is not None,
        )
        self.num_envs = num_envs
        self.autoreset_mode = mode
        self.render_mode = render_mode
        self.single_observation_space = (
            masked_observation_space(self.rules) if mask_in_observation else observation_space(self.rules)
        )
        self.single_action_space = action_space(self.rules)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._masked = mask_in_observation
        self._same_step = mode is AutoresetMode.SAME_STEP
        self._copy = copy
        self._running = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a new game in every place.

        Args:
            seed: A number s seeds the games with s, s + 1, ...; a sequence names the seed of each (None lets it go
                on). None lets all go on with their generators.
            options: As for the single environment, the same for all games.

        Returns:
            Observations, int8 `(N, D)` (or a dict, with `mask_in_observation`), and infos.

        Raises:
            InvalidRecordError: An option does not fit the rules; nothing has changed.
            InvalidConfigError: `seed` is wrong; nothing has changed.
        """
        if options and "reset_mask" in options:
            raise InvalidConfigError("options: reset_mask is for environments without autoreset; allowed: none here")
        if isinstance(seed, int | np.integer):
            self.batch.reset([int(seed) + game for game in range(self.num_envs)], options)
            super().reset(seed=int(seed))
        else:
            self.batch.reset(seed, options)
        self._running = True
        return self._observations(), self._infos()

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """Play the learner's action in every game, then the opponents; see the class.

        Args:
            actions: Integers `(N,)`.

        Returns:
            Observations, rewards (float64), terminated, truncated (bool), each with one row a game, and infos.

        Raises:
            IllegalActionError: `actions` is no such array; or, with `illegal_action="raise"`, one of them is not
                legal, and nothing has changed.
            ResetNeededError: There was no reset.
        """
        if not self._running:
            raise ResetNeededError("step: reset() first")
        batch = self.batch
        batch.step(actions)
        infos = self._infos()
        ended = batch.terminated | batch.truncated
        if ended.any():
            self._tell_ended(ended, infos)
        if self._copy:
            outcome = batch.exact_reward.copy(), batch.terminated.copy(), batch.truncated.copy()
        else:
            outcome = batch.exact_reward, batch.terminated, batch.truncated
        return self._observations(), *outcome, infos

    def _observations(self) -> Observations:
        batch = self.batch
        observation = batch.observation.copy() if self._copy else batch.observation
        if not self._masked:
            return observation
        return {
            "observation": observation,
            "action_mask": batch.action_mask.copy() if self._copy else batch.action_mask,
        }

    def _infos(self) -> dict[str, Any]:
        masks = self.batch.action_mask.copy() if self._copy else self.batch.action_mask
        return {"action_mask": masks, "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _tell_ended(self, ended: Array, infos: dict[str, Any]) -> None:
        """What infos say of games that have ended, as `VectorEnv._add_info` would write it."""
        illegal = self.batch.illegal
        last: dict[str, Any] = {}
        if illegal.any():
            last = {"illegal_action": illegal, "_illegal_action": illegal.copy()}
        if not self._same_step:
            infos.update(last)
            return
        observations = np.full(self.num_envs, None, dtype=object)
        for game in np.flatnonzero(ended):
            observation = self.batch.final_observation[game].copy()
            if self._masked:
                nothing = np.zeros(self.rules.num_actions, np.int8)
                observations[game] = {"observation": observation, "action_mask": nothing}
            else:
                observations[game] = observation
        masks = np.zeros_like(self.batch.action_mask)
        infos["final_obs"], infos["_final_obs"] = observations, ended
        infos["final_info"] = {"action_mask": masks, "_action_mask": ended.copy(), **last}
        infos["_final_info"] = ended.copy()

    def render(self) -> tuple[Frame, ...] | None:
        """Every game as its learner sees it, or as `render_seat` says: texts, or pictures uint8 `(H, W, 3)`.

        What was done is not kept in many games at once, so it is not shown.

        Raises:
            ResetNeededError: There was no reset.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs an environment made with render_mode='ansi' or 'rgb_array'")
            return None
        if not self._running:
            raise ResetNeededError("render: reset() first")
        seats = self.batch.seat.tolist()
        frames = (self._renderer.frame(self.batch.game(game), seat) for game, seat in enumerate(seats))
        return tuple(frame for frame in frames if frame is not None)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions of each game, bool `(N, A)`; no action where a game is over.

        Raises:
            ResetNeededError: There was no reset.
        """
        if not self._running:
            raise ResetNeededError("action_masks: reset() first")
        return self.batch.action_mask.astype(np.bool_)


def _read_mode(mode: AutoresetMode | str) -> AutoresetMode:
    for allowed in ThreeUpVectorEnv._MODES:
        if mode in (allowed, allowed.value, allowed.name):
            return allowed
    names = ", ".join(f"AutoresetMode.{allowed.name}" for allowed in ThreeUpVectorEnv._MODES)
    raise InvalidConfigError(f"autoreset_mode: {mode!r} is wrong; allowed: {names}")
