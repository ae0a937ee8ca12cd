"""The figures of a run, one row a rollout: as JSON lines to plot, and for TensorBoard."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from torch.utils.tensorboard import SummaryWriter

from training.files import METRICS, TENSORBOARD


class Metrics:
    """Writes rows into the folder of a run.

    Args:
        folder: The folder.
        rollouts: Rollouts that the run has done: what an earlier, killed run wrote of later ones is dropped.
        steps: Steps that the run has done.
    """

    def __init__(self, folder: Path, rollouts: int, steps: int) -> None:
        path = folder / METRICS
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept = lines[:rollouts]
        path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
        self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115  (closed by __exit__)
        self._board = SummaryWriter(str(folder / TENSORBOARD), purge_step=steps + 1)

    def write(self, row: Mapping[str, Any]) -> None:
        """Write one row: numbers, with `steps` among them, and lists that TensorBoard does not get."""
        self._file.write(json.dumps(dict(row)) + "\n")
        self._file.flush()
        for name, value in row.items():
            if isinstance(value, int | float):
                self._board.add_scalar(name, value, row["steps"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._board.close()
