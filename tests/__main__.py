"""Run the tests from nothing but a checkout and Python 3.11.

    python3 -m tests                           all of them, on all cores
    python3 -m tests -m "not slow" -x tests/   arguments go to pytest as they are
    python3 -m tests -n 0                      one after the other, as with --pdb, --trace and -s

Sets up the virtual environment first (see `training.bootstrap`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from training.bootstrap import TEST, run_module

# Say how to share the tests out, or show what pytest-xdist cannot show.
ONE_S_OWN_WAY = ("-n", "--numprocesses", "--dist", "--pdb", "--trace", "-s", "--capture=no")


def share_out(arguments: Sequence[str], cores: int | None) -> list[str]:
    """The arguments for pytest: those given, with a worker for each core where nothing speaks against it.

    Args:
        arguments: What the command line says.
        cores: How many cores there are; None where that is not known.
    """
    if cores in (None, 1) or any(argument.startswith(ONE_S_OWN_WAY) for argument in arguments):
        return list(arguments)
    # Neighbours stay together as long as all have work: the tests of a module share what it sets up.
    return ["-n", "auto", "--dist", "worksteal", *arguments]


if __name__ == "__main__":
    arguments = share_out(sys.argv[1:], os.cpu_count())
    if arguments != sys.argv[1:]:
        # The workers keep all cores busy: further threads of NumPy and torch would only wait for one another.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    run_module("pytest", arguments, TEST)
