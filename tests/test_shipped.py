"""The policies that come with the package."""

from __future__ import annotations

import importlib.resources

import gymnasium
import pytest

import threeup_env
from threeup_env.agents import SHIPPED_POLICIES, make_agent
from threeup_env.errors import InvalidPolicyError
from threeup_env.evaluate import evaluate
from threeup_env.registration import rules_of

TWO_MEGABYTES = 2_000_000
NAMES = list(SHIPPED_POLICIES)
ENVS = {f"ppo-{n}p": f"ThreeUp/{n}p-v0" for n in range(2, 7)} | {"nash-mini": "ThreeUp/Mini-2p-v0"}


@pytest.mark.parametrize("name", NAMES)
def test_file_is_small(name: str) -> None:
    file = importlib.resources.files(threeup_env) / "agents" / SHIPPED_POLICIES[name]
    assert len(file.read_bytes()) < TWO_MEGABYTES


@pytest.mark.parametrize("name", NAMES)
def test_it_is_an_opponent_like_any_other(name: str) -> None:
    env = gymnasium.make(ENVS[name], opponent=name)
    _, info = env.reset(seed=1)
    for _ in range(50):
        action = int(info["action_mask"].argmax())
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            _, info = env.reset()


@pytest.mark.parametrize("name", NAMES)
def test_it_plays_no_other_rules(name: str) -> None:
    with pytest.raises(InvalidPolicyError, match="rules"):
        make_agent(name, rules_of("ThreeUp/House-3p-v0"))


DOCUMENTED = {"ppo-2p": 0.6466, "ppo-3p": 0.3982, "ppo-4p": 0.2827, "ppo-5p": 0.2265, "ppo-6p": 0.1742}
"""Win rates against `greedy` of docs/training.md."""


@pytest.mark.parametrize("name", DOCUMENTED)
def test_its_strength_is_the_one_documented(name: str) -> None:
    """In 10,000 duplicate games; in 2,000 others the interval is some 2 points wide either way, or less."""
    report = evaluate(ENVS[name], name, "greedy", 2_000, 2)
    # Both are samples, so twice the interval.
    assert abs(report.win_rate - DOCUMENTED[name]) < report.ci_high - report.ci_low
