"""The cache of machine code: it must not outlive a change in any function that is inlined in what it holds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import threeup_env

PROBE = """
import numpy as np
from threeup_env import Rules
from threeup_env.core import single
from threeup_env.core.state import STATE, pack_rules
states = np.zeros(1, STATE)
states["rng"] = 1
single.start_game(states, pack_rules(Rules.standard(2)))
print(int(states["hand_size"][0, 0]))
"""


def test_a_change_in_a_callee_is_compiled_anew(tmp_path: Path) -> None:
    shutil.copytree(
        Path(threeup_env.__file__).parent, tmp_path / "threeup_env", ignore=shutil.ignore_patterns("__pycache__")
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)

    def probe() -> str:
        run = subprocess.run(
            [sys.executable, "-c", PROBE], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return run.stdout.strip()

    assert probe() == "6"
    zones = tmp_path / "threeup_env" / "core" / "zones.py"
    zones.write_text(zones.read_text().replace("state.hand_size[seat] += 1", "state.hand_size[seat] += 2", 1))
    assert probe() == "12"
