"""Positions with what each of their actions is worth: what a network can be fitted to before it plays for itself.

In every game one seat learns, all others are `greedy`. What an action is worth is the mean reward of games that its
seat cannot tell from the true one and in which `greedy` goes on in all seats: the same games for all actions of a
position, as in a FLAT search (core/search.py), which takes the luck of the deal out of the comparison.
"""

from __future__ import annotations

import numpy as np

from .choose import choose_greedy
from .jit import called, compiled
from .observe import observe
from .random import below, next_32
from .search import CHANCES, begin, list_arms, try_arms
from .state import OVER
from .step import play, start_game


@compiled
def _is_drawn(state, early):
    """Whether a position is learnt from: each one with an empty draw pile, the others by chance."""
    return (state.revealed and state.drawn == state.deck_size) or below(state.rng, CHANCES) < early


@compiled
def _draw_seed(rng):
    """64 random bits, for the simulations of one position."""
    return np.uint64(next_32(rng)) << np.uint64(32) | np.uint64(next_32(rng))


@compiled
def _report_arms(row, arms, count, games, actions, values):
    """Write each action and its mean reward into a row; the action that is worth most."""
    best = 0
    for i in range(count):
        actions[row, i] = arms[i].action
        values[row, i] = arms[i].total / games
        if values[row, i] > values[row, best]:
            best = i
    return actions[row, best]


@called
def collect_positions(
    states, seats, switches, settings, tables, arms, games, early, follow, observations, actions, values, counts
):
    """Play on in one game after another, until as many positions have been written as there are rows.

    A position counts where its seat has at least two actions and no more than there is room for: each one with an
    empty draw pile, where what is done matters most, a share of the others. All that is drawn comes from the
    generators of the games.

    Args:
        states: The games, STATE `(N,)`; those that are OVER are dealt anew from their own generator.
        seats: The learner's seat in each, int64 `(N,)`; goes one further with every deal.
        switches: The rules, SWITCHES `(1,)`.
        settings: Reward and random moves of the simulations, SETTING `(1,)`.
        tables: Room, STATE `(NUM_TABLES,)`.
        arms: Room, ARM `(144,)`.
        games: Simulations of each action.
        early: The share of positions with a draw pile, of CHANCES.
        follow: The share of positions after which the learner does what was worth most, of CHANCES, not as `greedy`.
        observations: int8 `(M, D)`, written.
        actions: The actions of each position, whole numbers `(M, K)`, written up to their number.
        values: What they are worth, float32 `(M, K)`, likewise.
        counts: How many they are, int64 `(M,)`, written.
    """
    rules = switches[0]
    row = 0
    game = 0
    while row < len(observations):
        state = states[game]
        if state.phase == OVER:
            start_game(state, rules)
            seats[game] = (seats[game] + 1) % rules.num_players
        written = False
        while state.phase != OVER and not written:
            action = choose_greedy(state.legal, state.extras > 0)
            if state.player == seats[game] and _is_drawn(state, early):
                begin(states, game, switches, settings, tables)
                count = list_arms(tables, arms)
                written = 1 < count <= actions.shape[1]
                if written:
                    try_arms(arms, count, tables, switches, settings, _draw_seed(state.rng), 0, games, 1)
                    best = _report_arms(row, arms, count, games, actions, values)
                    counts[row] = count
                    observe(observations, row, state, rules, state.player)
                    row += 1
                    if below(state.rng, CHANCES) < follow:
                        action = best
            play(state, rules, action)
        game = (game + 1) % len(states)
