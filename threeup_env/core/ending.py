"""Going out, the limit, points, places and rewards (sections 6 and 8.7)."""

from __future__ import annotations

import numpy as np

from ..actions import NUM_SLOTS
from ..cards import NUM_COLORS, NUM_KINDS, POINTS
from .jit import compiled
from .state import (
    BETWEEN_DEALS,
    ENDED_MATCH,
    ENDED_OUT,
    ENDED_POINTS,
    ENDED_TRUNCATED,
    EXCHANGE_WANT,
    NO_CARD,
    NOT_ENDED,
    OVER,
    SABOTAGE_GIVE,
    SABOTAGE_WANT,
)

_POINTS = np.array(POINTS, np.int64)

REWARD_WIN = 0
REWARD_PLACE = 1
REWARD_SCORE = 2


@compiled
def hand_points(state, seat):
    """Points of the hand (8.7)."""
    points = 0
    for kind in range(NUM_KINDS):
        points += state.hand[seat, kind] * _POINTS[kind]
    return points


@compiled
def table_points(state, seat):
    """Points of the 3UP and 3DOWN cards (8.7)."""
    points = 0
    for kind in range(NUM_KINDS):
        points += state.up[seat, kind] * _POINTS[kind]
    for slot in range(NUM_SLOTS):
        if state.down[seat, slot] != NO_CARD:
            points += _POINTS[state.down[seat, slot] // NUM_COLORS]
    return points


@compiled
def standing(state, rules, seat):
    """The points by which `seat` is placed: those of the match (8.7), or of all cards it holds at the limit (6.3)."""
    if rules.rounds > 1:
        return state.total[seat]
    return hand_points(state, seat) + table_points(state, seat)


@compiled
def counts_table(state, rules):
    """Whether points or places of a deal that is over count 3UP and 3DOWN cards (6.3, 8.7)."""
    return rules.score_table_cards or (rules.rounds == 1 and state.ended == ENDED_POINTS)


@compiled
def place_by_points(state, rules):
    """Players without a place are placed by their points, fewest first, behind those who are out; ties share."""
    behind = rules.num_players - state.still_in
    for seat in range(rules.num_players):
        if state.place[seat] == 0:
            better = 0
            for other in range(rules.num_players):
                # A place given in this loop is larger than `behind`, so its holder is still compared.
                still_in = state.place[other] == 0 or state.place[other] > behind
                if still_in and standing(state, rules, other) < standing(state, rules, seat):
                    better += 1
            state.place[seat] = behind + 1 + better


@compiled
def finish_deal(state, rules, ended):
    """The deal is over: score it, and end the game or leave it between two deals (8.7)."""
    for seat in range(rules.num_players):
        state.score[seat] = hand_points(state, seat)
        if rules.score_table_cards:
            state.score[seat] += table_points(state, seat)
        state.total[seat] += state.score[seat]
    state.deal += 1
    # What was owed in the last turn ends with it.
    state.extras = 0
    state.draw_open = 0
    state.table_clear_2 = 0
    if rules.rounds == 1:
        state.ended = ended
        state.phase = OVER
    elif state.deal < rules.rounds:
        state.phase = BETWEEN_DEALS
    else:
        state.ended = ENDED_MATCH
        state.phase = OVER
        state.place[:] = 0
        state.still_in = rules.num_players
        place_by_points(state, rules)


@compiled
def go_out(state, rules, seat):
    """`seat` has no card left. True when that ends the deal (6.1), False when the others play on (6.2)."""
    state.place[seat] = rules.num_players - state.still_in + 1
    state.still_in -= 1
    if rules.play_on and state.still_in > 1:
        return False
    for other in range(rules.num_players):
        if state.place[other] == 0:
            state.place[other] = rules.num_players - state.still_in + 1
    finish_deal(state, rules, ENDED_OUT)
    return True


@compiled
def half_made(state):
    """Whether an action made in parts has begun and is not finished (6.3, 7.1)."""
    return (
        state.asking == 1
        or state.phase == SABOTAGE_WANT
        or state.phase == SABOTAGE_GIVE
        or state.phase == EXCHANGE_WANT
    )


@compiled
def check_limit(state, rules):
    """End a deal that has met `max_decisions` (6.3)."""
    if state.decisions < rules.max_decisions or state.phase >= BETWEEN_DEALS or half_made(state):
        return
    if rules.limit_truncates and rules.rounds == 1:
        finish_deal(state, rules, ENDED_TRUNCATED)
        return
    if rules.rounds == 1:
        place_by_points(state, rules)
    finish_deal(state, rules, ENDED_POINTS)


@compiled
def reward(state, rules, kind, seat):
    """The reward of `seat` for a finished game (docs/environments.md); 0 while none is finished or it was truncated."""
    n = rules.num_players
    if state.ended == NOT_ENDED or state.ended == ENDED_TRUNCATED:
        return 0.0
    if kind == REWARD_SCORE:
        others = -state.total[seat]
        for other in range(n):
            others += state.total[other]
        return (others / (n - 1) - state.total[seat]) / 100.0
    sharing = 0
    for other in range(n):
        if state.place[other] == state.place[seat]:
            sharing += 1
    if kind == REWARD_PLACE:
        mean_place = state.place[seat] + (sharing - 1) / 2.0
        return 1.0 - 2.0 * (mean_place - 1.0) / (n - 1)
    share = 1.0 / sharing if state.place[seat] == 1 else 0.0
    return (n * share - 1.0) / (n - 1)
