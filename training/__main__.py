"""Train a small agent from nothing but a checkout and Python 3.11.

    python3 -m training                                the main job, as configs/quick.yaml says
    python3 -m training configs/NAME.yaml [OPTIONS]    another run; arguments go to training.train as they are

Sets up the virtual environment first (see `training.bootstrap`).
"""

from __future__ import annotations

import sys

from training.bootstrap import TRAIN, run_module

DEFAULT_ARGUMENTS = ["configs/quick.yaml"]

if __name__ == "__main__":
    run_module("training.train", sys.argv[1:] or DEFAULT_ARGUMENTS, TRAIN)
