"""Other ways to show counts to a network, made from the default observation: for comparing encodings.

In the default every number of cards is one entry, as it is. These say the same in other ways:

- `scaled`: the largest value of every entry is 1.
- `codes`: a count c is `[c >= 1, c >= 2, c >= 3, max(c - 3, 0)]`, or `[c >= 1, max(c - 1, 0)]` where it is mostly
  small, and a size s, which may be large, is `[s >= 1, s >= 2, s >= 3, s >= 4, s >= 6, s >= 10, s // 8, s % 8]`.
- `unary`: every number c is a row of as many entries as it may have at most; entry i is 1 where c > i.

In `codes`, what is no count stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import torch
from torch import nn

from threeup_env.observation import observation_layout
from threeup_env.rules import Rules

COUNTS: Final = ("hand", "removed", "extras")
SMALL_COUNTS: Final = ("up", "known", "pile")
SIZES: Final = ("hand_size", "draw_pile", "deal")


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


class Scaled(nn.Module):
    """The largest value of every entry is 1.

    Args:
        rules: The rules it is an observation under.
    """

    highs: torch.Tensor

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        layout = observation_layout(rules)
        self.register_buffer("highs", torch.from_numpy(layout.high.astype(np.float32)), persistent=False)
        self.size = layout.size

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features, float32 `(N, size)`, of observations, float32 `(N, D)`."""
        return observations / self.highs


class Coded(nn.Module):
    """Every count is a code of several entries, all of them functions of it alone.

    Args:
        rules: The rules it is an observation under.
        levels: The functions, for a slice's name and the largest value of its entries.
    """

    columns: torch.Tensor
    thresholds: torch.Tensor
    divisors: torch.Tensor
    bounds: torch.Tensor

    def __init__(self, rules: Rules, levels: Callable[[str, int], list[Level]]) -> None:
        super().__init__()
        columns: list[int] = []
        chosen: list[Level] = []
        for part in observation_layout(rules):
            code = levels(part.name, part.high)
            for entry in range(part.start, part.stop):
                columns += [entry] * len(code)
                chosen += code
        self.register_buffer("columns", torch.tensor(columns), persistent=False)
        table = torch.tensor(chosen, dtype=torch.float32)
        for name, column in zip(("thresholds", "divisors", "bounds"), table.T, strict=True):
            self.register_buffer(name, column.contiguous(), persistent=False)
        self.size = len(columns)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features, float32 `(N, size)`, of observations, float32 `(N, D)`."""
        values = (observations[:, self.columns] - self.thresholds) / self.divisors
        return torch.where(
            self.bounds == _REMAINDER,
            torch.remainder(values, _EIGHT),
            torch.where(self.bounds == _AS_IT_IS, values, values.floor().clamp(min=0).minimum(self.bounds)),
        )


Level = tuple[float, float, float]
"""A function of a count c: `floor((c - first) / second)` within 0 and third, or what a special third says."""
_AS_IT_IS: Final = -1.0
_REMAINDER: Final = -2.0
_EIGHT: Final = 8
_NO_BOUND: Final = 1e9
_IDENTITY: Final[Level] = (0, 1, _AS_IT_IS)


def _at_least(level: int) -> Level:
    """1 where a count is at least `level`, else 0."""
    return (level - 1, 1, 1)


def _code(name: str, high: int) -> list[Level]:
    if name in COUNTS:
        return [_at_least(1), _at_least(2), _at_least(3), (3, 1, _NO_BOUND)]
    if name in SMALL_COUNTS:
        return [_at_least(1), (1, 1, _NO_BOUND)]
    if name in SIZES:
        return [*map(_at_least, (1, 2, 3, 4, 6, 10)), (0, _EIGHT, _NO_BOUND), (0, 1, _REMAINDER)]
    return [_IDENTITY]


def _unary(name: str, high: int) -> list[Level]:
    # The direction alone may be below 0.
    return [_IDENTITY] if name == "direction" else [_at_least(level) for level in range(1, high + 1)]


ENCODINGS: Final[Mapping[str, Callable[[Rules], Plain | Scaled | Coded]]] = {
    "default": Plain,
    "scaled": Scaled,
    "codes": lambda rules: Coded(rules, _code),
    "unary": lambda rules: Coded(rules, _unary),
}
"""Every encoding, by its name in a config."""
