"""The observation of one seat, written slice by slice at the spans of the layout table (section 10).

Nothing here reads what the observer may not know: another hand, an unseen 3DOWN card, an unrevealed 3UP
card of another seat, or the draw pile beyond its size.
"""

from __future__ import annotations

import numpy as np

from ..cards import MAX_DECK, NUM_CARDS, NUM_COLORS, NUM_KINDS, NUM_NUMBERS
from ..observation import BASE, BASE_BITS, LEADS, MOST_EXTRAS, ROW_LEVELS, SIZE_CODE, Part
from .jit import WORD, compiled, store_word
from .legal import source_of
from .state import BETWEEN_DEALS, NO_CARD, SABOTAGE_GIVE, SABOTAGE_WANT, UP_PHASE
from .turn import draw_offered


def _words(*entries: np.ndarray) -> np.ndarray:
    """Words of the entries of a code, lowest byte first; one row of words for each number that is coded."""
    code = np.stack(entries, 1).astype(np.uint8)
    return np.ascontiguousarray(code).view("<u4").astype(np.uint32)


_NUMBERS = np.arange(max(MAX_DECK, 100) + 1)
_ZEROS = np.zeros_like(_NUMBERS)
_COUNT = _words(_NUMBERS >= 1, _NUMBERS >= 2, _NUMBERS >= 3, np.maximum(_NUMBERS - 3, 0))[: MOST_EXTRAS + 1, 0]
_LOW_PAIR = _words(_NUMBERS >= 1, np.maximum(_NUMBERS - 1, 0), _ZEROS, _ZEROS)[: MOST_EXTRAS + 1, 0]
_HIGH_PAIR = _words(_ZEROS, _ZEROS, _NUMBERS >= 1, np.maximum(_NUMBERS - 1, 0))[: MOST_EXTRAS + 1, 0]
_SIZE = _words(*(_NUMBERS >= level for level in (1, 2, 3, 4, 6, 10)), _NUMBERS // BASE, _NUMBERS % BASE)


@compiled
def _write_size(rows, row, at, size):
    """Size code of a number."""
    store_word(rows, row, at, _SIZE[np.uint8(size), 0])
    store_word(rows, row, at + WORD, _SIZE[np.uint8(size), 1])


@compiled
def _write_digits(rows, row, start, stop, number):
    """A number in base 8, lowest digit first."""
    for at in range(start, stop):
        rows[row, at] = number & (BASE - 1)
        number >>= BASE_BITS


@compiled
def seat_after(rules, seat, distance):
    """The seat `distance` places clockwise of `seat`; distance is 0..num_players - 1."""
    other = seat + distance
    return other - rules.num_players if other >= rules.num_players else other


@compiled
def distance_to(rules, seat, other):
    """How many places clockwise of `seat` the seat `other` sits."""
    distance = other - seat
    return distance + rules.num_players if distance < 0 else distance


@compiled
def decisions_left(state, rules):
    """Decisions to the limit as everyone counts them (10.1): in set-up, cards laid up, since colours said are secret."""
    made = state.decisions
    if state.revealed == 0:
        made = 0
        for seat in range(rules.num_players):
            made += state.up_size[seat]
    return max(rules.max_decisions - made, 0)


@compiled
def observe(rows, row, state, rules, seat):
    """Write what `seat` knows into `observation`, int8 `(D,)`, every entry of it."""
    _write_zones(rows, row, state, rules, seat)
    # What follows is sparse: zeros, and then what is not zero.
    for at in range(rules.spans[Part.TOP, 0], rows.shape[1]):
        rows[row, at] = 0
    _write_turn(rows, row, state, rules, seat)
    if rules.failed_flip_stays:
        _write_seen(rows, row, state, rules, seat)
    if rules.rounds > 1:
        _write_match(rows, row, state, rules, seat)
    if rules.color_swap:
        _write_colors(rows, row, state, rules, seat)
    if rules.sabotage:
        _write_sabotage(rows, row, state, rules, seat)


@compiled
def _write_zones(rows, row, state, rules, seat):
    """Every number of cards: own hand, removed cards, what is public of each seat, draw pile, pile; and the debt."""
    hand = rules.spans[Part.HAND, 0]
    removed = rules.spans[Part.REMOVED, 0]
    for kind in range(NUM_KINDS):
        store_word(rows, row, hand + WORD * kind, _COUNT[np.uint8(state.hand[seat, kind])])
        store_word(rows, row, removed + WORD * kind, _COUNT[np.uint8(state.removed[kind])])
    at = rules.spans[Part.SEAT, 0]
    size = rules.spans[Part.HAND_SIZE, 0]
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        # 2.3: before the reveal a seat sees its own 3UP cards alone. Nothing is known of any hand then.
        shown = 255 if state.revealed or distance == 0 else 0
        for kind in range(NUM_KINDS):
            word = _LOW_PAIR[np.uint8(state.up[other, kind] & shown)] | _HIGH_PAIR[np.uint8(state.known[other, kind])]
            store_word(rows, row, at, word)
            at += WORD
        _write_size(rows, row, size, state.hand_size[other])
        size += SIZE_CODE
    _write_size(rows, row, rules.spans[Part.DRAW_PILE, 0], state.deck_size - state.drawn)
    store_word(rows, row, rules.spans[Part.EXTRAS, 0], _COUNT[np.uint8(state.extras)])
    for number in range(0, NUM_NUMBERS, 2):
        word = _LOW_PAIR[np.uint8(state.pile[number])] | _HIGH_PAIR[np.uint8(state.pile[number + 1])]
        store_word(rows, row, rules.spans[Part.PILE, 0] + 2 * number, word)


@compiled
def _write_turn(rows, row, state, rules, seat):
    """Whose decision it is and what it decides, how far the limit is, and the outline of the table."""
    rows[row, rules.spans[Part.TOP, 0] + max(state.top, 0)] = state.top >= 0
    down = rules.spans[Part.DOWN, 0]
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        for slot in range(rules.table_cards):
            rows[row, down + slot] = state.down[other, slot] != NO_CARD
        down += rules.table_cards
    rows[row, rules.spans[Part.FIRST_PLAYER, 0] + distance_to(rules, seat, state.first_player)] = 1
    _write_digits(
        rows, row, rules.spans[Part.DECISIONS_LEFT, 0], rules.spans[Part.DECISIONS_LEFT, 1], decisions_left(state, rules)
    )
    if rules.reverse_ones:
        rows[row, rules.spans[Part.DIRECTION, 0]] = state.direction
    if rules.play_on:
        for distance in range(rules.num_players):
            place = state.place[seat_after(rules, seat, distance)]
            if place > 0:
                rows[row, rules.spans[Part.PLACE, 0] + distance * rules.num_players + place - 1] = 1
    if state.phase >= BETWEEN_DEALS:
        return
    rows[row, rules.spans[Part.TO_PLAY, 0] + distance_to(rules, seat, state.player)] = 1
    if rules.color_swap or rules.sabotage:
        rows[row, rules.spans[Part.PHASE, 0] + state.phase] = 1
    else:
        rows[row, rules.spans[Part.PHASE, 0] + (state.phase != UP_PHASE)] = 1
    rows[row, rules.spans[Part.DRAW_OFFERED, 0]] = draw_offered(state, rules, state.player)
    rows[row, rules.spans[Part.TABLE_CLEAR_2, 0]] = state.table_clear_2


@compiled
def _write_seen(rows, row, state, rules, seat):
    """Which 3DOWN cards their owners have seen, and the observer's own (3.3, 10.3)."""
    at = rules.spans[Part.DOWN_SEEN, 0]
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        for slot in range(rules.table_cards):
            rows[row, at + slot] = state.down_seen[other, slot]
        at += rules.table_cards
    for slot in range(rules.table_cards):
        if state.down_seen[seat, slot]:
            card = state.down[seat, slot]
            rows[row, rules.spans[Part.SEEN_KIND, 0] + slot * NUM_KINDS + card // NUM_COLORS] = 1
            if rules.color_swap:
                rows[row, rules.spans[Part.SEEN_COLOR, 0] + slot * NUM_COLORS + card % NUM_COLORS] = 1


@compiled
def _write_match(rows, row, state, rules, seat):
    """Deals finished and totals of a match (8.7)."""
    _write_size(rows, row, rules.spans[Part.DEAL, 0], state.deal)
    total = rules.spans[Part.TOTAL, 0]
    digits = (rules.spans[Part.TOTAL, 1] - total) // rules.num_players
    lead = rules.spans[Part.LEAD, 0]
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        _write_digits(rows, row, total, total + digits, state.total[other])
        total += digits
        for i in range(len(LEADS)):
            rows[row, lead + i] = state.total[other] - state.total[seat] > LEADS[i]
        lead += len(LEADS)


@compiled
def _write_colors(rows, row, state, rules, seat):
    """Cards by kind and colour, the row of one colour, and what is said of an action made in parts (8.4)."""
    for card in range(NUM_CARDS):
        rows[row, rules.spans[Part.HAND_CARD, 0] + card] = state.hand_card[seat, card]
        rows[row, rules.spans[Part.REMOVED_CARD, 0] + card] = state.removed_card[card]
    for card in range(NUM_NUMBERS * NUM_COLORS):
        rows[row, rules.spans[Part.PILE_CARD, 0] + card] = state.pile_card[card]
    at = rules.spans[Part.UP_CARD, 0]
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        if state.revealed or distance == 0:
            for slot in range(rules.table_cards):
                if state.up_card[other, slot] != NO_CARD:
                    rows[row, at + state.up_card[other, slot]] += 1
        at += NUM_CARDS
    for level in range(state.row):
        rows[row, rules.spans[Part.ROW, 0] + state.row_color * ROW_LEVELS + level] = 1
    # 2.3: in set-up nobody else sees whether a card or its colour is being chosen.
    if state.asking and (state.revealed or seat == state.player):
        _write_pending(rows, row, state, rules)
    if state.give_card != NO_CARD:
        rows[row, rules.spans[Part.GIVE_KIND, 0] + state.give_card // NUM_COLORS] = 1
        rows[row, rules.spans[Part.GIVE_COLOR, 0] + state.give_card % NUM_COLORS] = 1


@compiled
def _write_sabotage(rows, row, state, rules, seat):
    """The parts already said of a sabotage (8.6)."""
    if state.want_card != NO_CARD:
        rows[row, rules.spans[Part.WANT_KIND, 0] + state.want_card // NUM_COLORS] = 1
        if rules.color_swap:
            rows[row, rules.spans[Part.WANT_COLOR, 0] + state.want_card % NUM_COLORS] = 1
    if state.phase == SABOTAGE_WANT or state.phase == SABOTAGE_GIVE:
        rows[row, rules.spans[Part.VICTIM, 0] + distance_to(rules, seat, state.victim)] = 1


@compiled
def _write_pending(rows, row, state, rules):
    """The action whose colours are being said, and those said so far."""
    _, _, kind, count = source_of(state, state.pending)
    rows[row, rules.spans[Part.ASKING, 0]] = 1
    rows[row, rules.spans[Part.PENDING_KIND, 0] + kind] = 1
    for i in range(count):
        rows[row, rules.spans[Part.PENDING_COUNT, 0] + i] = 1
    for i in range(state.num_said):
        rows[row, rules.spans[Part.SAID, 0] + i * NUM_COLORS + state.said[i]] = 1
