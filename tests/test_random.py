"""The generator of the deals: xoroshiro128++, unbiased draws, seeds that give the same everywhere."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from threeup_env.core.random import below, next_32, seed_words, shuffle
from threeup_env.game import Game
from threeup_env.rules import Rules

WORD = 2**64
WORDS = st.integers(0, WORD - 1)


class Reference:
    """Xoroshiro128++ as its authors publish it, in plain Python (Blackman and Vigna, 2019)."""

    def __init__(self, s0: int, s1: int) -> None:
        self.s = [s0, s1]

    @staticmethod
    def rotate(word: int, distance: int) -> int:
        return (word << distance | word >> 64 - distance) % WORD

    def next_64(self) -> int:
        s0, s1 = self.s
        result = (self.rotate((s0 + s1) % WORD, 17) + s0) % WORD
        s1 ^= s0
        self.s = [self.rotate(s0, 49) ^ s1 ^ (s1 << 21) % WORD, self.rotate(s1, 28)]
        return result

    def next_32(self) -> int:
        return self.next_64() >> 32

    def below(self, n: int) -> int:
        """Lemire's method in its simplest form: reject what would make some results likelier than others."""
        while True:
            product = self.next_32() * n
            if product % 2**32 >= 2**32 % n:
                return product >> 32

    def shuffle(self, items: list[int]) -> None:
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


def generator(s0: int, s1: int) -> np.ndarray:
    return np.array([s0, s1], np.uint64)


def test_known_numbers() -> None:
    """The first outputs from the state (1, 2), worked out from the published code."""
    reference = Reference(1, 2)
    assert reference.next_64() == (3 << 17) + 1 == 393217
    assert reference.s == [(1 << 49) ^ 3 ^ (3 << 21), 3 << 28]
    rng = generator(1, 2)
    assert next_32(rng) == 393217 >> 32 == 0
    assert rng.tolist() == reference.s


@settings(deadline=None, derandomize=True)
@given(WORDS, WORDS)
def test_equals_the_reference(s0: int, s1: int) -> None:
    rng, reference = generator(s0, s1), Reference(s0, s1)
    for _ in range(20):
        assert next_32(rng) == reference.next_32()
        assert rng.tolist() == reference.s


@settings(deadline=None, derandomize=True)
@given(WORDS, WORDS.filter(bool), st.integers(1, 2**31 - 1))
def test_below_equals_the_reference(s0: int, s1: int, n: int) -> None:
    rng, reference = generator(s0, s1), Reference(s0, s1)
    for bound in (n, n % 100 + 1, 2**31 - 1, 2**30 + 1, 6, 2, 1):
        for _ in range(5):
            number = below(rng, bound)
            assert 0 <= number < bound
            assert number == reference.below(bound)
        assert rng.tolist() == reference.s, "as many numbers were rejected"


@settings(deadline=None, derandomize=True)
@given(WORDS, WORDS.filter(bool), st.integers(0, 91))
def test_shuffle_equals_the_reference(s0: int, s1: int, size: int) -> None:
    rng, reference = generator(s0, s1), Reference(s0, s1)
    items = np.arange(91, dtype=np.uint8)
    shuffle(rng, items, size)
    expected = list(range(size))
    reference.shuffle(expected)
    assert items.tolist() == [*expected, *range(size, 91)]


def chi_square(counts: Counter, cells: int) -> float:
    expected = counts.total() / cells
    return sum((counts[cell] - expected) ** 2 / expected for cell in counts) + expected * (cells - len(counts))


# Critical values of the chi-square distribution, passed by chance once in 10,000: by degrees of freedom.
CRITICAL = {1: 15.1, 2: 18.4, 5: 25.7, 12: 40.0, 23: 55.1, 83: 137.0}


@pytest.mark.parametrize("n", [2, 3, 6, 13, 84])
def test_below_is_unbiased(n: int) -> None:
    rng = seed_words(np.random.SeedSequence(n))
    counts = Counter(below(rng, n) for _ in range(20_000))
    assert chi_square(counts, n) < CRITICAL[n - 1]


def test_below_is_unbiased_where_plain_multiplication_is_not() -> None:
    """3 * 2^29: without rejection every third number would come up half as often again."""
    rng = seed_words(np.random.SeedSequence(7))
    counts = Counter(below(rng, 3 << 29) % 3 for _ in range(20_000))
    assert chi_square(counts, 3) < CRITICAL[2]


def test_shuffle_is_uniform() -> None:
    rng = seed_words(np.random.SeedSequence(4))
    counts: Counter[tuple[int, ...]] = Counter()
    items = np.arange(4, dtype=np.uint8)
    for _ in range(24_000):
        items[:] = range(4)
        shuffle(rng, items, 4)
        counts[tuple(items.tolist())] += 1
    assert set(counts) == set(itertools.permutations(range(4)))
    assert chi_square(counts, 24) < CRITICAL[23]


def test_bits_are_balanced() -> None:
    rng = seed_words(np.random.SeedSequence(1))
    numbers = np.array([next_32(rng) for _ in range(20_000)])
    ones = ((numbers[:, None] >> np.arange(32)) & 1).mean(axis=0)
    assert np.abs(ones - 0.5).max() < 0.02


# Seeds


def test_the_state_comes_from_a_seed_sequence() -> None:
    words = seed_words(np.random.SeedSequence(12))
    assert words.dtype == np.uint64
    assert words.tolist() == np.random.SeedSequence(12).generate_state(2, np.uint64).tolist()
    children = np.random.SeedSequence(12).spawn(50)
    assert len({tuple(seed_words(child).tolist()) for child in children}) == 50


def test_the_state_is_never_zero() -> None:
    class Zero(np.random.SeedSequence):
        def generate_state(self, n_words: int, dtype: type = np.uint32) -> np.ndarray:
            return np.zeros(n_words, dtype)

    assert seed_words(Zero(1)).any()


def test_the_same_seed_gives_the_same_game() -> None:
    for seed in (0, 1, 2**70, np.random.SeedSequence(5)):
        games = [Game(Rules.house(4), seed) for _ in range(2)]
        assert games[0]._memory == games[1]._memory
    assert Game(Rules(), 5)._memory == Game(Rules(), np.random.SeedSequence(5))._memory
    assert len({Game(Rules(), seed)._deals[0].deck for seed in range(100)}) == 100
    assert Game(Rules())._deals != Game(Rules())._deals, "without a seed the system gives one"


def test_global_generators_do_not_matter() -> None:
    import random

    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  (that it has no effect is the point)
    before = np.random.get_state()[1].tolist(), random.getstate()  # noqa: NPY002
    one = Game(Rules.house(3), 9)._memory
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before  # noqa: NPY002
    random.seed(2)
    assert Game(Rules.house(3), 9)._memory == one


PLAY = """
import hashlib, json
from threeup_env import Game, Rules
results = []
for rules in (Rules(2), Rules.house(4), Rules.match(3, colors={"b", "g", "r"})):
    game = Game(rules, seed=17)
    seen = hashlib.sha256(game._deals[0].deck)
    while game.player is not None:
        legal = game.legal_indices()
        game.play(legal[game.decision * 7919 % len(legal)])
        seen.update(game.observation(0).tobytes())
    results.append([seen.hexdigest(), list(game.outcome.scores)])
print(json.dumps(results))
"""


def test_hash_seeds_do_not_matter() -> None:
    printed = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", PLAY],
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONHASHSEED": hash_seed},
            ).stdout
        )
        for hash_seed in ("0", "1", "4242")
    ]
    assert printed[0] == printed[1] == printed[2]
