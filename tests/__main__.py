"""Run the tests from nothing but a checkout and Python 3.11.

    python3 -m tests                           all of them
    python3 -m tests -m "not slow" -x tests/   arguments go to pytest as they are

Sets up the virtual environment first (see `training.bootstrap`).
"""

from __future__ import annotations

import sys

from training.bootstrap import TEST, run_module

if __name__ == "__main__":
    run_module("pytest", sys.argv[1:], TEST)
