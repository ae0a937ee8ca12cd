"""Moving cards: each function moves cards of one zone and keeps sizes, colours and public knowledge right.

Where several cards of a kind move, `state.said` holds their colours in the order they move (8.4, or 7.3);
it is read only where colours are tracked.
"""

from __future__ import annotations

from ..actions import NUM_SLOTS
from ..cards import CLEAR, NUM_COLORS, NUM_KINDS
from .jit import compiled
from .state import NO_CARD, NO_KIND

HAND = 0
TABLE = 1
DOWN = 2
NO_ZONE = 3


@compiled
def zone_of(state, seat):
    """The zone that `seat` plays from: HAND, TABLE (its 3UP cards), DOWN or NO_ZONE (3.1)."""
    if state.hand_size[seat] > 0:
        return HAND
    if state.drawn < state.deck_size:
        return NO_ZONE
    if state.up_size[seat] > 0:
        return TABLE
    return DOWN


@compiled
def cards_left(state, seat):
    """Cards that `seat` still has, in every zone."""
    return state.hand_size[seat] + state.up_size[seat] + state.down_size[seat]


@compiled
def add_to_hand(state, rules, seat, card):
    """A card nobody else sees enters the hand."""
    state.hand[seat, card // NUM_COLORS] += 1
    state.hand_size[seat] += 1
    if rules.track_colors:
        state.hand_card[seat, card] += 1


@compiled
def draw_cards(state, rules, seat, count):
    """Draw up to `count` cards from the front of the draw pile (2.2)."""
    for _ in range(min(count, state.deck_size - state.drawn)):
        add_to_hand(state, rules, seat, state.deck[state.drawn])
        state.drawn += 1


@compiled
def lower_known(state, seat, kind, count):
    """Cards of a kind left the hand in the open: the public bound falls with them, not below zero (10.2)."""
    state.known[seat, kind] = max(state.known[seat, kind] - count, 0)


@compiled
def remove_from_hand(state, rules, seat, kind, count):
    """`count` cards of `kind`, in the colours said, leave the hand."""
    state.hand[seat, kind] -= count
    state.hand_size[seat] -= count
    if rules.track_colors:
        for i in range(count):
            state.hand_card[seat, kind * NUM_COLORS + state.said[i]] -= 1


@compiled
def add_to_up(state, rules, seat, card):
    """A card joins the 3UP cards."""
    state.up[seat, card // NUM_COLORS] += 1
    state.up_size[seat] += 1
    if rules.track_colors:
        replace_up_card(state, seat, NO_CARD, card)


@compiled
def remove_from_up(state, rules, seat, kind, count):
    """`count` cards of `kind`, in the colours said, leave the 3UP cards."""
    state.up[seat, kind] -= count
    state.up_size[seat] -= count
    if rules.track_colors:
        for i in range(count):
            replace_up_card(state, seat, kind * NUM_COLORS + state.said[i], NO_CARD)


@compiled
def replace_up_card(state, seat, old, new):
    """Where colours are tracked, put one 3UP card in the place of another; NO_CARD stands for an empty place."""
    for slot in range(NUM_SLOTS):
        if state.up_card[seat, slot] == old:
            state.up_card[seat, slot] = new
            return


@compiled
def exchange_up(state, rules, owner, taker, given, wanted):
    """The hand card `given` of `taker` takes the place of the 3UP card `wanted` of `owner` (8.4, 8.6).

    In the public bound the given card lowers first, then the wanted one raises (10.2).
    """
    state.said[0] = given % NUM_COLORS
    remove_from_hand(state, rules, taker, given // NUM_COLORS, 1)
    lower_known(state, taker, given // NUM_COLORS, 1)
    state.said[0] = wanted % NUM_COLORS
    remove_from_up(state, rules, owner, wanted // NUM_COLORS, 1)
    add_to_up(state, rules, owner, given)
    add_to_hand(state, rules, taker, wanted)
    state.known[taker, wanted // NUM_COLORS] += 1


@compiled
def take_pile(state, rules, seat):
    """The whole discard pile goes to the hand, in the open (3.4, 10.2)."""
    for kind in range(CLEAR):
        count = state.pile[kind]
        state.hand[seat, kind] += count
        state.known[seat, kind] += count
        state.hand_size[seat] += count
        state.pile[kind] = 0
    if rules.track_colors:
        for card in range(CLEAR * NUM_COLORS):
            state.hand_card[seat, card] += state.pile_card[card]
            state.pile_card[card] = 0
    state.top = NO_KIND
    state.row = 0


@compiled
def clear_pile(state, rules):
    """The whole discard pile is removed from the game (4.1, 4.2)."""
    for kind in range(CLEAR):
        state.removed[kind] += state.pile[kind]
        state.pile[kind] = 0
    if rules.track_colors:
        for card in range(CLEAR * NUM_COLORS):
            state.removed_card[card] += state.pile_card[card]
            state.pile_card[card] = 0
    state.top = NO_KIND
    state.row = 0


@compiled
def empty_table(state):
    """No cards anywhere but in the deck, nothing known, nothing begun."""
    state.pile[:] = 0
    state.removed[:] = 0
    state.hand[:, :] = 0
    state.up[:, :] = 0
    state.known[:, :] = 0
    state.down[:, :] = NO_CARD
    state.down_seen[:, :] = 0
    state.hand_size[:] = 0
    state.up_size[:] = 0
    state.down_size[:] = 0
    state.top = NO_KIND
    state.row = 0


@compiled
def empty_colors(state):
    """No counts by card."""
    state.pile_card[:] = 0
    state.removed_card[:] = 0
    state.hand_card[:, :] = 0
    state.up_card[:, :] = NO_CARD


@compiled
def swap_tables(state, rules, one, other):
    """Two players exchange their whole 3UP 3DOWN piles, slot for slot (8.5)."""
    for kind in range(NUM_KINDS):
        state.up[one, kind], state.up[other, kind] = state.up[other, kind], state.up[one, kind]
    for slot in range(NUM_SLOTS):
        state.down[one, slot], state.down[other, slot] = state.down[other, slot], state.down[one, slot]
    if rules.track_colors:
        for slot in range(NUM_SLOTS):
            state.up_card[one, slot], state.up_card[other, slot] = state.up_card[other, slot], state.up_card[one, slot]
