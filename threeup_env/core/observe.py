"""The observation of one seat, written slice by slice at the spans of the layout table (section 10).

Nothing here reads what the observer may not know: another hand, an unseen 3DOWN card, an unrevealed 3UP
card of another seat, or the draw pile beyond its size.
"""

from __future__ import annotations

import numpy as np

from ..cards import NUM_CARDS, NUM_COLORS, NUM_KINDS, NUM_NUMBERS
from ..observation import (
    BASE,
    BASE_BITS,
    DIGITS_IN_WORD,
    LEADS,
    ROW_LEVELS,
    Part,
)
from .jit import compiled, copy_word, store_filled, store_word
from .legal import source_of
from .state import BETWEEN_DEALS, NO_CARD, SABOTAGE_GIVE, SABOTAGE_WANT, TURN, UP_PHASE
from .turn import draw_offered

_TOP = np.eye(NUM_NUMBERS + 1, 16, -1, np.uint8).view("u8")
"""The one-hot of the top kind as two words; row 0 is the empty pile."""


@compiled
def _write_digits(rows, row, start, stop, number):
    """A number in base 8, lowest digit first, `DIGITS_IN_WORD` at a time."""
    for at in range(start, stop, DIGITS_IN_WORD):
        word = 0
        for digit in range(DIGITS_IN_WORD):
            word |= ((number >> (BASE_BITS * digit)) & (BASE - 1)) << (8 * digit)
        store_word(rows, row, at, np.uint32(word))
        number >>= BASE_BITS * DIGITS_IN_WORD


@compiled
def seat_after(rules, seat, distance):
    """The seat `distance` places clockwise of `seat`; distance is 0..num_players - 1."""
    other = seat + distance
    return other - rules.num_players if other >= rules.num_players else other


@compiled
def next_seat(rules, seat):
    """The next seat clockwise, as the unsigned byte that an index needs no check for."""
    return np.uint8(0) if seat + 1 == rules.num_players else np.uint8(seat + 1)


@compiled
def distance_to(rules, seat, other):
    """How many places clockwise of `seat` the seat `other` sits."""
    distance = other - seat
    return distance + rules.num_players if distance < 0 else distance


@compiled
def decisions_left(state, rules):
    """Decisions to the limit as everyone counts them (10.1): in set-up by cards laid up, as colours are secret."""
    made = state.decisions
    if state.revealed == 0:
        made = 0
        for seat in range(rules.num_players):
            made += state.up_size[seat]
    return max(rules.max_decisions - made, 0)


@compiled
def observe(rows, row, state, rules, seat):
    """Write what `seat` knows into a row of `rows`, int8 `(N, D)`, every entry of it."""
    _write_zones(rows, row, state, rules, seat)
    _write_turn(rows, row, state, rules, seat)
    if rules.spans[Part.DECISIONS_LEFT.value, 1] < rows.shape[1]:
        _write_options(rows, row, state, rules, seat)


@compiled
def _write_one_hot(rows, row, at, index, shown):
    """Eight entries, zeros but the one at `index`, which is `shown`; the slice that follows overwrites the surplus."""
    store_word(rows, row, at, np.uint64(shown) << np.uint64(8 * index))


@compiled
def _copy_zone(rows, row, at, counts):
    """The counts of a zone, 13 entries, as two words that overlap: one vector would wait for counts just written."""
    copy_word(rows, row, at, counts, 0)
    copy_word(rows, row, at + NUM_KINDS - 8, counts, NUM_KINDS - 8)


@compiled
def _write_zones(rows, row, state, rules, seat):
    """Every number of cards: own hand, removed cards, pile, what is public of each seat, draw pile; and the debt.

    A word may reach into the slices after it, which are written after it.
    """
    _copy_zone(rows, row, rules.spans[Part.HAND.value, 0], state.hand[seat])
    _copy_zone(rows, row, rules.spans[Part.REMOVED.value, 0], state.removed)
    up = rules.spans[Part.UP.value, 0]
    known = rules.spans[Part.KNOWN.value, 0]
    sizes = rules.spans[Part.HAND_SIZE.value, 0]
    copy_word(rows, row, sizes, state.hand_size, seat)
    copy_word(rows, row, sizes + rules.num_players - seat, state.hand_size, 0)
    down = rules.spans[Part.DOWN.value, 0]
    other = np.uint8(seat)
    for _ in range(rules.num_players):
        _copy_zone(rows, row, up, state.up[other])
        _copy_zone(rows, row, known, state.known[other])
        store_filled(rows, row, down, state.down[other], NO_CARD)
        up += NUM_KINDS
        known += NUM_KINDS
        down += rules.table_cards
        other = next_seat(rules, other)
    if not state.revealed:
        # 2.3: before the reveal a seat sees its own 3UP cards alone.
        for hidden in range(rules.spans[Part.UP.value, 0] + NUM_KINDS, up):
            rows[row, hidden] = 0
    rows[row, rules.spans[Part.DRAW_PILE.value, 0]] = state.deck_size - state.drawn
    rows[row, rules.spans[Part.EXTRAS.value, 0]] = state.extras
    _copy_zone(rows, row, rules.spans[Part.PILE.value, 0], state.pile)
    top = rules.spans[Part.TOP.value, 0]
    store_word(rows, row, top, _TOP[state.top + 1, 0])
    store_word(rows, row, top + 8, np.uint16(_TOP[state.top + 1, 1]))


