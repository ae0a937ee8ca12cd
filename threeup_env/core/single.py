"""The core as Python calls it for one game: each function takes arrays of one record (core/state.py).

Arrays cross into compiled code several times faster than single records do.
"""

from __future__ import annotations

from ..actions import NUM_ACTIONS
from . import belief, deal, ending, legal, observe, step
from .jit import compiled
from .state import BETWEEN_DEALS, OVER

ILLEGAL = -1
GAME_OVER = -2
DEAL_OVER = -3


@compiled
def _whose_turn(state):
    if state.phase == OVER:
        return GAME_OVER
    if state.phase == BETWEEN_DEALS:
        return DEAL_OVER
    return state.player


@compiled
def start_game(states, switches):
    """Deal the first deal from the state's generator; the seat to decide."""
    step.start_game(states[0], switches[0])
    return _whose_turn(states[0])


@compiled
def start_deal(states, switches):
    """Deal the next deal of a match from the state's generator; the seat to decide."""
    step.start_deal(states[0], switches[0])
    return _whose_turn(states[0])


@compiled
def deal_again(states, switches):
    """Deal the deck that lies in the record, with its first player and swaps; the seat to decide."""
    deal.deal_cards(states[0], switches[0])
    legal.find_legal(states[0], switches[0])
    return _whose_turn(states[0])


@compiled
def play(states, switches, action):
    """Make a decision: the seat to decide next, GAME_OVER, DEAL_OVER, or ILLEGAL with nothing changed."""
    state = states[0]
    if action < 0 or action >= NUM_ACTIONS or not legal.is_legal(state, action):
        return ILLEGAL
    step.apply(state, switches[0], action)
    return _whose_turn(state)


@compiled
def determinize(states, switches, seat):
    """Deal everything that is hidden from `seat` anew, by the generator that stands in the record."""
    belief.determinize(states[0], switches[0], seat)


@compiled
def find_legal(states, switches):
    """Make the legal set of the decision that the game stands at."""
    legal.find_legal(states[0], switches[0])


@compiled
def write_mask(states, masks):
    """Write the legal set into `masks`, int8 `(1, A)`."""
    legal.write_mask(masks, 0, states[0])


@compiled
def list_legal(states, actions):
    """Write the legal actions into `actions`, int64, in index order; how many there are."""
    count = 0
    for action in range(NUM_ACTIONS):
        if legal.is_legal(states[0], action):
            actions[count] = action
            count += 1
    return count


@compiled
def write_observation(states, switches, seat, observations):
    """Write what `seat` knows into `observations`, int8 `(1, D)`."""
    observe.observe(observations, 0, states[0], switches[0], seat)


@compiled
def write_rewards(states, switches, kind, rewards):
    """Write the rewards of all seats, float64 `(n,)` (core/ending.py)."""
    for seat in range(switches[0].num_players):
        rewards[seat] = ending.reward(states[0], switches[0], kind, seat)
