"""Games in which one seat is a learner's and the others are opponents': the batch under the Gymnasium faces.

A step of a game plays the learner's action, then every opponent that compiled code can play, until the game
stands at the learner again, at an opponent that Python has to ask, or is over. What a game is besides its
`STATE` stands in a `TABLE` record; every game reads and writes its own row of every array, so results are the
same for any number of threads.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import prange

from ..actions import NUM_ACTIONS
from ..cards import MAX_DECK
from . import deal
from .choose import EXTERNAL, choose
from .ending import reward
from .jit import called, compiled, threaded
from .legal import find_legal, is_legal, write_mask
from .observe import observe
from .random import below
from .state import BETWEEN_DEALS, ENDED_TRUNCATED, MAX_SEATS, MAX_SWAPS, OVER
from .step import apply, start_deal, start_game

# Values of `TABLE.standing` and `TABLE.agent` that are no place in the list of opponents.
LEARNER: Final = -1
"""The game stands at the learner, or the seat is the learner's."""
FINISHED: Final = -2
"""The game is over, and the learner has been told; another one is to start by itself."""
TO_START: Final = -3
"""A game is to start because the caller says so."""
NEVER: Final = -4
"""MAX_DEALINGS games in a row were over before the learner had a decision: there is nothing to learn here."""
GONE: Final = -5
"""In the place of an agent: one that has left the list of opponents."""
MAX_DEALINGS: Final = 10_000
_START: Final = -1
"""In the place of an action: deal a new game."""
_NONE: Final = -2
"""In the place of an action: there is none to play."""

# Values of `SETTING.seat` that are no seat.
ROTATE: Final = -1
RANDOM_SEAT: Final = -2

MAX_ROUNDS: Final = 100
WEIGHT_BITS: Final = 30
"""Weights of opponents are whole numbers that add up to 2 to this power."""
IN_SEATING_ORDER: Final = -1
"""A threshold that says: no draw, row k is the opponent k + 1 seats clockwise of the learner."""

TABLE: Final = np.dtype(
    [
        ("rng", np.uint64, (2,)),  # seats and opponents draw from it; the deals have their own, in STATE
        ("steps", np.int64),  # the learner's decisions in this game
        ("last_steps", np.int64),  # those of the game before, where games restart by themselves
        ("standing", np.int32),  # whom the game waits for: LEARNER, FINISHED, TO_START, NEVER, or the opponent to ask
        ("agent", np.int32, (MAX_SEATS,)),  # who holds each seat: LEARNER, or a place in the list of opponents
        ("last_agent", np.int32, (MAX_SEATS,)),  # the same of the game before; GONE who is in the list no more
        ("seat", np.int8),  # the learner's
        ("last_seat", np.int8),  # that of the game before
        ("fixed", np.int8),  # 1 while this game follows what the caller fixed of its deals
        ("illegal", np.int8),  # 1 where the last step was an illegal action
    ],
    align=True,
)
"""What one game is besides its STATE."""

SETTING: Final = np.dtype(
    [
        ("last_place", np.float64),  # reward of an illegal action
        ("reward", np.int8),  # REWARD_WIN, REWARD_PLACE or REWARD_SCORE
        ("seat", np.int8),  # the learner's, ROTATE or RANDOM_SEAT
        ("restarts", np.int8),  # 1 where the next game follows within the step that ends one
        # What the caller fixed of the deals of games with `fixed`: all but the counts may be left over.
        ("first_player", np.int8),  # a seat, or -1
        ("num_decks", np.int16),
        ("num_swaps", np.int16),
        ("deck", np.uint8, (MAX_ROUNDS, MAX_DECK)),
        ("swap", np.int8, (MAX_ROUNDS, MAX_SWAPS, 2)),
    ],
    align=True,
)
"""What all games of a batch share."""


@compiled
def _follow(state, rules, setting):
    """Overrule what the generator drew for a deal by what the caller fixed, and deal again."""
    if state.deal < setting.num_decks:
        state.deck[:] = setting.deck[state.deal]
    if state.deal == 0 and setting.first_player >= 0:
        state.first_player = setting.first_player
    if state.deal < setting.num_swaps:
        for i in range(rules.pile_swaps):
            state.swap[i, 0] = setting.swap[state.deal, i, 0]
            state.swap[i, 1] = setting.swap[state.deal, i, 1]
    deal.deal_cards(state, rules)
    find_legal(state, rules)


@called
def _deal(state, table, rules, setting):
    """The next deal of a match, or the first of a new game."""
    if state.phase == BETWEEN_DEALS:
        start_deal(state, rules)
    else:
        start_game(state, rules)
    if table.fixed:
        _follow(state, rules, setting)


@compiled
def _draw_opponent(table, draws, distance):
    """Who sits `distance` seats clockwise of the learner; `draws` has rows of an opponent and its threshold."""
    if draws[0, 1] == IN_SEATING_ORDER:
        return draws[distance - 1, 0]
    drawn = below(table.rng, 1 << WEIGHT_BITS)
    row = 0
    while drawn >= draws[row, 1]:
        row += 1
    return draws[row, 0]


