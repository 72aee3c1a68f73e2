"""Deletion of the output of a failed Spark job. A task that has not been killed yet may still write after the
failure."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Thread

from hivedruid.filesystems import Access
from hivedruid.spark.calls import remove_output


def test_folder_that_a_late_task_creates_again(tmp_path: Path) -> None:
    folder = tmp_path / "written"

    def late_task() -> None:
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            folder.mkdir(exist_ok=True)
            time.sleep(0.3)

    task = Thread(target=late_task)
    task.start()
    remove_output(str(folder), Access())
    task.join()
    assert not folder.exists()
