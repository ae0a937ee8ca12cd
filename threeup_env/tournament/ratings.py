"""Ratings from wins, by Luce's choice axiom: at any table, agent i wins in proportion to its strength.

For two players that is the model of Bradley and Terry, and of Elo. At larger tables it says that of two agents i and j
who sit there, i wins rather than j with odds of strength i to strength j, whoever else plays; so every game is a
comparison of its winner with each loser, and choix fits strengths to the matrix of these comparisons.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ..errors import InvalidConfigError

SCALE: Final = 400 / math.log(10)
"""400 points stand for odds of 10 to 1, as Elo's do."""
ANCHOR: Final = 1000.0
"""The rating that is fixed."""
PRIOR_WINS: Final = 0.5
"""Each two agents count as having won this much more against each other: nobody's strength is without bounds."""
MAX_ITERATIONS: Final = 100_000
NEEDED: Final = ("choix", "threadpoolctl")


def check_installed() -> None:
    """See that there is all it takes.

    Raises:
        InvalidConfigError: A package is missing; the message says how to install it.
    """
    for package in NEEDED:
        if importlib.util.find_spec(package) is None:
            raise InvalidConfigError(f"tournaments: {package} is not installed; pip install 'threeup-env[tournament]'")


def compare(tables: Sequence[tuple[int, ...]], won: npt.NDArray[np.float64], agents: int) -> npt.NDArray[np.float64]:
    """How often each agent won where each other sat at the table.

    Args:
        tables: The agent of each side of each table.
        won: First places of each side, float64 `(..., tables, sides)`.
        agents: How many agents there are.

    Returns:
        float64 `(..., agents, agents)`: wins of the row where the column lost. Another seat of the same agent is
        no opponent, and two opponents held by one agent count twice.
    """
    wins = np.zeros((*won.shape[:-2], agents, agents))
    for number, table in enumerate(tables):
        for side, winner in enumerate(table):
            for loser in table:
                if winner != loser:
                    wins[..., winner, loser] += won[..., number, side]
    return wins


def rate(
    wins: npt.NDArray[np.float64], anchor: int | None, start: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[np.float64]:
    """Ratings, float64 `(agents,)`, from the matrix of `compare`.

    Args:
        wins: float64 `(agents, agents)`.
        anchor: The agent whose rating is `ANCHOR`; None: the mean of all is.
        start: Ratings to begin the search from.
    """
    import choix

    met = ~np.eye(len(wins), dtype=bool)
    strengths = choix.ilsr_pairwise_dense(
        wins + PRIOR_WINS * met,
        initial_params=None if start is None else start / SCALE - (start / SCALE).mean(),
        max_iter=MAX_ITERATIONS,
    )
    fixed = strengths.mean() if anchor is None else strengths[anchor]
    ratings: npt.NDArray[np.float64] = ANCHOR + SCALE * (strengths - fixed)
    return ratings


def rates_of(wins: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How often the row wins rather than the column, float64 `(..., agents, agents)`; not a number on the diagonal."""
    both = wins + wins.swapaxes(-1, -2)
    rates: npt.NDArray[np.float64] = np.divide(wins, both, out=np.full_like(wins, np.nan), where=both > 0)
    return rates
