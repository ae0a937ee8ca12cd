"""Duplicate games, as a compiled loop: the same deals from every seating of a line-up (threeup_env/duplicate.py).

A side is an agent in its seat, or in all its seats, of a game. A game waits whenever it is the turn of a side that
Python has to ask; all games that wait are shown to it at once. Each game has generators of its own for the deals
and for each side, so nothing depends on how many games are played together.
"""

from __future__ import annotations

from ..actions import NUM_ACTIONS
from .choose import EXTERNAL, choose
from .jit import compiled
from .legal import is_legal, write_mask
from .observe import observe
from .state import BETWEEN_DEALS, ENDED_MATCH, ENDED_POINTS, ENDED_TRUNCATED, OVER
from .step import apply, start_deal, start_game

DONE = -1
"""In `waiting`: the game is over."""


@compiled
def deal_duplicates(states, switches, words):
    """Deal each group the same deck: `words` uint64 `(groups, 2)` seeds the deals, also the later ones of a match."""
    rules = switches[0]
    for game in range(len(states)):
        states[game].rng[:] = words[game // rules.num_players]
        start_game(states[game], rules)


@compiled
def nobody_is_out(state, rules):
    """Whether every seat still holds a card: no deal that ended by going out does."""
    for seat in range(rules.num_players):
        if state.hand_size[seat] == 0 and state.up_size[seat] == 0 and state.down_size[seat] == 0:
            return False
    return True


@compiled
def _play(state, rules, action):
    """Make a decision and deal the next deal of a match; whether a deal met its limit (6.3)."""
    apply(state, rules, action)
    met_limit = False
    while state.phase == BETWEEN_DEALS:
        met_limit |= nobody_is_out(state, rules)
        start_deal(state, rules)
    if state.phase == OVER:
        met_limit |= state.ended == ENDED_POINTS or state.ended == ENDED_TRUNCATED
        met_limit |= state.ended == ENDED_MATCH and nobody_is_out(state, rules)
    return met_limit


@compiled
def advance(states, switches, sides, agents, rngs, waiting, decisions, met_limit):
    """Play every game until it is over or waits for an agent that is not compiled.

    Args:
        states: Games, STATE `(N,)`.
        switches: Rules, SWITCHES `(1,)`.
        sides: The side that holds each seat of each game, int64 `(N, num_players)`.
        agents: RANDOM, GREEDY or EXTERNAL for each side, int64 `(S,)`.
        rngs: Generator of each side in each game, uint64 `(N, S, 2)`.
        waiting: Written: the side that each game waits for, or DONE; int64 `(N,)`.
        decisions: Counted up: decisions of each side in each game, int64 `(N, S)`.
        met_limit: Set where a deal met its limit, bool `(N,)`.
    """
    rules = switches[0]
    for game in range(len(states)):
        state = states[game]
        waiting[game] = DONE
        while state.phase != OVER:
            side = sides[game, state.player]
            if agents[side] == EXTERNAL:
                waiting[game] = side
                break
            met_limit[game] |= _play(state, rules, choose(agents[side], state, rngs[game, side]))
            decisions[game, side] += 1


@compiled
def show_waiting(states, switches, waiting, side, games, observations, masks):
    """Write what the games that wait for `side` look like to it, in rows from 0; how many there are.

    Args:
        states: Games, STATE `(N,)`.
        switches: Rules, SWITCHES `(1,)`.
        waiting: The side that each game waits for, int64 `(N,)`.
        side: The side that is to decide.
        games: Written: the game of each row, int64 `(N,)`.
        observations: Written, int8 `(N, D)`.
        masks: Written, int8 `(N, A)`.
    """
    count = 0
    for game in range(len(states)):
        if waiting[game] == side:
            games[count] = game
            observe(observations, count, states[game], switches[0], states[game].player)
            write_mask(masks, count, states[game])
            count += 1
    return count


@compiled
def play_waiting(states, switches, side, games, actions, decisions, met_limit):
    """Play the actions of `side`, int64 `(rows,)`, in `games`, int64 `(rows,)`; the first illegal row, or -1."""
    for row in range(len(games)):
        game = games[row]
        action = actions[row]
        if action < 0 or action >= NUM_ACTIONS or not is_legal(states[game], action):
            return row
        met_limit[game] |= _play(states[game], switches[0], action)
        decisions[game, side] += 1
    return -1
