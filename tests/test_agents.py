"""Names of agents, and what `random` and `greedy` choose."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from threeup_env import Game, Rules
from threeup_env.actions import ACTION_INDEX, ACTIONS
from threeup_env.agents import Agent, BatchAgent, GreedyAgent, RandomAgent, act_batch, compiled_code, make_agent
from threeup_env.cards import KINDS
from threeup_env.core.choose import EXTERNAL, GREEDY, RANDOM
from threeup_env.errors import InvalidPolicyError, ThreeUpError, UnknownAgentError
from threeup_env.observation import observation_layout

RULES = Rules.standard(2)
ALL_RULES = [Rules.standard(4), Rules.gamerules(3), Rules.geeky(2), Rules.house(3), Rules.match(2), Rules.mini(2)]


def greedy_by_the_list(legal: list[str], extra_owed: bool) -> str:
    """The list of the docstring of `GreedyAgent`, written out."""

    def those(verb: str) -> list[str]:
        return [action for action in legal if action.split()[0] == verb]

    if those("up"):
        return those("up")[-1]
    if extra_owed and "draw" in legal:
        return "draw"
    for kind in KINDS[:10]:
        plays = [action for action in those("play") if action.split()[1].split("x")[0] == kind]
        if plays:
            return plays[-1]
    for kind in KINDS[10:]:
        if f"play {kind}" in legal:
            return f"play {kind}"
    for verb, place in (("flip", 0), ("want", -1), ("give", 0), ("target", 0), ("color", 0)):
        if those(verb):
            return those(verb)[place]
    return next(action for action in ("take", "draw", "pass") if action in legal)


@pytest.mark.parametrize("rules", ALL_RULES, ids=repr)
def test_greedy_takes_the_first_of_its_list(rules: Rules) -> None:
    greedy, rest = GreedyAgent(rules), RandomAgent(1)
    extras = observation_layout(rules)["extras"].start
    for seed in range(30):
        game = Game(rules, seed)
        while game.player is not None:
            observation, mask = game.observation(game.player), game.action_mask
            expected = greedy_by_the_list(game.legal_actions, bool(observation[extras] > 0))
            chosen = greedy.act(observation, mask)
            assert ACTIONS[chosen] == expected
            # Random play reaches more states than greedy play.
            game.play(rest.act(observation, mask) if seed % 2 else chosen)


def test_random_is_uniform_over_the_legal_actions() -> None:
    agent = RandomAgent(5)
    mask = np.zeros((1, 109), np.int8)
    legal = [0, 90, 91, 108]
    mask[0, legal] = 1
    observations = np.zeros((1, observation_layout(RULES).size), np.int8)
    one_by_one = [agent.act(observations[0], mask[0]) for _ in range(4000)]
    together = agent.act_batch(np.repeat(observations, 4000, 0), np.repeat(mask, 4000, 0))
    for chosen in (one_by_one, together):
        actions, counts = np.unique(chosen, return_counts=True)
        assert actions.tolist() == legal
        assert (abs(counts - 1000) < 150).all()


def test_random_is_the_same_again_for_the_same_seed() -> None:
    game = Game(RULES, 1)
    assert game.player is not None
    position = game.observation(game.player), game.action_mask
    first, second = RandomAgent(3), make_agent("random", RULES, seed=3)
    assert [first.act(*position) for _ in range(50)] == [second.act(*position) for _ in range(50)]


def test_names_make_agents_that_batches_may_compile() -> None:
    assert compiled_code(make_agent("random", RULES)) == RANDOM
    assert compiled_code(make_agent("greedy", RULES)) == GREEDY
    for name in ("random", "greedy"):
        assert isinstance(make_agent(name, RULES), BatchAgent)


class First:
    """Always the first legal action, without a batch."""

    def act(self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8]) -> int:
        return int(action_mask.argmax())


def test_an_object_with_act_is_an_agent() -> None:
    agent = First()
    assert make_agent(agent, RULES) is agent
    assert isinstance(agent, Agent)
    assert compiled_code(agent) == EXTERNAL
    masks = np.eye(3, 109, k=5, dtype=np.int8)
    assert act_batch(agent, np.zeros((3, 4), np.int8), masks).tolist() == [5, 6, 7]


@pytest.mark.parametrize("spec", ["", "Greedy", "ppo-9p", "module:factory", "search:many", "a:b:c", ":x", "x:"])
def test_an_unknown_name_is_refused_with_those_that_are_known(spec: str) -> None:
    with pytest.raises(UnknownAgentError, match=f"agent {spec!r} is unknown; allowed: 'random', 'greedy'") as caught:
        make_agent(spec, RULES)
    assert isinstance(caught.value, ThreeUpError)


@pytest.mark.parametrize(
    "spec", [None, 3, 1.5, object(), First, lambda observation, mask: 0], ids=lambda spec: type(spec).__name__
)
def test_what_is_no_agent_is_refused(spec: Any) -> None:
    with pytest.raises(
        UnknownAgentError, match=r"is no agent; allowed: 'random', 'greedy', 'search', 'ppo-2p', .* the path .*act\("
    ):
        make_agent(spec, RULES)


CODE = """
from threeup_env.agents import RandomAgent

