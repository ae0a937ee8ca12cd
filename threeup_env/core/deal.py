"""Shuffling, dealing and the reveal (section 2, 8.5)."""

from __future__ import annotations

from ..cards import NUM_COLORS
from .jit import compiled
from .random import below, shuffle
from .state import NO_CARD, NO_SEAT, NOT_ENDED, RANDOM_FIRST, SABOTAGE_TARGET, TURN, UP_PHASE
from .zones import add_to_hand, add_to_up, empty_colors, empty_table, remove_from_hand, swap_tables


@compiled
def new_game(state, rules):
    """Start a game with a shuffled first deal; the generator goes on from where it stands."""
    state.deal = 0
    state.ended = NOT_ENDED
    state.total[:] = 0
    new_deal(state, rules)


@compiled
def new_deal(state, rules):
    """Shuffle and deal: the draws of the generator are the deck, the first player, the pile swaps, in this order."""
    state.deck[:] = rules.deck
    state.deck_size = rules.deck_size
    shuffle(state.rng, state.deck, state.deck_size)
    draw_first_player(state, rules)
    draw_swaps(state, rules)
    deal_cards(state, rules)


@compiled
def draw_first_player(state, rules):
    """The first player of a deal: 2.4, and one seat further each deal of a match (8.7)."""
    if state.deal > 0:
        state.first_player = (state.first_player + 1) % rules.num_players
    elif rules.first_player == RANDOM_FIRST:
        state.first_player = below(state.rng, rules.num_players)
    else:
        state.first_player = rules.first_player


@compiled
def draw_swaps(state, rules):
    """Draw the pairs of players whose piles are exchanged after the reveal (8.5)."""
    for i in range(rules.pile_swaps):
        one = below(state.rng, rules.num_players)
        other = below(state.rng, rules.num_players - 1)
        state.swap[i, 0] = one
        state.swap[i, 1] = other + 1 if other >= one else other


@compiled
def deal_cards(state, rules):
    """Deal `state.deck` as it lies (2.2) and begin the set-up."""
    empty_table(state)
    if rules.track_colors:
        empty_colors(state)
    state.drawn = 0
    for seat in range(rules.num_players):
        for slot in range(rules.table_cards):
            state.down[seat, slot] = state.deck[state.drawn]
            state.drawn += 1
        state.down_size[seat] = rules.table_cards
    for seat in range(rules.num_players):
        for _ in range(rules.table_cards + rules.hand_size):
            add_to_hand(state, rules, seat, state.deck[state.drawn])
            state.drawn += 1
    state.player = state.first_player
    state.phase = UP_PHASE
    state.asking = 0
    state.num_said = 0
    state.give_card = NO_CARD
    state.want_card = NO_CARD
    state.victim = NO_SEAT
    state.direction = 1
    state.extras = 0
    state.draw_open = 0
    state.table_clear_2 = 0
    state.still_in = rules.num_players
    state.revealed = 0
    state.decisions = 0
    state.saboteurs = 0
    state.place[:] = 0


@compiled
def lay_up(state, rules, seat, kind):
    """The seat lays a card of `kind` face up; the next player follows, and after the last the reveal (2.3)."""
    remove_from_hand(state, rules, seat, kind, 1)
    add_to_up(state, rules, seat, kind * NUM_COLORS + state.said[0])
    if state.up_size[seat] == rules.table_cards:
        state.player = (seat + 1) % rules.num_players
        if state.player == state.first_player:
            reveal(state, rules)


@compiled
def reveal(state, rules):
    """All 3UP cards are shown; piles are swapped (8.5), then the first player sabotages (8.6) or takes a turn (2.5)."""
    state.revealed = 1
    for i in range(rules.pile_swaps):
        swap_tables(state, rules, state.swap[i, 0], state.swap[i, 1])
    state.phase = SABOTAGE_TARGET if rules.sabotage else TURN
