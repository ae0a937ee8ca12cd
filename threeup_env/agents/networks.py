"""The kinds of network that a policy file may hold, each as NumPy code: from observations to logits.

A kind says which tensors it needs, by name and shape, and how to run them. To add one, write a class as
`MLP` is and enter it in `NETWORKS`; `training/` builds the same network in torch under the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

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


NETWORKS: Final[Mapping[str, type[Network]]] = {"mlp": MLP}
"""Every kind, by the name that headers use."""
