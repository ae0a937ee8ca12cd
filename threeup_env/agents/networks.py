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
from ..core.outlook import ROOM, look_ahead, outlook_size
from ..core.state import pack_rules
from ..errors import InvalidPolicyError
from ..observation import Layout, observation_layout
from ..rules import Rules
from .hashing import hash_keys, hash_rows

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

    def find_fault(self, weights: Weights, num_actions: int) -> str:
        """What is wrong with the values of tensors that are finite and have the right shapes; empty for nothing."""
        ...

    def prepare(self, weights: Weights, rules: Rules) -> Weights:
        """The weights as `logits` takes them: with what can be computed from them once."""
        ...

    def logits(self, weights: Weights, rules: Rules, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits, float32 `(N, A)`, of observations, int8 `(N, D)`, made under `rules`; `weights` from `prepare`."""
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

    def find_fault(self, weights: Weights, num_actions: int) -> str:
        """Nothing: any finite weights will do."""
        return ""

    def prepare(self, weights: Weights, rules: Rules) -> Weights:
        """The weights as they are."""
        return weights

    def logits(self, weights: Weights, rules: Rules, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits, float32 `(N, A)`, of observations, int8 `(N, D)`, made under `rules`."""
        values = _run_hidden(weights, len(self.hidden), observations.astype(np.float32))
        return _linear(weights, "action", values)


class Kinds(BaseModel):
    """Kinds of card as tokens: the same weights read every kind and score the plays of every kind.

    What an observation tells of one kind (`kind_readings`) goes through the layer `kind`, whose weights all kinds
    share and whose bias is each kind's own. The outcome and the observation go through the layers `hidden.*`. Then,
    for each kind, a layer of rectified units over its token (`score.kind`) and the last hidden layer (`score.hidden`)
    scores its seven plays (`score.play`); `action` reads the last hidden layer and all scores.

    Attributes:
        units: Units of a token.
        sums: Whether a token also reads how many cards of its kind and all higher ones there are, of pile and top
            those below it, and, the same for all kinds, sizes of zones and extras owed.
        outlook: Whether it also reads what may become of the pile in one round (`look_ahead`), and the scores too.
        hidden: Units of each hidden layer.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    kind: Literal["kinds"] = "kinds"
    units: Units = 16
    sums: bool = False
    outlook: bool = False
    hidden: Annotated[tuple[Units, ...], Field(min_length=1, max_length=16, strict=False)]

    def tensors(self, layout: Layout, num_actions: int) -> dict[str, tuple[int, ...]]:
        """The tensors it needs, all float32: shape by name."""
        features = kind_readings(layout, self.sums).shape[2]
        last = self.hidden[-1]
        outlook = {}
        if self.outlook:
            size = outlook_size(layout["hand_size"].size)
            outlook = {"kind.outlook.weight": (self.units, size), "score.outlook.weight": (self.units, size)}
        return (
            {"kind.weight": (self.units, features), "kind.bias": (NUM_KINDS, self.units)}
            | _hidden_shapes(self.hidden, NUM_KINDS * self.units + layout.size)
            | _layer("score.kind", self.units, self.units)
            | {"score.hidden.weight": (self.units, last)}
            | _layer("score.play", self.units, MAX_COPIES)
            | _layer("action", last + NUM_KINDS * MAX_COPIES, num_actions)
            | outlook
        )

    def find_fault(self, weights: Weights, num_actions: int) -> str:
        """Nothing: any finite weights will do."""
        return ""

    def prepare(self, weights: Weights, rules: Rules) -> Weights:
        """With `spread`: the shared weights of the tokens as one matrix, `(D, 13 * units)`."""
        spread = kind_readings(observation_layout(rules), self.sums) @ weights["kind.weight"].T
        return {**weights, "spread": spread.reshape(len(spread), -1)}

    def logits(self, weights: Weights, rules: Rules, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits, float32 `(N, A)`, of observations, int8 `(N, D)`, made under `rules`."""
        inputs = observations.astype(np.float32)
        tokens = inputs @ weights["spread"]
        tokens += weights["kind.bias"].ravel()
        if self.outlook:
            outlook = make_outlook(rules, observations).reshape(len(inputs) * NUM_KINDS, -1)
            tokens += (outlook @ weights["kind.outlook.weight"].T).reshape(tokens.shape)
        np.maximum(tokens, 0, out=tokens)
        last = _run_hidden(weights, len(self.hidden), np.concatenate([tokens, inputs], axis=1))
        scores = _linear(weights, "score.kind", tokens.reshape(-1, self.units)).reshape(-1, NUM_KINDS, self.units)
        scores += (last @ weights["score.hidden.weight"].T)[:, None]
        if self.outlook:
            scores += (outlook @ weights["score.outlook.weight"].T).reshape(scores.shape)
        np.maximum(scores, 0, out=scores)
        plays = _linear(weights, "score.play", scores.reshape(-1, self.units)).reshape(len(inputs), -1)
        return _linear(weights, "action", np.concatenate([last, plays], axis=1))


def make_outlook(rules: Rules, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """The outlook (`threeup_env.core.outlook`), float32 `(N, 13, G)`, of observations, int8 `(N, D)`, under `rules`."""
    outlook = np.empty((len(observations), NUM_KINDS, outlook_size(rules.num_players)), np.float32)
    look_ahead(observations, _packed(rules), np.zeros(1, ROOM), outlook)
    return outlook


_packed = lru_cache(maxsize=32)(pack_rules)


@lru_cache(maxsize=32)
def kind_readings(layout: Layout, sums: bool) -> npt.NDArray[np.float32]:
    """What a token reads of an observation: 0 or 1, float32 `(D, 13, F)`, reading f of kind k being a sum of columns.

    A reading is the entry of the kind in a slice whose last axis is the 13 kinds, or the ten numbers, where a Clear
    reads 0. With `sums` there are more: the entries of the kind and all higher ones together, of pile and top those
    below it, and, the same for every kind, cards in each hand and in the draw pile, extras owed, and the 3DOWN cards
    of each seat.
    """
    kinds = np.arange(NUM_KINDS)
    readings = []
    for part in layout:
        width = part.shape[-1]
        if width not in (NUM_KINDS, NUM_NUMBERS) or part.name not in _BY_KIND:
            continue
        columns = np.arange(width)[:, None]
        patterns = [columns == kinds]
        if sums:
            patterns.append(columns >= kinds)
        if sums and width == NUM_NUMBERS:
            patterns.append(columns < kinds)
        for start in range(part.start, part.stop, width):
            readings += [_read(layout, start, pattern) for pattern in patterns]
    if sums:
        for name, width in (("hand_size", 1), ("draw_pile", 1), ("extras", 1), ("down", layout["down"].shape[-1])):
            part = layout[name]
            everything = np.ones((width, NUM_KINDS), np.bool_)
            readings += [_read(layout, start, everything) for start in range(part.start, part.stop, width)]
    found = np.stack(readings, axis=2)
    found.flags.writeable = False
    return found


def _read(layout: Layout, start: int, pattern: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """A reading, float32 `(D, 13)`: which of the columns from `start` on each kind reads, bool `(width, 13)`."""
    reading = np.zeros((layout.size, NUM_KINDS), np.float32)
    reading[start : start + len(pattern)] = pattern
    return reading


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

    def tensors(self, layout: Layout, num_actions: int) -> dict[str, tuple[int, ...]]:
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

    def prepare(self, weights: Weights, rules: Rules) -> Weights:
        """The weights as they are."""
        return weights

    def logits(self, weights: Weights, rules: Rules, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits, float32 `(N, A)`, of observations, int8 `(N, D)`, made under `rules`."""
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


NETWORKS: Final[Mapping[str, type[Network]]] = {"mlp": MLP, "kinds": Kinds, "table": Table}
"""Every kind, by the name that headers use."""
