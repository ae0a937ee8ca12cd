"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from threeup_env.files import replacing


def names(folder: Path) -> list[str]:
    return sorted(child.name for child in folder.iterdir())


def test_a_file_is_replaced_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with replacing(str(path)) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("unfinished", [None, "a.tmp"])
def test_a_block_that_raises_leaves_all_as_it_was(tmp_path: Path, unfinished: str | None) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), replacing(path, unfinished) as file:
        file.write(b"new")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.bin"]


def test_two_writers_at_once_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    with replacing(path) as first, replacing(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"  # the last to end
    assert names(tmp_path) == ["a.bin"]


def test_what_a_killed_process_left_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.tmp").write_bytes(b"longer than what is written now")
    with replacing(tmp_path / "a.bin", "a.tmp") as file:
        assert names(tmp_path) == ["a.tmp"]
        file.write(b"new")
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert names(tmp_path) == ["a.bin"]


def test_it_is_on_the_disk_before_it_takes_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bin"
    synced: list[tuple[int, bool]] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append((os.fstat(number).st_size, path.exists())))
    with replacing(path) as file:
        file.write(b"new")
    assert synced == [(3, False)]


@pytest.mark.parametrize(("folder", "kind"), [("none", FileNotFoundError), ("file", NotADirectoryError)])
def test_errors_name_the_path_that_was_asked_for(tmp_path: Path, folder: str, kind: type[OSError]) -> None:
    (tmp_path / "file").write_bytes(b"")
    path = tmp_path / folder / "a.bin"
    with pytest.raises(kind) as error, replacing(path):
        pytest.fail("opened")
    assert error.value.filename == str(path)
    assert names(tmp_path) == ["file"]
