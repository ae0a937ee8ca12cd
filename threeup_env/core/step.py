"""One decision: from an action to the next player who has to decide (section 7)."""

from __future__ import annotations

from ..actions import COLOR, DRAW, FLIP, GIVE, PASS, TAKE, TARGET, UP, WANT
from . import deal
from .colors import settle_colors
from .ending import check_limit
from .jit import compiled
from .legal import find_legal, source_of
from .state import BETWEEN_DEALS, EXCHANGE_GIVE, SABOTAGE_TARGET
from .swaps import give, next_saboteur, target, want
from .turn import discard, draw, end_turn, flip, go_on, take


@compiled
def start_game(state, rules):
    """Deal the first deal of a new game from the state's generator; the first player is to decide."""
    deal.new_game(state, rules)
    find_legal(state, rules)


@compiled
def start_deal(state, rules):
    """Deal the next deal of a match from the state's generator."""
    deal.new_deal(state, rules)
    find_legal(state, rules)


@compiled
def apply(state, rules, action):
    """Make one decision. `action` must be legal (`is_legal`); nothing here checks it.

    Afterwards the state stands at the next decision with its legal set, or is BETWEEN_DEALS or OVER
    with an empty one.
    """
    state.decisions += 1
    if state.asking:
        state.said[state.num_said] = action - COLOR
        state.num_said += 1
        action = state.pending
    else:
        state.num_said = 0
    state.asking = 0
    if rules.track_colors and not _colors_known(state, rules, action):
        state.pending = action
        state.asking = 1
    else:
        _perform(state, rules, action)
        check_limit(state, rules)
    find_legal(state, rules)


@compiled
def play(state, rules, action):
    """Make a decision as `apply` does; in a match, the next deal follows from the game's own generator."""
    apply(state, rules, action)
    while state.phase == BETWEEN_DEALS:
        start_deal(state, rules)


@compiled
def _colors_known(state, rules, action):
    seat, from_up, kind, count = source_of(state, action)
    return settle_colors(state, rules, seat, from_up, kind, count)


@compiled
def _perform(state, rules, action):
    """Let an action, all its colours said, take its whole effect."""
    seat, _, kind, count = source_of(state, action)
    if action < DRAW:
        discard(state, rules, kind, count)
    elif action == DRAW:
        draw(state, rules)
    elif action == TAKE:
        take(state, rules)
    elif action < UP:
        flip(state, rules, action - FLIP)
    elif action < PASS:
        deal.lay_up(state, rules, seat, kind)
    elif action == PASS:
        _decline(state, rules)
    elif action < WANT:
        give(state, rules, kind)
    elif action < TARGET:
        want(state, rules, kind)
    else:
        target(state, rules, action - TARGET + 1)


@compiled
def _decline(state, rules):
    """`pass`: no exchange (8.4), no sabotage (8.6), or no further extras (5.4)."""
    if state.phase == EXCHANGE_GIVE:
        go_on(state, rules)
    elif state.phase == SABOTAGE_TARGET:
        next_saboteur(state, rules)
    else:
        end_turn(state, rules)


assert GIVE > PASS
