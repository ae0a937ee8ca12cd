"""Information-set search: every simulation plays on in a game that the seat cannot tell from the true one.

A search begins by forgetting what its seat does not know (core/belief.py); each simulation deals that anew, plays a
legal action, and goes on to the end by `greedy` in all seats. Two methods share the simulations out:

- FLAT tries the actions of the root alone, all of them in the same games (common random numbers), and gives up the
  worse half again and again: sequential halving (Karnin, Koren and Somekh, 2013).
- TREE is single-observer ISMCTS (Cowling, Powley and Whitehouse, 2012): one tree of actions for all games, UCB1 over
  those that are legal in the game at hand, each node for the reward of the seat that chooses there. Where the root has
  priors, it goes by PUCT.

All that a search writes lies in arrays that the caller hands in. The simulations of one search may be shared out
among several parts, each with a tree of its own; results are the same for any number of threads.
"""

from __future__ import annotations

import math

import numpy as np

from ..actions import NUM_ACTIONS
from .belief import forget, imagine
from .choose import choose_greedy
from .ending import reward
from .jit import called, compiled, count_bits, lowest_bit
from .legal import choose_random, is_legal
from .random import below
from .state import LEGAL_BITS, OVER
from .step import play

FLAT = 0
TREE = 1

# What lies in the tables of a search.
BASE = 0
"""The game as its seat knows it."""
SAMPLE = 1
"""A complete game that the seat cannot tell from the true one."""
WORK = 2
"""The game that is played on."""
NUM_TABLES = 3

ROOT = 0
NOBODY = -1
"""No node."""
CHANCES = 1024
"""Of so many moves of a rollout, `SETTING.random_moves` are drawn from all legal ones."""
_GOLDEN = 0x9E3779B97F4A7C15
_OTHER_WORD = 0x5851F42D4C957F2D

SETTING = np.dtype(
    [
        ("simulations", np.int64),  # of each search
        ("parts", np.int64),  # that they are shared out among
        ("exploration", np.float64),  # the constant of UCB1 and PUCT
        ("max_decisions", np.int64),  # the limit of the true rules (6.3); that of the search may be nearer
        ("method", np.int8),  # FLAT or TREE
        ("reward", np.int8),  # REWARD_WIN, REWARD_PLACE or REWARD_SCORE
        ("has_priors", np.int8),  # 1 where the root of a tree goes by priors
        ("random_moves", np.int16),  # of CHANCES
    ],
    align=True,
)
"""What all searches of an agent share."""

ARM = np.dtype([("action", np.int64), ("visits", np.int64), ("total", np.float64)], align=True)
"""An action of the root in a FLAT search: how often it was tried, and the rewards of that together."""

NODE = np.dtype(
    [
        ("total", np.float64),  # rewards of the seat that chose the action
        ("prior", np.float64),  # of a child of the root, where there are priors
        ("visits", np.int32),
        ("available", np.int32),  # how often the action was legal when its parent was gone through
        ("parent", np.int32),
        ("child", np.int32),  # the first, or NOBODY
        ("sibling", np.int32),  # the next, or NOBODY
        ("action", np.int16),  # that leads here
        ("seat", np.int8),  # that chose it
    ],
    align=True,
)
"""A node of a TREE search: an action after those that lead to its parent."""


