"""The legal actions (section 7): a set of bits in the record, made anew after every decision.

`state.legal` holds one bit an action, 63 to a word. Nine kinds of seven copies fill the first word, so
that all plays of a zone are laid down by kind with a shift each and no branch.
"""

from __future__ import annotations

from ..actions import (
    COLOR,
    DRAW,
    FLIP,
    GIVE,
    NUM_ACTIONS,
    NUM_BASE_ACTIONS,
    NUM_SLOTS,
    PASS,
    PLAY,
    TAKE,
    TARGET,
    UP,
    WANT,
)
from ..cards import CLEAR, MAX_COPIES, NUM_COLORS, NUM_KINDS
from .colors import copies_left
from .jit import compiled, count_bits, lowest_bit, store_16_bits, store_32_bits, store_64_bits
from .random import below
from .state import (
    BETWEEN_DEALS,
    EXCHANGE_GIVE,
    EXCHANGE_WANT,
    LEGAL_BITS,
    NO_CARD,
    SABOTAGE_GIVE,
    SABOTAGE_TARGET,
    SABOTAGE_WANT,
    TURN,
    UP_PHASE,
)
from .turn import draw_offered, third_is_taken
from .zones import DOWN, HAND, NO_ZONE, TABLE, zone_of

_KINDS_IN_WORD = LEGAL_BITS // MAX_COPIES
_MOST_SKIPPED = 4
"""Bits that are skipped without a branch, as most draws need no more."""


