"""Many games at once: the functions of one game in a loop, shared out among threads.

Every game reads and writes its own row of every array, so results are the same for any number of threads.
"""

from __future__ import annotations

from numba import njit, prange

from .ending import reward
from .jit import compiled
from .legal import choose_random, is_legal, write_mask
from .observe import observe
from .state import BETWEEN_DEALS, ENDED_TRUNCATED, OVER
from .step import apply, start_deal, start_game


@compiled
def play(state, rules, action):
    """Make a decision; in a match, the next deal follows from the game's own generator."""
    apply(state, rules, action)
    while state.phase == BETWEEN_DEALS:
        start_deal(state, rules)


@compiled
def settle(game, state, rules, reward_kind, rewards, terminated, truncated):
    """Write the outcome of a step of one game, and start a new game where it is over."""
    over = state.phase == OVER
    terminated[game] = over and state.ended != ENDED_TRUNCATED
    truncated[game] = over and state.ended == ENDED_TRUNCATED
    for seat in range(rules.num_players):
        rewards[game, seat] = reward(state, rules, reward_kind, seat) if over else 0.0
    if over:
        start_game(state, rules)


@compiled
def show(game, state, rules, spans, players, observations, masks):
    """Write whose decision a game stands at, what that seat knows and its mask."""
    players[game] = state.player
    observe(observations[game], state, rules, spans, state.player)
    write_mask(masks[game], state)


@compiled
def _reset(start, stop, states, switches, spans, players, observations, masks):
    for game in range(start, stop):
        start_game(states[game], switches[0])
        show(game, states[game], switches[0], spans, players, observations, masks)


@compiled
def _first_illegal(states, actions):
    """The first game whose action is not legal, or -1."""
    for game in range(len(actions)):
        action = actions[game]
        if action < 0 or action >= 144 or not is_legal(states[game], action):
            return game
    return -1


@compiled
def _step(start, stop, states, switches, spans, kind, actions, players, observations, masks, rewards, term, trunc):
    rules = switches[0]
    for game in range(start, stop):
        state = states[game]
        play(state, rules, actions[game])
        settle(game, state, rules, kind, rewards, term, trunc)
        show(game, state, rules, spans, players, observations, masks)


@compiled
def _random_steps(
    start, stop, steps, states, switches, rngs, spans, kind, players, observations, masks, rewards, term, trunc
):
    rules = switches[0]
    for _ in range(steps):
        for game in range(start, stop):
            state = states[game]
            play(state, rules, choose_random(state, rngs[game]))
            settle(game, state, rules, kind, rewards, term, trunc)
            show(game, state, rules, spans, players, observations, masks)
