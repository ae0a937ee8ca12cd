"""Policy files, and the agent that plays them; needs no torch.

A policy file is a safetensors file: tensors and text, nothing that could run. Its metadata holds one entry,
`threeup`, a JSON object, the **header**:

| key | value |
|---|---|
| `format` | `"threeup-policy/1"` |
| `encoding` | version of the observation layout it was trained on (`observation.ENCODING`) |
| `rules` | every switch of its rules (`Rules.to_dict(defaults=True)`) |
| `observation_size`, `num_actions` | what goes in and comes out |
| `network` | `kind`, and the shape as that kind writes it (`threeup_env.agents.networks`) |
| `temperature` | what its logits are divided by in play; 0 stands for the likeliest action |
| `training` | where it comes from: anything that JSON can hold |

Loading checks all of it, and every tensor: name, dtype, shape, finite values.

A policy draws its actions. One that always takes the likeliest runs into cycles, in which two hands go round
through the pile until the game meets its limit (6.3): the best way out of them is a mixture of plays. The draw
hangs on the observation alone, which tells how many decisions are left and so never comes twice in a deal:
an agent is a function of what it sees, without a generator, and plays the same in any batch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_safetensors

from ..errors import InvalidPolicyError, InvalidRulesError
from ..files import replacing
from ..observation import ENCODING, observation_layout
from ..rules import Rules
from .hashing import hash_keys, hash_rows
from .networks import NETWORKS, Network, Weights

FORMAT: Final = "threeup-policy/1"
METADATA_KEY: Final = "threeup"
SUFFIX: Final = ".safetensors"
_BLOCK: Final = 512
"""Rows that go through a network at once: its activations stay in the cache of one core, and their memory with us."""

Path = str | os.PathLike[str]


class Header(BaseModel):
    """The header of a policy file; see the module for its keys."""

    model_config = ConfigDict(strict=True, extra="forbid")

    format: Literal["threeup-policy/1"]
    encoding: str
    rules: dict[str, Any]
    observation_size: int = Field(ge=1)
    num_actions: int = Field(ge=1)
    network: dict[str, Any]
    temperature: float = Field(ge=0, allow_inf_nan=False)
    training: dict[str, Any]


def make_header(
    rules: Rules, network: Network, training: Mapping[str, Any] | None = None, *, temperature: float = 1.0
) -> Header:
    """The header of a policy for `rules`, trained on this version's observations.

    Args:
        rules: The rules it was trained under.
        network: Kind and shape of its network.
        training: Where it comes from; JSON values.
        temperature: What its logits are divided by in play; 0 stands for the likeliest action.
    """
    return Header(
        format=FORMAT,
        encoding=ENCODING,
        rules=rules.to_dict(defaults=True),
        observation_size=observation_layout(rules).size,
        num_actions=rules.num_actions,
        network=network.model_dump(mode="json"),
        temperature=temperature,
        training=dict(training or {}),
    )


def save_policy(path: Path, weights: Weights, header: Header) -> None:
    """Write a policy file; an older file at `path` is replaced at once or not at all.

    Args:
        path: Where.
        weights: The tensors that the network needs, float32, by name.
        header: See `make_header`.

    Raises:
        InvalidPolicyError: The weights do not fit the header, or `path` cannot be written.
    """
    shapes = {name: (array.dtype.name, array.shape) for name, array in weights.items()}
    _check_values(str(path), _check(str(path), header, shapes), weights, header)
    tensors = {name: np.ascontiguousarray(weights[name]) for name in sorted(weights)}
    content = to_safetensors(tensors, {METADATA_KEY: header.model_dump_json()})
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise InvalidPolicyError(f"policy {str(path)!r} cannot be written: {error.strerror or error}") from error


def load_policy(
    path: Path, rules: Rules | None = None, *, temperature: float | None = None, seed: int = 0
) -> PolicyAgent:
    """Read a policy file; nothing in it is ever run as code.

    Args:
        path: The file.
        rules: The rules it has to be for; None takes any.
        temperature: Instead of that in the header.
        seed: Another seed gives other draws.

    Raises:
        InvalidPolicyError: The file is missing or unreadable, no policy file, of another format or encoding,
            for other rules, or its tensors are not what its header says.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb"):  # tells a missing or unreadable file better than safetensors does
            pass
        with safe_open(name, framework="np") as file:
            header = _read_header(name, file.metadata())
            found = {}
            for key in file.keys():  # noqa: SIM118  (not a mapping)
                tensor = file.get_slice(key)
                found[key] = (_DTYPES.get(tensor.get_dtype(), tensor.get_dtype()), tuple(tensor.get_shape()))
            network = _check(name, header, found)
            weights = {key: file.get_tensor(key) for key in found}
    except OSError as error:
        raise InvalidPolicyError(f"policy {name!r} cannot be read: {error.strerror or error}") from error
    except SafetensorError as error:
        raise InvalidPolicyError(f"policy {name!r} is not a safetensors file, or is cut short: {error}") from error
    _check_values(name, network, weights, header)
    agent = PolicyAgent(weights, header, network, temperature=temperature, seed=seed, name=name)
    if rules is not None and agent.rules != rules:
        raise InvalidPolicyError(
            f"policy {name!r} is for the rules {agent.rules.to_dict()}; the rules here are {rules.to_dict()}"
        )
    return agent


