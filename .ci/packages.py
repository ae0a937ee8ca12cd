"""The packages as users get them: what is in them, and whether they work on every Python and on old dependencies.

    python .ci/packages.py              all parts
    python .ci/packages.py 3.12 types   some of them

Run with a Python whose environment has pip 22.3 or newer and `build`, as `.ci/run` does. Each part has an environment
of its own in a scratch folder, and as many parts run at once as there are cores:

- build (always): the sdist and the wheel; the wheel of the sdist holds the files of the wheel of the tree.
- 3.11, 3.12, 3.13: without extras, at the versions that pip chooses today; `.ci/smoke.py` in it. 3.13 installs the
  sdist. What is played with a seed is the same on all of them. A Python that the machine lacks is left out by name.
- lowest: all extras on Python 3.11, every dependency that pyproject.toml names at its lower bound; the same smoke, and
  a test of a module that calls it for each of them, none of which may skip.
- types: a user's program (tests/typing/user.py) under mypy and basedpyright, both strict, and `twine check`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = ("3.11", "3.12", "3.13")
FROM_SDIST = "3.13"
"""The Python that installs the sdist; the others install the wheel."""

TIME_LIMIT = 20 * 60
"""Seconds that one command may take. On two quiet cores none takes a tenth of it; one that waits for ever ends, too."""

LOWEST_TESTS = (
    "tests/test_rules.py",  # pydantic
    "tests/test_registration.py",  # Gymnasium, PettingZoo
    "tests/test_testing.py::test_self_play_keeps_the_contract",  # cloudpickle
    "tests/test_policy.py",  # safetensors
    "tests/test_sb3.py",  # Stable-Baselines3, sb3-contrib, torch
    "tests/test_training.py::test_a_run_tells_how_it_went",  # tensorboard
    "tests/examples/test_selfplay_ppo.py::test_a_short_run_learns_and_writes_a_policy",  # tqdm
    "tests/test_cli.py::test_as_a_process",  # typer, rich
    "tests/test_cli.py::test_wrong_options",
    "tests/test_play.py::test_at_a_real_terminal",  # prompt-toolkit
    "tests/test_render_picture.py::test_pictures_look_as_they_always_did",  # Pillow
    "tests/test_render_renderer.py::test_a_window_shows_the_picture_by_itself",  # pygame-ce
    "tests/test_report.py",  # matplotlib, huggingface-hub, PyYAML
    "tests/test_tournament.py::test_the_command_writes_a_folder",  # choix, threadpoolctl
    "tests/test_tournament.py::test_ratings_are_those_that_games_were_drawn_by",
    "tests/test_open_spiel.py::test_api",  # OpenSpiel
    "tests/test_web.py::test_a_game_is_played_to_its_end_and_recorded",  # Starlette
    "tests/test_web_page.py::test_serve_serves_until_interrupted",  # Uvicorn
)
"""What runs at the lower bounds: something for every dependency of the package and of its extras. Numba, llvmlite and
NumPy are in all of it."""

TEST_PACKAGES = ("hypothesis", "httpx2", "pexpect", "pytest", "pytest-timeout")
"""What those tests need beside the extras: without it they would skip."""


class Dist(NamedTuple):
    """What was built."""

    sdist: Path
    wheel: Path


class Failure(Exception):  # noqa: N818  (what it says is read as "types: Failure")
    """A part failed; the message says how."""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command and return what it prints on stdout.

    Raises:
        Failure: It failed or took too long; with all it printed.
    """
    # PYTHONPATH would put another threeup_env before the installed one.
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"MPLBACKEND": "Agg"}
    words = list(map(str, command))
    try:
        process = subprocess.run(
            words, cwd=cwd, env=variables, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=TIME_LIMIT
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        printed = (error.stdout or b"") + (error.stderr or b"")
        raise Failure(f"{printed.decode(errors='replace')}{error}") from None
    return process.stdout.decode()


def find_python(version: str) -> Path | None:
    """A Python of a version, from the PATH or from pyenv; None if there is none that starts."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    named = shutil.which(f"python{version}")
    for python in [*([Path(named)] if named else []), *pyenv.glob(f"versions/{version}.*/bin/python")]:
        try:
            run(python, "-c", "import venv")
        except Failure:  # a shim of pyenv for a version that is not switched on
            continue
        return python
    return None


def make_environment(folder: Path, version: str, *requirements: str | Path) -> Path:
    """Make a virtual environment, install into it, check that all fits together; return its Python."""
    base = find_python(version)
    if base is None:
        raise Failure(f"this machine has no Python {version}")
    run(base, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", "--no-compile", *requirements)
    run(*pip, "check")
    return python


def build(folder: Path) -> Dist:
    """Build the sdist, the wheel of the sdist and that of the tree, and compare what is in them.

    Raises:
        Failure: The wheels differ, or a file is missing or too much.
    """
    run(sys.executable, "-m", "build", "--outdir", folder)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "tree")
    (sdist,), (wheel,), (other,) = folder.glob("*.tar.gz"), folder.glob("*.whl"), folder.glob("tree/*.whl")
    files = set(zipfile.ZipFile(wheel).namelist())
    if files != set(zipfile.ZipFile(other).namelist()):
        raise Failure(f"in one of the two wheels alone: {sorted(files ^ set(zipfile.ZipFile(other).namelist()))}")
    packed = {name for name in files if ".dist-info/" not in name}
    tracked = set(run("git", "ls-files", "--cached", "--others", "--exclude-standard", "threeup_env").splitlines())
    if packed != tracked:
        raise Failure(f"the wheel lacks {sorted(tracked - packed)} and should not hold {sorted(packed - tracked)}")
    if "threeup_env/py.typed" not in packed:
        raise Failure("the wheel has no py.typed")
    return Dist(sdist, wheel)


def smoke(folder: Path, dist: Dist) -> str:
    """Install the package alone on the Python that the folder is named after, try it, and return what it played."""
    version = folder.name
    python = make_environment(folder, version, dist.sdist if version == FROM_SDIST else dist.wheel)
    return try_out(folder, python)


def try_out(folder: Path, python: Path) -> str:
    """Run the smoke test from an empty folder."""
    (folder / "empty").mkdir()
    return run(python, ROOT / ".ci" / "smoke.py", cwd=folder / "empty")


def lowest(folder: Path, dist: Dist) -> str:
    """Install the wheel and all extras at the lower bounds, try and test it, and return what it played."""
    wheel = f"{dist.wheel}[{','.join(PROJECT['optional-dependencies'])}]"
    python = make_environment(folder, PYTHONS[0], wheel, *lower_bounds(), *TEST_PACKAGES)
    played = try_out(folder, python)
    with tarfile.open(dist.sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.glob("threeup_env-*")
    (source / "threeup_env").rename(folder / "unused")  # so that the tests import the wheel
    # Old packages beside new ones may warn among themselves; what is asserted here is that they work.
    tested = run(python, "-m", "pytest", "-q", "-W", "default", "-m", "not slow", *LOWEST_TESTS, cwd=source)
    if re.search(r"\d+ skipped", tested):  # what is skipped tells nothing of its dependency
        raise Failure(tested)
    return played


def lower_bounds() -> list[str]:
    """Every dependency and extra of pyproject.toml, pinned to its lower bound.

    Raises:
        Failure: One has none, or two that differ.
    """
    bounds: dict[str, str] = {}
    for requirement in chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        match = re.match(r"([\w.-]+)>=([\w.]+)", requirement)
        if match is None:
            raise Failure(f"pyproject.toml: {requirement!r} has no lower bound")
        if bounds.setdefault(match[1], match[2]) != match[2]:
            raise Failure(f"pyproject.toml: {match[1]} has the lower bounds {bounds[match[1]]} and {match[2]}")
    return [f"{name}=={version}" for name, version in bounds.items()]


def types(folder: Path, dist: Dist) -> str:
    """Check a user's program with two type checkers against the wheel and run it; check the metadata."""
    python = make_environment(folder, PYTHONS[-1], dist.wheel, "mypy", "basedpyright", "twine")
    run(python, "-m", "twine", "check", "--strict", *dist)
    program = shutil.copy(ROOT / "tests" / "typing" / "user.py", folder)
    run(python, "-m", "mypy", "--strict", "--config-file=", program, cwd=folder)
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
    run(python.with_name("basedpyright"), "--pythonpath", python, program, cwd=folder)
    run(python, program, cwd=folder)
    return ""


PARTS: dict[str, Callable[[Path, Dist], str]] = {"lowest": lowest, "types": types, **dict.fromkeys(PYTHONS, smoke)}
"""The longest first."""


T = TypeVar("T")


def timed(name: str, work: Callable[[], T]) -> T | None:
    """Do one part and say how it went; return what it returns, or None if it failed."""
    start = time.monotonic()
    try:
        result = work()
    except Failure as failure:
        print(f"{time.monotonic() - start:5.0f}s  {name:<7} FAILED\n{failure}", flush=True)
        return None
    print(f"{time.monotonic() - start:5.0f}s  {name:<7} ok", flush=True)
    return result


def main(scratch: Path, names: list[str]) -> int:
    """Run parts in a scratch folder; return the exit status."""
    missing = [version for version in PYTHONS if find_python(version) is None]
    for version in set(missing) & set(names):
        print(f"       {version:<7} left out: this machine has no Python {version}")
    names = [name for name in PARTS if name in names and name not in missing]
    dist = timed("build", partial(build, scratch))
    if dist is None:
        return 1
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        started = {}
        for name in names:
            folder = scratch / name
            folder.mkdir()
            started[name] = pool.submit(timed, name, partial(PARTS[name], folder, dist))
    results = {name: future.result() for name, future in started.items()}
    if None in results.values():
        return 1
    played = {name: result for name, result in results.items() if name != "types"}
    if len(set(played.values())) > 1:
        print("the same seeds play differently:", *(f"{name}: {text}" for name, text in played.items()), sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the packages and try them as users get them.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of {', '.join(PARTS)}; default: all")
    chosen = parser.parse_args().parts or list(PARTS)
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; allowed: {', '.join(PARTS)}")
    # What a command that was ended at the limit had started may still write there.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        sys.exit(main(Path(name), chosen))
