"""Tries an installed threeup-env as a new user would, and prints what was played, which is the same everywhere.

Run by `.ci/packages.py` in environments that hold the wheel; nothing of this repository is imported but the wheel.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import gymnasium
import numba  # noqa: F401  (loads PyYAML where it is installed, which is no business of threeup_env)
import pettingzoo
import pydantic  # noqa: F401

BEFORE = set(sys.modules)

import threeup_env  # noqa: E402

LOADED = set(sys.modules) - BEFORE

from threeup_env.agents import SHIPPED_POLICIES, make_agent  # noqa: E402
from threeup_env.registration import rules_of  # noqa: E402

ENV = "ThreeUp/2p-v0"


def names(requirements: list[str]) -> set[str]:
    """The names of the distributions in requirements, normalized: `Foo_Bar[x]>=1` is `foo-bar`."""
    return {re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", text)[0]).lower() for text in requirements}


def check_installed() -> None:
    """The wheel is what is imported, with its version and nothing of the repository beside the package."""
    version = metadata.version("threeup-env")
    assert version == threeup_env.__version__, (version, threeup_env.__version__)
    assert Path(threeup_env.__file__).is_relative_to(sys.prefix), threeup_env.__file__
    owners = metadata.packages_distributions()
    for stranger in ("tests", "training"):
        assert "threeup-env" not in owners.get(stranger, []), f"the wheel contains {stranger}"


def check_imports() -> None:
    """`import threeup_env` loads nothing that only an extra asks for, installed or not."""
    requirements = metadata.requires("threeup-env") or []
    core = names([text for text in requirements if "extra ==" not in text])
    optional = names([text for text in requirements if "extra ==" in text]) - core
    owners = {module: names(owner) for module, owner in metadata.packages_distributions().items()}
    loaded = {name.partition(".")[0] for name in LOADED}
    heavy = {module for module in loaded if owners.get(module, set()) & optional}
    assert not heavy, f"import threeup_env loads {heavy}"


def threeup(*arguments: str) -> str:
    """Run the installed command and return what it prints."""
    command = [str(Path(sys.executable).with_name("threeup")), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def play_gymnasium() -> list[float]:
    """Rewards of seeded games against greedy, always the first legal action."""
    env = gymnasium.make(ENV, opponent="greedy")
    rewards = []
    for seed in range(5):
        _, info = env.reset(seed=seed)
        done = False
        while not done:
            _, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            done = terminated or truncated
        rewards.append(float(reward))
    return rewards


def play_pettingzoo() -> list[int]:
    """The decisions of each agent in a seeded game under all optional rules."""
    env = pettingzoo.make("aec", "ThreeUp/House-3p-v0")
    env.reset(seed=7)
    decisions = dict.fromkeys(env.possible_agents, 0)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        decisions[agent] += not over
        env.step(None if over else int(observation["action_mask"].argmax()))
    return list(decisions.values())


def main() -> None:
    """Try everything once."""
    check_installed()
    check_imports()
    assert ENV in threeup("envs")
    threeup("record", "--env", ENV, "--agents", "greedy,random", "--games", "3", "--seed", "1", "--out", "games.jsonl")
    records = Path("games.jsonl").read_bytes()
    assert len(threeup("replay", "games.jsonl", "--json").splitlines()) > 3
    arguments = ("--agent", "greedy", "--opponent", "random", "--games", "200", "--seed", "1", "--json")
    figures = json.loads(threeup("evaluate", "--env", ENV, *arguments))
    del figures["decisions_per_second"]
    assert figures["win_rate"] > 0.5, figures
    for name in SHIPPED_POLICIES:
        make_agent(name, rules_of(ENV))
    played = {
        "records": hashlib.sha256(records).hexdigest(),
        "evaluation": figures,
        "gymnasium": play_gymnasium(),
        "pettingzoo": play_pettingzoo(),
    }
    print(json.dumps(played, sort_keys=True))


if __name__ == "__main__":
    main()
