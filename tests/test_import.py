"""What `import threeup_env` loads, counted rather than timed: its dependencies, and little of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MOST_MODULES = 26
"""A face or a command costs ten modules and more; the rules and `Game` need some twenty."""

LOADED = """
import json, sys
import gymnasium, llvmlite, numba, numpy, pettingzoo, pydantic
before = set(sys.modules)
import threeup_env
print(json.dumps([sorted(before), sorted(set(sys.modules) - before)]))
"""


@pytest.fixture(scope="module")
def loaded() -> tuple[set[str], set[str]]:
    """The modules of the dependencies, and those that threeup_env loads beside them."""
    output = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True).stdout
    before, added = json.loads(output)
    return set(before), set(added)


def _distributions(requirements: list[str]) -> set[str]:
    return {re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", text)[0]).lower() for text in requirements}


def test_few_modules_of_its_own(loaded: tuple[set[str], set[str]]) -> None:
    own = sorted(name for name in loaded[1] if name.partition(".")[0] == "threeup_env")
    assert len(own) <= MOST_MODULES, own


def test_no_face_agent_or_command(loaded: tuple[set[str], set[str]]) -> None:
    later = ("aec", "agents", "bench", "cli", "evaluate", "record", "render", "sb3", "selfplay", "tournament", "vector")
    assert not {name for name in loaded[1] if name.startswith(tuple(f"threeup_env.{room}" for room in later))}


def test_nothing_that_only_an_extra_or_the_command_needs(loaded: tuple[set[str], set[str]]) -> None:
    core = _distributions(PROJECT["dependencies"]) - {"rich", "safetensors", "typer"}
    optional = _distributions([*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())]) - core
    owners = metadata.packages_distributions()
    tops = {name.partition(".")[0] for name in loaded[1]}
    assert not {name for name in tops if _distributions(owners.get(name, [])) & optional}
