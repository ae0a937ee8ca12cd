"""Solving two-player zero-sum games that are small enough to be written out: CFR+, exact best responses.

Nothing here knows 3UP 3DOWN; a game comes as the nodes of its tree. It is kept in **sequence form** (Koller,
Megiddo and von Stengel, 1996): what a player does on the way to a node is one *sequence*, an action at an
information set together with all own actions before it, and sequence 0 is to have done nothing yet. What is
left of the tree is a sparse matrix of payoffs, one entry for each pair of sequences.

**What a player sees** at a decision is a *row*. Players forget nothing: an information set is a row together
with the rows seen and the actions taken before it, so a best response is exact. A **strategy** is less: it goes
by the row alone, as agents do. It is a flat array of *entries*, one for each action of each row, and holds the
strategies of both players, as no row is seen by both. Where rows leave out something worth remembering, CFR+ may
stop short of an equilibrium; the exploitability of what it finds is exact all the same.

Values are those of player 0, "first", unless it is said whose; they are means over the chances of the game.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt
from numba import njit

NOBODY: Final = -1
"""The player at a node of chance or at an end."""

Strategy = npt.NDArray[np.float64]
"""Probabilities, float64 `(E,)`: those of row r are the entries `starts[r]` to `starts[r + 1] - 1`."""


@dataclass(frozen=True)
class Decisions:
    """The information sets of one player, every set behind those that come before it in play.

    Attributes:
        row: What the player sees, int32 `(I,)`.
        parent: The player's last sequence before the set, int32 `(I,)`.
        first: The sequence of its first action, int32 `(I,)`; those of the other actions follow.
        num_sequences: How many sequences the player has, the empty one included.
    """

    row: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    num_sequences: int


@dataclass(frozen=True)
class SequenceForm:
    """A game in sequence form; `from_tree` makes it.

    Attributes:
        players: The decisions of player 0 and of player 1.
        starts: The first entry of each row, and the number of entries at the end, int64 `(R + 1,)`.
        sequences: A sequence of each player for each payoff, int32 `(2, P)`.
        payoffs: What both sequences together pay either player, times their chance, float64 `(2, P)`.
        chance: What the chances sum to: values are divided by it.
    """

    players: tuple[Decisions, Decisions]
    starts: npt.NDArray[np.int64]
    sequences: npt.NDArray[np.int32]
    payoffs: npt.NDArray[np.float64]
    chance: float

    @classmethod
    def from_tree(
        cls,
        parent: npt.NDArray[np.int32],
        branch: npt.NDArray[np.int32],
        player: npt.NDArray[np.int32],
        row: npt.NDArray[np.int32],
        payoff: npt.NDArray[np.float64],
        sizes: npt.NDArray[np.int64],
        chance: float = 1.0,
    ) -> Self:
        """Write a tree in sequence form.

        Args:
            parent: The node before each node, int32 `(N,)`; below 0 at a root. Parents stand before their children.
            branch: Which action of its parent leads to a node, from 0, int32 `(N,)`.
            player: 0, 1, or NOBODY, int32 `(N,)`.
            row: What the player sees, int32 `(N,)`; read at decisions alone.
            payoff: What player 0 gets at a node, times its chance, float64 `(N,)`: 0 before the end.
            sizes: The number of actions of each row, int64 `(R,)`.
            chance: What the chances sum to.
        """
        parent, branch, player = (np.ascontiguousarray(column) for column in (parent, branch, player))
        first, first_sequences = _list_sets(0, parent, branch, player, row, sizes)
        second, second_sequences = _list_sets(1, parent, branch, player, row, sizes)
        paid = np.flatnonzero(payoff)
        pairs = first_sequences[paid].astype(np.int64) * second.num_sequences + second_sequences[paid]
        pairs, inverse = np.unique(pairs, return_inverse=True)
        summed = np.bincount(inverse, weights=payoff[paid], minlength=len(pairs))
        pairs, summed = pairs[summed != 0], summed[summed != 0]
        return cls(
            players=(first, second),
            starts=np.concatenate([[0], np.cumsum(sizes)]),
            sequences=np.stack([pairs // second.num_sequences, pairs % second.num_sequences]).astype(np.int32),
            payoffs=np.stack([summed, -summed]),
            chance=chance,
        )

    @property
    def num_entries(self) -> int:
        """The number of entries of a strategy."""
        return int(self.starts[-1])

    def rows_of(self, player: int) -> npt.NDArray[np.int32]:
        """The rows that a player sees, each once, int32, rising."""
        return np.unique(self.players[player].row)


def _list_sets(
    player: int,
    parent: npt.NDArray[np.int32],
    branch: npt.NDArray[np.int32],
    players: npt.NDArray[np.int32],
    row: npt.NDArray[np.int32],
    sizes: npt.NDArray[np.int64],
) -> tuple[Decisions, npt.NDArray[np.int32]]:
    """The information sets of a player, and its last sequence at each node, int32 `(N,)`."""
    before, via, depth = _trace(player, parent, branch, players)
    # Of a decision: the first sequence of its set. One entry more, for nodes with no decision before them.
    start = np.zeros(len(parent) + 1, np.int32)
    rows, parents, firsts = [], [], []
    num_sequences = 1
    own = np.flatnonzero(players == player)
    for decisions in range(depth[own].max(initial=-1) + 1):
        nodes = own[depth[own] == decisions]
        last = (start[before[nodes]] + via[nodes]).astype(np.int64)
        keys, inverse = np.unique(last * len(sizes) + row[nodes], return_inverse=True)
        rows.append(keys % len(sizes))
        parents.append(keys // len(sizes))
        actions = sizes[rows[-1]]
        firsts.append(num_sequences + np.cumsum(actions) - actions)
        start[nodes] = firsts[-1][inverse]
        num_sequences += int(actions.sum())

    def join(parts: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int32]:
        return np.concatenate([*parts, np.zeros(0, np.int64)]).astype(np.int32)

    return Decisions(join(rows), join(parents), join(firsts), num_sequences), start[before] + via


@njit(cache=True)
def _trace(player, parent, branch, players):  # type: ignore[no-untyped-def]  # compiled
    """For each node: the player's last decision before it (-1: none), the action taken there, how many there are."""
    before = np.full(len(parent), -1, np.int32)
    via = np.zeros(len(parent), np.int32)
    depth = np.zeros(len(parent), np.int32)
    for node in range(len(parent)):
        up = parent[node]
        if up < 0:
            continue
        if players[up] == player:
            before[node] = up
            via[node] = branch[node]
            depth[node] = depth[up] + 1
        else:
            before[node] = before[up]
            via[node] = via[up]
            depth[node] = depth[up]
    return before, via, depth


