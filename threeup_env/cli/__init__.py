"""The command `threeup`: record and replay games, measure and rate agents, measure speed, look up IDs and rules.

Results go to standard output; progress bars and errors to standard error. Exit status: 0; 1 for an error of
this package or of the system, told in one line; 2 for an option that has a wrong value.

One file a command; each enters itself in the application of `app.py` when it is imported.
"""

from __future__ import annotations

import os
import sys

from .app import app

# In the order in which --help lists the commands.
# isort: off
from . import record, replay, evaluate, tournament, bench, lookup  # noqa: F401
# isort: on

__all__ = ["app", "main"]


def main() -> None:
    """Run the command `threeup`."""
    # Agents by Python path are found where the user stands; last, so that nothing there hides an installed module.
    sys.path.append(os.getcwd())
    app(prog_name="threeup")
