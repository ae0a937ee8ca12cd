"""Duplicate games: the same deals played once from every seating of a line-up of agents.

A **line-up** says who plays, in playing order: side `lineup[p]` at place p. A **group** is one deal (in a match: one
sequence of deals) played `num_players` times; in its game r the side at place p sits in seat `(p + r) % num_players`.
So each side holds every seat of the same deal once, and what the deal is worth cancels out. `evaluate` and
`tournament` differ only in who plays: one agent against another in all other seats, or a different one in each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from .actions import ACTIONS
from .agents import Agent, act_states, compiled_code
from .core import duel
from .core.choose import EXTERNAL
from .core.state import STATE, pack_rules
from .errors import IllegalActionError
from .observation import observation_layout
from .rules import Rules

Advance = Callable[[int], None]
"""Is told how many more games are over."""


@dataclass(frozen=True)
class Played:
    """Finished games: group by group, in each the seatings from 0.

    Attributes:
        sides: The side in each seat, int64 `(games, num_players)`.
        share: Share of the first place of each seat, float64 `(games, num_players)`: 1/k where k seats share it.
        place: Place of each seat, from 1, int64 `(games, num_players)`; 0 where it has none (6.3, truncated).
        score: Points against each seat (8.7), all deals of a match together, int64 `(games, num_players)`.
        decisions: Decisions of each side, int64 `(games, sides)`.
        met_limit: Whether a deal met its limit (6.3), bool `(games,)`.
    """

    sides: npt.NDArray[np.int64]
    share: npt.NDArray[np.float64]
    place: npt.NDArray[np.int64]
    score: npt.NDArray[np.int64]
    decisions: npt.NDArray[np.int64]
    met_limit: npt.NDArray[np.bool_]

    @classmethod
    def join(cls, parts: Iterable[Played]) -> Played:
        """One after the other."""
        chunks = list(parts)
        return cls(**{f.name: np.concatenate([getattr(chunk, f.name) for chunk in chunks]) for f in fields(cls)})

    def column(self, name: str, side: int) -> npt.NDArray[Any]:
        """`share`, `place` or `score` of a side that holds one seat of each game, `(games,)`."""
        values: npt.NDArray[Any] = getattr(self, name)[self.sides == side]
        return values


class DuplicateGames:
    """Plays duplicate games between sides.

    Args:
        rules: The rules.
        sides: The agent behind each side.
        seed: Seeds the deals and the draws of compiled sides, each group on its own.

    Attributes:
        decisions: Decisions of each side so far, int64 `(sides,)`.
        seconds: The time they took, float64 `(sides,)`: to choose them and, where the side plays in compiled code,
            to carry them out.
    """

    def __init__(self, rules: Rules, sides: Sequence[Agent], seed: int) -> None:
        self._rules = rules
        self._sides = tuple(sides)
        self._seed = seed
        self._switches = pack_rules(rules)
        self._layout = observation_layout(rules)
        self._codes = np.array([compiled_code(agent) for agent in sides], np.int64)
        self.decisions = np.zeros(len(sides), np.int64)
        self.seconds = np.zeros(len(sides))
        # Compiles what is not compiled yet, which is not to be timed.
        self.play(0, np.empty((0, rules.num_players), np.int64), lambda games: None)
        self.seconds[:] = 0

    def play(self, first: int, lineups: npt.NDArray[np.int64], advance: Advance) -> Played:
        """Play groups `first`, `first + 1`, ... to their ends.

        Args:
            first: Number of the first group; the number and the seed make its deals.
            lineups: The line-up of each group, int64 `(groups, num_players)`.
            advance: Is told how many more games are over.

        Raises:
            IllegalActionError: An agent chose an illegal action.
        """
        sides = seat_lineups(lineups)
        games = len(sides)
        deals, rngs = self._seed_games(first, len(lineups))
        states = np.zeros(games, STATE)
        waiting = np.empty(games, np.int64)
        decisions = np.zeros((games, len(self._sides)), np.int64)
        met_limit = np.zeros(games, np.bool_)
        rows = np.empty(games, np.int64)
        observations = np.empty((games, self._layout.size), np.int8)
        masks = np.empty((games, self._rules.num_actions), np.int8)

        duel.deal_duplicates(states, self._switches, deals)
        compiled_seconds, done = 0.0, 0
        while True:
            start = time.perf_counter()
            duel.advance(states, self._switches, sides, self._codes, rngs, waiting, decisions, met_limit)
            compiled_seconds += time.perf_counter() - start
            over = int(np.count_nonzero(waiting == duel.DONE))
            advance(over - done)
            done = over
            if done == games:
                break
            for side, agent in enumerate(self._sides):
                count = duel.show_waiting(states, self._switches, waiting, side, rows, observations, masks)
                if count:
                    start = time.perf_counter()
                    actions = act_states(agent, states[rows[:count]], observations[:count], masks[:count])
                    self.seconds[side] += time.perf_counter() - start
                    wrong = duel.play_waiting(states, self._switches, side, rows[:count], actions, decisions, met_limit)
                    if wrong >= 0:
                        raise IllegalActionError(_refusal(agent, int(actions[wrong]), masks[wrong]))
        made = decisions.sum(axis=0)
        self.decisions += made
        # Compiled sides share the compiled loop; each decision takes about the same time there.
        compiled = np.where(self._codes == EXTERNAL, 0, made)
        self.seconds += compiled_seconds * compiled / max(int(compiled.sum()), 1)
        places = states["place"][:, : self._rules.num_players].astype(np.int64)
        return Played(
            sides=sides,
            share=share_first_place(places),
            place=places,
            score=states["total"][:, : self._rules.num_players].astype(np.int64),
            decisions=decisions,
            met_limit=met_limit,
        )

    def _seed_games(self, first: int, groups: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Generators of the deals, uint64 `(groups, 2)`, and of the sides in each game, uint64 `(games, sides, 2)`."""
        games, sides = groups * self._rules.num_players, len(self._sides)
        words = np.empty((groups, 1 + self._rules.num_players * sides, 2), np.uint64)
        for i in range(groups):
            sequence = np.random.SeedSequence(self._seed, spawn_key=(first + i,))
            words[i].flat = sequence.generate_state(words[i].size, np.uint64)
        # A generator must not be all zeros; once in 2^128 it would be.
        words[(words == 0).all(axis=2), 0] = 1
        deals = np.ascontiguousarray(words[:, 0])
        return deals, words[:, 1:].reshape(games, sides, 2)


def seat_lineups(lineups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The side in each seat of every seating, int64 `(groups * n, n)`, of line-ups, int64 `(groups, n)`."""
    players = lineups.shape[1]
    return np.stack([np.roll(lineups, turn, axis=1) for turn in range(players)], axis=1).reshape(-1, players)


def share_first_place(places: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Share of the first place of each seat, float64 `(games, n)`, of places, int64 `(games, n)`."""
    first = places == 1
    share: npt.NDArray[np.float64] = first / np.maximum(first.sum(axis=1, keepdims=True), 1)
    return share


def _refusal(agent: Agent, action: int, mask: npt.NDArray[np.int8]) -> str:
    legal = ", ".join(ACTIONS[legal] for legal in np.flatnonzero(mask))
    written = f" ({ACTIONS[action]!r})" if 0 <= action < len(ACTIONS) else ""
    return f"{agent!r} chose action {action}{written}, which is illegal; legal: {legal}"


@contextmanager
def progress_bar(total: int, shown: bool) -> Iterator[Advance]:
    """A bar over `total` games; what it hands out moves it on by a number of games."""
    if not shown:
        yield lambda games: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("games", total=total)
        yield lambda games: bar.advance(task, games)
