"""Cards that change places: the exchange after a row of four (8.4) and sabotage (8.6)."""

from __future__ import annotations

from ..cards import NUM_COLORS
from .jit import compiled
from .state import EXCHANGE_GIVE, EXCHANGE_WANT, NO_CARD, NO_SEAT, SABOTAGE_GIVE, SABOTAGE_TARGET, SABOTAGE_WANT, TURN
from .turn import go_on
from .zones import exchange_up


@compiled
def target(state, rules, distance):
    """`target`: the player `distance` seats further clockwise is to lose a 3UP card (8.6)."""
    state.victim = (state.player + distance) % rules.num_players
    state.phase = SABOTAGE_WANT


@compiled
def want(state, rules, kind):
    """`want`: the 3UP card to take; it ends an exchange, and a `give` is still to come in a sabotage."""
    card = kind * NUM_COLORS + state.said[0]
    if state.phase == SABOTAGE_WANT:
        state.want_card = card
        state.phase = SABOTAGE_GIVE
        return
    exchange_up(state, rules, state.player, state.player, state.give_card, card)
    state.give_card = NO_CARD
    state.victim = NO_SEAT
    go_on(state, rules)


@compiled
def give(state, rules, kind):
    """`give`: the hand card to put in its place; it ends a sabotage, and a `want` is still to come in an exchange."""
    card = kind * NUM_COLORS + state.said[0]
    if state.phase == EXCHANGE_GIVE:
        state.give_card = card
        state.victim = state.player
        state.phase = EXCHANGE_WANT
        return
    exchange_up(state, rules, state.victim, state.player, card, state.want_card)
    state.want_card = NO_CARD
    state.victim = NO_SEAT
    next_saboteur(state, rules)


@compiled
def next_saboteur(state, rules):
    """Each player has one sabotage, in turn order from the first player, who then takes the first turn (8.6, 2.5)."""
    state.saboteurs += 1
    state.player = (state.player + 1) % rules.num_players
    state.phase = TURN if state.saboteurs == rules.num_players else SABOTAGE_TARGET
