"""A folder is replaced by another one in one step."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event, Thread

import pytest

from hivedruid.spark import folders


def folder(path: Path, *names: str) -> Path:
    path.mkdir()
    for name in names:
        (path / name).touch()
    return path


def test_the_folder_exists_at_every_moment(tmp_path: Path) -> None:
    target = folder(tmp_path / "data", "0")
    found: list[OSError] = []
    over = Event()

    def read() -> None:
        while not over.is_set():
            try:
                os.stat(target)  # noqa: PTH116
            except OSError as error:
                found.append(error)

    reader = Thread(target=read)
    reader.start()
    for number in range(1, 501):
        folders.swap(folder(tmp_path / ".data.x", str(number)), target)
    over.set()
    reader.join()
    assert found == []
    assert sorted(tmp_path.iterdir()) == [target]
    assert [path.name for path in target.iterdir()] == ["500"]


def test_a_file_system_without_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "exchange", lambda *_: False)
    target = folder(tmp_path / "data", "old")
    folders.swap(folder(tmp_path / ".data.x", "new"), target)
    assert [path.name for path in target.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    folders.swap(folder(tmp_path / ".data.x", "new"), tmp_path / "a" / "data")
    assert (tmp_path / "a" / "data" / "new").exists()
    with pytest.raises(FileNotFoundError):
        folders.exchange(tmp_path / "nosuch", tmp_path / "a")
