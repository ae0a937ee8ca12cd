"""Gymnasium's environment for one learner: the other seats are opponents'.

Example:
    >>> import gymnasium, threeup_env
    >>> env = gymnasium.make("ThreeUp/2p-v0", opponent="greedy")
    >>> observation, info = env.reset(seed=1)
    >>> action = int(info["action_mask"].argmax())
    >>> observation, reward, terminated, truncated, info = env.step(action)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from .errors import ResetNeededError
from .game import Game, _as_index
from .learner import IllegalAction, LearnerBatch, OpponentSpec, Reward, Seat, read_rules
from .render.renderer import DEFAULT_SIZE, RENDER_FPS, RENDER_MODES, Frame, Renderer, Size
from .render.table import Viewer
from .rules import Rules
from .spaces import action_space, masked_observation_space, observation_space
from .watched import WatchedBatch


class ThreeUpEnv(gymnasium.Env[Any, Any]):
    """One game in which one seat is the learner's.

    A step plays the learner's action, then the opponents until the learner decides again or the game is over; the
    reward is the learner's, a loss on an opponent's move included, and is 0 until the end. `info["action_mask"]`,
    int8 `(A,)`, holds the legal actions, and `action_masks()` gives them to `MaskablePPO`; at the end they are zeros.

    Args:
        rules: The rules, or their switches as a mapping; `Rules.standard(2)` when left out.
        opponent: A name, the path of a policy file or an agent for all other seats, or a sequence: one for each, in
            playing order from the learner.
        weights: Makes `opponent` a mix, drawn for each other seat of each game (`LearnerBatch.set_opponents`).
        seat: The learner's seat; `"random"`, drawn for each game; or `"rotate"`: seat 0 after a seeded reset, then
            one further each game.
        reward: `"win"`, `"place"` or `"score"` (docs/environments.md).
        illegal_action: `"end"`: an illegal action terminates the game (it is not truncated) with the reward of the
            last place (`learner.last_place_reward`) and `info["illegal_action"]`; `"raise"`: it raises
            `IllegalActionError` and changes nothing.
        mask_in_observation: Whether observations are dicts `{"observation", "action_mask"}`, the plain vector if not.
        render_mode: None, `"ansi"` (`render` gives text), `"rgb_array"` (a picture) or `"human"` (a window, drawn anew
            by `reset` and `step`); see docs/rendering.md. The game is the same, and slower, when it is looked at.
        render_seat: Whose view is drawn: a seat; None for the learner's; `"all"` for every card.
        render_size: Width and height of pictures in pixels.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        rules: Rules | Mapping[str, Any] | None = None,
        opponent: OpponentSpec = "greedy",
        weights: Sequence[float] | None = None,
        *,
        seat: Seat = "rotate",
        reward: Reward = "win",
        illegal_action: IllegalAction = "end",
        mask_in_observation: bool = False,
        render_mode: str | None = None,
        render_seat: Viewer = None,
        render_size: Size = DEFAULT_SIZE,
    ) -> None:
        self.rules = read_rules(rules)
        self.render_mode = render_mode
        self._renderer = Renderer(render_mode, render_seat, render_size, self.rules, self.metadata)
        settings: dict[str, Any] = {
            "seat": seat,
            "reward": reward,
            "illegal_action": illegal_action,
            "autoreset": "next",
        }
        self.batch = (
            LearnerBatch(self.rules, 1, opponent, weights, **settings)
            if render_mode is None
            else WatchedBatch(self.rules, opponent, weights, **settings)
        )
        self.observation_space = (
            masked_observation_space(self.rules) if mask_in_observation else observation_space(self.rules)
        )
        self.action_space = action_space(self.rules)
        self._masked = mask_in_observation
        self._started = False
        self._running = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new game; opponents who come first have played when it returns.

        Args:
            seed: Seeds the deals, as for `Game`, and the draws of seats and opponents; None goes on with them.
            options: `decks`, `first_player` and `pile_swaps` fix the deals of this game, as for `Game`; other keys
                are ignored.

        Returns:
            The observation, int8 `(D,)` (or a dict, with `mask_in_observation`), and the info.

        Raises:
            InvalidRecordError: An option does not fit the rules; nothing has changed, a game that runs goes on.
        """
        self.batch.reset(None if seed is None else [seed], options)
        if seed is not None:
            super().reset(seed=seed)
        self._started = self._running = True
        if self.render_mode == "human":
            self.render()
        return self._observe()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play the learner's action, then the opponents; see the class.

        Args:
            action: An index of the action table; what is no integer is an illegal action.

        Returns:
            Observation, reward, terminated, truncated and info.

        Raises:
            IllegalActionError: With `illegal_action="raise"`, the action is not legal; nothing has changed.
            ResetNeededError: There was no reset, or the game is over.
        """
        if not self._running:
            raise ResetNeededError(f"step: the game {'is over' if self._started else 'has not begun'}; reset() first")
        batch = self.batch
        batch.next_actions[0] = _as_index(action)
        batch.play()
        terminated, truncated = bool(batch.terminated[0]), bool(batch.truncated[0])
        observation, info = self._observe()
        if terminated or truncated:
            self._running = False
            if batch.illegal[0]:
                info["illegal_action"] = True
        if self.render_mode == "human":
            self.render()
        return observation, float(batch.exact_reward[0]), terminated, truncated, info

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        batch = self.batch
        observation = batch.observation[0].copy()
        mask = batch.action_mask[0].copy()
        if self._masked:
            return {"observation": observation, "action_mask": mask}, {"action_mask": mask.copy()}
        return observation, {"action_mask": mask}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions, bool `(A,)`; none when the game is over.

        Raises:
            ResetNeededError: There was no reset.
        """
        if not self._started:
            raise ResetNeededError("action_masks: reset() first")
        mask: npt.NDArray[np.bool_] = self.batch.action_mask[0].astype(np.bool_)
        return mask

    @property
    def seat(self) -> int:
        """The learner's seat in this game."""
        return int(self.batch.seat[0])

    @property
    def game(self) -> Game:
        """A copy of the game as it stands, hidden cards included (`LearnerBatch.game`)."""
        return self.batch.game(0)

    def render(self) -> Frame | None:
        """The table as the learner sees it, or as `render_seat` says: text, a picture, or None and a window.

        Raises:
            ResetNeededError: There was no reset.
        """
        batch = self.batch
        if not isinstance(batch, WatchedBatch):
            gymnasium.logger.warn("render() needs an environment made with render_mode='ansi', 'rgb_array' or 'human'")
            return None
        if not self._started:
            raise ResetNeededError("render: reset() first")
        return self._renderer.frame(self.game, self.seat, batch.log.tell(self._renderer.viewer(self.seat)))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()
