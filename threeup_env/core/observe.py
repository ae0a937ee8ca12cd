"""The observation of one seat, written slice by slice at the spans of the layout table (section 10).

Nothing here reads what the observer may not know: another hand, an unseen 3DOWN card, an unrevealed 3UP
card of another seat, or the draw pile beyond its size.
"""

from __future__ import annotations

import numpy as np

from ..cards import MAX_DECK, NUM_CARDS, NUM_COLORS, NUM_KINDS, NUM_NUMBERS
from ..observation import BASE, COUNT_CODE, LEADS, MOST_EXTRAS, PILE_LEVELS, ROW_LEVELS, SIZE_CODE, Part
from .jit import compiled
from .legal import source_of
from .state import BETWEEN_DEALS, NO_CARD, SABOTAGE_GIVE, SABOTAGE_WANT, UP_PHASE
from .turn import draw_offered


def _count_codes() -> np.ndarray:
    """The count code of every count that occurs."""
    counts = np.arange(MOST_EXTRAS + 1)
    return np.stack([counts >= 1, counts >= 2, counts >= 3, np.maximum(counts - 3, 0)], 1).astype(np.int8)


def _size_codes() -> np.ndarray:
    """The size code of every number of cards (and of deals, 8.7)."""
    sizes = np.arange(max(MAX_DECK, 100) + 1)
    levels = [sizes >= level for level in (1, 2, 3, 4, 6, 10)]
    return np.stack([*levels, sizes // BASE, sizes % BASE], 1).astype(np.int8)


_COUNT = _count_codes()
_SIZE = _size_codes()


@compiled
def _write_counts(observation, at, counts):
    """Count codes of an array of counts; the index after them."""
    for count in counts:
        for i in range(COUNT_CODE):
            observation[at + i] = _COUNT[count, i]
        at += COUNT_CODE
    return at


@compiled
def _write_levels(observation, at, counts, levels):
    """Levels of an array of counts; the index after them."""
    for count in counts:
        for level in range(levels):
            observation[at + level] = count > level
        at += levels
    return at


@compiled
def _write_size(observation, at, size):
    """Size code of a number; the index after it."""
    for i in range(SIZE_CODE):
        observation[at + i] = _SIZE[size, i]
    return at + SIZE_CODE


@compiled
def _write_digits(observation, start, stop, number):
    """A number in base 8, lowest digit first."""
    for at in range(start, stop):
        observation[at] = number % BASE
        number //= BASE


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
def observe(observation, state, rules, spans, seat):
    """Write what `seat` knows into `observation`, int8 `(D,)`, every entry of it."""
    observation[:] = 0
    _write_cards(observation, state, rules, spans, seat)
    _write_seats(observation, state, rules, spans, seat)
    _write_turn(observation, state, rules, spans, seat)
    if rules.failed_flip_stays:
        _write_seen(observation, state, rules, spans, seat)
    if rules.rounds > 1:
        _write_match(observation, state, rules, spans, seat)
    if rules.color_swap or rules.sabotage:
        _write_parts(observation, state, rules, spans, seat)


@compiled
def _write_cards(observation, state, rules, spans, seat):
    """Own hand, pile and removed cards; by kind, or by card where colours matter (10.1)."""
    if rules.color_swap:
        _write_counts(observation, spans[Part.HAND, 0], state.hand_card[seat])
        _write_counts(observation, spans[Part.REMOVED, 0], state.removed_card)
        _write_levels(observation, spans[Part.PILE, 0], state.pile_card[: NUM_NUMBERS * NUM_COLORS], PILE_LEVELS)
    else:
        _write_counts(observation, spans[Part.HAND, 0], state.hand[seat])
        _write_counts(observation, spans[Part.REMOVED, 0], state.removed)
        _write_levels(observation, spans[Part.PILE, 0], state.pile[:NUM_NUMBERS], PILE_LEVELS)
    if state.top >= 0:
        observation[spans[Part.TOP, 0] + state.top] = 1
    _write_size(observation, spans[Part.DRAW_PILE, 0], state.deck_size - state.drawn)


@compiled
def _write_seats(observation, state, rules, spans, seat):
    """What is public of every seat, and the observer's own unrevealed 3UP cards (2.3)."""
    up = spans[Part.UP, 0]
    known = spans[Part.KNOWN, 0]
    size = spans[Part.HAND_SIZE, 0]
    down = spans[Part.DOWN, 0]
    up_entries = (NUM_CARDS if rules.color_swap else NUM_KINDS) * rules.table_cards
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        if state.revealed or distance == 0:
            if rules.color_swap:
                _write_up_cards(observation, up, state, rules, other)
            else:
                _write_levels(observation, up, state.up[other], rules.table_cards)
        up += up_entries
        known = _write_counts(observation, known, state.known[other])
        size = _write_size(observation, size, state.hand_size[other])
        for slot in range(rules.table_cards):
            observation[down + slot] = state.down[other, slot] != NO_CARD
        down += rules.table_cards


@compiled
def _write_up_cards(observation, at, state, rules, seat):
    """3UP cards of a seat by card: each further copy sets the next level."""
    for slot in range(rules.table_cards):
        if state.up_card[seat, slot] != NO_CARD:
            entry = at + state.up_card[seat, slot] * rules.table_cards
            while observation[entry] == 1:
                entry += 1
            observation[entry] = 1


@compiled
def _write_turn(observation, state, rules, spans, seat):
    """Whose decision it is and what it decides, what is owed, and how far the limit is."""
    observation[spans[Part.FIRST_PLAYER, 0] + distance_to(rules, seat, state.first_player)] = 1
    _write_digits(
        observation, spans[Part.DECISIONS_LEFT, 0], spans[Part.DECISIONS_LEFT, 1], decisions_left(state, rules)
    )
    if rules.reverse_ones:
        observation[spans[Part.DIRECTION, 0]] = state.direction
    if rules.play_on:
        for distance in range(rules.num_players):
            place = state.place[seat_after(rules, seat, distance)]
            if place > 0:
                observation[spans[Part.PLACE, 0] + distance * rules.num_players + place - 1] = 1
    if state.phase >= BETWEEN_DEALS:
        return
    observation[spans[Part.TO_PLAY, 0] + distance_to(rules, seat, state.player)] = 1
    if rules.color_swap or rules.sabotage:
        observation[spans[Part.PHASE, 0] + state.phase] = 1
    else:
        observation[spans[Part.PHASE, 0] + (state.phase != UP_PHASE)] = 1
    for i in range(COUNT_CODE):
        observation[spans[Part.EXTRAS, 0] + i] = _COUNT[state.extras, i]
    observation[spans[Part.DRAW_OFFERED, 0]] = draw_offered(state, rules, state.player)
    observation[spans[Part.TABLE_CLEAR_2, 0]] = state.table_clear_2


@compiled
def _write_seen(observation, state, rules, spans, seat):
    """Which 3DOWN cards their owners have seen, and the observer's own (3.3, 10.3)."""
    at = spans[Part.DOWN_SEEN, 0]
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        for slot in range(rules.table_cards):
            observation[at + slot] = state.down_seen[other, slot]
        at += rules.table_cards
    for slot in range(rules.table_cards):
        if state.down_seen[seat, slot]:
            card = state.down[seat, slot]
            observation[spans[Part.SEEN_KIND, 0] + slot * NUM_KINDS + card // NUM_COLORS] = 1
            if rules.color_swap:
                observation[spans[Part.SEEN_COLOR, 0] + slot * NUM_COLORS + card % NUM_COLORS] = 1


@compiled
def _write_match(observation, state, rules, spans, seat):
    """Deals finished and totals of a match (8.7)."""
    _write_size(observation, spans[Part.DEAL, 0], state.deal)
    total = spans[Part.TOTAL, 0]
    digits = (spans[Part.TOTAL, 1] - total) // rules.num_players
    lead = spans[Part.LEAD, 0]
    for distance in range(rules.num_players):
        other = seat_after(rules, seat, distance)
        _write_digits(observation, total, total + digits, state.total[other])
        total += digits
        for i in range(len(LEADS)):
            observation[lead + i] = state.total[other] - state.total[seat] > LEADS[i]
        lead += len(LEADS)


@compiled
def _write_parts(observation, state, rules, spans, seat):
    """The row of one colour, and the parts already said of an action made in parts (8.4, 8.6)."""
    if rules.color_swap:
        if state.row > 0:
            for level in range(state.row):
                observation[spans[Part.ROW, 0] + state.row_color * ROW_LEVELS + level] = 1
        # 2.3: in set-up nobody else sees whether a card or its colour is being chosen.
        if state.asking and (state.revealed or seat == state.player):
            _write_pending(observation, state, spans)
        if state.give_card != NO_CARD:
            observation[spans[Part.GIVE_KIND, 0] + state.give_card // NUM_COLORS] = 1
            observation[spans[Part.GIVE_COLOR, 0] + state.give_card % NUM_COLORS] = 1
    if state.want_card != NO_CARD:
        observation[spans[Part.WANT_KIND, 0] + state.want_card // NUM_COLORS] = 1
        if rules.color_swap:
            observation[spans[Part.WANT_COLOR, 0] + state.want_card % NUM_COLORS] = 1
    if state.phase == SABOTAGE_WANT or state.phase == SABOTAGE_GIVE:
        observation[spans[Part.VICTIM, 0] + distance_to(rules, seat, state.victim)] = 1


@compiled
def _write_pending(observation, state, spans):
    """The action whose colours are being said, and those said so far."""
    _, _, kind, count = source_of(state, state.pending)
    observation[spans[Part.ASKING, 0]] = 1
    observation[spans[Part.PENDING_KIND, 0] + kind] = 1
    for i in range(count):
        observation[spans[Part.PENDING_COUNT, 0] + i] = 1
    for i in range(state.num_said):
        observation[spans[Part.SAID, 0] + i * NUM_COLORS + state.said[i]] = 1
