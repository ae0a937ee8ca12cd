"""A turn: discards, flips, draws, taking the pile, extra actions (sections 3 to 5, 8.2, 8.3)."""

from __future__ import annotations

from ..cards import CLEAR, CLEAR_2, NUM_COLORS
from .colors import extend_row
from .ending import go_out
from .jit import compiled
from .state import DRAW_NONE, DRAW_ONE, EXCHANGE_GIVE, NO_CARD, TURN
from .zones import (
    HAND,
    NO_ZONE,
    TABLE,
    add_to_hand,
    cards_left,
    clear_pile,
    draw_cards,
    lower_known,
    remove_from_hand,
    remove_from_up,
    take_pile,
    zone_of,
)

PILE_OF_THREE = 3
"""Cards of one number on top that clear the pile (4.1)."""


@compiled
def may_be_played(state, kind):
    """3.2: at least the top of the pile, anything on an empty one, a Clear always."""
    return kind >= state.top or kind >= CLEAR


@compiled
def draw_offered(state, rules, seat):
    """Whether the optional draw is offered at this decision (5.3)."""
    # Without `and`: four cheap tests cost less than branches that a processor cannot foresee.
    return (
        (state.draw_open == 1)
        & (state.extras > 0)
        & (state.hand_size[seat] < rules.hand_size)
        & (state.drawn < state.deck_size)
    )


@compiled
def third_is_taken(state, rules, zone):
    """5.7: with nothing playable, the player chooses a 3UP card that goes to the hand with the pile."""
    return zone == TABLE and rules.low_third_taken and state.extras == 1 and state.table_clear_2


@compiled
def discard(state, rules, kind, count):
    """`play`: cards of one kind, in the colours said, go from the zone to the pile (3.2), or one is taken (5.7)."""
    seat = state.player
    if zone_of(state, seat) == HAND:
        remove_from_hand(state, rules, seat, kind, count)
        lower_known(state, seat, kind, count)
        lay(state, rules, kind, count, False)
        return
    playable = may_be_played(state, kind)
    remove_from_up(state, rules, seat, kind, count)
    if playable:
        lay(state, rules, kind, count, True)
    else:
        # 5.7: only this choice makes an unplayable card legal.
        add_to_hand(state, rules, seat, kind * NUM_COLORS + state.said[0])
        state.known[seat, kind] += 1
        take_pile(state, rules, seat)
        end_turn(state, rules)


@compiled
def flip(state, rules, slot):
    """Turn over the 3DOWN card of `slot` (3.3)."""
    seat = state.player
    card = state.down[seat, slot]
    kind = card // NUM_COLORS
    if may_be_played(state, kind):
        state.said[0] = card % NUM_COLORS
        _empty_slot(state, seat, slot)
        lay(state, rules, kind, 1, True)
        return
    if rules.failed_flip_stays:
        state.down_seen[seat, slot] = 1
    else:
        _empty_slot(state, seat, slot)
        add_to_hand(state, rules, seat, card)
    take_pile(state, rules, seat)
    end_turn(state, rules)


@compiled
def _empty_slot(state, seat, slot):
    state.down[seat, slot] = NO_CARD
    state.down_seen[seat, slot] = 0
    state.down_size[seat] -= 1


@compiled
def lay(state, rules, kind, count, from_table):
    """Everything that follows when cards of one kind have left their zone for the pile (sections 4 to 6, 8.3, 8.4)."""
    seat = state.player
    change_debt(state, rules, kind)
    if kind == CLEAR_2 and from_table:
        state.table_clear_2 = 1
    fourth = False
    if kind >= CLEAR:
        # 4.2: a Clear takes the pile and itself out of the game.
        state.removed[kind] += count
        if rules.track_colors:
            for i in range(count):
                state.removed_card[kind * NUM_COLORS + state.said[i]] += 1
        clear_pile(state, rules)
    else:
        state.pile[kind] += count
        state.top = kind
        if rules.track_colors:
            for i in range(count):
                state.pile_card[kind * NUM_COLORS + state.said[i]] += 1
            fourth = extend_row(state, count)
        # The pile never falls, so all its cards of the top kind lie together on top.
        if state.pile[kind] >= PILE_OF_THREE:
            clear_pile(state, rules)
            fourth = False
        if kind == 0 and rules.reverse_ones and state.still_in > 2:
            state.direction = -state.direction
    if cards_left(state, seat) == 0:
        if not go_out(state, rules, seat):
            end_turn(state, rules)
    elif fourth and rules.color_swap and state.hand_size[seat] > 0 and state.up_size[seat] > 0:
        state.phase = EXCHANGE_GIVE
    else:
        go_on(state, rules)


@compiled
def change_debt(state, rules, kind):
    """5.1: an extra played lowers the debt, a bonus raises it; 5.3: which of them offers the draw again."""
    bonus = max(kind - CLEAR, 0)
    state.extras = max(state.extras - 1, 0) + bonus
    state.draw_open = rules.extra_draw != DRAW_NONE and (bonus > 0 or rules.draw_before_each == 1)


@compiled
def go_on(state, rules):
    """After an action: the next extra if one is owed and can be met, else the end of the turn (5.6)."""
    seat = state.player
    lapses = zone_of(state, seat) == NO_ZONE and not draw_offered(state, rules, seat)
    if state.extras == 0 or lapses:
        end_turn(state, rules)
    else:
        state.phase = TURN


@compiled
def end_turn(state, rules):
    """Refill the hand (3.5); the next player still in has the turn (3.5, 6.2)."""
    state.extras = 0
    state.draw_open = 0
    state.table_clear_2 = 0
    seat = state.player
    if state.hand_size[seat] < rules.hand_size:
        draw_cards(state, rules, seat, rules.hand_size - state.hand_size[seat])
    state.phase = TURN
    while True:
        seat += state.direction
        if seat == rules.num_players:
            seat = 0
        elif seat < 0:
            seat = rules.num_players - 1
        if cards_left(state, seat) > 0:
            break
    state.player = seat


@compiled
def draw(state, rules):
    """`draw`: the optional draw before an extra (5.3), or instead of a discard (8.2)."""
    seat = state.player
    if state.extras == 0:
        draw_cards(state, rules, seat, 1)
        end_turn(state, rules)
        return
    state.draw_open = 0
    draw_cards(state, rules, seat, 1 if rules.extra_draw == DRAW_ONE else rules.hand_size - state.hand_size[seat])
    go_on(state, rules)


@compiled
def take(state, rules):
    """`take`: the pile goes to the hand, a debt is dropped, the turn ends (3.4, 5.5)."""
    take_pile(state, rules, state.player)
    end_turn(state, rules)
