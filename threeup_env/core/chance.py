"""What chance decides, piece by piece: for faces that draw hidden cards when they are turned up, not in the shuffle.

Chance decides places: the first player of a game, a pair of `swap`, a 3DOWN slot, a position of `deck`. Until
then any card may stand there. Nothing reads it, because `next_place` names every place that an action reads
before the action is made. All cards that no place holds yet are alike: whatever is decided next takes
one of them with equal chances, which makes the same game as a shuffled deck (2.1).
"""

from __future__ import annotations

from ..actions import FLIP, NUM_SLOTS, UP
from . import deal
from .ending import counts_table
from .jit import compiled
from .state import BETWEEN_DEALS, MAX_SEATS, MAX_SWAPS, NO_CARD, RANDOM_FIRST
from .step import apply
from .zones import empty_colors, empty_table

NO_PLACE = -1
"""Nothing is left for chance to decide."""
FIRST_PLAYER = 0
"""`state.first_player`."""
SWAP = 1
"""SWAP + i is `state.swap[i]`."""
DOWN = SWAP + MAX_SWAPS
"""DOWN + NUM_SLOTS * seat + slot is `state.down[seat, slot]`."""
DECK = DOWN + MAX_SEATS * NUM_SLOTS
"""DECK + i is `state.deck[i]`."""


@compiled
def clear_table(states, switches):
    """Make ready for the next deal: nothing is dealt, and the first player is known unless chance draws it (2.4)."""
    state, rules = states[0], switches[0]
    state.deck[:] = 0
    state.deck_size = rules.deck_size
    if state.deal > 0 or rules.first_player != RANDOM_FIRST:
        deal.draw_first_player(state, rules)
    empty_table(state)
    if rules.track_colors:
        empty_colors(state)


@compiled
def next_place_of_deal(states, switches, decided):
    """The place that chance decides next in a deal, once it has decided `decided` of them, or NO_PLACE.

    They are the first player, where it is drawn (2.4), and the hands; 3DOWN cards wait until they are turned (2.2).
    """
    state, rules = states[0], switches[0]
    if state.deal == 0 and rules.first_player == RANDOM_FIRST:
        if decided == 0:
            return FIRST_PLAYER
        decided -= 1
    if decided < rules.num_players * (rules.table_cards + rules.hand_size):
        return DECK + rules.num_players * rules.table_cards + decided
    return NO_PLACE


@compiled
def next_place(states, copies, switches, action, decided):
    """The place that chance decides next for a legal action, once it has decided `decided` of them, or NO_PLACE.

    They are the 3DOWN card that is turned (3.3); the pile swaps of a reveal (8.5); the cards drawn from the draw pile
    (3.5, 5.3, 8.2); and 3DOWN cards left over in a deal that ends by counting them (6.3, 8.7).

    Args:
        states: The game, STATE `(1,)`, in front of the action.
        copies: A copy of it that is written over.
        switches: The rules, SWITCHES `(1,)`.
        action: The action, legal.
        decided: Places that chance has decided for this action; the cards are in the record.
    """
    state, rules, after = states[0], switches[0], copies[0]
    if state.asking == 0 and FLIP <= action < UP and state.down_seen[state.player, action - FLIP] == 0:
        if decided == 0:
            return DOWN + NUM_SLOTS * state.player + action - FLIP
        decided -= 1
    # How far an action goes does not depend on the cards it draws, so they need not be known to try it out.
    apply(after, rules, action)
    if after.revealed and not state.revealed:
        if decided < rules.pile_swaps:
            return SWAP + decided
        decided -= rules.pile_swaps
    if decided < after.drawn - state.drawn:
        return DECK + state.drawn + decided
    decided -= after.drawn - state.drawn
    if after.phase >= BETWEEN_DEALS and counts_table(after, rules):
        for seat in range(rules.num_players):
            for slot in range(rules.table_cards):
                if after.down[seat, slot] != NO_CARD and after.down_seen[seat, slot] == 0:
                    if decided == 0:
                        return DOWN + NUM_SLOTS * seat + slot
                    decided -= 1
    return NO_PLACE


@compiled
def seat_dealt(switches, place):
    """The seat whose hand a place of `next_place_of_deal` belongs to (2.2)."""
    rules = switches[0]
    position = place - DECK - rules.num_players * rules.table_cards
    return position // (rules.table_cards + rules.hand_size)
