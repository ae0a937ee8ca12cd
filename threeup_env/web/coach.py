"""The coach: what a trained policy or a search thinks of each legal action, from what the seat may know.

There may be several coaches at a table. Each tells probabilities (a policy does) or expected results; a page shows what
they say side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Final, Protocol

from ..actions import ACTION_INDEX
from ..agents import Agent, SearchAgent, make_agent
from ..agents.policy import PolicyAgent
from ..agents.search import ActionValue
from ..errors import InvalidConfigError, ThreeUpError
from ..game import Game
from ..rules import Rules
from .frames import PROBABILITY_DIGITS, Json

VALUE_DIGITS: Final = 4


@dataclass(frozen=True)
class Advice:
    """What a coach says of one legal action.

    Attributes:
        action: The action in written form.
        probability: How often the coach would play it, 0..1; None where it does not tell.
        value: The expected result, as the reward `"win"` of the seat (-1/(n-1) to 1); None where it is not estimated.
        visits: Simulations behind the value; None where there are none.
    """

    action: str
    probability: float | None = None
    value: float | None = None
    visits: int | None = None


class Coach(Protocol):
    """Whoever can advise a seat."""

    def advise(self, game: Game, seat: int, /) -> list[Advice]:
        """Advice on each legal action, in index order; `seat` is to decide, and only what it may know is used."""
        ...


class PolicyCoach:
    """Tells the probabilities of a policy, at a temperature of 1."""

    def __init__(self, policy: PolicyAgent) -> None:
        self._policy = policy

    def advise(self, game: Game, seat: int) -> list[Advice]:
        """See `Coach`."""
        row = self._policy.probabilities(game.observation(seat)[None], game.action_mask[None])[0]
        return [
            Advice(action, round(float(row[ACTION_INDEX[action]]), PROBABILITY_DIGITS)) for action in game.legal_actions
        ]


class SearchCoach:
    """Tells the mean results of a search."""

    def __init__(self, search: SearchAgent) -> None:
        self._search = search

    def advise(self, game: Game, seat: int) -> list[Advice]:
        """See `Coach`."""
        found = {one.action: one for one in self._search.analyze(game)}
        return [_estimate(found[action]) for action in game.legal_actions]


def _estimate(found: ActionValue) -> Advice:
    """What a search says of an action; nothing of a forced move, which it does not try."""
    value = round(found.value, VALUE_DIGITS) if found.simulations else None
    return Advice(found.action, value=value, visits=found.simulations)


def find_policy(name: str, agents: Mapping[str, str], rules: Rules) -> PolicyAgent | None:
    """The policy that an agent's name stands for; None where it is none, or one for other rules."""
    agent = _make(name, agents, rules)
    return agent if isinstance(agent, PolicyAgent) else None


def policy_names(agents: Mapping[str, str], rules: Rules) -> list[str]:
    """The names among `agents` of policies for `rules`."""
    return [name for name in agents if find_policy(name, agents, rules) is not None]


def describe_coaches(agents: Mapping[str, str], rules: Rules) -> list[Json]:
    """Who among `agents` can coach under `rules`: names, and whether each tells `"probabilities"` or `"values"`."""
    made = {name: _make(name, agents, rules) for name in agents}
    policies = [{"name": name, "tells": "probabilities"} for name, one in made.items() if isinstance(one, PolicyAgent)]
    searches = [{"name": name, "tells": "values"} for name, one in made.items() if isinstance(one, SearchAgent)]
    return [*policies, *searches]


def make_coach(name: str, agents: Mapping[str, str], rules: Rules) -> Coach:
    """The coach of that name.

    Raises:
        InvalidConfigError: There is none under these rules.
    """
    agent = _make(name, agents, rules)
    if isinstance(agent, PolicyAgent):
        return PolicyCoach(agent)
    if isinstance(agent, SearchAgent):
        return SearchCoach(agent)
    allowed = ", ".join(one["name"] for one in describe_coaches(agents, rules)) or "none under these rules"
    raise InvalidConfigError(f"coach {name!r} is unknown or plays by other rules; allowed: {allowed}")


def _make(name: str, agents: Mapping[str, str], rules: Rules) -> Agent | None:
    if name not in agents:
        return None
    try:
        return make_agent(agents[name], rules, seed=0)
    except ThreeUpError:
        return None


def write_advice(name: str, advice: Iterable[Advice]) -> Json:
    """Advice as JSON values."""
    return {"coach": name, "advice": [asdict(one) for one in advice]}
