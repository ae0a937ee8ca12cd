"""The kinds of network that a policy file may hold, each as NumPy code: from observations to logits.

A kind says which tensors it needs, by name and shape, and how to run them. To add one, write a class as
`MLP` is and enter it in `NETWORKS`; `training/` builds the same network in torch under the same names. `Table` is
no network: it holds what was solved, not trained (`training.nash`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from ..errors import InvalidPolicyError
from .hashing import hash_keys, hash_rows

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

    def tensors(self, observation_size: int, num_actions: int) -> dict[str, tuple[int, ...]]:
        """The tensors it needs, all float32: shape by name."""
        ...

    def find_fault(self, weights: Weights, num_actions: int) -> str:
        """What is wrong with the values of tensors that are finite and have the right shapes; empty for nothing."""
        ...

    def logits(self, weights: Weights, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits, float32 `(N, A)`, of observations, int8 `(N, D)`."""
        ...


class MLP(BaseModel):
    """Layers `hidden.0`, `hidden.1`, ... with rectified units, then the layer `action`; weights are (out, in).

    Attributes:
        hidden: Units of each hidden layer.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    kind: Literal["mlp"] = "mlp"
    hidden: Annotated[tuple[Annotated[int, Field(ge=1, le=65_536)], ...], Field(max_length=16, strict=False)]

    def tensors(self, observation_size: int, num_actions: int) -> dict[str, tuple[int, ...]]:
        """The tensors it needs, all float32: shape by name."""
        shapes: dict[str, tuple[int, ...]] = {}
        inputs = observation_size
        for i, units in enumerate(self.hidden):
            shapes |= {f"hidden.{i}.weight": (units, inputs), f"hidden.{i}.bias": (units,)}
            inputs = units
        return shapes | {"action.weight": (num_actions, inputs), "action.bias": (num_actions,)}

    def find_fault(self, weights: Weights, num_actions: int) -> str:
        """Nothing: any finite weights will do."""
        return ""

    def logits(self, weights: Weights, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits, float32 `(N, A)`, of observations, int8 `(N, D)`."""
        values: npt.NDArray[np.float32] = observations.astype(np.float32)
        for i in range(len(self.hidden)):
            values = values @ weights[f"hidden.{i}.weight"].T
            values += weights[f"hidden.{i}.bias"]
            np.maximum(values, 0, out=values)
        values = values @ weights["action.weight"].T
        values += weights["action.bias"]
        return values


_HALF: Final = 1 << 24
"""float32 holds every whole number below it."""
_HALVES: Final = np.array([_HALF, 1.0])
"""What the halves of a key are worth."""
_NEVER: Final = -1e9
"""The logit of an action that is never taken."""


class Table(BaseModel):
    """No network but a list of observations, each with the action to take: a pure strategy, written out.

    Its tensors hold whole numbers, small enough to be exact as float32. `key` is the observation, as 48 bits of its
    hash in two halves, rows in rising order; `action` is an index of the action table. The action listed has the
    logit 0, all others one so low that they are never taken; for an observation that is not listed all have 0.

    Attributes:
        rows: How many observations are listed.
        num_actions: The size of the action space.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    kind: Literal["table"] = "table"
    rows: Annotated[int, Field(ge=1)]
    num_actions: Annotated[int, Field(ge=1)]

    def tensors(self, observation_size: int, num_actions: int) -> dict[str, tuple[int, ...]]:
        """The tensors it needs, all float32: shape by name."""
        return {"key": (self.rows, len(_HALVES)), "action": (self.rows,)}

    def find_fault(self, weights: Weights, num_actions: int) -> str:
        """What is wrong with its size, keys or actions; empty for nothing."""
        if self.num_actions != num_actions:
            return f"network.num_actions is {self.num_actions}; allowed: {num_actions}, that of the header"
        for name, limit in (("key", _HALF), ("action", num_actions)):
            values = weights[name]
            wrong = (values != np.floor(values)) | (values < 0) | (values >= limit)
            if wrong.any():
                return f"tensor {name!r} holds {values[wrong][0]}; allowed: whole numbers from 0 to {limit - 1}"
        keys = weights["key"].astype(np.float64) @ _HALVES
        if not (np.diff(keys) > 0).all():
            return "tensor 'key' is not in rising order; allowed: each observation once, sorted by its key"
        return ""

    def logits(self, weights: Weights, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits, float32 `(N, A)`, of observations, int8 `(N, D)`."""
        keys = weights["key"].astype(np.float64) @ _HALVES
        sought = _table_keys(observations)
        places = np.minimum(np.searchsorted(keys, sought), self.rows - 1)
        listed = np.flatnonzero(keys[places] == sought)
        logits = np.zeros((len(observations), self.num_actions), np.float32)
        logits[listed] = _NEVER
        logits[listed, weights["action"][places[listed]].astype(np.int64)] = 0
        return logits


def make_table(
    observations: npt.NDArray[np.int8], actions: npt.NDArray[np.int64], num_actions: int
) -> tuple[Table, dict[str, npt.NDArray[np.float32]]]:
    """A table and its tensors, for a policy file with the temperature 0.

    Args:
        observations: Different observations, int8 `(rows, D)`.
        actions: The action to take at each, int64 `(rows,)`.
        num_actions: The size of the action space.

    Raises:
        InvalidPolicyError: Two observations have the same key.
    """
    keys = _table_keys(observations)
    order = np.argsort(keys)
    if len(np.unique(keys)) != len(keys):
        raise InvalidPolicyError("table: two observations have the same key; allowed: different observations")
    halves = np.stack([keys[order] // _HALF, keys[order] % _HALF], axis=1)
    tensors = {"key": halves.astype(np.float32), "action": actions[order].astype(np.float32)}
    return Table(rows=len(keys), num_actions=num_actions), tensors


def _table_keys(observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    """48 bits of a hash of each observation, int8 `(N, D)`, as whole numbers, float64 `(N,)`."""
    hashes = hash_rows(observations, hash_keys(0, observations.shape[1]))
    return (hashes >> np.uint64(16)).astype(np.float64)


NETWORKS: Final[Mapping[str, type[Network]]] = {"mlp": MLP, "table": Table}
"""Every kind, by the name that headers use."""
