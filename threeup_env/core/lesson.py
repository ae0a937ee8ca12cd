"""Positions with what each of their actions is worth: what a network can be fitted to before it plays for itself.

In every game one seat learns, all others are `greedy`. What an action is worth is the mean reward of games that its
seat cannot tell from the true one and in which `greedy` goes on in all seats: the same games for all actions of a
position, as in a FLAT search (core/search.py), which takes the luck of the deal out of the comparison.
"""

from __future__ import annotations

import numpy as np

from .choose import choose_greedy
from .jit import called
from .observe import observe
from .random import below
from .search import begin, list_arms, try_arms
from .state import OVER
from .step import play, start_game

CHANCES = 1024
"""What shares of positions and moves are counted in."""
_GOLDEN = 0x9E3779B97F4A7C15


@called
def _start(state, rules):
    start_game(state, rules)


@called
def _play(state, rules, action):
    """`play`, called: the rules are inlined once, not at every place."""
    play(state, rules, action)


@called
def _observe(observations, row, state, rules, seat):
    observe(observations, row, state, rules, seat)


@called
def collect_positions(
    states, seats, serial, switches, settings, tables, arms, games, early, follow, observations, actions, values, counts
):
    """Play on in one game after another, until as many positions have been written as there are rows.

    A position counts where its seat has at least two actions and no more than there is room for: each one with an
    empty draw pile, where what is done matters most, a share of the others.

    Args:
        states: The games, STATE `(N,)`; those that are OVER are dealt anew from their own generator.
        seats: The learner's seat in each, int64 `(N,)`; goes one further with every deal.
        serial: Number of the last position, uint64 `(1,)`; numbers seed the simulations.
        switches: The rules, SWITCHES `(1,)`.
        settings: Reward and random moves of the simulations, SETTING `(1,)`.
        tables: Room, STATE `(NUM_TABLES,)`.
        arms: Room, ARM `(144,)`.
        games: Simulations of each action.
        early: The share of positions with a draw pile, of CHANCES.
        follow: The share of positions after which the learner does what was worth most, of CHANCES, not as `greedy`.
        observations: int8 `(M, D)`, written.
        actions: The actions of each position, int16 `(M, K)`, written up to their number.
        values: What they are worth, float32 `(M, K)`, likewise.
        counts: How many they are, int64 `(M,)`, written.
    """
    rules = switches[0]
    room = actions.shape[1]
    row = 0
    game = 0
    while row < len(observations):
        state = states[game]
        if state.phase == OVER:
            _start(state, rules)
            seats[game] = (seats[game] + 1) % rules.num_players
        seat = seats[game]
        written = False
        while state.phase != OVER and not written:
            action = choose_greedy(state.legal, state.extras > 0)
            if state.player == seat:
                begin(states, game, switches, settings, tables)
                count = list_arms(tables, arms)
                share = CHANCES if state.revealed and state.drawn == state.deck_size else early
                if 1 < count <= room and below(state.rng, CHANCES) < share:
                    serial[0] += np.uint64(1)
                    try_arms(arms, count, tables, switches, settings, serial[0] * np.uint64(_GOLDEN), 0, games, 1)
                    best = 0
                    for i in range(count):
                        actions[row, i] = arms[i].action
                        values[row, i] = arms[i].total / games
                        if values[row, i] > values[row, best]:
                            best = i
                    counts[row] = count
                    _observe(observations, row, state, rules, seat)
                    row += 1
                    written = True
                    if below(state.rng, CHANCES) < follow:
                        action = arms[best].action
            _play(state, rules, action)
        game = (game + 1) % len(states)