@compiled
def allow(state, action):
    """Add an action to the legal set."""
    state.legal[action // LEGAL_BITS] |= 1 << (action % LEGAL_BITS)


@compiled
def is_legal(state, action):
    """Whether `action`, of the action table, is legal now."""
    return (state.legal[action // LEGAL_BITS] >> (action % LEGAL_BITS)) & 1 == 1


@compiled
def choose_random(state, rng):
    """A uniformly drawn legal action; there must be one."""
    in_first = count_bits(state.legal[0])
    in_two = in_first + count_bits(state.legal[1])
    skip = below(rng, in_two + count_bits(state.legal[2]))
    # Selections, not branches: no processor foresees a random draw.
    beyond_first = skip >= in_first
    beyond_two = skip >= in_two
    bits = state.legal[2] if beyond_two else (state.legal[1] if beyond_first else state.legal[0])
    start = 2 * LEGAL_BITS if beyond_two else (LEGAL_BITS if beyond_first else 0)
    skip -= in_two if beyond_two else (in_first if beyond_first else 0)
    for i in range(_MOST_SKIPPED):
        bits = bits & (bits - 1) if skip > i else bits
    for _ in range(skip - _MOST_SKIPPED):
        bits &= bits - 1
    return start + lowest_bit(bits)


@compiled
def write_mask(masks, row, state):
    """Write the legal set into a row of masks, int8 `(N, A)`, A the size of the action space."""
    # Each store may reach into the entries of the next; the last one ends with the mask, and overlaps the one before.
    store_64_bits(masks, row, 0, state.legal[0])
    if masks.shape[1] > 2 * LEGAL_BITS:
        store_64_bits(masks, row, LEGAL_BITS, state.legal[1])
        store_16_bits(masks, row, 2 * LEGAL_BITS, state.legal[2])
        store_16_bits(masks, row, NUM_ACTIONS - 16, state.legal[2] >> (NUM_ACTIONS - 16 - 2 * LEGAL_BITS))
    else:
        store_32_bits(masks, row, LEGAL_BITS, state.legal[1])
        store_16_bits(masks, row, NUM_BASE_ACTIONS - 16, state.legal[1] >> (NUM_BASE_ACTIONS - 16 - LEGAL_BITS))


@compiled
def find_legal(state, rules):
    """Make the legal set of the decision the game stands at (7.1, 7.2)."""
    state.legal[0] = 0
    state.legal[1] = 0
    state.legal[2] = 0
    if state.asking:
        _allow_colors(state)
    elif state.phase == TURN:
        _allow_turn(state, rules)
    elif state.phase == UP_PHASE:
        _allow_kinds(state, UP, state.hand[state.player])
    elif state.phase < BETWEEN_DEALS:
        _allow_swaps(state, rules)


@compiled
def _allow_turn(state, rules):
    """What may be done in a turn (3.1 to 3.4, 5.3 to 5.7, 8.2)."""
    seat = state.player
    zone = zone_of(state, seat)
    extra_owed = state.extras > 0
    if extra_owed:
        if draw_offered(state, rules, seat):
            allow(state, DRAW)
        if not rules.extra_mandatory:
            allow(state, PASS)
    if zone == DOWN:
        for slot in range(NUM_SLOTS):
            if state.down[seat, slot] != NO_CARD:
                allow(state, FLIP + slot)
    elif zone != NO_ZONE:
        if _allow_plays(state, rules, state.hand[seat] if zone == HAND else state.up[seat]):
            # 8.2: a player who could discard may draw a card instead.
            if not rules.must_play and not extra_owed and state.drawn < state.deck_size:
                allow(state, DRAW)
        elif third_is_taken(state, rules, zone):
            for kind in range(NUM_KINDS):
                if state.up[seat, kind] > 0:
                    allow(state, PLAY + kind * MAX_COPIES)
        else:
            allow(state, TAKE)


@compiled
def _allow_plays(state, rules, zone):
    """Allow every discard from the counts of a zone (3.2); False when there is none."""
    low = 0
    high = 0
    for kind in range(_KINDS_IN_WORD):
        low |= ((1 << zone[kind]) - 1) << (kind * MAX_COPIES)
    for kind in range(_KINDS_IN_WORD, NUM_KINDS):
        copies = zone[kind]
        if kind >= CLEAR and not rules.clear_sets:
            copies = min(copies, 1)
        high |= ((1 << copies) - 1) << ((kind - _KINDS_IN_WORD) * MAX_COPIES)
    # Kinds below the top of the pile drop out; on an empty pile (top is -1) none does.
    low &= -1 << (max(state.top, 0) * MAX_COPIES)
    state.legal[0] |= low
    state.legal[1] |= high
    return low | high != 0


@compiled
def _allow_kinds(state, first, zone):
    """Allow one action for each kind that a zone holds."""
    for kind in range(NUM_KINDS):
        if zone[kind] > 0:
            allow(state, first + kind)


@compiled
def _allow_swaps(state, rules):
    """The parts of an exchange (8.4) and of a sabotage (8.6); only their first part may be declined."""
    if state.phase == SABOTAGE_TARGET:
        allow(state, PASS)
        for distance in range(1, rules.num_players):
            allow(state, TARGET + distance - 1)
    elif state.phase == SABOTAGE_WANT or state.phase == EXCHANGE_WANT:
        _allow_kinds(state, WANT, state.up[state.victim])
    elif state.phase == SABOTAGE_GIVE:
        _allow_kinds(state, GIVE, state.hand[state.player])
    elif state.phase == EXCHANGE_GIVE:
        allow(state, PASS)
        _allow_kinds(state, GIVE, state.hand[state.player])


@compiled
def _allow_colors(state):
    """The colours that the next card of a half-said action may have (8.4)."""
    seat, from_up, kind, _ = source_of(state, state.pending)
    for color in range(NUM_COLORS):
        if copies_left(state, seat, from_up, kind, color) > 0:
            allow(state, COLOR + color)


@compiled
def source_of(state, action):
    """What a `play`, `up`, `give` or `want` moves: seat, whether from its 3UP cards, kind and count.

    The count is 0 for every other action.
    """
    if action < DRAW:
        from_up = zone_of(state, state.player) == TABLE
        return state.player, from_up, (action - PLAY) // MAX_COPIES, (action - PLAY) % MAX_COPIES + 1
    if UP <= action < PASS:
        return state.player, False, action - UP, 1
    if GIVE <= action < WANT:
        return state.player, False, action - GIVE, 1
    if WANT <= action < TARGET:
        return state.victim, True, action - WANT, 1
    return state.player, False, 0, 0


assert PLAY == 0 and TAKE == DRAW + 1
