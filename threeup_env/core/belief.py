"""What a seat believes: everything that is hidden from it, dealt out anew (section 10).

`forget` takes out of a record what a seat does not know, `imagine` deals the hidden cards anew, and `determinize` does
both. The result is a complete game that the seat cannot tell from the true one, and nothing in it depends on what
was hidden.

Some cards of other hands are located: those that everyone knows to lie there (10.2), and those that a player has
named in an action not yet finished (10.1). All the others are as likely to lie in one hidden place as in another:
every way to deal the cards that nobody has located to the places that are left is drawn with the same chance.
"""

from __future__ import annotations

from ..actions import NUM_SLOTS
from ..cards import NUM_CARDS, NUM_COLORS, NUM_KINDS
from .colors import copies_left
from .deal import draw_swaps
from .jit import compiled
from .legal import find_legal, source_of
from .random import shuffle
from .state import BETWEEN_DEALS, NO_CARD
from .zones import replace_up_card

UNSEEN = 254
"""In a 3DOWN slot of a record that was forgotten: a card that the seat does not know."""


@compiled
def determinize(state, rules, seat):
    """Deal everything that is hidden from `seat` anew, by the generator that stands in the record."""
    forget(state, rules, seat)
    imagine(state, rules, seat)


@compiled
def forget(state, rules, seat):
    """Take out of a record what `seat` does not know; the cards hidden from it lie at the end of the deck.

    The generator is left to whoever calls. The record is no game until `imagine` has dealt those cards.
    """
    for other in range(rules.num_players):
        if other != seat:
            state.hand[other, :] = 0
            state.hand_card[other, :] = 0
            if not state.revealed:
                state.up[other, :] = 0
                state.up_card[other, :] = NO_CARD
        for slot in range(NUM_SLOTS):
            if is_unseen(state, seat, other, slot):
                state.down[other, slot] = UNSEEN
    if not state.revealed:
        _forget_choices(state, rules, seat)
    if not state.asking:
        state.num_said = 0
        state.said[:] = 0
        state.pending = 0
    if state.player != seat:
        state.legal[:] = 0
    _sort_deck(state, rules, seat)


@compiled
def is_unseen(state, seat, owner, slot):
    """Whether a 3DOWN card of `owner` is hidden from `seat`."""
    return state.down[owner, slot] != NO_CARD and not (owner == seat and state.down_seen[owner, slot] == 1)


@compiled
def _forget_choices(state, rules, seat):
    """2.3: before the reveal, decisions are counted by cards laid up, and another's half-made choice is secret."""
    state.decisions = 0
    for other in range(rules.num_players):
        state.decisions += state.up_size[other]
    if state.player != seat:
        state.asking = 0
    state.swap[:, :] = 0


