"""Files that are replaced whole or not at all: records, policies, checkpoints and reports are all written so."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], unfinished: str | None = None) -> Iterator[IO[bytes]]:
    """A file, open for writing bytes, that takes the place of `path` once it is complete and on the disk.

    Where the block raises, what was at `path` stays as it was and nothing is left beside it. Links stay links, and a
    file keeps its mode. A device or a pipe is written to, not replaced.

    Args:
        path: Where.
        unfinished: Name of the file, in the same folder, while it is written. One that is there, left by a process that
            was killed, is overwritten; so no two may write at the same time. By default a new name each time.

    Raises:
        OSError: The file cannot be written; it names `path`.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        with path.open("wb") as file:  # a directory raises
            yield file
        return
    path = path.resolve()
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(13, os.strerror(13), str(path))
    # Beside its goal, because a rename is atomic only within one file system.
    beside = path.with_name(unfinished or f".threeup-{secrets.token_hex(8)}.tmp")
    try:
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):  # what went wrong before says more
            beside.unlink()
        if isinstance(error, OSError) and error.filename == str(beside):
            error.filename = str(path)  # what the caller named
        raise
