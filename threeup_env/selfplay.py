"""Many games at once, every seat the caller's: `SelfPlayBatch`.

Example:
    >>> from threeup_env import Rules, SelfPlayBatch
    >>> batch = SelfPlayBatch(Rules.standard(4), 1024, seed=1)
    >>> for _ in range(100):
    ...     batch.step(batch.action_mask.argmax(axis=1))
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .actions import ACTIONS, NUM_ACTIONS
from .core import batch as core
from .core.jit import use_threads
from .core.random import GENERATOR, seed_words
from .core.single import list_legal
from .core.state import STATE, pack_rules
from .errors import IllegalActionError
from .game import REWARDS
from .learner import Reward, SeedLike, choice, choice_words, positive, seed_sequences
from .observation import observation_layout
from .rules import Rules


class SelfPlayBatch:
    """`num_games` games that take one decision each in a step, by whatever seat stands to decide.

    The arrays are written in place; copy what you keep. A finished game restarts within the step that ends it: its
    row then holds the rewards of the game that ended, and what the seat to decide of the new one knows. Game i deals
    as `Game(rules, seed)` with the i-th seed that `SeedSequence(seed)` spawns, whatever the number of threads.

    Args:
        rules: The rules, n players.
        num_games: Number of games N, at least 1.
        seed: Seeds the games, or names the seed of each; None draws from the system.
        num_threads: How many threads play, at least 1.
        reward: `"win"`, `"place"` or `"score"` (docs/environments.md).

    Attributes:
        player: The seat to decide in each game, int8 `(N,)`.
        observation: What that seat knows, int8 `(N, D)`, laid out as `observation_layout(rules)` says.
        action_mask: What it may do, int8 `(N, A)` of 0 and 1, never all 0.
        reward: Rewards of all seats, float32 `(N, n)`: 0 but for games that ended in this step.
        terminated: Whether the step ended the game, bool `(N,)`.
        truncated: Whether it met a limit without an outcome (6.3), bool `(N,)`; never both.

    Raises:
        InvalidConfigError: An argument is wrong.
    """

    def __init__(
        self,
        rules: Rules,
        num_games: int,
        seed: SeedLike | Sequence[SeedLike | None] | None = None,
        num_threads: int = 1,
        reward: Reward = "win",
    ) -> None:
        self.rules = rules
        self.num_games = positive("num_games", num_games)
        self.num_threads = min(positive("num_threads", num_threads), self.num_games)
        self._reward_kind = REWARDS[choice("reward", reward, tuple(REWARDS))]
        self._switches = pack_rules(rules)
        self._states = np.zeros(self.num_games, STATE)
        self._choices = np.zeros(self.num_games, GENERATOR)
        self._actions = np.zeros(self.num_games, np.int64)
        self.player = np.zeros(self.num_games, np.int8)
        self.observation = np.zeros((self.num_games, observation_layout(rules).size), np.int8)
        self.action_mask = np.zeros((self.num_games, rules.num_actions), np.int8)
        self.reward = np.zeros((self.num_games, rules.num_players), np.float32)
        self.terminated = np.zeros(self.num_games, np.bool_)
        self.truncated = np.zeros(self.num_games, np.bool_)
        self.reset(np.random.SeedSequence() if seed is None else seed)

    def reset(self, seed: SeedLike | Sequence[SeedLike | None] | None = None) -> None:
        """Start every game anew.

        Args:
            seed: As for the class; None lets every game go on with its generators.

        Raises:
            InvalidConfigError: `seed` is wrong; nothing has changed.
        """
        for game, sequence in enumerate(seed_sequences(seed, self.num_games)):
            if sequence is not None:
                self._states["rng"][game] = seed_words(sequence)
                self._choices["rng"][game] = choice_words(sequence)
        self.reward[:] = 0
        self.terminated[:] = False
        self.truncated[:] = False
        core.reset(self._states, self._switches, self.player, self.observation, self.action_mask)

    def step(self, actions: npt.ArrayLike) -> None:
        """Make one decision in every game.

        Args:
            actions: Indices of the action table, integers `(N,)`.

        Raises:
            IllegalActionError: `actions` is no such array, or one of them is not legal: the message names the game,
                the action and the legal ones. Nothing has changed in any game.
        """
        given = np.asarray(actions)
        if given.shape != (self.num_games,) or given.dtype.kind not in "iu":
            raise IllegalActionError(
                f"actions: an array of shape {given.shape} and dtype {given.dtype}; "
                f"allowed: {self.num_games} integers, one action for each game"
            )
        np.copyto(self._actions, given, casting="unsafe")
        game = core.first_illegal(self._states, self._actions)
        if game >= 0:
            raise IllegalActionError(self._refusal(game))
        if self.num_threads == 1:
            core.step(0, self.num_games, self._states, self._switches, self._actions, *self._arrays)
        else:
            with use_threads(self.num_threads):
                core.step_threads(self.num_threads, self._states, self._switches, self._actions, *self._arrays)

    def random_steps(self, count: int) -> None:
        """Make `count` decisions in every game, drawn uniformly from the legal actions, in compiled code.

        The arrays then hold what the last of them left: earlier rewards and ends are not kept.

        Raises:
            InvalidConfigError: `count` is no integer of at least 1.
        """
        count = positive("count", count)
        games = self._states, self._switches, self._choices
        if self.num_threads == 1:
            core.random_steps(0, self.num_games, count, *games, *self._arrays)
        else:
            with use_threads(self.num_threads):
                core.random_steps_threads(self.num_threads, count, *games, *self._arrays)

    @property
    def _arrays(self) -> tuple[object, ...]:
        """What compiled code writes, in its order, after the kind of reward."""
        return (
            self._reward_kind,
            self.player,
            self.observation,
            self.action_mask,
            self.reward,
            self.terminated,
            self.truncated,
        )

    def _refusal(self, game: int) -> str:
        action = int(self._actions[game])
        legal = np.empty(NUM_ACTIONS, np.int64)
        count = list_legal(self._states[game : game + 1], legal)
        name = f"{action} ({ACTIONS[action]!r})" if 0 <= action < NUM_ACTIONS else repr(action)
        allowed = ", ".join(ACTIONS[one] for one in legal[:count])
        return f"game {game}: action {name} is illegal for player {self.player[game]}; legal: {allowed}"
