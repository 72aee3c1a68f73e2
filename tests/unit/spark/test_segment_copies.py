"""Parquet files whose columns are copied from segments have the rows that Spark's SQL writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE, FLOAT, INT, SMALLINT, STRING, TIMESTAMP, TINYINT, HiveType
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.segment_columns import segment_columns
from hivedruid.plan.segment_files import READ, FileScan, SegmentFile, SegmentFiles, SegmentKey
from hivedruid.plan.split import QueryPlan, spark_job
from hivedruid.segments.writing.segment import Dimension, SegmentSpec, write_segment
from hivedruid.spark.copying import copy_segments
from tests.support.planning import plan, snapshot
from tests.unit.spark.conftest import Home, files_table

pytestmark = pytest.mark.spark

DAY = 86_400_000
ROWS = 3_000
TYPES: dict[str, HiveType] = {
    "__time": TIMESTAMP, "page": STRING, "l": BIGINT, "i": INT, "small": SMALLINT, "tiny": TINYINT, "b": BOOLEAN, "d": DOUBLE,
    "f": FLOAT, "none": STRING,
}  # fmt: skip
STORED = {
    "page": "STRING", "l": "LONG", "i": "LONG", "small": "LONG", "tiny": "LONG", "b": "LONG", "d": "DOUBLE", "f": "FLOAT",
}  # fmt: skip


def arrow(day: int, **changed: Any) -> pa.Table:
    numbers = range(day * ROWS, (day + 1) * ROWS)
    columns: Mapping[str, pa.Array] = {
        "__time": pa.array([day * DAY + n % 1000 for n in numbers], pa.int64()),
        "page": pa.array([None if n % 5 == 0 else ["", "é", "\U0001f600", f"p{n % 50}"][n % 4] for n in numbers]),
        "l": pa.array([None if n % 7 == 0 else 2**62 - n for n in numbers], pa.int64()),
        "i": pa.array([n - 2**30 for n in numbers], pa.int64()),
        "small": pa.array([n % 60_000 - 30_000 for n in numbers], pa.int64()),
        "tiny": pa.array([None if n % 3 == 0 else n % 200 - 100 for n in numbers], pa.int64()),
        "b": pa.array([None if n % 4 == 0 else n % 3 for n in numbers], pa.int64()),
        "d": pa.array([None if n % 6 == 0 else n / 7 for n in numbers], pa.float64()),
        "f": pa.array([None if n % 8 == 0 else n / 3 for n in numbers], pa.float32()),
    }
    return pa.table({**columns, **changed})


def druid_table(**types: HiveType) -> Table:
    columns = tuple(Column(name, type_) for name, type_ in {**TYPES, **types}.items())
    return Table("default", "t", "druid", columns, external=True, properties={"druid.datasource": "t"})


@pytest.fixture
def known(tmp_path: Path) -> SegmentFiles:
    return stored(tmp_path, [arrow(-1), arrow(0), arrow(1)])


def stored(folder: Path, days: list[pa.Table]) -> SegmentFiles:
    files = []
    for number, rows in enumerate(days):
        start = rows["__time"][0].as_py() // DAY * DAY
        dimensions = tuple(Dimension(name, type_) for name, type_ in STORED.items())
        place = folder / f"segment{number}"
        write_segment(rows, SegmentSpec((start, start + DAY), dimensions), place)
        files.append(SegmentFile(str(number), start, start + DAY, "v", 0, str(place), 1000))
    return SegmentFiles(tuple(files), (), {"__time": "LONG", **STORED})


def planned(sql: str, known: SegmentFiles, table: Table | None = None) -> QueryPlan:
    return plan(sql, tables=(table or druid_table(),), settings={READ: "segments"})


def job_of(made: QueryPlan, known: SegmentFiles) -> Any:
    return spark_job(made, tuple(column.name for column in made.columns), replace(snapshot(), segments={"t": known}))


def places(sql: str, known: SegmentFiles, table: Table | None = None) -> tuple[int, ...] | None:
    made = planned(sql, known, table)
    return segment_columns(made, job_of(made, known))


def target(folder: Path, made: QueryPlan) -> Table:
    return files_table(folder, tuple(Column(c.name.strip("_"), c.type) for c in made.columns), "parquet")


QUERIES = (
    "SELECT `__time`, page, l, i, small, tiny, b, d, f, none FROM t",
    "SELECT f, page, page AS p, `__time` FROM (SELECT * FROM t) x",
    "SELECT page, l FROM t WHERE `__time` >= '1970-01-01 00:00:00' AND page IN ('é', 'p7')",
    "SELECT l FROM t WHERE page = 'no such page'",
)


@pytest.mark.parametrize("sql", QUERIES)
def test_the_files_have_the_rows_of_spark(home: Home, tmp_path: Path, known: SegmentFiles, sql: str) -> None:
    made = planned(sql, known)
    job, found = job_of(made, known), places(sql, known)
    assert found is not None
    mine, sparks = target(tmp_path / "mine", made), target(tmp_path / "sparks", made)
    rows = copy_segments(home.runner, job, mine, found, overwrite=False)
    assert rows == home.runner.write(job, sparks, False)
    listed = ", ".join(f"CAST(`{column.name}` AS STRING)" for column in mine.columns)
    assert sorted(home.query(f"SELECT {listed} FROM t", mine), key=repr) == sorted(
        home.query(f"SELECT {listed} FROM t", sparks), key=repr
    )
    assert not rows or schema(tmp_path / "mine") == schema(tmp_path / "sparks")


def schema(folder: Path) -> set[str]:
    """The types of Parquet's columns."""
    found = {str(parquet.read_schema(file).remove_metadata()) for file in folder.glob("part-*")}
    assert len(found) <= 1
    return found