@compiled
def _sort_deck(state, rules, seat):
    """Order the deck by what `seat` knows: the cards that it sees, then all others, in an order that tells nothing."""
    state.deck[:] = rules.deck
    at = 0
    for slot in range(NUM_SLOTS):
        if state.down[seat, slot] < NUM_CARDS:
            if rules.track_colors:
                at = _bring_card(state, at, state.down[seat, slot])
            else:
                # Colours are not kept, so any card of the kind is as good.
                at = _bring_kind(state, at, state.down[seat, slot] // NUM_COLORS)
                state.down[seat, slot] = state.deck[at - 1]
    if rules.track_colors:
        for card in range(NUM_CARDS):
            for _ in range(state.hand_card[seat, card] + state.pile_card[card] + state.removed_card[card]):
                at = _bring_card(state, at, card)
        for other in range(rules.num_players):
            for slot in range(NUM_SLOTS):
                if state.up_card[other, slot] != NO_CARD:
                    at = _bring_card(state, at, state.up_card[other, slot])
    else:
        for kind in range(NUM_KINDS):
            seen = state.hand[seat, kind] + state.pile[kind] + state.removed[kind]
            for other in range(rules.num_players):
                seen += state.up[other, kind]
            for _ in range(seen):
                at = _bring_kind(state, at, kind)


@compiled
def _bring_card(state, at, card):
    """Bring a card to place `at` of the deck from where it lies behind it; the place after."""
    place = at
    while state.deck[place] != card:
        place += 1
    return _move_forward(state, at, place)


@compiled
def _bring_kind(state, at, kind):
    """Bring the first card of a kind to place `at` of the deck from where it lies behind it; the place after."""
    place = at
    while state.deck[place] // NUM_COLORS != kind:
        place += 1
    return _move_forward(state, at, place)


@compiled
def _move_forward(state, at, place):
    """Move the card at `place` of the deck forward to `at`; the others keep their order."""
    card = state.deck[place]
    for behind in range(place, at, -1):
        state.deck[behind] = state.deck[behind - 1]
    state.deck[at] = card
    return at + 1


@compiled
def imagine(state, rules, seat):
    """Deal what `forget` took away, by the generator that stands in the record, which goes on from there."""
    start = state.drawn - _count_hidden_places(state, rules, seat)
    while True:
        _deal_hidden(state, rules, seat, start)
        if _colors_can_be_asked(state, seat):
            break
    if not state.revealed:
        draw_swaps(state, rules)
    if state.phase < BETWEEN_DEALS:
        find_legal(state, rules)


@compiled
def _count_hidden_places(state, rules, seat):
    """Places besides the draw pile in which cards lie that `seat` does not know."""
    places = 0
    for other in range(rules.num_players):
        if other != seat:
            places += state.hand_size[other]
            if not state.revealed:
                places += state.up_size[other]
        for slot in range(NUM_SLOTS):
            places += is_unseen(state, seat, other, slot)
    return places


@compiled
def _deal_hidden(state, rules, seat, at):
    """Deal the deck from place `at` on: the cards that are located, then hands, 3UP cards and 3DOWN cards."""
    for other in range(rules.num_players):
        if other != seat:
            state.hand[other, :] = 0
            if rules.track_colors:
                state.hand_card[other, :] = 0
    if rules.track_colors:
        # Known hands are known by kind: which of its cards lie there is a matter of chance.
        _shuffle_from(state, at)
    if state.player != seat and state.revealed:
        at = _deal_named(state, rules, at)
    for other in range(rules.num_players):
        if other != seat:
            for kind in range(NUM_KINDS):
                while state.hand[other, kind] < state.known[other, kind]:
                    at = _hold(state, rules, other, _bring_kind(state, at, kind))
    # Only now: a card that is picked out by its kind leaves an order that tells of kinds.
    _shuffle_from(state, at)
    for other in range(rules.num_players):
        if other != seat:
            held = 0
            for kind in range(NUM_KINDS):
                held += state.hand[other, kind]
            for _ in range(state.hand_size[other] - held):
                at = _hold(state, rules, other, at + 1)
            if not state.revealed:
                at = _deal_up(state, rules, other, at)
        for slot in range(NUM_SLOTS):
            if is_unseen(state, seat, other, slot):
                state.down[other, slot] = state.deck[at]
                at += 1


@compiled
def _shuffle_from(state, at):
    """Shuffle the deck from place `at` on."""
    shuffle(state.rng, state.deck[at:], state.deck_size - at)


@compiled
def _deal_named(state, rules, at):
    """Deal the player to decide the hand cards that it has named in an action not yet finished (10.1)."""
    player = state.player
    if state.give_card != NO_CARD:
        at = _hold(state, rules, player, _bring_card(state, at, state.give_card))
    if state.asking:
        _, from_up, kind, count = source_of(state, state.pending)
        if not from_up:
            for i in range(state.num_said):
                at = _hold(state, rules, player, _bring_card(state, at, kind * NUM_COLORS + state.said[i]))
            while state.hand[player, kind] < count:
                at = _hold(state, rules, player, _bring_kind(state, at, kind))
    return at


@compiled
def _colors_can_be_asked(state, seat):
    """A colour is asked only while more than one is possible (8.4); so the hand of who is asked must hold two."""
    if not state.asking or state.player == seat:
        return True
    source, from_up, kind, _ = source_of(state, state.pending)
    possible = 0
    for color in range(NUM_COLORS):
        possible += copies_left(state, source, from_up, kind, color) > 0
    return possible > 1


@compiled
def _hold(state, rules, owner, after):
    """The card before place `after` of the deck lies in the hand of `owner`, whose size counts it already."""
    card = state.deck[after - 1]
    state.hand[owner, card // NUM_COLORS] += 1
    if rules.track_colors:
        state.hand_card[owner, card] += 1
    return after


@compiled
def _deal_up(state, rules, owner, at):
    """Deal 3UP cards that are not revealed."""
    state.up[owner, :] = 0
    if rules.track_colors:
        state.up_card[owner, :] = NO_CARD
    for _ in range(state.up_size[owner]):
        card = state.deck[at]
        state.up[owner, card // NUM_COLORS] += 1
        if rules.track_colors:
            replace_up_card(state, owner, NO_CARD, card)
        at += 1
    return at
