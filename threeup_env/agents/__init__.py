"""Agents: what plays a seat, and the names it is known by.

An agent chooses from what its seat may know: an observation laid out as `observation_layout(rules)` says, and
the mask of legal actions. One that searches (`StateAgent`) is given the games themselves instead, and sees to it that
nothing hidden from its seat has a say. `make_agent` turns a name, a path or an object into an agent:

- `random`: uniform over the legal actions.
- `greedy`: a fixed yardstick, the same in all of `-v0`.
- `search`, `search:SIMULATIONS`: a search at each decision, by 1,000 simulations or as many (docs/search.md).
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
from ..game import Game
from ..rules import Rules
from .basic import GreedyAgent, RandomAgent
from .policy import SUFFIX, PolicyAgent, load_policy
from .search import SIMULATIONS, SearchAgent

__all__ = [
    "SHIPPED_POLICIES",
    "Agent",
    "AgentSpec",
    "BatchAgent",
    "GreedyAgent",
    "PolicyAgent",
    "RandomAgent",
    "SearchAgent",
    "StateAgent",
    "act_batch",
    "act_game",
    "act_states",
    "agent_names",
    "agent_seeds",
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


@runtime_checkable
class StateAgent(Agent, Protocol):
    """An agent that is given games instead of observations, because it plays on in them.

    What is hidden from the seat to decide stands in a game too. So the first thing that such an agent does with one is
    to forget it (`core.belief.forget`, or `Game.determinize`): in two games that the seat cannot tell apart it must
    choose the same.
    """

    def act_states(self, states: npt.NDArray[np.void], /) -> npt.NDArray[np.int64]:
        """Legal actions for the seats to decide, int64 `(N,)`, from games, `core.state.STATE` `(N,)`, none over."""
        ...


AgentSpec: TypeAlias = str | os.PathLike[str] | Agent
"""A name, the path of a policy file, a Python path, or an agent."""

_NAMED: Final[Mapping[str, Callable[[Rules, int | None], Agent]]] = {
    "random": lambda rules, seed: RandomAgent(seed),
    "greedy": lambda rules, seed: GreedyAgent(rules),
    "search": lambda rules, seed: SearchAgent(rules, SIMULATIONS, seed=seed or 0),
}
_SEARCH: Final = re.compile(r"search:([1-9][0-9]{0,8})")
"""The name of a search by a number of simulations."""
SHIPPED_POLICIES: Final[Mapping[str, str]] = {
    **{f"ppo-{players}p": f"ppo-{players}p.safetensors" for players in range(2, 7)},
    "nash-mini": "nash-mini.safetensors",
}
"""File of each trained or solved policy that comes with the package, by name; the files lie beside this module."""

_PYTHON_PATH: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
"""`module:factory`, both with or without dots."""


def agent_names() -> tuple[str, ...]:
    """Every name that `make_agent` knows; `search:SIMULATIONS` stands for any number of them."""
    return *_NAMED, *SHIPPED_POLICIES


def policy_file(policy: str) -> str:
    """The path of a policy: that of a shipped one where it is named, otherwise `policy` itself."""
    shipped = SHIPPED_POLICIES.get(policy)
    return policy if shipped is None else os.path.join(os.path.dirname(__file__), shipped)


def make_agent(spec: AgentSpec, rules: Rules, seed: int | None = None) -> Agent:
    """An agent that can play under `rules`.

    Args:
        spec: One of `agent_names()`, `"search:2000"` and the like, the path of a policy file, a Python path
            `module:factory`, or an agent.
        rules: The rules to play under.
        seed: Seeds what the agent draws; None draws from the system, but for policies and searches, which then always
            draw alike. A factory gets both as they are: `factory(rules, seed)`.

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
        if spec.startswith("search:"):
            return _make_search(spec, rules, seed)
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


def _make_search(name: str, rules: Rules, seed: int | None) -> SearchAgent:
    simulations = _SEARCH.fullmatch(name)
    if simulations is None:
        raise UnknownAgentError(f"agent {name!r} is unknown; allowed: {_allowed()}")
    return SearchAgent(rules, int(simulations[1]), seed=seed or 0)


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
    return f"{names}, 'search:SIMULATIONS', the path of a policy file (*{SUFFIX}), module:factory, or an agent object"


def compiled_code(agent: Agent) -> int:
    """How compiled code plays this agent, RANDOM or GREEDY (core/choose.py); EXTERNAL where Python has to ask it."""
    return int(getattr(agent, "compiled", EXTERNAL))


def agent_seeds(sequence: np.random.SeedSequence, count: int) -> list[int]:
    """Seeds of the `count` agents at the table of a game that `sequence` seeds, as `threeup record` gives them.

    Whoever seeds a game and its agents this way plays the game that `threeup record` would.
    """
    return [int(child.generate_state(1, np.uint64)[0]) for child in sequence.spawn(count)]


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
    if isinstance(agent, BatchAgent):
        return _check_actions(agent, agent.act_batch(observations, action_masks), len(observations))
    actions = [agent.act(*game) for game in zip(observations, action_masks, strict=True)]
    return _check_actions(agent, actions, len(observations))


def act_states(
    agent: Agent,
    states: npt.NDArray[np.void],
    observations: npt.NDArray[np.int8],
    action_masks: npt.NDArray[np.int8],
) -> npt.NDArray[np.int64]:
    """Actions of any agent for the seats to decide in many games: this is how batches ask.

    Args:
        agent: The agent.
        states: The games, `core.state.STATE` `(N,)`, for an agent that searches; it gets a copy.
        observations: What their seats know, int8 `(N, D)`, for any other.
        action_masks: What they may do, int8 `(N, A)`.

    Returns:
        int64 `(N,)`, not checked against the masks.

    Raises:
        UnknownAgentError: What the agent gave back is not one integer for each game.
    """
    if isinstance(agent, StateAgent):
        return _check_actions(agent, agent.act_states(states.copy()), len(states))
    return act_batch(agent, observations, action_masks)


def act_game(agent: Agent, game: Game) -> int:
    """The action of any agent for the seat to decide in one game that is not over, not checked.

    Raises:
        UnknownAgentError: What the agent gave back is no integer.
    """
    assert game.player is not None, "the game is over"
    if isinstance(agent, StateAgent):
        return int(_check_actions(agent, agent.act_states(game._states.copy()), 1)[0])
    return agent.act(game.observation(game.player), game.action_mask)


def _check_actions(agent: Agent, given: Any, count: int) -> npt.NDArray[np.int64]:
    actions = np.asarray(given)
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise UnknownAgentError(
            f"{agent!r} chose an array of shape {actions.shape} and dtype {actions.dtype}; "
            f"allowed: {count} integers, one action for each game"
        )
    chosen: npt.NDArray[np.int64] = actions.astype(np.int64, copy=False)
    return chosen
