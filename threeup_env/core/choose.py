"""The compiled agents `random` and `greedy`: they read a legal set and write an action (interface of agents: docs).

`greedy` is a fixed yardstick: it never changes within `-v0`.
"""

from __future__ import annotations

import numpy as np

from ..actions import DRAW, FLIP, GIVE, NUM_ACTIONS, PASS, PLAY, TAKE, TARGET, UP, WANT
from ..cards import CLEAR, MAX_COPIES, NUM_KINDS
from .jit import compiled, highest_bit, lowest_bit
from .legal import choose_random
from .random import below
from .state import LEGAL_BITS, LEGAL_WORDS

RANDOM = 0
GREEDY = 1
EXTERNAL = -1
"""A seat that Python plays, not compiled code."""


@compiled
def bits_between(legal, word, start, stop):
    """The legal actions start..stop-1 that stand in a word of the set, as bits of that word."""
    low = max(start - word * LEGAL_BITS, 0)
    high = min(stop - word * LEGAL_BITS, LEGAL_BITS)
    if low >= high:
        return 0
    return legal[word] & (((1 << (high - low)) - 1) << low)


@compiled
def first_between(legal, start, stop):
    """The first legal action of start..stop-1, or -1."""
    for word in range(LEGAL_WORDS):
        bits = bits_between(legal, word, start, stop)
        if bits != 0:
            return word * LEGAL_BITS + lowest_bit(bits)
    return -1


@compiled
def last_between(legal, start, stop):
    """The last legal action of start..stop-1, or -1."""
    for word in range(LEGAL_WORDS - 1, -1, -1):
        bits = bits_between(legal, word, start, stop)
        if bits != 0:
            return word * LEGAL_BITS + highest_bit(bits)
    return -1


@compiled
def choose_greedy(legal, extra_owed):
    """The action of `greedy` from a legal set, not empty; `extra_owed` tells the draw of 5.3 from that of 8.2."""
    action = last_between(legal, UP, UP + NUM_KINDS)
    if action >= 0:
        return action
    if extra_owed and first_between(legal, DRAW, DRAW + 1) >= 0:
        return DRAW
    action = first_between(legal, PLAY, PLAY + CLEAR * MAX_COPIES)
    if action >= 0:
        # All copies of the lowest number: its plays stand side by side.
        start = action - (action - PLAY) % MAX_COPIES
        return last_between(legal, start, start + MAX_COPIES)
    for kind in range(CLEAR, NUM_KINDS):
        action = first_between(legal, PLAY + kind * MAX_COPIES, PLAY + kind * MAX_COPIES + 1)
        if action >= 0:
            return action
    action = first_between(legal, FLIP, UP)
    if action < 0:
        action = last_between(legal, WANT, TARGET)
    if action < 0:
        action = first_between(legal, GIVE, WANT)
    if action < 0:
        action = first_between(legal, TARGET, NUM_ACTIONS)
    if action < 0:
        action = first_between(legal, TAKE, TAKE + 1)
    if action < 0:
        action = first_between(legal, DRAW, TAKE)
    return action if action >= 0 else PASS


@compiled
def choose(agent, state, rng):
    """The action of a compiled agent, RANDOM or GREEDY, at the decision the game stands at."""
    if agent == GREEDY:
        return choose_greedy(state.legal, state.extras > 0)
    return choose_random(state, rng)


@compiled
def read_mask(mask, legal):
    """The legal set, int64 `(3,)`, of a mask."""
    legal[:] = 0
    for action in range(len(mask)):
        if mask[action] != 0:
            legal[action // LEGAL_BITS] |= 1 << (action % LEGAL_BITS)


@compiled
def choose_greedy_batch(masks, extras_owed, actions):
    """`greedy` from masks `(N, A)` and flags `(N,)`: the actions are written into int64 `(N,)`."""
    legal = np.zeros(LEGAL_WORDS, np.int64)
    for row in range(len(masks)):
        read_mask(masks[row], legal)
        actions[row] = choose_greedy(legal, extras_owed[row])


@compiled
def choose_random_batch(masks, rng, actions):
    """Uniform draws from masks `(N, A)`, written into int64 `(N,)`, 0 where a mask is empty; how many are not.

    Unlike `choose`, all rows draw from one generator, uint64 `(2,)`.
    """
    drawn = 0
    for row in range(len(masks)):
        mask = masks[row]
        legal = 0
        for action in range(len(mask)):
            legal += mask[action] != 0
        actions[row] = 0
        if legal > 0:
            drawn += 1
            skip = below(rng, legal)
            action = 0
            while skip > 0 or mask[action] == 0:
                skip -= mask[action] != 0
                action += 1
            actions[row] = action
    return drawn
