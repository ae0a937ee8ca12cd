"""The size of `ThreeUp/Mini-2p-v0`, as docs/rules.md states it: counted by walking the game tree from all deals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from threeup_env import Rules
from threeup_env.cards import NUM_COLORS, NUM_KINDS
from threeup_env.core import single, tree
from threeup_env.core.state import STATE, pack_rules
from threeup_env.observation import observation_layout

MINI = Rules.mini(2)


def deals(counts: list[int]) -> Iterator[list[int]]:
    """Every order of a deck by kind; colours never matter here (1.5)."""
    if not any(counts):
        yield []
    for kind, count in enumerate(counts):
        if count:
            rest = counts.copy()
            rest[kind] -= 1
            for order in deals(rest):
                yield [kind, *order]


class Walker:
    """Walks the tree of one deal after another."""

    def __init__(self, rules: Rules) -> None:
        longest = rules.max_decisions + 8
        self.rules = rules
        self.switches = pack_rules(rules)
        self.stack = np.zeros(longest, STATE)
        self.path = np.zeros(longest, np.int64)
        self.keys = np.zeros((longest, rules.num_players), np.int64)
        self.rows = np.zeros((1, observation_layout(rules).size), np.int8)
        self.infosets = np.zeros(100_000, np.int64)

    def deal(self, kinds: list[int], first_player: int) -> None:
        """Put a fresh deal at the root."""
        self.stack[0] = np.zeros(1, STATE)[0]
        self.stack["deck"][0, : len(kinds)] = np.array(kinds) * NUM_COLORS
        self.stack["deck_size"][0] = len(kinds)
        self.stack["first_player"][0] = first_player
        single.deal_again(self.stack, self.switches)

    def walk(self) -> tuple[int, int, np.ndarray]:
        """Decision nodes, ends and the distinct information sets of the deal at the root."""
        nodes, ends = tree.list_decisions(self.stack, self.path, self.switches, self.keys, self.rows, self.infosets)
        assert nodes <= len(self.infosets)
        return nodes, ends, np.unique(self.infosets[:nodes])


def test_the_numbers_of_the_mini_game() -> None:
    counts = MINI.deck_counts.reshape(NUM_KINDS, NUM_COLORS).sum(axis=1).tolist()
    walker = Walker(MINI)
    decisions = ends = roots = 0
    seen = []
    for kinds in deals(counts):
        for first_player in range(2):
            walker.deal(kinds, first_player)
            nodes, leaves, keys = walker.walk()
            roots += 1
            decisions += nodes
            ends += leaves
            seen.append(keys)
    infosets = len(np.unique(np.concatenate(seen)))
    assert (roots, decisions, ends, infosets) == (15_120, 1_794_542, 662_442, 304_878)