def test_overwrite_replaces_the_files(home: Home, tmp_path: Path, known: SegmentFiles) -> None:
    made = planned("SELECT l FROM t", known)
    job, found, table = job_of(made, known), places("SELECT l FROM t", known), target(tmp_path / "rows", made)
    assert found is not None
    for overwrite, rows in ((False, 3 * ROWS), (False, 6 * ROWS), (True, 3 * ROWS)):
        assert copy_segments(home.runner, job, table, found, overwrite=overwrite) == 3 * ROWS
        assert home.query("SELECT count(*) FROM t", table) == [(rows,)]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_values_that_only_spark_converts(home: Home, tmp_path: Path) -> None:
    """A number that does not fit is NULL: nothing is written before."""
    known = stored(tmp_path, [arrow(0), arrow(1, i=pa.array([2**31] * ROWS, pa.int64()))])
    made = planned("SELECT i FROM t", known)
    found, table = places("SELECT i FROM t", known), target(tmp_path / "rows", made)
    assert found is not None
    assert copy_segments(home.runner, job_of(made, known), table, found, overwrite=True) is None
    assert not (tmp_path / "rows").exists()
    assert not list(tmp_path.glob(".*"))


def test_a_file_that_is_gone(home: Home, tmp_path: Path, known: SegmentFiles) -> None:
    made = planned("SELECT l FROM t", known)
    lost = replace(known, files=(*known.files, replace(known.files[0], location=str(tmp_path / "gone"))))
    found, table = places("SELECT l FROM t", lost), target(tmp_path / "rows", made)
    assert found is not None
    assert copy_segments(home.runner, job_of(made, lost), table, found, overwrite=False) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT l + 1 FROM t",
        "SELECT CAST(l AS INT) FROM t",
        "SELECT l FROM t WHERE d > 1.5",
        "SELECT l FROM t WHERE upper(page) = 'X'",
        "SELECT l FROM t LIMIT 3",
        "SELECT DISTINCT page FROM t",
        "SELECT sum(l) FROM t",
        "SELECT l, 1 FROM t",
        "SELECT a.l FROM t a JOIN t b ON a.l = b.l",
    ],
)
def test_queries_that_only_spark_answers(known: SegmentFiles, sql: str) -> None:
    assert places("SELECT l FROM t", known) is not None
    assert places(sql, known) is None


def test_scans_that_only_spark_reads(known: SegmentFiles) -> None:
    growing = replace(known, growing=(SegmentKey(5 * DAY, 6 * DAY, "v", 0),))
    assert places("SELECT l FROM t", growing) is None
    assert places("SELECT l FROM t", known, druid_table(l=DOUBLE)) is None
    made = planned("SELECT l FROM t", known)
    (item,) = job_of(made, known).inputs
    assert isinstance(item, DruidInput)
    assert isinstance(item.scan, FileScan)