_DTYPES: Final = {"F32": "float32", "F64": "float64", "F16": "float16", "BF16": "bfloat16"}


def _read_header(name: str, metadata: Mapping[str, str] | None) -> Header:
    if not metadata or METADATA_KEY not in metadata:
        raise InvalidPolicyError(
            f"policy {name!r} has no header: its metadata holds {sorted(metadata or {})}, not {METADATA_KEY!r}"
        )
    try:
        content = json.loads(metadata[METADATA_KEY])
    except ValueError as error:
        raise InvalidPolicyError(f"policy {name!r}: its header is no JSON: {error}") from None
    stated = content.get("format") if isinstance(content, dict) else None
    if stated != FORMAT:
        raise InvalidPolicyError(f"policy {name!r} has the format {stated!r}; allowed: {FORMAT!r}")
    try:
        return Header.model_validate(content)
    except ValidationError as error:
        raise InvalidPolicyError(f"policy {name!r}: {_explain(error)}") from None


def _explain(error: ValidationError) -> str:
    """Every fault that pydantic found: key, value, what is allowed."""
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'header'}: {fault['input']!r}: {fault['msg']}"
        for fault in error.errors(include_url=False)
    )


def _check(name: str, header: Header, found: Mapping[str, tuple[str, tuple[int, ...]]]) -> Network:
    """Check a header against this version, and the tensors against the header; the network."""
    if header.encoding != ENCODING:
        raise InvalidPolicyError(
            f"policy {name!r} was trained on the encoding {header.encoding!r}; this version has {ENCODING!r}"
        )
    try:
        rules = Rules.from_dict(header.rules)
    except InvalidRulesError as error:
        raise InvalidPolicyError(f"policy {name!r}: rules: {error}") from None
    expected = {"observation_size": observation_layout(rules).size, "num_actions": rules.num_actions}
    for key, value in expected.items():
        if getattr(header, key) != value:
            raise InvalidPolicyError(
                f"policy {name!r}: {key} is {getattr(header, key)}; its rules have {value} in this version"
            )
    kind = header.network.get("kind")
    if not isinstance(kind, str) or kind not in NETWORKS:
        raise InvalidPolicyError(f"policy {name!r}: network.kind is {kind!r}; allowed: {', '.join(NETWORKS)}")
    try:
        network = NETWORKS[kind].model_validate(header.network)
    except ValidationError as error:
        raise InvalidPolicyError(f"policy {name!r}: network: {_explain(error)}") from None
    shapes = network.tensors(observation_layout(rules), header.num_actions)
    if set(found) != set(shapes):
        raise InvalidPolicyError(f"policy {name!r} holds the tensors {sorted(found)}; allowed: {sorted(shapes)}")
    for key, shape in shapes.items():
        if found[key] != ("float32", shape):
            dtype, stated = found[key]
            raise InvalidPolicyError(
                f"policy {name!r}: tensor {key!r} is {dtype} of shape {stated}; allowed: float32 of shape {shape}"
            )
    return network


def _check_values(name: str, network: Network, weights: Weights, header: Header) -> None:
    for key, array in weights.items():
        finite = np.isfinite(array)
        if not finite.all():
            raise InvalidPolicyError(
                f"policy {name!r}: tensor {key!r} holds {array[~finite][0]}; allowed: finite numbers"
            )
    fault = network.find_fault(weights, header.num_actions)
    if fault:
        raise InvalidPolicyError(f"policy {name!r}: {fault}")


