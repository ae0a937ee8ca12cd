"""Who meets whom: balanced tables, and the order in which a table sits.

With at least as many agents as seats, every combination of agents is a table: for two players, every pairing. With
fewer, agents hold several seats, all of them as nearly equally many as can be, and again every such table is played.
Either way each agent meets every other equally often, and duplicate play gives it every seat.

Rotating a table never changes who plays after whom, so its groups go through all cyclic orders in turn: with a
multiple of (num_players - 1)! groups, each agent plays equally often right after every other.
"""

from __future__ import annotations

from itertools import combinations, islice, permutations
from math import factorial

import numpy as np
import numpy.typing as npt


def all_tables(agents: int, players: int) -> list[tuple[int, ...]]:
    """Every table: the numbers of its agents in rising order, one for each of its `players` seats."""
    everyone = tuple(range(agents)) * (players // agents)
    return [tuple(sorted(everyone + rest)) for rest in combinations(range(agents), players % agents)]


def line_up(first: int, groups: int, players: int) -> npt.NDArray[np.int64]:
    """The sides of a table in playing order, int64 `(groups, players)`, of groups `first`, `first + 1`, ..."""
    orders = factorial(players - 1)
    used = min(groups, orders)
    first_orders = [
        (0, *next(islice(permutations(range(1, players)), (first + i) % orders, None))) for i in range(used)
    ]
    lineups: npt.NDArray[np.int64] = np.array(first_orders, np.int64)[np.arange(groups) % used]
    return lineups
