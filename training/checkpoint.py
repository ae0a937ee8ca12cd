"""Checkpoints: the whole state of a run in one file, replaced at once or not at all.

A checkpoint is a pickle, because games and opponents are kept as they are. Loading one can run code, so load
only your own; policies to be shared are safetensors files (`threeup_env.agents.policy`).
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from threeup_env.errors import InvalidConfigError
from threeup_env.files import replacing

FORMAT: Final = "threeup-checkpoint/2"


def save_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Write `state`; a run that is killed meanwhile finds the checkpoint before it.

    Raises:
        InvalidConfigError: `path` cannot be written.
    """
    # Always under the same name: a run that is killed again and again leaves one such file, not many.
    unfinished = path.with_suffix(".tmp").name
    try:
        with replacing(path, unfinished) as file:
            pickle.dump({"format": FORMAT, **state}, file, pickle.HIGHEST_PROTOCOL)
    except OSError as error:
        raise InvalidConfigError(f"checkpoint {str(path)!r} cannot be written: {error.strerror or error}") from error


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read what `save_checkpoint` wrote.

    Raises:
        InvalidConfigError: The file cannot be read or is no checkpoint of this version.
    """
    try:
        with open(path, "rb") as file:
            state = pickle.load(file)
    except OSError as error:
        raise InvalidConfigError(f"checkpoint {str(path)!r} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # unpickling what is no pickle may raise anything
        raise InvalidConfigError(f"checkpoint {str(path)!r} is damaged: {error}") from error
    found = state.get("format") if isinstance(state, dict) else None
    if found != FORMAT:
        raise InvalidConfigError(f"checkpoint {str(path)!r} has the format {found!r}; allowed: {FORMAT!r}")
    return dict(state)