@called
def _seat(table, rules, setting, draws):
    """Seat the learner and the opponents for a new game."""
    n = rules.num_players
    if setting.seat == ROTATE:
        table.seat = (table.seat + 1) % n
    elif setting.seat == RANDOM_SEAT:
        table.seat = below(table.rng, n)
    else:
        table.seat = setting.seat
    table.agent[table.seat] = LEARNER
    for distance in range(1, n):
        table.agent[(table.seat + distance) % n] = _draw_opponent(table, draws, distance)
    table.steps = 0


@called
def _choose(code, state, table):
    """The action of a compiled opponent."""
    return choose(code, state, table.rng)


@compiled
def _settle(game, state, table, rules, setting, rewards, terminated, truncated):
    """Write the outcome of a game that is over."""
    if table.illegal:
        rewards[game] = setting.last_place
        terminated[game] = True
    else:
        rewards[game] = reward(state, rules, setting.reward, table.seat)
        truncated[game] = state.ended == ENDED_TRUNCATED
        terminated[game] = state.ended != ENDED_TRUNCATED
    table.last_steps = table.steps
    table.last_seat = table.seat
    table.last_agent[:] = table.agent


@compiled
def _begin(game, state, table, action, rewards, terminated, truncated):
    """What the step of a game begins with: an action to play, _START, or _NONE where an illegal one ends the game."""
    if table.standing >= 0:
        return action
    rewards[game] = 0.0
    terminated[game] = False
    truncated[game] = False
    table.illegal = 0
    if table.standing != LEARNER:
        table.fixed = table.fixed and table.standing == TO_START
        return _START
    table.steps += 1
    if action < 0 or action >= NUM_ACTIONS or not is_legal(state, action):
        table.illegal = 1
        state.phase = OVER
        state.legal[:] = 0
        return _NONE
    return action


@compiled
def _advance(
    game, state, table, rules, setting, codes, draws, action, observations, masks, rewards, terminated, truncated,
    finals
):  # fmt: skip
    """Go on until the learner decides, an opponent has to be asked, or the game is over and does not restart.

    One loop, so that the rules are inlined once.
    """
    table.standing = NEVER
    for _ in range(MAX_DEALINGS):
        while state.phase != OVER or action == _START:
            if action == _START:
                state.phase = OVER
                _seat(table, rules, setting, draws)
            else:
                apply(state, rules, action)
            while state.phase == BETWEEN_DEALS or action == _START:
                _deal(state, table, rules, setting)
                action = _NONE
            if state.phase != OVER:
                agent = table.agent[state.player]
                if agent == LEARNER or codes[agent] == EXTERNAL:
                    table.standing = agent
                    break
                action = _choose(codes[agent], state, table)
        if table.standing >= 0:
            break
        # A game that was over before the learner had a decision has no step to be told in: another is dealt.
        if table.standing == LEARNER or table.steps > 0:
            observe(observations, game, state, rules, table.seat)
            write_mask(masks, game, state)
            if table.standing == LEARNER:
                break
            _settle(game, state, table, rules, setting, rewards, terminated, truncated)
            if not setting.restarts:
                table.standing = FINISHED
                break
            finals[game, :] = observations[game]
        table.fixed = 0
        action = _START


@compiled
def advance_games(
    start, stop, games, actions, states, tables, switches, settings, codes, draws, observations, masks, rewards,
    terminated, truncated, finals
):  # fmt: skip
    """Take games `games[start:stop]` on, by the action of the learner or of the opponent that they wait for.

    A game that waits for neither starts anew, whatever its action. Returns how many wait for Python then: for an
    opponent to ask, or because they are NEVER the learner's.
    """
    waiting = 0
    for row in range(start, stop):
        game = games[row]
        state = states[game]
        table = tables[game]
        action = _begin(game, state, table, actions[row], rewards, terminated, truncated)
        _advance(
            game, state, table, switches[0], settings[0], codes, draws, action, observations, masks, rewards,
            terminated, truncated, finals
        )  # fmt: skip
        waiting += table.standing >= 0 or table.standing == NEVER
    return waiting


@threaded
def advance_games_in_threads(
    chunks, games, actions, states, tables, switches, settings, codes, draws, observations, masks, rewards, terminated,
    truncated, finals
):  # fmt: skip
    """`advance_games` in as many chunks, each by a thread."""
    waiting = 0
    for chunk in prange(chunks):
        waiting += advance_games(
            chunk * len(games) // chunks, (chunk + 1) * len(games) // chunks, games, actions, states, tables, switches,
            settings, codes, draws, observations, masks, rewards, terminated, truncated, finals
        )  # fmt: skip
    return waiting


@compiled
def first_illegal(games, actions, states, tables):
    """The first row whose action is not legal in its game, or -1; a game to start anew takes any."""
    for row in range(len(games)):
        standing = tables[games[row]].standing
        if standing >= LEARNER:
            action = actions[row]
            if action < 0 or action >= NUM_ACTIONS or not is_legal(states[games[row]], action):
                return row
    return -1


@compiled
def show_games(games, states, switches, observations, masks):
    """What the seat to decide knows and may do: row i is game `games[i]`."""
    for row in range(len(games)):
        state = states[games[row]]
        observe(observations, row, state, switches[0], state.player)
        write_mask(masks, row, state)
