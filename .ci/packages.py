"""The packages as users get them: what is in them, and whether they work on every Python and on old dependencies.

Run by `.ci/run` in the tests' environment, which has uv; by hand: `python .ci/packages.py`. Each job has environments
of its own in a scratch folder, made by uv, and as many jobs run at once as there are cores:

- build: the sdist and the wheel; the wheel built from the sdist is the same, byte for byte; both hold what they should.
- 3.11, 3.12, 3.13: the wheel without extras at the versions of constraints.txt, and `.ci/smoke.py` in it; what is
  played with a seed is the same on all of them.
- lowest: the wheel with all extras, every dependency that pyproject.toml names at its lower bound; the same smoke, and
  the tests of the modules that call other packages.
- types: tests/typing, a user's script, under two strict type checkers, against the wheel.

A Python is taken from the PATH or from pyenv; where it is in neither, uv fetches it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

# What the tests of the lower bounds run: one module or more for each dependency.
LOWEST_TESTS = (
    "tests/test_rules.py",  # pydantic
    "tests/test_registration.py",  # Gymnasium, PettingZoo
    "tests/test_cli.py",  # typer, rich
    "tests/test_policy.py",  # safetensors
    "tests/test_sb3.py",  # Stable-Baselines3, sb3-contrib, torch
    "tests/test_report.py",  # matplotlib, huggingface-hub, PyYAML
    "tests/test_training.py",  # tensorboard, tqdm
    "tests/test_tournament.py",  # choix, threadpoolctl
)


class JobError(Exception):
    """A job failed; the message says how."""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command and return its output.

    Args:
        *command: The command line.
        cwd: The folder to run it in.

    Raises:
        JobError: It failed; with all it printed.
    """
    process = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    if process.returncode != 0:
        line = " ".join(str(part) for part in command)
        raise JobError(f"{line}\nexit status {process.returncode}\n{process.stdout}{process.stderr}")
    return process.stdout


