"""The kinds of network that a policy file may hold, each as NumPy code: from observations to logits.

A kind says which tensors it needs, by name and shape, and how to run them. To add one, write a class as
`MLP` is and enter it in `NETWORKS`; `training/` builds the same network in torch under the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from ..cards import MAX_COPIES, NUM_KINDS, NUM_NUMBERS
from ..observation import Layout

Units = Annotated[int, Field(ge=1, le=65_536)]
Weights = Mapping[str, npt.NDArray[np.float32]]


class Network(Protocol):
    """A kind of network, with its shape; made from the `network` object of a policy file's header."""

    @property
    def kind(self) -> str:
        """Its name in `NETWORKS`."""
        ...

    @classmethod
    def model_validate(cls, obj: Any) -> Self:
        """Check the shape as the header states it (pydantic)."""
        ...

    def model_dump(self, *, mode: str) -> dict[str, Any]:
        """What the header states, with `mode="json"` as JSON values (pydantic)."""
        ...

    def tensors(self, layout: Layout, num_actions: int) -> dict[str, tuple[int, ...]]:
        """The tensors it needs, all float32: shape by name."""
        ...

    def logits(self, weights: Weights, layout: Layout, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits, float32 `(N, A)`, of observations, int8 `(N, D)`, laid out as `layout` says."""
        ...


class MLP(BaseModel):
    """Layers `hidden.0`, `hidden.1`, ... with rectified units, then the layer `action`; weights are (out, in).

    Attributes:
        hidden: Units of each hidden layer.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    kind: Literal["mlp"] = "mlp"
    hidden: Annotated[tuple[Units, ...], Field(max_length=16, strict=False)]

    def tensors(self, layout: Layout, num_actions: int) -> dict[str, tuple[int, ...]]:
        """The tensors it needs, all float32: shape by name."""
        shapes = _hidden_shapes(self.hidden, layout.size)
        return shapes | _layer("action", self.hidden[-1] if self.hidden else layout.size, num_actions)

    def logits(self, weights: Weights, layout: Layout, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits, float32 `(N, A)`, of observations, int8 `(N, D)`, laid out as `layout` says."""
        values = _run_hidden(weights, len(self.hidden), observations.astype(np.float32))
        return _linear(weights, "action", values)


class Kinds(BaseModel):
    """Kinds of card as tokens: the same weights read every kind and score the plays of every kind.

    What an observation tells of one kind (`kind_columns`) goes through the layer `kind`, whose weights all kinds
    share and whose bias is each kind's own. The outcome and the observation go through the layers `hidden.*`. Then,
    for each kind, a layer of rectified units over its token (`score.kind`) and the last hidden layer (`score.hidden`)
    scores its seven plays (`score.play`); `action` reads the last hidden layer and all scores.

    Attributes:
        units: Units of a token.
        hidden: Units of each hidden layer.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    kind: Literal["kinds"] = "kinds"
    units: Units = 16
    hidden: Annotated[tuple[Units, ...], Field(min_length=1, max_length=16, strict=False)]

    def tensors(self, layout: Layout, num_actions: int) -> dict[str, tuple[int, ...]]:
        """The tensors it needs, all float32: shape by name."""
        features = kind_columns(layout).shape[1]
        last = self.hidden[-1]
        return (
            {"kind.weight": (self.units, features), "kind.bias": (NUM_KINDS, self.units)}
            | _hidden_shapes(self.hidden, NUM_KINDS * self.units + layout.size)
            | _layer("score.kind", self.units, self.units)
            | {"score.hidden.weight": (self.units, last)}
            | _layer("score.play", self.units, MAX_COPIES)
            | _layer("action", last + NUM_KINDS * MAX_COPIES, num_actions)
        )

    def logits(self, weights: Weights, layout: Layout, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits, float32 `(N, A)`, of observations, int8 `(N, D)`, laid out as `layout` says."""
        inputs = observations.astype(np.float32)
        tokens = inputs @ self._spread(weights, layout)
        tokens += weights["kind.bias"].ravel()
        np.maximum(tokens, 0, out=tokens)
        last = _run_hidden(weights, len(self.hidden), np.concatenate([tokens, inputs], axis=1))
        scores = _linear(weights, "score.kind", tokens.reshape(-1, self.units)).reshape(-1, NUM_KINDS, self.units)
        scores += (last @ weights["score.hidden.weight"].T)[:, None]
        np.maximum(scores, 0, out=scores)
        plays = _linear(weights, "score.play", scores.reshape(-1, self.units)).reshape(len(inputs), -1)
        return _linear(weights, "action", np.concatenate([last, plays], axis=1))

    def _spread(self, weights: Weights, layout: Layout) -> npt.NDArray[np.float32]:
        """The shared weights of the tokens as one matrix, `(D, 13 * units)`: faster than to collect the columns."""
        columns = kind_columns(layout)
        spread = np.zeros((layout.size, NUM_KINDS, self.units), np.float32)
        for kind in range(NUM_KINDS):
            there = columns[kind] >= 0
            spread[columns[kind][there], kind] = weights["kind.weight"].T[there]
        return spread.reshape(layout.size, -1)


@lru_cache(maxsize=32)
def kind_columns(layout: Layout) -> npt.NDArray[np.int64]:
    """Where an observation tells of each kind, int64 `(13, F)`: the same column of every kind means the same.

    All slices whose last axis is the 13 kinds, or the ten numbers; a Clear has -1 for the latter.
    """
    columns = []
    for part in layout:
        if part.shape[-1] in (NUM_KINDS, NUM_NUMBERS) and part.name in _BY_KIND:
            for start in range(part.start, part.stop, part.shape[-1]):
                columns.append([start + kind if kind < part.shape[-1] else -1 for kind in range(NUM_KINDS)])
    found = np.array(columns, np.int64).T
    found.flags.writeable = False
    return found


_BY_KIND: Final = ("hand", "removed", "up", "known", "pile", "top", "pending_kind", "give_kind", "want_kind")


def _layer(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _hidden_shapes(hidden: tuple[int, ...], inputs: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for i, units in enumerate(hidden):
        shapes |= _layer(f"hidden.{i}", inputs, units)
        inputs = units
    return shapes


def _linear(weights: Weights, name: str, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    outputs: npt.NDArray[np.float32] = values @ weights[f"{name}.weight"].T
    outputs += weights[f"{name}.bias"]
    return outputs


def _run_hidden(weights: Weights, layers: int, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    for i in range(layers):
        values = _linear(weights, f"hidden.{i}", values)
        np.maximum(values, 0, out=values)
    return values


NETWORKS: Final[Mapping[str, type[Network]]] = {"mlp": MLP, "kinds": Kinds}
"""Every kind, by the name that headers use."""
