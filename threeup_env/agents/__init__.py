"""Agents: what plays a seat, and the names it is known by.

An agent chooses from what its seat may know: an observation laid out as `observation_layout(rules)` says, and
the mask of legal actions. `make_agent` turns a name, a path or an object into one:

- `random`: uniform over the legal actions.
- `greedy`: a fixed yardstick, the same in all of `-v0`.
- the name of a shipped policy, or the path of a policy file (`threeup_env.agents.policy`).
- `module:factory`, a Python path: `factory(rules, seed)` is called and gives an agent, in whatever library it was made.
- an agent object, which is checked and handed back.

A Python path runs the code that it names. So hand `make_agent` only what the person at the command line or the program
itself has written, never what came over a network or stands in somebody else's file; policy files name no code.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..core.choose import EXTERNAL
from ..errors import ThreeUpError, UnknownAgentError
from ..rules import Rules
from .basic import GreedyAgent, RandomAgent
from .policy import SUFFIX, PolicyAgent, load_policy

__all__ = [
    "SHIPPED_POLICIES",
    "Agent",
    "AgentSpec",
    "BatchAgent",
    "GreedyAgent",
    "PolicyAgent",
    "RandomAgent",
    "act_batch",
    "agent_names",
    "compiled_code",
    "load_policy",
    "make_agent",
    "policy_file",
]


@runtime_checkable
class Agent(Protocol):
    """Anything that plays a seat."""

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], /) -> int:
        """The index of a legal action, from an observation, int8 `(D,)`, and a mask of 0 and 1, int8 `(A,)`."""
        ...


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent that chooses for many games at once."""

    def act_batch(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8], /
    ) -> npt.NDArray[np.int64]:
        """Legal actions, int64 `(N,)`, from observations, int8 `(N, D)`, and masks, int8 `(N, A)`."""
        ...


AgentSpec: TypeAlias = str | os.PathLike[str] | Agent
"""A name, the path of a policy file, a Python path, or an agent."""

_NAMED: Final[Mapping[str, Callable[[Rules, int | None], Agent]]] = {
    "random": lambda rules, seed: RandomAgent(seed),
    "greedy": lambda rules, seed: GreedyAgent(rules),
}
SHIPPED_POLICIES: Final[Mapping[str, str]] = {
    "ppo-2p": "ppo-2p.safetensors",
    "nash-mini": "nash-mini.safetensors",
}
"""File of each trained or solved policy that comes with the package, by name; the files lie beside this module."""

_PYTHON_PATH: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
"""`module:factory`, both with or without dots."""


def agent_names() -> tuple[str, ...]:
    """Every name that `make_agent` knows."""
    return *_NAMED, *SHIPPED_POLICIES


def policy_file(policy: str) -> str:
    """The path of a policy: that of a shipped one where it is named, otherwise `policy` itself."""
    shipped = SHIPPED_POLICIES.get(policy)
    return policy if shipped is None else os.path.join(os.path.dirname(__file__), shipped)


def make_agent(spec: AgentSpec, rules: Rules, seed: int | None = None) -> Agent:
    """An agent that can play under `rules`.

    Args:
        spec: One of `agent_names()`, the path of a policy file, a Python path `module:factory`, or an agent.
        rules: The rules to play under.
        seed: Seeds what the agent draws; None draws from the system, but for policies, which then always draw alike.
            A factory gets both as they are: `factory(rules, seed)`.

    Returns:
        A new agent, or `spec` itself where that is one.

    Raises:
        UnknownAgentError: `spec` is none of these, or an agent for other rules; or a Python path that cannot be
            imported, or whose factory fails.
        InvalidPolicyError: The policy file cannot be read, or is for other rules.
    """
    if isinstance(spec, str):
        if spec in _NAMED:
            return _NAMED[spec](rules, seed)
        if spec in SHIPPED_POLICIES:
            return load_policy(policy_file(spec), rules, seed=seed or 0)
        path = _PYTHON_PATH.fullmatch(spec)
        if path is not None and not spec.endswith(SUFFIX):
            return _check_agent(_call_factory(spec, path[1], path[2], rules, seed), rules)
        if not (spec.endswith(SUFFIX) or os.sep in spec or os.path.exists(spec)):
            raise UnknownAgentError(f"agent {spec!r} is unknown; allowed: {_allowed()}")
    if isinstance(spec, str | os.PathLike):
        return load_policy(spec, rules, seed=seed or 0)
    return _check_agent(spec, rules)


def _call_factory(spec: str, module: str, factory: str, rules: Rules, seed: int | None) -> Any:
    """What `factory(rules, seed)` of a module gives."""
    try:
        made: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise UnknownAgentError(f"agent {spec!r}: importing {module} failed: {error!r}") from error
        raise UnknownAgentError(
            f"agent {spec!r} is unknown; allowed: {_allowed()}; there is no module {error.name!r}"
        ) from None
    except Exception as error:  # whatever the module does when it is imported
        raise UnknownAgentError(f"agent {spec!r}: importing {module} failed: {error!r}") from error
    for name in factory.split("."):
        if not hasattr(made, name):
            raise UnknownAgentError(f"agent {spec!r}: {made!r} has no {name!r}; allowed: a factory(rules, seed)")
        made = getattr(made, name)
    if not callable(made):
        raise UnknownAgentError(f"agent {spec!r}: {made!r} cannot be called; allowed: a factory(rules, seed)")
    try:
        return made(rules, seed)
    except ThreeUpError:
        raise
    except Exception as error:  # whatever the factory does
        raise UnknownAgentError(f"agent {spec!r}: {factory}(rules, seed) failed: {error!r}") from error


def _check_agent(agent: Any, rules: Rules) -> Agent:
    if isinstance(agent, type) or not isinstance(agent, Agent):
        raise UnknownAgentError(f"{agent!r} is no agent; allowed: {_allowed()}, with a method act(observation, mask)")
    made_for = getattr(agent, "rules", None)
    if isinstance(made_for, Rules) and made_for != rules:
        raise UnknownAgentError(
            f"{agent!r} plays under {made_for.to_dict()}, but the rules here are {rules.to_dict()}; "
            "allowed: an agent made for these rules"
        )
    return agent


def _allowed() -> str:
    names = ", ".join(map(repr, agent_names()))
    return f"{names}, the path of a policy file (*{SUFFIX}), module:factory, or an agent object"


def compiled_code(agent: Agent) -> int:
    """How compiled code plays this agent, RANDOM or GREEDY (core/choose.py); EXTERNAL where Python has to ask it."""
    return int(getattr(agent, "compiled", EXTERNAL))


def act_batch(
    agent: Agent, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]
) -> npt.NDArray[np.int64]:
    """Actions of any agent for many games, one after the other where it has no `act_batch`.

    Args:
        agent: The agent.
        observations: int8 `(N, D)`.
        action_masks: int8 `(N, A)`.

    Returns:
        int64 `(N,)`, not checked against the masks.

    Raises:
        UnknownAgentError: What the agent gave back is not one integer for each game.
    """
    actions: Any
    if isinstance(agent, BatchAgent):
        actions = np.asarray(agent.act_batch(observations, action_masks))
    else:
        actions = np.asarray([agent.act(*game) for game in zip(observations, action_masks, strict=True)])
    if actions.shape != (len(observations),) or actions.dtype.kind not in "iu":
        raise UnknownAgentError(
            f"{agent!r} chose an array of shape {actions.shape} and dtype {actions.dtype}; "
            f"allowed: {len(observations)} integers, one action for each game"
        )
    chosen: npt.NDArray[np.int64] = actions.astype(np.int64, copy=False)
    return chosen
