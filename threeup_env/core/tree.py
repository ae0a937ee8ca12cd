"""Walking a game tree: every line of play of one deal, depth first, without recursion.

`stack[d]` is the game after d decisions on the line that is being walked; `path[d]` is the last action tried there.
"""

from __future__ import annotations

import numpy as np

from ..actions import NUM_ACTIONS
from .choose import first_between
from .jit import compiled
from .observe import observe
from .state import BETWEEN_DEALS
from .step import apply

_FNV_PRIME = 0x100000001B3
_MASK_62 = (1 << 62) - 1


@compiled
def list_decisions(stack, path, switches, keys, rows, infosets):
    """Walk the whole tree of one deal; one information set key for each decision node.

    The key of a node is a 62-bit hash of all that its player has seen since the deal: the observations after every
    decision, its own and others'. Two nodes with one key look the same to a player who forgets nothing.

    Args:
        stack: Games, STATE `(longest line + 1,)`, the first of them set.
        path: Room for actions, int64, as long.
        switches: The rules, SWITCHES `(1,)`.
        keys: Room for what each seat has seen, int64 `(longest line + 1, n)`.
        rows: Room for an observation, int8 `(1, D)`.
        infosets: Written: the keys, int64 `(at least the number of nodes,)`; more nodes are counted, not written.

    Returns:
        Decision nodes, and ends of the deal.
    """
    nodes = 0
    ends = 0
    at = 0
    path[0] = -1
    _look(stack, keys, rows, switches, 0)
    while at >= 0:
        if stack[at].phase >= BETWEEN_DEALS:
            ends += 1
            at -= 1
            continue
        if path[at] < 0:
            if nodes < len(infosets):
                infosets[nodes] = keys[at, stack[at].player]
            nodes += 1
        action = first_between(stack[at].legal, path[at] + 1, NUM_ACTIONS)
        if action < 0:
            at -= 1
            continue
        path[at] = action
        stack[at + 1] = stack[at]
        apply(stack[at + 1], switches[0], action)
        path[at + 1] = -1
        at += 1
        _look(stack, keys, rows, switches, at)
    return nodes, ends


@compiled
def _look(stack, keys, rows, switches, at):
    """Add what every seat sees at `stack[at]` to what it had seen before."""
    for seat in range(switches[0].num_players):
        key = keys[at - 1, seat] if at > 0 else np.int64(seat + 1)
        observe(rows, 0, stack[at], switches[0], seat)
        for i in range(rows.shape[1]):
            key = ((key ^ rows[0, i]) * _FNV_PRIME) & _MASK_62
        keys[at, seat] = key ^ (key >> 29)
