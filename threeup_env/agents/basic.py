"""The agents that need no training: `random` and `greedy`.

Batches that know their `compiled` code play them without leaving compiled code; here they work from an
observation and a mask, as any agent does.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np
import numpy.typing as npt

from ..core.choose import GREEDY, RANDOM, choose_greedy_batch
from ..observation import observation_layout
from ..rules import Rules

# Both are final because batches go by `compiled` and would never call what a subclass overrides.


@final
class RandomAgent:
    """Draws uniformly from the legal actions.

    Args:
        seed: Seeds its generator; None draws from the system.

    Attributes:
        compiled: The code by which compiled batches know it.
    """

    compiled: Final = RANDOM

    def __init__(self, seed: int | np.random.SeedSequence | None = None) -> None:
        self._generator = np.random.default_rng(seed)

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """A legal action of the mask, int8 `(A,)`."""
        legal = np.flatnonzero(action_mask)
        return int(legal[self._generator.integers(len(legal))])

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """A legal action of each mask, int8 `(N, A)`, as int64 `(N,)`."""
        legal = action_masks != 0
        counts = np.count_nonzero(legal, axis=1)
        skip = self._generator.integers(counts)
        # The legal action with exactly `skip` legal ones before it is the first whose running count exceeds it.
        running = np.cumsum(legal, axis=1, dtype=np.int16)
        actions: npt.NDArray[np.int64] = np.argmax(running > skip[:, None], axis=1)
        return actions

    def play_probabilities(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.float64]:
        """The same probability for each legal action of each mask, int8 `(N, A)`, as float64 `(N, A)`."""
        probabilities: npt.NDArray[np.float64] = action_masks / action_masks.sum(axis=1, keepdims=True, dtype=float)
        return probabilities

    def __repr__(self) -> str:
        return "RandomAgent()"


@final
class GreedyAgent:
    """The fixed yardstick: the first legal action of a list that never changes within `-v0`.

    1. `up` the highest kind.
    2. `draw` when an extra is owed.
    3. `play` all copies of the lowest number that is legal.
    4. `play` `C`, else `C+1`, else `C+2` (one card).
    5. `flip` the lowest slot; `want` the highest kind; `give` the lowest kind; `target` the lowest; `color` the
       lowest index; `take`; `draw`; `pass`.

    Args:
        rules: The rules it plays under: they say where in an observation the extras owed stand.

    Attributes:
        compiled: The code by which compiled batches know it.
        rules: The rules it plays under.
    """

    compiled: Final = GREEDY

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        # The first entry of the count code says whether there is at least one.
        self._extras = observation_layout(rules)["extras"].start

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """The action for an observation, int8 `(D,)`, and a mask, int8 `(A,)`."""
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """The actions for observations, int8 `(N, D)`, and masks, int8 `(N, A)`, as int64 `(N,)`."""
        actions = np.empty(len(action_masks), np.int64)
        extras_owed = np.ascontiguousarray(observations[:, self._extras] > 0)
        choose_greedy_batch(np.ascontiguousarray(action_masks), extras_owed, actions)
        return actions

    def __repr__(self) -> str:
        return "GreedyAgent()"