@compiled
def _write_turn(rows, row, state, rules, seat):
    """Whose decision it is and what it decides, and how far the limit is.

    In the order of the layout: each word may reach into the slice after it, which is written next.
    """
    playing = state.phase < BETWEEN_DEALS
    _write_one_hot(rows, row, rules.spans[Part.TO_PLAY.value, 0], distance_to(rules, seat, state.player), playing)
    _write_one_hot(
        rows, row, rules.spans[Part.FIRST_PLAYER.value, 0], distance_to(rules, seat, state.first_player), True
    )
    if rules.color_swap or rules.sabotage:
        _write_one_hot(rows, row, rules.spans[Part.PHASE.value, 0], state.phase & 7, playing)
    else:
        word = np.uint16(playing) << np.uint16(8 * (state.phase != UP_PHASE))
        store_word(rows, row, rules.spans[Part.PHASE.value, 0], word)
    # 10.1: at this decision; an action once begun is finished first (7.1).
    drawing = (state.phase == TURN) & (state.asking == 0) & draw_offered(state, rules, state.player)
    rows[row, rules.spans[Part.DRAW_OFFERED.value, 0]] = drawing
    rows[row, rules.spans[Part.TABLE_CLEAR_2.value, 0]] = state.table_clear_2
    left = rules.spans[Part.DECISIONS_LEFT.value]
    _write_digits(rows, row, left[0], left[1], decisions_left(state, rules))


@compiled
def _write_options(rows, row, state, rules, seat):
    """What options add; they are sparse, so zeros come first."""
    for at in range(rules.spans[Part.DECISIONS_LEFT.value, 1], rows.shape[1]):
        rows[row, at] = 0
    if rules.failed_flip_stays:
        _write_seen(rows, row, state, rules, seat)
    if rules.reverse_ones:
        rows[row, rules.spans[Part.DIRECTION.value, 0]] = state.direction
    if rules.play_on:
        for distance in range(rules.num_players):
            place = state.place[seat_after(rules, seat, distance)]
            if place > 0:
                rows[row, rules.spans[Part.PLACE.value, 0] + distance * rules.num_players + place - 1] = 1
    if rules.rounds > 1:
        _write_match(rows, row, state, rules, seat)
    if rules.color_swap:
        _write_colors(rows, row, state, rules, seat)
    if rules.sabotage:
        _write_sabotage(rows, row, state, rules, seat)


@compiled
def _write_seen(rows, row, state, rules, seat):
    """Which 3DOWN cards their owners have seen, and the observer's own (3.3, 10.3)."""
    at = rules.spans[Part.DOWN_SEEN.value, 0]
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        for slot in range(rules.table_cards):
            rows[row, at + slot] = state.down_seen[other, slot]
        at += rules.table_cards
    for slot in range(rules.table_cards):
        if state.down_seen[seat, slot]:
            card = state.down[seat, slot]
            rows[row, rules.spans[Part.SEEN_KIND.value, 0] + slot * NUM_KINDS + card // NUM_COLORS] = 1
            if rules.color_swap:
                rows[row, rules.spans[Part.SEEN_COLOR.value, 0] + slot * NUM_COLORS + card % NUM_COLORS] = 1


@compiled
def _write_match(rows, row, state, rules, seat):
    """Deals finished and totals of a match (8.7)."""
    rows[row, rules.spans[Part.DEAL.value, 0]] = state.deal
    total = rules.spans[Part.TOTAL.value, 0]
    digits = (rules.spans[Part.TOTAL.value, 1] - total) // rules.num_players
    lead = rules.spans[Part.LEAD.value, 0]
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
        rows[row, rules.spans[Part.HAND_CARD.value, 0] + card] = state.hand_card[seat, card]
        rows[row, rules.spans[Part.REMOVED_CARD.value, 0] + card] = state.removed_card[card]
    for card in range(NUM_NUMBERS * NUM_COLORS):
        rows[row, rules.spans[Part.PILE_CARD.value, 0] + card] = state.pile_card[card]
    at = rules.spans[Part.UP_CARD.value, 0]
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        if state.revealed or distance == 0:
            for slot in range(rules.table_cards):
                if state.up_card[other, slot] != NO_CARD:
                    rows[row, at + state.up_card[other, slot]] += 1
        at += NUM_CARDS
    for level in range(state.row):
        rows[row, rules.spans[Part.ROW.value, 0] + state.row_color * ROW_LEVELS + level] = 1
    # 2.3: in set-up nobody else sees whether a card or its colour is being chosen.
    if state.asking and (state.revealed or seat == state.player):
        _write_pending(rows, row, state, rules)
    if state.give_card != NO_CARD:
        rows[row, rules.spans[Part.GIVE_KIND.value, 0] + state.give_card // NUM_COLORS] = 1
        rows[row, rules.spans[Part.GIVE_COLOR.value, 0] + state.give_card % NUM_COLORS] = 1


@compiled
def _write_sabotage(rows, row, state, rules, seat):
    """The parts already said of a sabotage (8.6)."""
    if state.want_card != NO_CARD:
        rows[row, rules.spans[Part.WANT_KIND.value, 0] + state.want_card // NUM_COLORS] = 1
        if rules.color_swap:
            rows[row, rules.spans[Part.WANT_COLOR.value, 0] + state.want_card % NUM_COLORS] = 1
    if state.phase == SABOTAGE_WANT or state.phase == SABOTAGE_GIVE:
        rows[row, rules.spans[Part.VICTIM.value, 0] + distance_to(rules, seat, state.victim)] = 1


@compiled
def _write_pending(rows, row, state, rules):
    """The action whose colours are being said, and those said so far."""
    _, _, kind, count = source_of(state, state.pending)
    rows[row, rules.spans[Part.ASKING.value, 0]] = 1
    rows[row, rules.spans[Part.PENDING_KIND.value, 0] + kind] = 1
    for i in range(count):
        rows[row, rules.spans[Part.PENDING_COUNT.value, 0] + i] = 1
    for i in range(state.num_said):
        rows[row, rules.spans[Part.SAID.value, 0] + i * NUM_COLORS + state.said[i]] = 1
