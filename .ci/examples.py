"""Runs the test of each library's example in an environment of its own, made for it and thrown away.

    python3 .ci/examples.py                            every example with a file in training/examples/requirements
    python3 .ci/examples.py rllib_ppo --minutes 20     these alone

`NAME.txt` there says what the environment needs beside this project and pytest; what `NAME.no-deps.txt` lists, where
there is one, is installed after that, without dependencies. For a library that pip alone cannot install there is
`NAME.by-hand.txt` instead: how a person builds it. It is only listed.

An environment that cannot be built because no index has the library, or within the time limit, is said and no failure;
everything else that goes wrong is one. Needs the standard library alone.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "training" / "examples" / "requirements"
PYTEST = ("pytest", "pytest-timeout")
# What pip says when it finds no index, or an index without a build for this Python and machine.
NOT_TO_BE_HAD = ("No matching distribution found", "ConnectionPool(", "ReadTimeoutError", "ProtocolError")


class Report(NamedTuple):
    """How it went with one example.

    Attributes:
        name: The example.
        outcome: In words.
        failed: Whether that is a failure of this project.
        install: Seconds to build the environment.
        test: Seconds of its test.
    """

    name: str
    outcome: str
    failed: bool
    install: float
    test: float


def run(command: Sequence[str | Path], deadline: float) -> tuple[int | None, str]:
    """Run a command in the root of the checkout; at the deadline it is killed, with all that it has started.

    Args:
        command: The command.
        deadline: When, as `time.monotonic` tells it.

    Returns:
        Its exit status, None where it was killed, and what it printed.
    """
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=max(deadline - time.monotonic(), 0))
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return None, output


def check(name: str, limit: float) -> Report:
    """Build the environment of one example, run its test, and print what they say if that is not good.

    Args:
        name: The example.
        limit: Seconds for all of it.
    """
    start = time.monotonic()
    deadline = start + limit
    with tempfile.TemporaryDirectory(prefix=f"threeup-{name}-") as folder:
        print(f"{name}: building its environment", flush=True)
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        pip: list[str | Path] = [python, "-m", "pip", "install", "-qq", "--no-compile", "--disable-pip-version-check"]
        status, output = run([*pip, "-e", ".", "-r", REQUIREMENTS / f"{name}.txt", *PYTEST], deadline)
        no_deps = REQUIREMENTS / f"{name}.no-deps.txt"
        if status == 0 and no_deps.exists():
            status, output = run([*pip, "--no-deps", "-r", no_deps], deadline)
        installed = time.monotonic()
        if status != 0:
            print(output, flush=True)
            absent = any(sign in output for sign in NOT_TO_BE_HAD)
            outcome = "could not be installed" if absent else "FAILED to install" if status else "not installed in time"
            return Report(name, outcome, outcome.startswith("FAILED"), installed - start, 0)
        print(f"{name}: testing", flush=True)
        status, output = run([python, "-m", "pytest", "-q", f"tests/examples/test_{name}.py"], deadline)
        seconds = time.monotonic() - installed
        # A test that skips in the very environment that is made for it says nothing.
        last = (output.strip().splitlines() or [""])[-1].strip("= ")
        if status == 0 and "passed" in last:
            return Report(name, last, False, installed - start, seconds)
        print(output, flush=True)
        outcome = "FAILED: too slow" if status is None else f"FAILED: {last}"
        return Report(name, outcome, True, installed - start, seconds)


def main() -> int:
    """Check the examples that the command line names; 1 if one failed, else 0."""
    stems = sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))
    known = [stem for stem in stems if "." not in stem]
    parser = argparse.ArgumentParser(description="Runs the test of each library's example in its own environment.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones; all when left out: {', '.join(known)}")
    parser.add_argument("--minutes", type=float, default=6.0, help="time limit of each (default: 6)")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (default: 1)")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in known:
            parser.error(f"{name!r} is no example with requirements; allowed: {', '.join(known)}")
    with ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        reports = list(pool.map(lambda name: check(name, 60 * arguments.minutes), arguments.names or known))
    print(f"\n{'install':>8} {'test':>8}  example")
    for report in reports:
        print(f"{report.install:7.0f}s {report.test:7.0f}s  {report.name}: {report.outcome}")
    for stem in () if arguments.names else stems:
        if stem.endswith(".by-hand"):
            print(f"{'-':>8} {'-':>8}  {stem.removesuffix('.by-hand')}: to be built by hand")
    return int(any(report.failed for report in reports))


if __name__ == "__main__":
    sys.exit(main())
