"""Environment IDs against the table in docs/environments.md."""

from __future__ import annotations

import json
import subprocess
import sys

import gymnasium
import pettingzoo
import pytest

import threeup_env
from threeup_env.aec import ThreeUpAEC
from threeup_env.errors import UnknownEnvError
from threeup_env.registration import ENV_RULES, register_all, rules_of
from threeup_env.rules import Rules
from threeup_env.single import ThreeUpEnv
from threeup_env.vector import ThreeUpVectorEnv

FAMILIES = {
    "": Rules.standard,
    "GameRules-": Rules.gamerules,
    "Geeky-": Rules.geeky,
    "House-": Rules.house,
    "Match-": Rules.match,
}


def test_ids() -> None:
    expected = {f"ThreeUp/{family}{n}p-v0": preset(n) for family, preset in FAMILIES.items() for n in range(2, 7)} | {
        "ThreeUp/Mini-2p-v0": Rules.mini(2)
    }
    assert dict(ENV_RULES) == expected
    assert all(rules_of(env_id) == rules for env_id, rules in expected.items())


@pytest.mark.parametrize("env_id", ENV_RULES)
def test_every_id_makes_every_form(env_id: str) -> None:
    single = gymnasium.make(env_id)
    assert isinstance(single, ThreeUpEnv)
    assert single.unwrapped.rules == ENV_RULES[env_id]
    vector = gymnasium.make_vec(env_id, num_envs=2)
    assert isinstance(vector, ThreeUpVectorEnv)
    assert vector.rules == ENV_RULES[env_id]
    aec = pettingzoo.make("aec", env_id)
    assert isinstance(aec.unwrapped, ThreeUpAEC)
    assert aec.unwrapped.rules == ENV_RULES[env_id]


def test_arguments_of_make_reach_the_environment() -> None:
    single = gymnasium.make("ThreeUp/3p-v0", opponent=["random", "greedy"], seat=1, reward="score")
    single.reset(seed=1)
    assert single.unwrapped.seat == 1
    assert pettingzoo.make("aec", "ThreeUp/3p-v0", reward="place").unwrapped.reward == "place"
    assert gymnasium.make("ThreeUp/2p-v0", rules=Rules.mini(2)).unwrapped.rules == Rules.mini(2)


def test_specs_are_json() -> None:
    for env_id in ENV_RULES:
        text = gymnasium.spec(env_id).to_json()
        assert Rules.from_dict(json.loads(text)["kwargs"]["rules"]) == ENV_RULES[env_id]


@pytest.mark.parametrize(
    ("wrong", "hint"), [("ThreeUp/7p-v0", "ThreeUp/6p-v0"), ("ThreeUp/house-2p-v0", "House-2p"), ("x", "Mini-2p-v0")]
)
def test_unknown_id_names_close_matches(wrong: str, hint: str) -> None:
    with pytest.raises(UnknownEnvError, match=hint) as error:
        rules_of(wrong)
    assert wrong in str(error.value)


def test_registering_twice_is_quiet() -> None:
    register_all()


def test_import_is_light_and_registers() -> None:
    code = (
        "import sys, gymnasium; gymnasium.make('threeup_env:ThreeUp/2p-v0'); "
        "heavy = {'torch', 'pygame', 'stable_baselines3', 'tensorflow', 'matplotlib', 'fastapi', 'flask'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_public_names() -> None:
    for name in threeup_env.__all__:
        assert getattr(threeup_env, name) is not None
    with pytest.raises(AttributeError, match="nothing_like_it"):
        threeup_env.nothing_like_it  # noqa: B018