class PolicyAgent:
    """Plays a trained policy in NumPy; made by `load_policy`.

    Attributes:
        header: What the policy file says of itself.
        rules: The rules it was trained under, and the only ones it can play.
        network: Kind and shape of its network.
        temperature: What its logits are divided by in play; 0 stands for the likeliest action.
        name: The path it came from.
    """

    def __init__(
        self,
        weights: Weights,
        header: Header,
        network: Network | None = None,
        *,
        temperature: float | None = None,
        seed: int = 0,
        name: str = "policy",
    ) -> None:
        """Take weights that fit the header.

        Args:
            weights: The tensors that the network needs, float32, by name; used, not copied.
            header: See `make_header`.
            network: The network of that header, where the caller has made it already.
            temperature: Instead of that in the header.
            seed: Another seed gives other draws.
            name: What to call it.

        Raises:
            InvalidPolicyError: The weights do not fit the header.
        """
        if network is None:
            network = _check(name, header, {key: (array.dtype.name, array.shape) for key, array in weights.items()})
        self.header = header
        self.rules = Rules.from_dict(header.rules)
        self.network = network
        self.temperature = header.temperature if temperature is None else temperature
        self.name = name
        self._weights = network.prepare(dict(weights), self.rules)
        self._keys = hash_keys(seed, header.observation_size)

    def logits(self, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Logits of all actions, legal or not, float32 `(N, A)`, of observations, int8 `(N, D)`."""
        logits = np.empty((len(observations), self.header.num_actions), np.float32)
        for start in range(0, len(observations), _BLOCK):
            logits[start : start + _BLOCK] = self.network.logits(
                self._weights, self.rules, observations[start : start + _BLOCK]
            )
        return logits

    def probabilities(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.float32]:
        """Probabilities of the actions at a temperature of 1, zero for those that are illegal.

        Args:
            observations: int8 `(N, D)`.
            action_masks: int8 `(N, A)`, at least one 1 in each row.

        Returns:
            float32 `(N, A)`; each row sums to 1.
        """
        probabilities = self._chances(observations, action_masks, 1.0)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def play_probabilities(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.float64]:
        """The same at the temperature that it plays with, float64 `(N, A)`: how often `act` draws each action."""
        probabilities = self._chances(observations, action_masks, self.temperature).astype(np.float64)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def _chances(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8], temperature: float
    ) -> npt.NDArray[np.float32]:
        """What the chances of the actions are proportional to: 1 for the likeliest, 0 for those that are illegal."""
        logits = self.logits(observations)
        np.copyto(logits, np.float32(-np.inf), where=action_masks == 0)
        logits -= logits.max(axis=1, keepdims=True)
        chances: npt.NDArray[np.float32]
        if temperature == 0:
            chances = (logits == 0).astype(np.float32)
        else:
            logits /= np.float32(temperature)
            chances = np.exp(logits, out=logits)
        return chances

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        """The action for an observation, int8 `(D,)`, and a mask, int8 `(A,)`."""
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        """The actions for observations, int8 `(N, D)`, and masks, int8 `(N, A)`, as int64 `(N,)`."""
        actions = np.empty(len(observations), np.int64)
        for start in range(0, len(observations), _BLOCK):
            rows = slice(start, start + _BLOCK)
            actions[rows] = self._draw_actions(observations[rows], action_masks[rows])
        return actions

    def _draw_actions(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.int64]:
        sums = np.cumsum(self._chances(observations, action_masks, self.temperature), axis=1, dtype=np.float64)
        # Drawn from (0, 1], the threshold is never met before the first action with a chance, always by the last.
        thresholds = (1.0 - self._draws(observations)) * sums[:, -1]
        actions: npt.NDArray[np.int64] = np.argmax(sums >= thresholds[:, None], axis=1)
        return actions

    def _draws(self, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
        """A number in [0, 1) for each observation, float64 `(N,)`: a hash of it."""
        draws: npt.NDArray[np.float64] = (hash_rows(observations, self._keys) >> np.uint64(11)).astype(np.float64)
        draws *= 2.0**-53
        return draws

    def __repr__(self) -> str:
        return f"PolicyAgent({self.name!r})"