def environment() -> dict[str, str]:
    """The environment of every command: pip's settings handed on to uv, and pyenv's shims out of its way."""
    variables = dict(os.environ)
    for ours, theirs in {
        "PIP_FIND_LINKS": "UV_FIND_LINKS",
        "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
        "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    }.items():
        if ours in variables:
            variables.setdefault(theirs, variables[ours])
    # A shim fails for each version but the one that is switched on, and uv takes that for a broken Python.
    pyenv = Path(variables.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders = [folder for folder in variables.get("PATH", "").split(os.pathsep) if Path(folder) != pyenv / "shims"]
    folders += [str(folder) for folder in sorted(pyenv.glob("versions/3.*/bin"))]
    return variables | {"PATH": os.pathsep.join(folders), "MPLBACKEND": "Agg"}


def make_venv(folder: Path, python: str, *requirements: str | Path) -> Path:
    """Make a virtual environment and install into it; return its Python.

    Args:
        folder: Where.
        python: The version of Python.
        *requirements: Arguments of `uv pip install`.
    """
    uv = (sys.executable, "-m", "uv", "--quiet")
    run(*uv, "venv", "--python", python, folder)
    executable = folder / "bin" / "python"
    run(*uv, "pip", "install", "--python", executable, *requirements)
    return executable


def build(dist: Path) -> tuple[Path, Path]:
    """Build the sdist, the wheel of the sdist and the wheel of the tree; return the first two.

    Args:
        dist: Where to put them.

    Raises:
        JobError: The two wheels differ, or something is missing from a package or too much in it.
    """
    uv_build = (sys.executable, "-m", "uv", "--quiet", "build")
    run(*uv_build, "--out-dir", dist)
    run(*uv_build, "--wheel", "--out-dir", dist / "tree")
    (sdist,), (wheel,), (tree_wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl"), dist.glob("tree/*.whl")
    if wheel.read_bytes() != tree_wheel.read_bytes():
        raise JobError("the wheel built from the sdist is not the one built from the tree")

    files = set(run("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines())
    package = {name for name in files if name.startswith("threeup_env/")}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    compare("the wheel", packed, package)
    with tarfile.open(sdist) as archive:
        unpacked = {name.split("/", 1)[1] for name in archive.getnames()}
    ours = {name for name in files if not name.startswith(".")} | {".gitignore"}  # hatchling always adds that one
    compare("the sdist", unpacked, ours | {"PKG-INFO"})
    for needed in ("threeup_env/py.typed", "threeup_env/agents/ppo-2p.safetensors"):
        if needed not in packed:
            raise JobError(f"the wheel lacks {needed}")
    return sdist, wheel


def compare(where: str, found: set[str], wanted: set[str]) -> None:
    """Raise a JobError where two sets of files differ.

    Args:
        where: What holds the first.
        found: The files in it.
        wanted: The files that should be.
    """
    if found != wanted:
        raise JobError(f"{where} lacks {sorted(wanted - found)} and should not hold {sorted(found - wanted)}")


def smoke(folder: Path, python: str, wheel: Path) -> str:
    """Install the wheel alone at the tested versions, try it, and return what it played.

    Args:
        folder: A scratch folder.
        python: The version of Python.
        wheel: The wheel.
    """
    executable = make_venv(folder / "venv", python, "--constraint", ROOT / "constraints.txt", wheel)
    return run(executable, ROOT / ".ci" / "smoke.py", cwd=folder)


def lowest(folder: Path, python: str, sdist: Path, wheel: Path) -> str:
    """Install the wheel and all extras at the lower bounds, try and test it, and return what it played.

    Args:
        folder: A scratch folder.
        python: The version of Python.
        sdist: The sdist: the tests in it are run, against the wheel.
        wheel: The wheel.
    """
    bounds = folder / "lowest.txt"
    bounds.write_text("\n".join(lower_bounds()), encoding="utf-8")
    tools = ("hypothesis", "pytest", "pytest-timeout", "--constraint", bounds)
    executable = make_venv(folder / "venv", python, *tools, f"{wheel}[{','.join(EXTRAS)}]")
    played = run(executable, ROOT / ".ci" / "smoke.py", cwd=folder)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.glob("threeup_env-*")
    (source / "threeup_env").rename(folder / "unused")  # so that the tests import the wheel
    # Newer packages beside old ones may warn among themselves; what is asserted here is that it works.
    run(executable, "-m", "pytest", "-q", "-W", "default", "-m", "not slow", *LOWEST_TESTS, cwd=source)
    return played


def lower_bounds() -> list[str]:
    """Return every dependency and extra of pyproject.toml, pinned to its lower bound.

    Raises:
        JobError: A dependency has none.
    """
    pinned = {}
    for requirement in [*PROJECT["dependencies"], *chain(*EXTRAS.values())]:
        match = re.fullmatch(r"([\w.-]+(?:\[[\w,-]+\])?)>=([\w.]+)(?:,.*)?", requirement)
        if match is None:
            raise JobError(f"pyproject.toml: {requirement!r} has no lower bound")
        name, version = match.groups()
        if pinned.setdefault(name, version) != version:
            raise JobError(f"pyproject.toml: {name} has two lower bounds, {pinned[name]} and {version}")
    return [f"{name.split('[')[0]}=={version}" for name, version in pinned.items()]


def types(folder: Path, python: str, wheel: Path) -> str:
    """Check a user's script with two type checkers against the wheel, run it, and return what it prints.

    Args:
        folder: A scratch folder.
        python: The version of Python.
        wheel: The wheel.
    """
    tools = ("--constraint", ROOT / "constraints.txt", "mypy", "pyright[nodejs]")
    executable = make_venv(folder / "venv", python, *tools, wheel)
    script = folder / "user.py"
    script.write_text((ROOT / "tests" / "typing" / "user.py").read_text(encoding="utf-8"), encoding="utf-8")
    run(executable, "-m", "mypy", "--strict", "--config-file=", script, cwd=folder)
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
    run(executable, "-m", "pyright", "--pythonpath", executable, script, cwd=folder)
    return run(executable, script, cwd=folder)


def main(scratch: Path) -> int:
    """Run all jobs; return the exit status.

    Args:
        scratch: A folder for all that they write.
    """
    built = job("build", build, scratch)
    if built is None:
        return 1
    sdist, wheel = built
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the longest first
        low = pool.submit(job, "lowest", lowest, scratch, PYTHONS[0], sdist, wheel)
        games = {python: pool.submit(job, python, smoke, scratch, python, wheel) for python in PYTHONS}
        checked = pool.submit(job, "types", types, scratch, PYTHONS[-1], wheel)
    played = {name: future.result() for name, future in {"lowest": low, **games}.items()}
    if None in played.values() or checked.result() is None:
        return 1
    if len(set(played.values())) != 1:
        print("the same seeds play differently:", *(f"{name}: {text}" for name, text in played.items()), sep="\n")
        return 1
    return 0


def job(name: str, work: Callable[..., T], scratch: Path, *args: str | Path) -> T | None:
    """Do one job in a folder of its own and say how it went; return its result, or None if it failed.

    Args:
        name: Names the job and its folder.
        work: Does it, given the folder and `args`.
        scratch: Where to make the folder.
        *args: The rest of its arguments.
    """
    start, error, result = time.monotonic(), "", None
    folder = scratch / name
    folder.mkdir()
    try:
        result = work(folder, *args)
    except JobError as failure:
        error = str(failure)
    print(f"{time.monotonic() - start:5.0f}s  {name:<7} {'ok' if result is not None else 'FAILED'}", flush=True)
    if error:
        print(error, flush=True)
    return result


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch_folder:
        sys.exit(main(Path(scratch_folder)))
