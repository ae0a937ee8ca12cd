"""The virtual environment behind `python3 -m training` and `python3 -m tests`.

Whichever Python runs these commands, the work is always done in one environment: the folder `.venv` in the root of the
checkout or, where the environment variable `THREEUP_VENV` is set, the folder that it names (relative to the root). An
activated environment makes no difference. The folder is created when it is missing; the project (editable) and what a
command needs are installed into it, at the versions in constraints.txt. After that a command starts at once until
pyproject.toml, constraints.txt or the Python version changes: a stamp file in the environment holds their hash.

Only the standard library is imported here, and the syntax is old enough for an old Python to say that it is too old.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
MINIMUM_PYTHON = (3, 11)
MINIMUM_PIP = (25, 1)  # the first one that knows dependency groups
VENV_VARIABLE = "THREEUP_VENV"
INPUTS = ("pyproject.toml", "constraints.txt")  # a change in one of these installs again

# What pip says when it reaches no package index.
NETWORK_SIGNS = (
    "NewConnectionError",
    "ConnectTimeout",
    "ReadTimeout",
    "ProxyError",
    "Name or service not known",
    "name resolution",
    "getaddrinfo failed",
    "Connection refused",
    "Network is unreachable",
)


class Profile(NamedTuple):
    """What one command needs installed.

    Attributes:
        name: Names the stamp file.
        requirements: The arguments of `pip install`.
    """

    name: str
    requirements: tuple[str, ...]


TRAIN = Profile("train", ("--editable", ".[train]"))
TEST = Profile("test", ("--editable", ".[train,tournament,render,serve,openspiel]", "--group", "dev"))


class BootstrapError(Exception):
    """The environment cannot be set up; the message says why and what to do."""


def run_module(module: str, arguments: Sequence[str], profile: Profile) -> NoReturn:
    """Run `python -m module arguments` in the environment, from the root of the checkout; never return.

    Args:
        module: The module to run.
        arguments: Its command line.
        profile: What it needs installed.
    """
    try:
        python = prepare(profile)
    except BootstrapError as error:
        sys.exit(f"error: {error}")
    command = [str(python), "-m", module, *arguments]
    os.chdir(ROOT)
    sys.stdout.flush()
    if os.name == "nt":  # exec on Windows would return to the shell before the work is done
        sys.exit(subprocess.run(command, check=False).returncode)
    os.execv(command[0], command)


def prepare(profile: Profile) -> Path:
    """Create or refresh the environment if it has to be.

    Args:
        profile: What has to be installed.

    Returns:
        The Python of the environment.

    Raises:
        BootstrapError: Python is too old, a part of it is missing, or pip fails.
    """
    if sys.version_info < MINIMUM_PYTHON:
        found = dotted(sys.version_info[:3])
        raise BootstrapError(f"Python {dotted(MINIMUM_PYTHON)} or newer is needed; {sys.executable} is Python {found}.")
    folder = venv_folder()
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / f".threeup-{profile.name}"
    wanted_stamp = fingerprint(profile)
    if python.exists() and stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted_stamp:
        return python
    print(f"Setting up {folder} (this takes some minutes the first time) ...", flush=True)
    if not (python.exists() and succeeds(python, "import pip")):
        create_venv(folder)
    if not succeeds(python, f"import pip; assert tuple(map(int, pip.__version__.split('.')[:2])) >= {MINIMUM_PIP}"):
        pip_install(python, f"pip>={dotted(MINIMUM_PIP)}")
    pip_install(python, *profile.requirements)
    stamp.write_text(wanted_stamp, encoding="utf-8")
    return python


def venv_folder() -> Path:
    """Return the folder of the environment: `.venv`, or what `THREEUP_VENV` names."""
    return ROOT / Path(os.environ.get(VENV_VARIABLE) or ".venv").expanduser()


def fingerprint(profile: Profile) -> str:
    """Return a hash of all that decides what is installed.

    Args:
        profile: What has to be installed.
    """
    digest = hashlib.sha256(repr((profile, sys.version_info[:2], str(ROOT))).encode())
    for name in INPUTS:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def create_venv(folder: Path) -> None:
    """Make a virtual environment with pip, or mend one that was left half made.

    Args:
        folder: Where; a folder that holds something else is left alone.

    Raises:
        BootstrapError: The folder holds something else, or Python lacks what it takes.
    """
    if folder.exists() and not (folder / "pyvenv.cfg").is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise BootstrapError(
            f"{folder} exists and is not a virtual environment; set {VENV_VARIABLE} to another folder."
        )
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        raise BootstrapError(
            f"this Python lacks {' and '.join(missing)}, which it takes to make a virtual environment; "
            f"on Debian or Ubuntu: apt-get install python{dotted(sys.version_info[:2])}-venv"
        )
    if subprocess.run([sys.executable, "-m", "venv", str(folder)], check=False).returncode != 0:
        raise BootstrapError(f"the virtual environment {folder} could not be made (see above).")


def pip_install(python: Path, *requirements: str) -> None:
    """Install into the environment at the versions of constraints.txt.

    Args:
        python: The Python of the environment.
        *requirements: Arguments of `pip install`.

    Raises:
        BootstrapError: pip failed; the message says so if no package index was reached.
    """
    # What is imported is compiled then: most of what is installed never is.
    pip = [str(python), "-m", "pip", "install", "--no-compile", "--disable-pip-version-check"]
    command = [*pip, "--constraint", "constraints.txt", *requirements]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace")
    assert process.stderr is not None  # PIPE above
    no_network = False
    for line in process.stderr:
        sys.stderr.write(line)
        no_network = no_network or any(sign in line for sign in NETWORK_SIGNS)
    if process.wait() == 0:
        return
    if no_network:
        raise BootstrapError(
            "pip reached no package index, so nothing could be installed. The first run needs the network, later ones "
            "do not; behind a proxy or with a mirror, set HTTPS_PROXY or PIP_INDEX_URL. Then run the command again."
        )
    raise BootstrapError("pip could not install what is needed (see above); run the command again when that is mended.")


def succeeds(python: Path, code: str) -> bool:
    """Tell whether a line of code runs without an error.

    Args:
        python: The Python that runs it.
        code: The line.
    """
    try:
        return subprocess.run([str(python), "-c", code], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def dotted(version: Sequence[int]) -> str:
    """Return a version the way people write it, as in "3.11".

    Args:
        version: Its numbers.
    """
    return ".".join(map(str, version))
