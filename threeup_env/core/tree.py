"""Walking a game tree: every line of play of one deal, depth first, without recursion.

`stack[d]` is the game after d decisions on the line that is being walked; `path[d]` is the last action tried there.
"""

from __future__ import annotations

import numpy as np

from ..actions import NUM_ACTIONS
from .choose import first_between
from .ending import REWARD_WIN, reward
from .jit import compiled
from .legal import write_mask
from .observe import observe
from .state import BETWEEN_DEALS
from .step import apply

_FNV_PRIME = 0x100000001B3
_MASK_62 = (1 << 62) - 1

NODE = np.dtype(
    [
        ("parent", np.int32),  # the node before it, or NO_NODE
        ("branch", np.int32),  # which of its parent's legal actions leads to it, in index order from 0
        ("player", np.int32),  # the seat to decide, or NOBODY at an end
        ("row", np.int32),  # what that seat sees, NO_ROW at an end
        ("payoff", np.float64),  # the reward of seat 0 (`reward="win"`) at an end, 0 before
    ],
    align=True,
)
"""One decision, or one end, of a game tree; every node stands behind its parent."""
NO_NODE = -1
NOBODY = -1
NO_ROW = -1
_NEW = -2
"""In `path`: the game there is not written yet."""


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
def list_nodes(stack, path, at_node, branches, switches, nodes, rows, masks, slots, counts):
    """Walk the whole tree of one deal and write every node of it, and every observation that is new.

    Args:
        stack: Games, STATE `(longest line + 1,)`, the first of them set.
        path: Room for actions, int64, as long.
        at_node: Room for the nodes of a line, int64, as long.
        branches: Room for how many actions were tried before the last one, int64, as long.
        switches: The rules, SWITCHES `(1,)`.
        nodes: Written from `counts[0]` on: NODE `(N,)`.
        rows: Observations of whoever decides, each once, written from `counts[1]` on: int8 `(M, D)`.
        masks: Their action masks, int8 `(M, A)`.
        slots: Where each row is found by its hash: int32, a power of two of more than M, NO_ROW where free.
        counts: Nodes and rows so far, int64 `(2,)`; raised by those of this deal.

    Returns:
        False when there is no room: the deal is written in part.
    """
    path[0] = _NEW
    at = 0
    while at >= 0:
        # One call each of what is long: compiled functions are inlined.
        if path[at] == _NEW:
            parent = at_node[at - 1] if at > 0 else NO_NODE
            branch = branches[at - 1] if at > 0 else 0
            if not _write_node(stack[at], parent, branch, switches, nodes, rows, masks, slots, counts):
                return False
            at_node[at] = counts[0] - 1
            branches[at] = -1
            path[at] = -1
        action = -1
        if stack[at].phase < BETWEEN_DEALS:
            action = first_between(stack[at].legal, path[at] + 1, NUM_ACTIONS)
        if action < 0:
            at -= 1
            continue
        path[at] = action
        branches[at] += 1
        stack[at + 1] = stack[at]
        apply(stack[at + 1], switches[0], action)
        at += 1
        path[at] = _NEW
    return True


@compiled
def _write_node(state, parent, branch, switches, nodes, rows, masks, slots, counts):
    """Write the node a game stands at; False when there is no room."""
    if counts[0] == len(nodes) or counts[1] == len(rows):
        return False
    node = nodes[counts[0]]
    node.parent = parent
    node.branch = branch
    counts[0] += 1
    if state.phase >= BETWEEN_DEALS:
        node.player = NOBODY
        node.row = NO_ROW
        node.payoff = reward(state, switches[0], REWARD_WIN, 0)
        return True
    new = counts[1]
    observe(rows, new, state, switches[0], state.player)
    node.player = state.player
    node.row = _find_row(rows, new, slots)
    node.payoff = 0.0
    if node.row == new:
        write_mask(masks, new, state)
        counts[1] += 1
    return True


@compiled
def _find_row(rows, new, slots):
    """The row that equals row `new`, or `new` itself, which then has its slot from now on."""
    key = np.int64(1)
    for i in range(rows.shape[1]):
        key = ((key ^ rows[new, i]) * _FNV_PRIME) & _MASK_62
    slot = (key ^ (key >> 29)) & (len(slots) - 1)
    while slots[slot] != NO_ROW and not _same(rows, slots[slot], new):
        slot = (slot + 1) & (len(slots) - 1)
    if slots[slot] == NO_ROW:
        slots[slot] = new
    return slots[slot]


@compiled
def _same(rows, one, other):
    for i in range(rows.shape[1]):
        if rows[one, i] != rows[other, i]:
            return False
    return True


@compiled
def _look(stack, keys, rows, switches, at):
    """Add what every seat sees at `stack[at]` to what it had seen before."""
    for seat in range(switches[0].num_players):
        key = keys[at - 1, seat] if at > 0 else np.int64(seat + 1)
        observe(rows, 0, stack[at], switches[0], seat)
        for i in range(rows.shape[1]):
            key = ((key ^ rows[0, i]) * _FNV_PRIME) & _MASK_62
        keys[at, seat] = key ^ (key >> 29)
