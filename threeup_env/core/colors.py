"""Colours: which are asked for, and the row of one colour on the pile (7.3, 8.4)."""

from __future__ import annotations

from ..actions import NUM_SLOTS
from ..cards import CLEAR, NUM_COLORS
from .jit import compiled

ROW_OF_FOUR = 4
"""Cards of one colour in a row that allow an exchange."""


@compiled
def copies_left(state, seat, from_up, kind, color):
    """Cards of a kind and colour in the zone, less those whose colour has been said already."""
    card = kind * NUM_COLORS + color
    copies = 0
    if from_up:
        for slot in range(NUM_SLOTS):
            copies += state.up_card[seat, slot] == card
    else:
        copies += state.hand_card[seat, card]
    for i in range(state.num_said):
        if state.said[i] == color:
            copies -= 1
    return copies


@compiled
def settle_colors(state, rules, seat, from_up, kind, count):
    """Say every colour that needs no asking. True when the colours of all `count` cards are known.

    A colour is asked only under `color_swap`, only for numbers, and only while more than one is possible
    (8.4). Elsewhere cards leave in the order green, red, blue (7.3).
    """
    while state.num_said < count:
        possible = 0
        first = -1
        for color in range(NUM_COLORS):
            if copies_left(state, seat, from_up, kind, color) > 0:
                possible += 1
                if first < 0:
                    first = color
        if possible > 1 and rules.color_swap and kind < CLEAR:
            return False
        state.said[state.num_said] = first
        state.num_said += 1
    return True


@compiled
def extend_row(state, count):
    """Lay `count` cards, in the colours said, on the row of one colour. True when one of them is the fourth (8.4)."""
    fourth = False
    for i in range(count):
        if state.row > 0 and state.said[i] == state.row_color:
            state.row += 1
        else:
            state.row_color = state.said[i]
            state.row = 1
        if state.row == ROW_OF_FOUR:
            fourth = True
            state.row = 0
    return fourth
