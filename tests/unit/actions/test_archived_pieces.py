"""When Spark writes the rows of an archive job where it reads them, and when it brings those of a day together."""

from __future__ import annotations

import pytest

from hivedruid.actions.tiering.build import keeps_pieces
from hivedruid.actions.writing.model import WriteTable
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.tiers import cold_part
from hivedruid.catalog.types import BIGINT, TIMESTAMP
from hivedruid.plan.physical import DruidInput, SparkJob, scan_of
from hivedruid.plan.segment_files import PIECE, FileScan, SegmentFile

HOUR = 3_600_000
DAY = 24 * HOUR
TABLE = Table("default", "t", "druid", (Column("__time", TIMESTAMP), Column("n", BIGINT)))


def files(count: int, span: int, size: int) -> tuple[SegmentFile, ...]:
    return tuple(
        SegmentFile(f"s{n}", n * span, (n + 1) * span, "v", 0, f"/deep/storage/{n}", size) for n in range(count)
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (files(3, DAY, 1000), True),
        (files(3, DAY, 10 * PIECE), True),
        (files(2, 31 * DAY, 1000), True),
        (files(48, HOUR, 1000), False),
        (files(48, HOUR, PIECE), True),
    ],
    ids=["a small one a day", "a large one a day", "a small one a month", "small ones an hour", "large ones an hour"],
)
def test_pieces(found: tuple[SegmentFile, ...], expected: bool) -> None:
    times = ((0, found[-1].end),)
    read = scan_of("t", times, {"__time": "LONG", "n": "LONG"})
    scan = FileScan(found, (), ("__time", "n"), ("LONG", "LONG"), {})
    job = SparkJob("", (DruidInput("v", read, ("__time", "n"), scan=scan),), ())
    assert keeps_pieces(WriteTable(job, cold_part(TABLE), overwrite=False), TABLE, times) is expected


def test_rows_of_a_query_are_brought_together() -> None:
    read = scan_of("t", ((0, DAY),), {"n": "LONG"})
    job = SparkJob("", (DruidInput("v", read, ("n",)),), ())
    assert not keeps_pieces(WriteTable(job, cold_part(TABLE), overwrite=False), TABLE, ((0, DAY),))