def uniform(form: SequenceForm) -> Strategy:
    """The strategy that takes every action of a row alike."""
    sizes = np.diff(form.starts)
    strategy: Strategy = np.repeat(1 / sizes, sizes)
    return strategy


def realize(form: SequenceForm, player: int, strategy: Strategy) -> npt.NDArray[np.float64]:
    """The probability that `player`, for its own part, plays each of its sequences, float64 `(num_sequences,)`."""
    own = form.players[player]
    weights = np.empty(own.num_sequences)
    _realize(own.row, own.parent, own.first, form.starts, strategy, weights)
    return weights


def value(form: SequenceForm, first: Strategy, second: Strategy | None = None) -> float:
    """What player 0 wins on the average with `first` from player 1 with `second`, which is `first` when left out."""
    ones = realize(form, 0, first)[form.sequences[0]]
    others = realize(form, 1, first if second is None else second)[form.sequences[1]]
    return float((form.payoffs[0] * ones * others).sum()) / form.chance


def response_value(form: SequenceForm, player: int, strategy: Strategy) -> float:
    """What `player` wins on the average with a best response to the `strategy` of the other player."""
    own = form.players[player]
    gains = _gains(form, player, realize(form, 1 - player, strategy))
    _respond(own.row, own.parent, own.first, form.starts, gains)
    return float(gains[0]) / form.chance


def nash_conv(form: SequenceForm, strategy: Strategy) -> float:
    """What both players together could gain by a best response to the strategy of the other: 0 in an equilibrium."""
    return response_value(form, 0, strategy) + response_value(form, 1, strategy)


def exploitability(form: SequenceForm, strategy: Strategy) -> float:
    """What a best response wins from `strategy`, the mean of both players: half of `nash_conv`, as in OpenSpiel."""
    return nash_conv(form, strategy) / 2


