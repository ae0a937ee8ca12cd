"""What a tournament says: standings with intervals, a cross table, every table.

Intervals are percentiles of a bootstrap over deals: all games of one deal, at whatever table, are drawn together,
because they depend on each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .play import Chunk
from .ratings import compare, rate, rates_of

RESAMPLES: Final = 1_000
PERCENTILES: Final = (2.5, 97.5)
YARDSTICK: Final = "greedy"
"""Fixed at `ANCHOR` where it plays, unless another is asked for."""


@dataclass(frozen=True)
class Standing:
    """How one agent did.

    Attributes:
        agent: Its name.
        rating: Its rating: 400 points more stand for ten wins to one.
        rating_low: Lower end of its 95 % interval; the anchor has no width, its luck is in the others' intervals.
        rating_high: Upper end.
        games: Games played, one for each seat held.
        win_rate: Share of games won; a first place shared by k is 1/k.
        ci_low: Lower end of its 95 % interval.
        ci_high: Upper end.
        mean_place: Mean place, from 1; None where it never had one (6.3, truncated).
        mean_score: Mean points against it (8.7).
    """

    agent: str
    rating: float
    rating_low: float
    rating_high: float
    games: int
    win_rate: float
    ci_low: float
    ci_high: float
    mean_place: float | None
    mean_score: float


@dataclass(frozen=True)
class Tournament:
    """What a tournament says.

    Attributes:
        env: ID of the environment.
        agents: Names, in the order they were entered in; the cross table goes by it.
        games: Games of each table.
        seed: Seed of deals and agents.
        fair_rate: 1 / num_players: the win rate where all are equally good.
        anchor: Whose rating is fixed at 1000; None: the mean of all is.
        standings: The best rating first.
        cross_table: For each agent, against each other: how often it won, of the games at common tables that one of
            the two won. Two players: its win rate. None against itself.
        cross_low: Lower ends of their 95 % intervals.
        cross_high: Upper ends.
        tables: For each table its `agents`, and the `win_rates` of the seats that they held.
        limit_games: Games in which a deal met its limit (6.3), of all tables.
        decisions_per_game: Mean number of decisions of all seats.
    """

    env: str
    agents: list[str]
    games: int
    seed: int
    fair_rate: float
    anchor: str | None
    standings: list[Standing]
    cross_table: list[list[float | None]]
    cross_low: list[list[float | None]]
    cross_high: list[list[float | None]]
    tables: list[dict[str, Any]]
    limit_games: int
    decisions_per_game: float

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON values, by the names above."""
        return dataclasses.asdict(self)


def summarize(
    env: str,
    names: list[str],
    tables: Sequence[tuple[int, ...]],
    groups: int,
    seed: int,
    chunks: Sequence[Chunk],
    anchor: str | None,
) -> Tournament:
    """Standings and tables from all chunks, ordered by table and group; see `Tournament` for the rest."""
    agents, players = len(names), len(tables[0])
    shares = np.concatenate([np.array(chunk.share) for chunk in chunks]).reshape(len(tables), groups, players)
    place, placed, score = (
        np.array([getattr(chunk, name) for chunk in chunks]).reshape(len(tables), -1, players).sum(axis=1)
        for name in ("place", "placed", "score")
    )
    if anchor is None and YARDSTICK in names:
        anchor = YARDSTICK
    fixed = None if anchor is None else names.index(anchor)

    won = shares.sum(axis=1)
    drawn = resample(shares, seed)
    wins, wins_drawn = compare(tables, won, agents), compare(tables, drawn, agents)
    ratings = rate(wins, fixed)
    rating_ends = _ends(np.array([rate(one, fixed, ratings) for one in wins_drawn]))
    seats = np.array([[table.count(agent) for agent in range(agents)] for table in tables]).sum(axis=0)
    games = seats * groups * players
    rates = _by_agent(tables, won, agents) / games
    rate_ends = _ends(_by_agent(tables, drawn, agents) / games)
    places, scores, counted = (_by_agent(tables, values, agents) for values in (place, score, placed))
    standings = [
        Standing(
            agent=name,
            rating=float(ratings[i]),
            rating_low=float(rating_ends[0, i]),
            rating_high=float(rating_ends[1, i]),
            games=int(games[i]),
            win_rate=float(rates[i]),
            ci_low=float(rate_ends[0, i]),
            ci_high=float(rate_ends[1, i]),
            mean_place=float(places[i] / counted[i]) if counted[i] else None,
            mean_score=float(scores[i] / games[i]),
        )
        for i, name in enumerate(names)
    ]
    cross_ends = _ends(rates_of(wins_drawn))
    return Tournament(
        env=env,
        agents=names,
        games=groups * players,
        seed=seed,
        fair_rate=1 / players,
        anchor=anchor,
        standings=sorted(standings, key=lambda standing: (-standing.rating, standing.agent)),
        cross_table=_without_nan(rates_of(wins)),
        cross_low=_without_nan(cross_ends[0]),
        cross_high=_without_nan(cross_ends[1]),
        tables=[
            {"agents": [names[agent] for agent in table], "win_rates": (won[number] / (groups * players)).tolist()}
            for number, table in enumerate(tables)
        ],
        limit_games=sum(chunk.limit_games for chunk in chunks),
        decisions_per_game=sum(chunk.decisions for chunk in chunks) / (len(tables) * groups * players),
    )


def resample(shares: npt.NDArray[np.float64], seed: int) -> npt.NDArray[np.float64]:
    """First places in tournaments with deals drawn anew from those that were played.

    Args:
        shares: First places by table, deal and side, float64 `(tables, groups, sides)`.
        seed: Seeds the draws.

    Returns:
        float64 `(RESAMPLES, tables, sides)`.
    """
    groups = shares.shape[1]
    generator = np.random.default_rng(seed)
    # How often each deal is drawn; by hand, because the sum over deals is then one product of matrices.
    counts = generator.multinomial(groups, np.full(groups, 1 / groups), RESAMPLES).astype(np.float64)
    drawn: npt.NDArray[np.float64] = np.einsum("rg,tgs->rts", counts, shares, optimize=False)
    return drawn


def _by_agent(tables: Sequence[tuple[int, ...]], values: npt.NDArray[Any], agents: int) -> npt.NDArray[np.float64]:
    """Sums for each agent, float64 `(..., agents)`, of values `(..., tables, sides)`."""
    sums = np.zeros((*values.shape[:-2], agents))
    for number, table in enumerate(tables):
        for side, agent in enumerate(table):
            sums[..., agent] += values[..., number, side]
    return sums


def _ends(drawn: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Both ends of the 95 % interval, `(2, ...)`, of resampled values, `(RESAMPLES, ...)`."""
    ends: npt.NDArray[np.float64] = np.percentile(drawn, PERCENTILES, axis=0)
    return ends


def _without_nan(matrix: npt.NDArray[np.float64]) -> list[list[float | None]]:
    return [[None if np.isnan(value) else float(value) for value in row] for row in matrix]
