"""Deletion of the output of a failed Spark job. A task that has not been killed yet may still write after the
failure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.filesystems import Access, Location
from hivedruid.spark.calls import remove_output

if TYPE_CHECKING:
    import pytest


def test_folder_that_a_late_task_creates_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "written"
    folder.mkdir()
    removed = []
    remove = Location.remove

    def remove_before_late_task(place: Location) -> None:
        remove(place)
        removed.append(place)
        if len(removed) < 3:
            folder.mkdir()

    monkeypatch.setattr(Location, "remove", remove_before_late_task)
    remove_output(str(folder), Access())
    assert len(removed) == 3
    assert not folder.exists()