def _gains(form: SequenceForm, player: int, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What each sequence of `player` is paid itself, where the other's sequences have these weights."""
    gains = np.zeros(form.players[player].num_sequences)
    _pay(form.sequences[player], form.sequences[1 - player], form.payoffs[player], weights, gains)
    return gains


class CFRPlus:
    """CFR+ (Tammelin, 2014): regrets never below zero, one player updated after the other, a linear average.

    The steps are those of OpenSpiel's `CFRPlusSolver`.

    Args:
        form: The game.

    Attributes:
        form: The game.
        iteration: Steps done.
    """

    def __init__(self, form: SequenceForm) -> None:
        self.form = form
        self.iteration = 0
        self._regrets = np.zeros(form.num_entries)
        self._strategy = uniform(form)
        self._sums = np.zeros(form.num_entries)

    def step(self) -> None:
        """Update player 0, then player 1."""
        self.iteration += 1
        for player, own in enumerate(self.form.players):
            starts = self.form.starts
            weights = realize(self.form, player, self._strategy)
            _accumulate(own.row, own.first, starts, weights, float(self.iteration), self._sums)
            gains = _gains(self.form, player, realize(self.form, 1 - player, self._strategy))
            _regret(own.row, own.parent, own.first, starts, self._strategy, gains, self._regrets)
            np.maximum(self._regrets, 0, out=self._regrets)
            _normalize(starts, self._regrets, self._strategy)

    def average(self) -> Strategy:
        """The average of all strategies so far, which goes to an equilibrium; uniform in rows it never sees."""
        average = np.empty(self.form.num_entries)
        _normalize(self.form.starts, self._sums, average)
        return average


def purify(form: SequenceForm, strategy: Strategy) -> Strategy:
    """Make a strategy pure, row by row, as far as its exploitability stays what it is.

    Near an equilibrium, what is mixed without need is made pure and what has to be mixed stays. The likeliest
    action is tried first, in many rows at once, and in fewer where that gives something away.

    Args:
        form: The game.
        strategy: A strategy close to an equilibrium. Each row may add to what a best response wins, but all of
            them together no more than the exploitability it starts from.

    Returns:
        A new strategy.
    """
    pure = strategy.copy()
    slack = max(exploitability(form, strategy), 0.0)
    for player in (0, 1):
        bound = response_value(form, 1 - player, strategy) + slack
        rows = [int(row) for row in form.rows_of(player) if form.starts[row + 1] - form.starts[row] > 1]
        _purify_rows(form, player, pure, rows, bound)
    return pure


def _purify_rows(form: SequenceForm, player: int, strategy: Strategy, rows: list[int], bound: float) -> None:
    """Make `rows` pure in place: all at once if that keeps the bound, else either half of them by itself."""
    if len(rows) == 0:
        return
    before = strategy.copy()
    # With several rows the likeliest actions, with one row each action in turn.
    attempts = 1 if len(rows) > 1 else int(form.starts[rows[0] + 1] - form.starts[rows[0]])
    for attempt in range(attempts):
        for row in rows:
            entries = slice(form.starts[row], form.starts[row + 1])
            choice = np.argsort(-before[entries], kind="stable")[attempt]
            strategy[entries] = 0
            strategy[form.starts[row] + choice] = 1
        if response_value(form, 1 - player, strategy) <= bound:
            return
    strategy[:] = before
    if len(rows) > 1:
        half = len(rows) // 2
        _purify_rows(form, player, strategy, rows[:half], bound)
        _purify_rows(form, player, strategy, rows[half:], bound)


def solve(form: SequenceForm, iterations: int) -> Iterator[tuple[int, Strategy]]:
    """Run CFR+ and hand out its average strategy at 1, 2, 5, 10, 20, 50, ... iterations, and after the last."""
    solver = CFRPlus(form)
    while solver.iteration < iterations:
        solver.step()
        if str(solver.iteration).rstrip("0") in ("1", "2", "5") or solver.iteration == iterations:
            yield solver.iteration, solver.average()


# The loops, compiled. Sets stand behind those before them in play, so that forwards is down the tree and backwards up.


@njit(cache=True)
def _realize(row, parent, first, starts, strategy, weights):  # type: ignore[no-untyped-def]  # compiled
    weights[0] = 1.0
    for i in range(len(row)):
        entry = starts[row[i]]
        for k in range(starts[row[i] + 1] - entry):
            weights[first[i] + k] = weights[parent[i]] * strategy[entry + k]


@njit(cache=True)
def _pay(own, other, payoffs, weights, gains):  # type: ignore[no-untyped-def]  # compiled
    for i in range(len(own)):
        gains[own[i]] += payoffs[i] * weights[other[i]]


@njit(cache=True)
def _respond(row, parent, first, starts, gains):  # type: ignore[no-untyped-def]  # compiled
    """Add to each sequence what the best actions after it win."""
    for i in range(len(row) - 1, -1, -1):
        best = gains[first[i]]
        for k in range(1, starts[row[i] + 1] - starts[row[i]]):
            best = max(best, gains[first[i] + k])
        gains[parent[i]] += best


@njit(cache=True)
def _regret(row, parent, first, starts, strategy, gains, regrets):  # type: ignore[no-untyped-def]  # compiled
    """Add to each sequence what `strategy` wins after it, and to each regret what its action would have won more."""
    for i in range(len(row) - 1, -1, -1):
        entry = starts[row[i]]
        actions = starts[row[i] + 1] - entry
        mean = 0.0
        for k in range(actions):
            mean += strategy[entry + k] * gains[first[i] + k]
        for k in range(actions):
            regrets[entry + k] += gains[first[i] + k] - mean
        gains[parent[i]] += mean


@njit(cache=True)
def _accumulate(row, first, starts, weights, factor, sums):  # type: ignore[no-untyped-def]  # compiled
    for i in range(len(row)):
        entry = starts[row[i]]
        for k in range(starts[row[i] + 1] - entry):
            sums[entry + k] += factor * weights[first[i] + k]


@njit(cache=True)
def _normalize(starts, weights, strategy):  # type: ignore[no-untyped-def]  # compiled
    """The strategy in proportion to weights, uniform where all of a row are zero."""
    for row in range(len(starts) - 1):
        total = 0.0
        for entry in range(starts[row], starts[row + 1]):
            total += weights[entry]
        for entry in range(starts[row], starts[row + 1]):
            strategy[entry] = weights[entry] / total if total > 0 else 1.0 / (starts[row + 1] - starts[row])