made = []

class Team:
    first = lambda rules, seed: made.append((rules, seed)) or RandomAgent(seed)

def nothing(rules, seed):
    return None

def broken(rules, seed):
    raise RuntimeError("no weights")

def unseeded(rules):
    return RandomAgent()

number = 3
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module that a user has written."""
    name = f"agents_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(CODE)
    (tmp_path / f"{name}_broken.py").write_text("1 / 0")
    (tmp_path / f"{name}_missing.py").write_text("import nowhere_at_all")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    for module in [module for module in sys.modules if module.startswith(name)]:
        del sys.modules[module]


def test_a_python_path_makes_an_agent(code: str) -> None:
    agent = make_agent(f"{code}:Team.first", RULES, 7)
    assert isinstance(agent, RandomAgent)
    assert sys.modules[code].made == [(RULES, 7)]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("{}:third", r"has no 'third'; allowed: a factory\(rules, seed\)"),
        ("{}:Team.second", "has no 'second'"),
        ("{}:number", "3 cannot be called; allowed: a factory"),
        ("{}:nothing", "None is no agent; allowed: "),
        ("{}:broken", r"broken\(rules, seed\) failed: RuntimeError\('no weights'\)"),
        ("{}:unseeded", r"unseeded\(rules, seed\) failed: TypeError"),
        ("{}_broken:make", "importing .*_broken failed: ZeroDivisionError"),
        ("{}_missing:make", "importing .*_missing failed: ModuleNotFoundError.*nowhere_at_all"),
        ("{}_none.inner:make", "is unknown; allowed: 'random', .*; there is no module '.*_none'"),
        ("{}.inner:make", "is unknown; allowed: 'random', .*; there is no module '.*inner'"),
    ],
)
def test_a_python_path_that_makes_none_is_refused(code: str, path: str, message: str) -> None:
    with pytest.raises(UnknownAgentError, match=message):
        make_agent(path.format(code), RULES)


def test_an_agent_for_other_rules_is_refused() -> None:
    with pytest.raises(UnknownAgentError, match="allowed: an agent made for these rules"):
        make_agent(GreedyAgent(Rules.standard(3)), RULES)


def test_a_path_that_is_missing_is_refused(tmp_path: Any) -> None:
    with pytest.raises(InvalidPolicyError, match=r"missing\.safetensors.*No such file"):
        make_agent(str(tmp_path / "missing.safetensors"), RULES)


@pytest.mark.parametrize("answer", [np.zeros(2), np.zeros((3, 1), int), np.zeros(4, int), [0.5] * 3, "abc"], ids=repr)
def test_an_answer_that_is_no_list_of_actions_is_refused(answer: Any) -> None:
    class Wrong(First):
        def act_batch(self, observations: Any, action_masks: Any) -> Any:
            return answer

    with pytest.raises(UnknownAgentError, match="allowed: 3 integers"):
        act_batch(Wrong(), np.zeros((3, 4), np.int8), np.ones((3, 109), np.int8))


def test_every_action_is_written_once() -> None:
    assert len(ACTION_INDEX) == len(ACTIONS)
