"""Many games at once: the functions of one game in a loop, shared out among threads.

Every game reads and writes its own row of every array, so results are the same for any number of threads.
"""

from __future__ import annotations

from numba import prange

from ..actions import NUM_ACTIONS
from .ending import reward
from .jit import compiled, threaded
from .legal import choose_random, is_legal, write_mask
from .observe import observe
from .state import ENDED_TRUNCATED, NOT_ENDED, OVER
from .step import play, start_game


@compiled
def settle(game, state, rules, reward_kind, rewards, terminated, truncated):
    """Write the outcome of a step of one game, and start a new game where it is over."""
    # No branch around the arrays: each would cost a reference count.
    terminated[game] = (state.ended != NOT_ENDED) & (state.ended != ENDED_TRUNCATED)
    truncated[game] = state.ended == ENDED_TRUNCATED
    for seat in range(rules.num_players):
        rewards[game, seat] = reward(state, rules, reward_kind, seat)
    if state.phase == OVER:
        start_game(state, rules)


@compiled
def show(game, state, rules, players, observations, masks):
    """Write whose decision a game stands at, what that seat knows and its mask."""
    players[game] = state.player
    observe(observations, game, state, rules, state.player)
    write_mask(masks, game, state)


@compiled
def reset(states, switches, players, observations, masks):
    """Start every game anew from its own generator."""
    for game in range(len(states)):
        start_game(states[game], switches[0])
        show(game, states[game], switches[0], players, observations, masks)


@compiled
def first_illegal(states, actions):
    """The first game whose action is not legal, or -1."""
    for game in range(len(actions)):
        action = actions[game]
        if action < 0 or action >= NUM_ACTIONS or not is_legal(states[game], action):
            return game
    return -1


@compiled
def step(start, stop, states, switches, actions, reward_kind, players, observations, masks, rewards, ends, cuts):
    """One decision in each of the games start..stop-1, all of `actions` legal.

    Args:
        start: The first game.
        stop: The game after the last.
        states: The games, STATE `(N,)`.
        switches: The rules, SWITCHES `(1,)`.
        actions: int64 `(N,)`.
        reward_kind: REWARD_WIN, REWARD_PLACE or REWARD_SCORE (core/ending.py).
        players: Written: the seat to decide, int8 `(N,)`.
        observations: Written: what that seat knows, int8 `(N, D)`.
        masks: Written: its mask, int8 `(N, A)`.
        rewards: Written: rewards of all seats for games that ended, else 0, float32 `(N, n)`.
        ends: Written: whether the game ended, bool `(N,)`; a new one has begun then.
        cuts: Written: whether it was truncated, bool `(N,)`.
    """
    rules = switches[0]
    for game in range(start, stop):
        state = states[game]
        play(state, rules, actions[game])
        settle(game, state, rules, reward_kind, rewards, ends, cuts)
        show(game, state, rules, players, observations, masks)


@compiled
def random_steps(
    start, stop, steps, states, switches, rngs, reward_kind, players, observations, masks, rewards, ends, cuts
):
    """`steps` decisions in each of the games start..stop-1, drawn uniformly from the legal ones.

    Arrays as in `step`; `rngs` are the generators of the choices, GENERATOR `(N,)`, apart from those of the deals.
    """
    rules = switches[0]
    for _ in range(steps):
        for game in range(start, stop):
            state = states[game]
            play(state, rules, choose_random(state, rngs[game].rng))
            settle(game, state, rules, reward_kind, rewards, ends, cuts)
            show(game, state, rules, players, observations, masks)


@compiled
def random_games(start, stop, steps, states, switches, rngs):
    """`steps` decisions in each of the games start..stop-1, drawn uniformly, with nothing written but the games.

    As a search plays them: one game after the other. A game that is OVER starts anew before its next decision.
    """
    rules = switches[0]
    for game in range(start, stop):
        state = states[game]
        for _ in range(steps):
            if state.phase == OVER:
                start_game(state, rules)
            play(state, rules, choose_random(state, rngs[game].rng))


@threaded
def step_threads(threads, states, switches, actions, reward_kind, players, observations, masks, rewards, ends, cuts):
    """`step` for all games, shared out among threads."""
    n = len(states)
    for t in prange(threads):
        start, stop = t * n // threads, (t + 1) * n // threads
        step(start, stop, states, switches, actions, reward_kind, players, observations, masks, rewards, ends, cuts)


@threaded
def random_steps_threads(
    threads, steps, states, switches, rngs, reward_kind, players, observations, masks, rewards, ends, cuts
):
    """`random_steps` for all games, shared out among threads."""
    n = len(states)
    for t in prange(threads):
        start, stop = t * n // threads, (t + 1) * n // threads
        random_steps(
            start, stop, steps, states, switches, rngs, reward_kind, players, observations, masks, rewards, ends, cuts
        )
