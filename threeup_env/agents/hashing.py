"""Hashes of observations: the same on every machine, for one row or many."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

_WORD: Final = np.dtype("<u4")
"""What observations are hashed by."""


@lru_cache(maxsize=16)
def hash_keys(seed: int, entries: int) -> npt.NDArray[np.uint64]:
    """The keys that hash rows of `entries` int8 entries, uint64, read-only; another seed gives another hash."""
    words = -(-entries // _WORD.itemsize)
    keys = np.random.SeedSequence(seed).generate_state(words, np.uint64) | np.uint64(1)
    keys.flags.writeable = False
    return keys


def hash_rows(rows: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A hash of each row of an int8 array `(N, D)`, uint64 `(N,)`, with the keys that `hash_keys` gives for D."""
    padded = np.zeros((len(rows), len(keys) * _WORD.itemsize), np.int8)
    padded[:, : rows.shape[1]] = rows
    words = padded.view(_WORD).astype(np.uint64)
    # Multiply-shift (Dietzfelbinger, 1996), then the mixing steps of SplitMix64; all modulo 2^64.
    mixed: npt.NDArray[np.uint64] = (words * keys).sum(axis=1, dtype=np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed
