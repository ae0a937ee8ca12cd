"""The random generator of a game: xoroshiro128++ (Blackman and Vigna, 2021), and unbiased draws from it.

It is two 64-bit words, seeded from `numpy.random.SeedSequence`, period 2^128 - 1. Games seeded from
different sequences never share numbers in practice. Integers below n come from the upper 32 bits by
Lemire's multiplication with rejection (2019), which is exact.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from .jit import compiled

GENERATOR = np.dtype([("rng", np.uint64, (2,))])
"""A generator by itself. Compiled loops take arrays of it, as a row of a plain array costs a reference count."""

_LOW_32 = (1 << 32) - 1
_TWO_32 = 1 << 32


def seed_words(sequence: np.random.SeedSequence) -> npt.NDArray[np.uint64]:
    """The generator that `sequence` seeds: two words, not both zero."""
    words = sequence.generate_state(2, np.uint64).astype(np.uint64, copy=False)
    return words if words.any() else np.array([1, 0], np.uint64)


def seed_generators(sequences: Iterable[np.random.SeedSequence]) -> npt.NDArray[np.void]:
    """One generator for each sequence, GENERATOR `(N,)`."""
    words = np.array([seed_words(sequence) for sequence in sequences], np.uint64)
    return words.view(GENERATOR)[:, 0]


@compiled
def _rotate(word, distance):
    return (word << np.uint64(distance)) | (word >> np.uint64(64 - distance))


@compiled
def next_32(rng):
    """The next 32 random bits, as an int64."""
    s0, s1 = rng[0], rng[1]
    result = _rotate(s0 + s1, 17) + s0
    s1 ^= s0
    rng[0] = _rotate(s0, 49) ^ s1 ^ (s1 << np.uint64(21))
    rng[1] = _rotate(s1, 28)
    return np.int64(result >> np.uint64(32))


@compiled
def below(rng, n):
    """A uniform integer in 0..n-1, for 1 <= n < 2^31."""
    product = next_32(rng) * n
    if product & _LOW_32 < n:
        threshold = (_TWO_32 - n) % n
        while product & _LOW_32 < threshold:
            product = next_32(rng) * n
    return product >> 32


@compiled
def shuffle(rng, items, size):
    """Shuffle the first `size` items uniformly, in place (Fisher-Yates)."""
    for last in range(size - 1, 0, -1):
        other = below(rng, last + 1)
        items[last], items[other] = items[other], items[last]
