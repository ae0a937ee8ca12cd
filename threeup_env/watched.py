"""A learner's game that is looked at: it plays as `LearnerBatch` does, and remembers what was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .agents import Agent
from .core import learner as core
from .core.choose import EXTERNAL
from .core.state import OVER
from .learner import LearnerBatch, OpponentSpec, SeedLike
from .render.events import Log
from .rules import Rules


class WatchedBatch(LearnerBatch):
    """One game of a `LearnerBatch` that keeps colours and the last decisions, of all seats.

    Compiled opponents are asked one decision at a time, by the same functions and with the same draws, so the game is
    the one that `LearnerBatch` plays; it takes longer.

    Args:
        rules: The rules.
        opponent: As for `LearnerBatch`.
        weights: As for `LearnerBatch`.
        more: As for `LearnerBatch`.

    Attributes:
        log: The last decisions of the game, to be told to whoever looks.
    """

    def __init__(
        self, rules: Rules, opponent: OpponentSpec = "greedy", weights: Sequence[float] | None = None, **more: Any
    ) -> None:
        self.log = Log()
        super().__init__(rules, 1, opponent, weights, track_colors=True, **more)

    def _seat_opponents(self, agents: list[Agent], thresholds: npt.NDArray[np.int64]) -> None:
        super()._seat_opponents(agents, thresholds)
        # To compiled code nobody is compiled, so that it comes back at every decision.
        self._compiled = self._codes
        self._codes = np.full_like(self._codes, EXTERNAL)

    def reset(
        self, seed: SeedLike | Sequence[SeedLike | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        """Start a new game, as `LearnerBatch.reset`; what was done is forgotten when it has begun."""
        forgotten, self.log = self.log, Log()
        try:
            super().reset(seed, options)
        except Exception:
            self.log = forgotten
            raise

    def play(self) -> None:
        """Play the action of the learner that stands in `next_actions`, and all that follows."""
        self._note(int(self._actions[0]))
        super().play()

    def _answers(
        self, place: int, rows: npt.NDArray[np.int64], observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        code = self._compiled[place]
        if code == EXTERNAL:
            answers = super()._answers(place, rows, observations, masks)
        else:
            answers = np.full(1, core._choose(code, self._states[0], self._tables[0]), np.int64)
        self._note(int(answers[0]))
        return answers

    def _note(self, action: int) -> None:
        """Keep a decision, if it is one."""
        before = self.game()
        if before.player is not None and before.state.phase != OVER and action in before.legal_indices():
            self.log.note(before, action)
