"""The agent that searches: `search`, and `search:SIMULATIONS`.

It needs no training. At each decision it plays many games to their ends, each of them one that its seat cannot tell
from the true one, and takes the action that did best (core/search.py; docs/search.md).

Example:
    >>> from threeup_env import Game, Rules
    >>> from threeup_env.agents import SearchAgent
    >>> game = Game(Rules.standard(2), seed=1)
    >>> agent = SearchAgent(game.rules, simulations=200, seed=1)
    >>> game.play(agent.act_game(game))
    >>> game.decision
    1
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..actions import ACTIONS, NUM_ACTIONS
from ..core import search as core
from ..core.learner import show_games
from ..core.state import STATE, pack_rules
from ..errors import IllegalActionError, InvalidConfigError, UnknownAgentError
from ..game import REWARDS, Game
from ..observation import observation_layout
from ..rules import Rules

Method = Literal["flat", "tree"]
METHODS: Final = {"flat": core.FLAT, "tree": core.TREE}
SIMULATIONS: Final = 1000
"""Simulations of a decision, where nobody says how many."""
RANDOM_MOVES: Final = 0.15
"""Share of random moves in a simulated game: it keeps two greedy hands from going round through the pile."""
MOST_SIMULATIONS: Final = 10**9
MOST_PARTS: Final = 1024
MOST_NODES: Final = 1 << 18
"""Nodes of one tree; a search that goes on after that grows no more, but still learns from its simulations."""
_SIMULATIONS_AT_ONCE: Final = 16
"""How many are played between two looks at the clock."""


@runtime_checkable
class Priors(Protocol):
    """What says how likely each action is to be good: a `PolicyAgent` is one."""

    def probabilities(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8], /
    ) -> npt.NDArray[np.float32]:
        """Chances of the actions, float32 `(N, A)`, of observations, int8 `(N, D)`, and masks, int8 `(N, A)`."""
        ...


@dataclass(frozen=True)
class ActionValue:
    """What a search says of one legal action.

    Attributes:
        action: In written form.
        simulations: How many simulations began with it.
        value: Their mean reward for the seat to decide; 0 where there was none.
    """

    action: str
    simulations: int
    value: float


class SearchAgent:
    """Searches at each decision; it is given games, not observations.

    What is hidden from its seat is taken out of the game before anything else is done with it, and the draws hang on
    the seed and on what the seat observes alone: in two games that the seat cannot tell apart it chooses the same.
    With a number of simulations the same seed gives the same choices, on any number of threads and in any batch.

    Args:
        rules: The rules it plays under.
        simulations: Simulations of a decision, at least 1; `"flat"` plays at least one for each legal action.
        milliseconds: Time of a decision, more than 0, instead of a number of simulations. Such a search is not
            reproducible; several threads then each search on their own, and their findings are added up.
        method: `"flat"` tries the actions of this decision alone, `"tree"` those that follow too.
        exploration: The constant of UCB1 or PUCT, at least 0; read by `"tree"` alone.
        random_moves: Share of the moves in a simulated game that are drawn from all legal ones, 0 to 1; all others
            are those of `greedy`.
        horizon: Decisions after which a simulated deal meets its limit (6.3), where that of the rules is further
            away; at least 1.
        reward: `"win"`, `"place"` or `"score"` (docs/environments.md): what it searches for.
        priors: A policy whose chances lead the first action of each simulation (PUCT): the name of a shipped one, the
            path of a policy file, or an agent with `probabilities`; read by `"tree"` alone.
        parts: Independent searches that share the simulations of a decision, at least 1. One decision can use as many
            threads; each part has a smaller tree.
        num_threads: How many threads search, at least 1.
        seed: Seeds the draws.

    Attributes:
        rules: The rules it plays under.

    Raises:
        InvalidConfigError: An argument is wrong.
        UnknownAgentError: `priors` is no policy.
        InvalidPolicyError: The policy file cannot be read, or is for other rules.
    """

    def __init__(
        self,
        rules: Rules,
        simulations: int = SIMULATIONS,
        *,
        milliseconds: float | None = None,
        method: Method = "flat",
        exploration: float = 1.0,
        random_moves: float = RANDOM_MOVES,
        horizon: int = 1000,
        reward: Literal["win", "place", "score"] = "win",
        priors: str | os.PathLike[str] | Priors | None = None,
        parts: int = 1,
        num_threads: int = 1,
        seed: int = 0,
    ) -> None:
        self.rules = rules
        self._simulations = _integer("simulations", simulations, 1, MOST_SIMULATIONS)
        self._milliseconds = None if milliseconds is None else _number("milliseconds", milliseconds, 0.001, 1e9)
        self._num_threads = _integer("num_threads", num_threads, 1, MOST_PARTS)
        self._method = _one_of("method", method, METHODS)
        self._seed = _integer("seed", seed, 0)
        self._layout = observation_layout(rules)
        setting = np.zeros(1, core.SETTING)
        setting["simulations"] = self._simulations
        setting["parts"] = _integer("parts", parts, 1, MOST_PARTS)
        setting["method"] = self._method
        setting["reward"] = _one_of("reward", reward, REWARDS)
        setting["exploration"] = _number("exploration", exploration, 0.0, 1e9)
        setting["random_moves"] = round(_number("random_moves", random_moves, 0.0, 1.0) * core.CHANCES)
        # No count of decisions is larger in the compiled core.
        setting["max_decisions"] = min(rules.max_decisions, np.iinfo(np.int32).max)
        self._setting = setting
        self._switches = pack_rules(rules)
        self._switches["max_decisions"] = min(rules.max_decisions, _integer("horizon", horizon, 1))
        self._priors: Priors | None = None
        if priors is not None:
            if self._method != core.TREE:
                raise InvalidConfigError(f"priors: {priors!r} is of no use with method={method!r}; allowed: 'tree'")
            self._priors = _make_priors(priors, rules)
            setting["has_priors"] = 1

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """Nothing: an observation is no game to play on in.

        Raises:
            UnknownAgentError: Always; it says what to call instead.
        """
        raise UnknownAgentError(
            f"{self!r} needs the game, not an observation of it; allowed: act_game(game) for a Game, "
            "act_states(states) for records"
        )

    def act_game(self, game: Game) -> int:
        """The index of an action for the seat to decide.

        Args:
            game: A game under the same rules. It is not changed.

        Raises:
            IllegalActionError: The game is over.
            UnknownAgentError: It is played under other rules.
        """
        self._check(game)
        return int(self.act_states(game._states)[0])

    def act_states(self, states: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
        """Actions for the seats to decide in many games, int64 `(N,)`.

        Args:
            states: Records of games under these rules, `core.state.STATE` `(N,)`, none of them over.
        """
        observations, masks = self._look(states)
        actions: npt.NDArray[np.int64] = masks.argmax(axis=1)
        undecided = np.flatnonzero(masks.sum(axis=1) > 1)
        if len(undecided):
            visits, totals = self._search(states[undecided], observations[undecided], masks[undecided])
            actions[undecided] = _best(visits, totals)
        return actions

    def analyze(self, game: Game) -> list[ActionValue]:
        """What a search says of every legal action, the one it would take first.

        Args:
            game: A game under the same rules. It is not changed.

        Raises:
            IllegalActionError: The game is over.
            UnknownAgentError: It is played under other rules.
        """
        self._check(game)
        visits, totals = self._search(game._states, *self._look(game._states))
        values = [
            ActionValue(ACTIONS[action], int(visits[0, action]), float(totals[0, action] / max(visits[0, action], 1)))
            for action in game.legal_indices()
        ]
        return sorted(values, key=lambda one: (one.simulations, one.value), reverse=True)

    def _check(self, game: Game) -> None:
        if game.rules != self.rules:
            raise UnknownAgentError(
                f"{self!r} plays under {self.rules.to_dict()}, but the game has {game.rules.to_dict()}"
            )
        if game.player is None:
            raise IllegalActionError("there is no action to search for: the game is over")

    def _look(self, states: npt.NDArray[np.void]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """What the seats to decide know, int8 `(N, D)`, and their masks, int8 `(N, A)`."""
        observations = np.empty((len(states), self._layout.size), np.int8)
        masks = np.empty((len(states), self.rules.num_actions), np.int8)
        show_games(np.arange(len(states)), states, self._switches, observations, masks)
        return observations, masks

    def _search(
        self, states: npt.NDArray[np.void], observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Simulations of each action and their rewards together, int64 and float64 `(N, 144)`."""
        key = self._seed.to_bytes(8 + self._seed.bit_length() // 8)[-64:]
        digests = [blake2b(row.tobytes(), digest_size=8, key=key).digest() for row in observations]
        seeds = np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)
        priors = np.zeros((len(states), NUM_ACTIONS))
        if self._priors is not None:
            priors[:, : masks.shape[1]] = self._priors.probabilities(observations, masks)
        if self._milliseconds is not None:
            found = [self._search_for(states[i : i + 1], seeds[i], priors[i]) for i in range(len(states))]
            visits, totals = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
            return visits, totals
        parts = int(self._setting["parts"][0])
        chunks = min(self._num_threads, len(states) * parts)
        visits = np.zeros((len(states) * parts, NUM_ACTIONS), np.int64)
        totals = np.zeros((len(states) * parts, NUM_ACTIONS))
        nodes = NUM_ACTIONS + 1 + -(-self._simulations // parts)
        tables, arms, trees = self._make_room(chunks, nodes)
        given = (states, self._switches, self._setting, seeds, priors)

        def search_chunk(chunk: int) -> None:
            start, stop = (len(visits) * end // chunks for end in (chunk, chunk + 1))
            core.search_games(start, stop, *given, tables[chunk], arms[chunk], trees[chunk], visits, totals)

        _side_by_side(search_chunk, chunks)
        return visits.reshape(-1, parts, NUM_ACTIONS).sum(axis=1), totals.reshape(-1, parts, NUM_ACTIONS).sum(axis=1)

    def _make_room(
        self, chunks: int, nodes: int
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void], npt.NDArray[np.void]]:
        """Tables, arms and trees of as many searches side by side."""
        nodes = min(nodes, MOST_NODES) if self._method == core.TREE else 1
        return (
            np.zeros((chunks, core.NUM_TABLES), STATE),
            np.zeros((chunks, NUM_ACTIONS), core.ARM),
            np.zeros((chunks, nodes), core.NODE),
        )

    def _search_for(
        self, states: npt.NDArray[np.void], seed: np.uint64, priors: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Search in one game until the time is over, one part a thread; int64 and float64 `(1, 144)`."""
        visits = np.zeros((self._num_threads, NUM_ACTIONS), np.int64)
        totals = np.zeros((self._num_threads, NUM_ACTIONS))
        tables, arms, trees = self._make_room(self._num_threads, MOST_NODES)
        assert self._milliseconds is not None
        start, seconds = time.perf_counter(), self._milliseconds / 1000

        def search(part: int) -> None:
            core.begin(states, 0, self._switches, self._setting, tables[part])
            if self._method == core.FLAT:
                self._try_arms_for(start, seconds, seed, part, tables[part], arms[part])
                core.report_arms(arms[part], part, visits, totals)
            else:
                self._grow_for(start + seconds, seed, priors, part, tables[part], trees[part])
                core.report_tree(trees[part], part, visits, totals)

        _side_by_side(search, self._num_threads)
        return visits.sum(axis=0, keepdims=True), totals.sum(axis=0, keepdims=True)

    def _try_arms_for(
        self,
        start: float,
        seconds: float,
        seed: np.uint64,
        part: int,
        tables: npt.NDArray[np.void],
        arms: npt.NDArray[np.void],
    ) -> None:
        """Sequential halving, each round with the same share of the time."""
        alive = core.list_arms(tables, arms)
        rounds = max(core.halvings(alive), 1)
        number = part
        for done in range(1, rounds + 1):
            games = -(-_SIMULATIONS_AT_ONCE // alive)
            while True:
                stop = number + games * self._num_threads
                core.try_arms(arms, alive, tables, self._switches, self._setting, seed, number, stop, self._num_threads)
                number = stop
                if time.perf_counter() >= start + seconds * done / rounds:
                    break
            alive = core.halve(arms, alive)

    def _grow_for(
        self,
        end: float,
        seed: np.uint64,
        priors: npt.NDArray[np.float64],
        part: int,
        tables: npt.NDArray[np.void],
        tree: npt.NDArray[np.void],
    ) -> None:
        """Grow a tree until the time is over."""
        size = core.plant(tree, tables, priors)
        number = part
        while True:
            stop = number + _SIMULATIONS_AT_ONCE * self._num_threads
            size = core.grow(tree, size, tables, self._switches, self._setting, seed, number, stop, self._num_threads)
            number = stop
            if time.perf_counter() >= end:
                break

    def __repr__(self) -> str:
        name = next(name for name, code in METHODS.items() if code == self._method)
        budget = f"{self._simulations} simulations"
        if self._milliseconds is not None:
            budget = f"{self._milliseconds:g} ms"
        return f"SearchAgent({budget}, {name})"


def _side_by_side(search: Callable[[int], None], count: int) -> None:
    """Call `search(0)`, ..., `search(count - 1)`, each in a thread of its own."""
    if count == 1:
        search(0)
        return
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(search, range(count)))


def _best(visits: npt.NDArray[np.int64], totals: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The action tried most often, of these the one with the best mean, of these the first; int64 `(N,)`."""
    most = visits == visits.max(axis=1, keepdims=True)
    means = np.where(most, totals / np.maximum(visits, 1), -np.inf)
    actions: npt.NDArray[np.int64] = means.argmax(axis=1)
    return actions


def _make_priors(spec: str | os.PathLike[str] | Priors, rules: Rules) -> Priors:
    from . import make_agent  # not at the top, because the names lead here too

    agent: Any = make_agent(spec, rules) if isinstance(spec, str | os.PathLike) else spec
    if not isinstance(agent, Priors):
        raise UnknownAgentError(
            f"priors: {spec!r} is no policy; allowed: one by name or path, or an agent with "
            "probabilities(observations, masks)"
        )
    made_for = getattr(agent, "rules", rules)
    if made_for != rules:
        raise UnknownAgentError(
            f"priors: {agent!r} plays under {made_for.to_dict()}, but the rules here are {rules.to_dict()}"
        )
    return agent


def _integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    wrong = isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low
    if wrong or (high is not None and value > high):
        allowed = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
        raise InvalidConfigError(f"{name}: {value!r} is wrong; allowed: {allowed}")
    return int(value)


def _number(name: str, value: Any, low: float, high: float) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.integer | np.floating)
        or not low <= value <= high
    ):
        raise InvalidConfigError(f"{name}: {value!r} is wrong; allowed: a number from {low:g} to {high:g}")
    return float(value)


def _one_of(name: str, value: Any, allowed: Mapping[str, int]) -> int:
    if not isinstance(value, str) or value not in allowed:
        raise InvalidConfigError(f"{name}: {value!r} is wrong; allowed: {', '.join(map(repr, allowed))}")
    return allowed[value]