@compiled
def _mix(word):
    """The mixing steps of SplitMix64 (Steele, Lea and Flood, 2014)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@called
def begin(states, game, switches, settings, tables):
    """Set the base of a search for the seat to decide in a game: after this, nothing that is hidden from it is left."""
    tables[BASE] = states[game]
    base = tables[BASE]
    forget(base, switches[0], base.player)
    left = settings[0].max_decisions - base.decisions
    base.decisions = switches[0].max_decisions - min(left, switches[0].max_decisions)


@called
def _draw_sample(tables, switches, seed, number):
    """Draw game `number` of those that the seat to decide cannot tell from its own."""
    tables[SAMPLE] = tables[BASE]
    sample = tables[SAMPLE]
    word = seed + np.uint64(number) * np.uint64(_GOLDEN)
    sample.rng[0] = _mix(word)
    sample.rng[1] = _mix(word ^ np.uint64(_OTHER_WORD)) | np.uint64(1)
    imagine(sample, switches[0], sample.player)


@called
def _play(state, rules, action):
    """`play`, called: the rules are inlined once, not at every place."""
    play(state, rules, action)


@called
def _roll_out(state, rules, random_moves):
    """Play a game to its end: `greedy` in every seat, but for a share of moves drawn from all legal ones."""
    while state.phase != OVER:
        if random_moves > 0 and below(state.rng, CHANCES) < random_moves:
            action = choose_random(state, state.rng)
        else:
            action = choose_greedy(state.legal, state.extras > 0)
        _play(state, rules, action)


# FLAT


@called
def list_arms(tables, arms):
    """One arm for each legal action; how many there are."""
    arms["visits"][:] = 0
    arms["total"][:] = 0.0
    count = 0
    for action in range(NUM_ACTIONS):
        if is_legal(tables[BASE], action):
            arms[count].action = action
            count += 1
    return count


@called
def try_arms(arms, alive, tables, switches, settings, seed, first, stop, step):
    """Try each of the first `alive` arms in the same games: those numbered first, first + step, ... below stop."""
    rules = switches[0]
    setting = settings[0]
    seat = tables[BASE].player
    for number in range(first, stop, step):
        _draw_sample(tables, switches, seed, number)
        for i in range(alive):
            tables[WORK] = tables[SAMPLE]
            work = tables[WORK]
            _play(work, rules, arms[i].action)
            _roll_out(work, rules, setting.random_moves)
            arms[i].total += reward(work, rules, setting.reward, seat)
            arms[i].visits += 1


@called
def halve(arms, alive):
    """Bring the better half of the arms to the front; how many these are. All of them have been tried as often."""
    for i in range(1, alive):
        place = i
        while place > 0 and arms[place].total > arms[place - 1].total:
            action, visits, total = arms[place].action, arms[place].visits, arms[place].total
            arms[place] = arms[place - 1]
            arms[place - 1].action = action
            arms[place - 1].visits = visits
            arms[place - 1].total = total
            place -= 1
    return (alive + 1) // 2


@called
def halvings(alive):
    """How many times the arms are halved until one is left."""
    rounds = 0
    while (1 << rounds) < alive:
        rounds += 1
    return rounds


@compiled
def _search_flat(arms, tables, switches, settings, seed, part, simulations):
    """Share simulations out among the arms, as many in each round of halving."""
    alive = list_arms(tables, arms)
    parts = settings[0].parts
    number = part
    rounds = halvings(alive)
    for done in range(rounds):
        games = max(simulations // (rounds - done) // alive, 1)
        stop = number + games * parts
        try_arms(arms, alive, tables, switches, settings, seed, number, stop, parts)
        number = stop
        simulations -= games * alive
        alive = halve(arms, alive)


# TREE


@compiled
def _add_node(tree, node, parent, action, seat):
    tree[node].total = 0.0
    tree[node].prior = 0.0
    tree[node].visits = 0
    tree[node].available = 0
    tree[node].parent = parent
    tree[node].child = NOBODY
    tree[node].sibling = NOBODY
    tree[node].action = action
    tree[node].seat = seat
    if parent != NOBODY:
        tree[node].sibling = tree[parent].child
        tree[parent].child = node


@called
def plant(tree, tables, priors):
    """A tree of the root and its children, from the legal actions and their priors, float64 `(144,)`; its size."""
    state = tables[BASE]
    _add_node(tree, ROOT, NOBODY, 0, state.player)
    size = 1
    for action in range(NUM_ACTIONS - 1, -1, -1):
        if is_legal(state, action):
            _add_node(tree, size, ROOT, action, state.player)
            tree[size].prior = priors[action]
            size += 1
    return size


@compiled
def _pick_by_prior(tree, setting):
    """The child of the root with the best PUCT (Silver et al., 2017); one not tried counts as the mean of all."""
    root = tree[ROOT]
    mean = root.total / max(root.visits, 1)
    reach = setting.exploration * math.sqrt(root.visits + 1.0)
    best = NOBODY
    most = -math.inf
    child = root.child
    while child != NOBODY:
        visits = tree[child].visits
        value = tree[child].total / visits if visits > 0 else mean
        value += reach * tree[child].prior / (1 + visits)
        if value > most:
            most = value
            best = child
        child = tree[child].sibling
    return best


@compiled
def _pick(tree, at, state, exploration):
    """The child with the best UCB1 among those legal in this game, and a legal action that has no node yet, or -1."""
    first, second, third = state.legal[0], state.legal[1], state.legal[2]
    best = NOBODY
    most = -math.inf
    child = tree[at].child
    while child != NOBODY:
        action = tree[child].action
        if is_legal(state, action):
            bit = 1 << (action % LEGAL_BITS)
            if action < LEGAL_BITS:
                first ^= bit
            elif action < 2 * LEGAL_BITS:
                second ^= bit
            else:
                third ^= bit
            tree[child].available += 1
            visits = tree[child].visits
            value = math.inf
            if visits > 0:
                value = tree[child].total / visits
                value += exploration * math.sqrt(math.log(tree[child].available) / visits)
            if value > most:
                most = value
                best = child
        child = tree[child].sibling
    return best, _draw_untried(state.rng, first, second, third)


@compiled
def _draw_untried(rng, first, second, third):
    """One of the actions in three words of a legal set, or -1 where there is none."""
    skip = count_bits(first) + count_bits(second) + count_bits(third)
    if skip == 0:
        return -1
    skip = below(rng, skip)
    start = 0
    bits = first
    if skip >= count_bits(bits):
        skip -= count_bits(bits)
        start = LEGAL_BITS
        bits = second
        if skip >= count_bits(bits):
            skip -= count_bits(bits)
            start = 2 * LEGAL_BITS
            bits = third
    for _ in range(skip):
        bits &= bits - 1
    return start + lowest_bit(bits)


@called
def grow(tree, size, tables, switches, settings, seed, first, stop, step):
    """One simulation in each of the games numbered first, first + step, ... below stop; the new size of the tree."""
    rules = switches[0]
    setting = settings[0]
    for number in range(first, stop, step):
        _draw_sample(tables, switches, seed, number)
        sample = tables[SAMPLE]
        at = ROOT
        inside = True
        while inside and sample.phase != OVER:
            if at == ROOT and setting.has_priors:
                best, untried = _pick_by_prior(tree, setting), -1
            else:
                best, untried = _pick(tree, at, sample, setting.exploration)
            if untried >= 0:
                if size == len(tree):
                    break
                best = size
                size += 1
                _add_node(tree, best, at, untried, sample.player)
            inside = tree[best].visits > 0
            _play(sample, rules, tree[best].action)
            at = best
        _roll_out(sample, rules, setting.random_moves)
        while at != NOBODY:
            tree[at].visits += 1
            tree[at].total += reward(sample, rules, setting.reward, tree[at].seat)
            at = tree[at].parent
    return size


# Both


@called
def report_arms(arms, row, visits, totals):
    """Add what became of each arm to a row of int64 `(N, 144)` and float64 `(N, 144)`."""
    for i in range(len(arms)):
        if arms[i].visits > 0:
            visits[row, arms[i].action] += arms[i].visits
            totals[row, arms[i].action] += arms[i].total


@called
def report_tree(tree, row, visits, totals):
    """Add what became of each action of the root to a row of int64 `(N, 144)` and float64 `(N, 144)`."""
    child = tree[ROOT].child
    while child != NOBODY:
        visits[row, tree[child].action] += tree[child].visits
        totals[row, tree[child].action] += tree[child].total
        child = tree[child].sibling


@called
def search_games(start, stop, states, switches, settings, seeds, priors, tables, arms, tree, visits, totals):
    """Search in many games: the tasks start..stop-1. Task `t` is part `t % parts` of the search in game `t // parts`.

    Python threads may do other tasks at the same time, each with room of its own.

    Args:
        start: The first task.
        stop: The task after the last.
        states: Games, STATE `(N,)`, each with a decision to make.
        switches: The rules to search under, SWITCHES `(1,)`.
        settings: How to search, SETTING `(1,)`.
        seeds: Seeds each search, uint64 `(N,)`.
        priors: Chance of each action at the root, float64 `(N, 144)`; read where `SETTING.has_priors`.
        tables: Room, STATE `(NUM_TABLES,)`.
        arms: Room, ARM `(144,)`.
        tree: Room, NODE `(nodes,)`, at least 145 of them for a TREE search.
        visits: Added to: simulations of each action, by task; int64 `(N * parts, 144)`.
        totals: Added to: their rewards together; float64 `(N * parts, 144)`.
    """
    parts = settings[0].parts
    for task in range(start, stop):
        game = task // parts
        part = task % parts
        begin(states, game, switches, settings, tables)
        simulations = (settings[0].simulations + parts - 1 - part) // parts
        if settings[0].method == FLAT:
            _search_flat(arms, tables, switches, settings, seeds[game], part, simulations)
            report_arms(arms, task, visits, totals)
        else:
            size = plant(tree, tables, priors[game])
            grow(tree, size, tables, switches, settings, seeds[game], part, part + simulations * parts, parts)
            report_tree(tree, task, visits, totals)
