"""Other ways to show counts to a network, made from the default observation: for comparing encodings.

Every code of the observation layout keeps the value of what it codes, so each of these transforms is lossless:

- `counts`: every count is one number, as it is.
- `scaled`: every count is one number between 0 and 1.
- `unary`: every count c is a row of as many entries as it may have at most; entry i is 1 where c > i.

In all three, what is no count stays as it is; the decisions left are a share of the limit in the first two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from threeup_env.cards import MAX_COPIES
from threeup_env.observation import BASE, COUNT_CODE, MOST_EXTRAS, PAIR_CODE, SIZE_CODE, Layout, observation_layout
from threeup_env.rules import Rules

_COUNT: Final = (1, 1, 1, 1)
_PAIR: Final = (1, 1)
_SIZE: Final = (0, 0, 0, 0, 0, 0, BASE, 1)
assert (len(_COUNT), len(_PAIR), len(_SIZE)) == (COUNT_CODE, PAIR_CODE, SIZE_CODE)

_CODES: Final[Mapping[str, tuple[tuple[int, ...], Callable[[Rules], int]]]] = {
    "hand": (_COUNT, lambda rules: MAX_COPIES),
    "removed": (_COUNT, lambda rules: MAX_COPIES),
    "up": (_PAIR, lambda rules: rules.table_cards),
    "known": (_PAIR, lambda rules: MAX_COPIES),
    "hand_size": (_SIZE, lambda rules: rules.deck_size),
    "draw_pile": (_SIZE, lambda rules: rules.deck_size),
    "extras": (_COUNT, lambda rules: MOST_EXTRAS),
    "pile": (_PAIR, lambda rules: 2),
    "deal": (_SIZE, lambda rules: rules.rounds),
}
"""Coded slices: the weights that turn a code into its count, and the largest count."""


class Plain(nn.Module):
    """The default: the observation as it is.

    Args:
        rules: The rules it is an observation under.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.size = observation_layout(rules).size

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features, float32 `(N, size)`, of observations, float32 `(N, D)`."""
        return observations


class Counts(nn.Module):
    """Every count is one number.

    Args:
        rules: The rules it is an observation under.
        scaled: Whether the largest count is 1.
    """

    values: torch.Tensor

    def __init__(self, rules: Rules, *, scaled: bool) -> None:
        super().__init__()
        weights, highs = _decoder(rules, observation_layout(rules), limit_as_share=True)
        if scaled:
            weights = weights / highs
        self.register_buffer("values", torch.from_numpy(weights.astype(np.float32)), persistent=False)
        self.size = weights.shape[1]

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features, float32 `(N, size)`, of observations, float32 `(N, D)`."""
        return observations @ self.values


class Unary(nn.Module):
    """Every count c is a row of entries; entry i is 1 where c > i.

    Args:
        rules: The rules it is an observation under.
    """

    values: torch.Tensor
    columns: torch.Tensor
    levels: torch.Tensor

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        weights, highs = _decoder(rules, observation_layout(rules), limit_as_share=False)
        columns = np.repeat(np.arange(len(highs)), highs)
        levels = np.concatenate([np.arange(high) for high in highs])
        self.register_buffer("values", torch.from_numpy(weights.astype(np.float32)), persistent=False)
        self.register_buffer("columns", torch.from_numpy(columns), persistent=False)
        self.register_buffer("levels", torch.from_numpy(levels.astype(np.float32)), persistent=False)
        self.size = len(columns)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features, float32 `(N, size)`, of observations, float32 `(N, D)`."""
        return ((observations @ self.values)[:, self.columns] > self.levels).float()


ENCODINGS: Final[Mapping[str, Callable[[Rules], Plain | Counts | Unary]]] = {
    "default": Plain,
    "counts": lambda rules: Counts(rules, scaled=False),
    "scaled": lambda rules: Counts(rules, scaled=True),
    "unary": Unary,
}
"""Every encoding, by its name in a config."""


def _decoder(
    rules: Rules, layout: Layout, *, limit_as_share: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The linear map from an observation to plain values, float64 `(D, V)`, and their largest values, int64 `(V,)`."""
    columns: list[npt.NDArray[np.float64]] = []
    highs: list[int] = []
    for part in layout:
        if part.name == "decisions_left" and limit_as_share:
            code: tuple[float, ...] = tuple(BASE**digit / rules.max_decisions for digit in range(part.size))
            high = 1
        elif part.name in _CODES:
            code, high = _CODES[part.name][0], _CODES[part.name][1](rules)
        else:
            code, high = (1,), part.high
        for start in range(part.start, part.stop, len(code)):
            column = np.zeros(layout.size)
            column[start : start + len(code)] = code
            columns.append(column)
            highs.append(high)
    return np.stack(columns, axis=1), np.array(highs)
