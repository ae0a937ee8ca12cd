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
ENVS = {"ppo-2p": "ThreeUp/2p-v0", "nash-mini": "ThreeUp/Mini-2p-v0"}


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
        make_agent(name, rules_of("ThreeUp/3p-v0"))


def test_its_strength_is_the_one_documented() -> None:
    """docs/training.md: 65.9 % against greedy in 10,000 games; in 2,000 the interval is 2 points wide either way."""
    report = evaluate("ThreeUp/2p-v0", "ppo-2p", "greedy", 2_000, 1)
    assert report.ci_low < 0.659 < report.ci_high
