"""The log of a tournament: a line of JSON with its settings, then one for each chunk of games that is done.

A tournament that was stopped reads the log and plays what is missing. A line that was cut short is played again.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, Self

from ..errors import InvalidConfigError
from .play import Chunk

FORMAT: Final = "threeup-tournament/1"
GAMES: Final = "games.jsonl"
"""Name of the log in the folder of a tournament."""

Key = tuple[int, int]
"""Table and first group of a chunk."""


class Log:
    """What is done of a tournament, on disk where it has a folder.

    Args:
        folder: The folder; made where it is missing. None: nothing is kept.
        settings: JSON values that decide what is played.

    Attributes:
        chunks: What was done before.

    Raises:
        InvalidConfigError: The log is that of other settings, or no log; the message names which.
        OSError: The folder cannot be used.
    """

    def __init__(self, folder: Path | None, settings: Mapping[str, Any]) -> None:
        self.chunks: dict[Key, Chunk] = {}
        self._file: IO[bytes] | None = None
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / GAMES
        header = {"format": FORMAT, **settings}
        kept = _whole_lines(path)
        if kept:
            _check_settings(path, kept[0], header)
            self.chunks = dict(_read_chunk(path, number, line) for number, line in enumerate(kept[1:], 2))
        self._file = open(path, "r+b" if path.exists() else "xb")  # noqa: SIM115  (closed by __exit__)
        self._file.truncate(sum(map(len, kept)))
        self._file.seek(0, 2)
        if not kept:
            self._append(header)

    def write(self, key: Key, chunk: Chunk) -> None:
        """Write down a chunk that is done."""
        self._append({"table": key[0], "first": key[1], **dataclasses.asdict(chunk)})

    def _append(self, line: Mapping[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(line).encode() + b"\n")
            self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def _whole_lines(path: Path) -> list[bytes]:
    if not path.exists():
        return []
    return [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def _check_settings(path: Path, line: bytes, header: Mapping[str, Any]) -> None:
    found = _read_object(path, 1, line)
    for key, value in header.items():
        if found.get(key) != value:
            raise InvalidConfigError(
                f"{key}: {value!r}, but the tournament in {path} has {found.get(key)!r}; "
                "allowed: its settings, or another folder"
            )


def _read_chunk(path: Path, number: int, line: bytes) -> tuple[Key, Chunk]:
    values = _read_object(path, number, line)
    try:
        return (values.pop("table"), values.pop("first")), Chunk(**values)
    except (KeyError, TypeError) as error:
        raise InvalidConfigError(f"{path} line {number} is no chunk of games: {error}") from None


def _read_object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise InvalidConfigError(f"{path} line {number} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise InvalidConfigError(f"{path} line {number} holds {values!r}; allowed: a JSON object")
    return values
