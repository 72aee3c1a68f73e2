"""What Spark's Python workers do with the rows of a partition; without Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from socket import gethostname
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hivedruid.druid import granularities
from hivedruid.druid.planned_segments import PlannedDimension, PlannedMetric, SegmentPlan
from hivedruid.filesystems import Access
from hivedruid.segments.segment import open_segment
from hivedruid.spark import segment_tasks
from hivedruid.spark.segment_ranges import ranges
from hivedruid.spark.segment_tasks import PART, PARTS, UNSEEN, Build, Divide, bucket_numbers, truncated

DAY = granularities.DAY
PLAN = SegmentPlan("DAY", "NONE", (PlannedDimension("s", "STRING"), PlannedDimension("n", "LONG")), (), False, 3)
SCHEMA = pa.schema({"__time": pa.int64(), "s": pa.string(), "n": pa.int32()})
MEASURED = (("n", "LONG"),)


def batch(*rows: tuple[int | None, int]) -> pa.RecordBatch:
    """Rows of a time and a number."""
    made = [{"__time": time, "s": f"s{n}", "n": n} for time, n in rows]
    return pa.RecordBatch.from_pylist(made, schema=SCHEMA)


def built(folder: Path, batches: Sequence[pa.RecordBatch], plan: SegmentPlan = PLAN) -> list[dict[str, Any]]:
    """The results for one partition of Spark."""
    pieces = sorted(Divide(plan.granularity)(iter(batches)), key=lambda one: one[PART][0].as_py() or 0)
    build = Build(plan, str(folder), MEASURED, Access())  # type: ignore[arg-type]
    return [row for result in build(iter(pieces)) for row in result.to_pylist()]


def numbers(folder: Path, result: dict[str, Any]) -> list[int]:
    with open_segment(folder / result["path"]) as segment:
        return [row["n"] for found in segment.read(["n"]) for row in found.to_pylist()]


def test_segments_of_buckets(tmp_path: Path) -> None:
    """A segment for each bucket, and a new one after the maximum of rows, whatever the batches are."""
    rows: list[tuple[int | None, int]] = [(None, 9), (5, 1), (4, 2), (6, 3), (7, 4), (DAY, 5), (DAY + 1, 6)]
    for pieces in ([rows], [[row] for row in rows], [rows[:3], rows[3:]]):
        folder = tmp_path / str(len(pieces))
        folder.mkdir()
        found = built(folder, [batch(*piece) for piece in pieces])
        assert [(each["bucket"], each["read"]) for each in found] == [(None, 1), (0, 3), (0, 1), (1, 2)]
        assert [numbers(folder, each) for each in found[1:]] == [[2, 1, 3], [4], [5, 6]]
        assert [json.loads(each["sums"])["n"] for each in found[1:]] == [[6, 0.0], [4, 0.0], [11, 0.0]]
        assert len({each["path"] for each in found}) == 4


def test_more_buckets_than_parts(tmp_path: Path) -> None:
    """Buckets of one part are built apart, and rows keep their order."""
    rows = [(((number * 7) % (2 * PARTS + 1)) * DAY + number, number) for number in range(3 * PARTS)]
    found = built(tmp_path, [batch(*rows[:100]), batch(*rows[100:])])
    days = {day: [n for time, n in rows if time // DAY == day] for day in range(2 * PARTS + 1)}
    assert {each["bucket"]: numbers(tmp_path, each) for each in found} == days


def test_rows_are_built_before_they_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_tasks, "MOST_BYTES", 1)
    monkeypatch.setattr(segment_tasks, "DIVIDED_BYTES", 1)
    found = built(tmp_path, [batch((5, 1), (DAY, 2)), batch((6, 3))])
    assert [(each["bucket"], numbers(tmp_path, each)) for each in found] == [(0, [1]), (0, [3]), (1, [2])]


def test_a_machine_without_the_folder_of_the_job(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{UNSEEN}{gethostname()}: {tmp_path}/none$"):
        built(tmp_path / "none", [batch((5, 1))])


def test_rollup(tmp_path: Path) -> None:
    metrics = (PlannedMetric("rows", "LONG", "count", ""), PlannedMetric("most", "LONG", "longMax", "n"))
    plan = SegmentPlan("DAY", "HOUR", (), metrics, rollup=True)
    (result,) = built(tmp_path, [batch((5, 1), (4, 7), (3_600_000, 2))], plan)
    assert (result["read"], result["rows"]) == (3, 2)
    with open_segment(tmp_path / result["path"]) as segment:
        found = [row for each in segment.read(["__time", "rows", "most"]) for row in each.to_pylist()]
    assert found == [{"__time": 0, "rows": 2, "most": 7}, {"__time": 3_600_000, "rows": 1, "most": 2}]


def test_a_removed_folder_is_not_created_again(tmp_path: Path) -> None:
    """Tasks of a cancelled job may still run."""
    with pytest.raises(FileNotFoundError):
        built(tmp_path / "removed", [batch((5, 1))])


def times() -> Iterator[int]:
    yield from (0, -1, 1, DAY, 12 * 3_600_000 + 17, 1_709_164_800_000, 1_735_689_599_999, -62_135_596_800_000)


@pytest.mark.parametrize("granularity", [*granularities.WIDTHS, *granularities.MONTHS])
def test_truncated(granularity: str) -> None:
    given = np.array([*times()], dtype=np.int64)
    assert truncated(given, granularity).tolist() == [granularities.floor(time, granularity) for time in times()]
    assert bucket_numbers(given, granularity).tolist() == [granularities.number(time, granularity) for time in times()]


def test_ranges(tmp_path: Path) -> None:
    """Parts of at most the maximum of rows, unless more have one value; nulls are in the first one."""
    values = ["b", None, "\U0001f600", "\ue000", "a", "b", "b", "b", None, "c"]
    rows = pa.table({"s": values, "n": range(len(values))})
    found = [(part.column("s").to_pylist(), first, until) for part, first, until in ranges(rows, ["s"], 3)]
    assert found == [
        ([None, None, "a"], None, ("b",)),
        (["b", "b", "b", "b"], ("b",), ("c",)),
        (["c", "\U0001f600", "\ue000"], ("c",), None),
    ]
    plan = replace(PLAN, ranges=("s",))
    made = built(tmp_path, [batch((5, 4), (6, 2), (7, 1), (8, 3))], plan)
    assert [(json.loads(each["bounds"]), numbers(tmp_path, each)) for each in made] == [
        ([None, ["s4"]], [2, 1, 3]),
        ([["s4"], None], [4]),
    ]


def test_bounds_have_no_nulls() -> None:
    rows = pa.table({"s": ["a", "a", "a", "b", "b"], "t": ["x", None, None, None, "y"]})
    found = [(part.num_rows, first, until) for part, first, until in ranges(rows, ["s", "t"], 1)]
    assert found == [(2, None, ("a", "x")), (2, ("a", "x"), ("b", "y")), (1, ("b", "y"), None)]
