"""The manifest's statements read no more rows than they change: SQLite counts the instructions that it runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hivedruid.catalog.database import FILE_NAME, open_database
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.embedded.manifest import Manifest
from hivedruid.engine.segments import Segment

DAY = 86_400_000
FEW, MANY = 100, 800
LINEAR = 1.2
"""The most by which the work of a linear statement grows for each time that its rows double: logarithms, and pages."""


def segments(days: int, each: int = 1) -> list[Segment]:
    """Segments of every other day, so that the intervals stay apart."""
    return [
        Segment("t", 2 * day * DAY, (2 * day + 1) * DAY, "v1", 0, rows=1, path=f"segments/t/{day}/{number}")
        for day in range(days)
        for number in range(each)
    ]


def instructions(connection: sqlite3.Connection, work: Callable[[], object]) -> int:
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    connection.set_progress_handler(step, 10)
    work()
    connection.set_progress_handler(None, 0)
    return count


def committed(manifest: Manifest, added: list[Segment]) -> None:
    manifest.commit("t", added, [(segment.start, segment.end) for segment in added])


def cut(manifest: Manifest, some: list[Segment]) -> None:
    committed(manifest, some)
    manifest.commit("t", [], None, cut=manifest.segments("t"))


def forgotten(manifest: Manifest, some: list[Segment]) -> None:
    committed(manifest, some)
    manifest.drop("t")
    manifest.forget(manifest.unused_paths())


def overwritten(manifest: Manifest, some: list[Segment]) -> None:
    committed(manifest, some)
    committed(manifest, [segment for segment in some if segment.start % (4 * DAY)])


def appended(manifest: Manifest, some: list[Segment]) -> None:
    """Segments of one interval, each with the next number."""
    manifest.commit("t", [Segment("t", 0, DAY, "v1", 0, rows=1, path=segment.path) for segment in some], None)


@pytest.mark.parametrize("work", [committed, overwritten, appended, cut, forgotten])
def test_the_work_of_a_change_is_linear(work: Callable[[Manifest, list[Segment]], None], tmp_path: Path) -> None:
    counts = []
    for size in (FEW, MANY):
        with closing(open_database(tmp_path / f"{size}")) as connection:
            manifest = Manifest(connection)
            counts.append(instructions(connection, lambda: work(manifest, segments(size))))  # noqa: B023
    assert counts[1] / counts[0] < MANY / FEW * LINEAR


def test_an_append_to_many_segments_reads_none_of_them(tmp_path: Path) -> None:
    counts = []
    for size in (FEW, MANY):
        with closing(open_database(tmp_path / f"{size}")) as connection:
            manifest = Manifest(connection)
            committed(manifest, segments(size))
            last = segments(size)[-1]
            counts.append(instructions(connection, lambda: manifest.commit("t", [last], None)))  # noqa: B023
    assert counts[1] < counts[0] * LINEAR


def test_an_earlier_home_gets_the_indexes(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as old:
        for statement in MIGRATIONS[0]:
            old.execute(statement)
        old.execute("PRAGMA user_version = 1")
        old.commit()

    def indexes(home: Path) -> list[tuple[str, str]]:
        with closing(open_database(home)) as connection:
            rows = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'segments'"
            )
            return sorted(rows)

    assert indexes(tmp_path) == indexes(tmp_path / "new")
