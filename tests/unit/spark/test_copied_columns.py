"""Segments whose columns are copied from Parquet files have the rows that Spark's SQL gives."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from hivedruid.actions.writing.copied_columns import parquet_pieces
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DOUBLE, FLOAT, INT, SMALLINT, STRING, TIMESTAMP, TINYINT, HiveType, decimal
from hivedruid.druid.ingestion import index_parallel_spec
from hivedruid.druid.segment_plan import segment_plan
from hivedruid.errors import ExecutionError
from hivedruid.jobs.staged import StagedRows
from hivedruid.plan.file_columns import MOMENTS, FileColumns, file_columns
from hivedruid.plan.nodes import Project
from hivedruid.plan.rex import Call
from hivedruid.segments.segment import open_segment
from hivedruid.settings import Settings
from hivedruid.spark import session
from hivedruid.spark.building import build_from_files
from tests.support.planning import plan
from tests.unit.spark.conftest import Home, columns, files_table, job

pytestmark = pytest.mark.spark

TYPES: dict[str, HiveType] = {
    "__time": TIMESTAMP, "Page": STRING, "tiny": TINYINT, "small": SMALLINT, "i": INT, "l": BIGINT, "d": DOUBLE, "f": FLOAT,
}  # fmt: skip
SHAPE = columns(**TYPES)
START = datetime(1969, 12, 30)
ROWS: list[dict[str, Any]] = [
    {
        "__time": START + timedelta(hours=n, microseconds=n * 123_457),
        "Page": [None, "", "é", "\U0001f600", "a\u0000b", "x" * 300][n % 6],
        "tiny": None if n % 7 == 0 else n % 250 - 125,
        "small": None if n % 7 == 1 else n * 30 - 15_000,
        "i": None if n % 7 == 2 else n - 2**31,
        "l": None if n % 7 == 3 else 2**63 - 1 - n,
        "d": [None, 0.1, -0.0, float("inf"), 1e-300][n % 5],
        "f": [None, 0.5, -0.0, 16_777_216.0][n % 4],
    }
    for n in range(200)
]


def arrow(time: pa.DataType, rows: list[dict[str, Any]] = ROWS) -> pa.Table:
    if time.tz is not None:
        rows = [{**row, "__time": row["__time"].replace(tzinfo=UTC)} for row in rows]
    if time.unit == "ms":
        rows = [{**row, "__time": row["__time"].replace(microsecond=n % 1000 * 1000)} for n, row in enumerate(rows)]
    fields = {
        "__time": time,
        "Page": pa.string(),
        "tiny": pa.int8(),
        "small": pa.int16(),
        "i": pa.int32(),
        "l": pa.int64(),
    }
    return pa.Table.from_pylist(rows, schema=pa.schema({**fields, "d": pa.float64(), "f": pa.float32()}))


def source(folder: Path, shape: tuple[Column, ...] = SHAPE) -> Table:
    folder.mkdir(exist_ok=True)
    return replace(files_table(folder, shape, "parquet"), name="source")


def chosen(table: Table, sql: str = "SELECT * FROM source") -> FileColumns | None:
    """The copied columns of an INSERT, whose `__time` comes first."""
    text = sql.replace("*", ", ".join(f"`{column.name}`" for column in table.columns))
    made = plan(text, tables=(table,)).node
    time, *others = (column.ref for column in made.columns)
    return file_columns(Project(made.columns, made, (Call(BIGINT, MOMENTS, (time,)), *others)))


def target(copied: FileColumns) -> Table:
    fields = tuple(replace(column, field=f"{column.name}_") if n else column for n, column in enumerate(copied.columns))
    return Table("default", "t", "druid", fields, properties={"druid.datasource": "t", "druid.rollup": "false"})


def read(staged: StagedRows) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for built in staged.segments:
        with open_segment(Path(staged.folder, built.path)) as segment:
            names = ["__time", *sorted(segment.column_names)]
            for batch in segment.read(names):
                found += zip(*map(pa.Array.to_pylist, batch.columns), strict=True)
    return sorted(found, key=repr)


class Both:
    """Builds segments in both ways."""

    def __init__(self, home: Home, folder: Path) -> None:
        self.home, self.folder, self.number = home, folder, 0

    def place(self) -> str:
        self.number += 1
        return str(self.folder / f"built{self.number}")

    def spec(self, copied: FileColumns) -> dict[str, Any]:
        return index_parallel_spec(target(copied), Settings(), "nothing")

    def types(self, copied: FileColumns) -> dict[str, HiveType]:
        return {c.name: BIGINT if c.name == "__time" else c.type for c in target(copied).columns}

    def by_workers(self, copied: FileColumns, *, skip: bool = False) -> StagedRows | None:
        pieces, spec = parquet_pieces(copied, target(copied)), self.spec(copied)
        if pieces is None:
            return None
        made = segment_plan(spec, {c.field_name: self.types(copied)[c.name] for c in target(copied).columns})
        return build_from_files(
            self.home.runner, pieces, target(copied), spec, made, self.place(), skip_timeless=skip
        )  # fmt: skip

    def by_spark(self, copied: FileColumns, *, skip: bool = False) -> StagedRows:
        names = [f"`{column.name}`" for column in copied.columns]
        names[0] = f"unix_millis(CAST({names[0]} AS TIMESTAMP))"
        spec = self.spec(copied)
        made = segment_plan(spec, {c.field_name: self.types(copied)[c.name] for c in target(copied).columns})
        text = f"SELECT {', '.join(names)} FROM source"
        return self.home.runner.stage(
            job(text, copied.table), target(copied), spec, self.place(), skip_timeless=skip, plan=made
        )  # fmt: skip


@pytest.fixture
def both(home: Home, tmp_path: Path) -> Both:
    return Both(home, tmp_path)


WRITERS: dict[str, tuple[pa.DataType, dict[str, Any]]] = {
    "INT96": (pa.timestamp("us"), {"use_deprecated_int96_timestamps": True}),
    "microseconds": (pa.timestamp("us"), {}),
    "milliseconds": (pa.timestamp("ms"), {}),
    "UTC": (pa.timestamp("us", "UTC"), {"row_group_size": 30}),
    "version 2": (pa.timestamp("us"), {"data_page_version": "2.0", "compression": "zstd", "row_group_size": 64}),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_the_rows_are_those_of_spark(both: Both, tmp_path: Path, writer: str) -> None:
    table, (time, options) = source(tmp_path / "rows"), WRITERS[writer]
    parquet.write_table(arrow(time), tmp_path / "rows" / "a.parquet", **options)
    copied = chosen(table)
    assert copied is not None
    mine, sparks = both.by_workers(copied), both.by_spark(copied)
    assert mine is not None
    assert mine.rows == sparks.rows == len(ROWS)
    assert read(mine) == read(sparks)
    assert (mine.intervals, mine.sums) == (sparks.intervals, sparks.sums)


def test_files_that_spark_wrote(both: Both, home: Home, tmp_path: Path) -> None:
    """Several files, with columns in another order, and one column twice."""
    spark = session.session(home.settings, home.path)
    text = (
        "SELECT id AS l, timestamp_micros(id * 3600123456 - 86400000000) AS `__time`, CAST(id AS STRING) AS Page,"
        " CAST(id AS DOUBLE) / 3 AS d FROM range(0, 500, 1, 3)"
    )
    spark.sql(text).write.parquet(str(tmp_path / "rows"))
    table = source(tmp_path / "rows", columns(__time=TIMESTAMP, page=STRING, l=BIGINT, d=DOUBLE))
    copied = chosen(table, "SELECT `__time`, d, page, l, l FROM (SELECT * FROM source) s")
    assert copied is not None
    assert [column.name for column in copied.columns] == ["__time", "d", "page", "l", "l"]
    copied = chosen(table)
    assert copied is not None
    mine = both.by_workers(copied)
    assert mine is not None
    assert read(mine) == read(both.by_spark(copied))
    assert mine.rows == 500


def test_rows_without_a_time(both: Both, tmp_path: Path) -> None:
    table = source(tmp_path / "rows", columns(__time=TIMESTAMP, l=BIGINT))
    rows = [{"__time": None if n % 3 == 0 else START, "l": n} for n in range(9)]
    parquet.write_table(arrow(pa.timestamp("us"), rows).select(["__time", "l"]), tmp_path / "rows" / "a.parquet")
    copied = chosen(table)
    assert copied is not None
    mine = both.by_workers(copied, skip=True)
    assert mine is not None
    assert (mine.rows, mine.skipped) == (6, 3)
    with pytest.raises(ExecutionError, match="3 of 9 rows have no time"):
        both.by_workers(copied)


@pytest.mark.parametrize("year", [1899, 10_000])
def test_times_that_only_spark_reads(both: Both, tmp_path: Path, year: int) -> None:
    """Seen by a worker: the segments that it began are removed."""
    table = source(tmp_path / "rows", columns(__time=TIMESTAMP, l=BIGINT))
    moment = (datetime(1899, 12, 31) - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    end = 253_402_300_800_000_000
    times = pa.array([0, moment if year < 1900 else end], pa.timestamp("us"))
    parquet.write_table(pa.table({"__time": times, "l": [1, 2]}), tmp_path / "rows" / "a.parquet")
    copied = chosen(table)
    assert copied is not None
    assert both.by_workers(copied) is None
    assert not list(tmp_path.glob("built*"))


UNSUITABLE: dict[str, pa.Table] = {
    "nanoseconds": pa.table({"__time": pa.array([0], pa.timestamp("ns")), "l": pa.array([1], pa.int64())}),
    "another type": pa.table({"__time": pa.array([0], pa.timestamp("us")), "l": pa.array([1], pa.int32())}),
    "no column": pa.table({"__time": pa.array([0], pa.timestamp("us"))}),
    "text": pa.table({"__time": ["2024-01-01 00:00:00"], "l": pa.array([1], pa.int64())}),
    "another zone": pa.table({"__time": pa.array([0], pa.timestamp("us", "Asia/Tokyo")), "l": pa.array([1], pa.int64())}),
    "ambiguous": pa.table({"__time": pa.array([0], pa.timestamp("us")), "l": pa.array([1]), "L": pa.array([2])}),
}  # fmt: skip


@pytest.mark.parametrize("why", UNSUITABLE)
def test_files_that_only_spark_reads(tmp_path: Path, why: str) -> None:
    table = source(tmp_path / "rows", columns(__time=TIMESTAMP, l=BIGINT))
    copied = chosen(table)
    assert copied is not None
    assert parquet_pieces(copied, target(copied)) is None, "there is no file"
    good = UNSUITABLE["no column"].append_column("l", pa.array([1], pa.int64()))
    parquet.write_table(good, tmp_path / "rows" / "a.parquet")
    assert parquet_pieces(copied, target(copied)) is not None
    parquet.write_table(UNSUITABLE[why], tmp_path / "rows" / "b.parquet", version="2.6")
    assert parquet_pieces(copied, target(copied)) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT `__time`, l FROM source WHERE l > 3",
        "SELECT `__time`, l + 1 FROM source",
        "SELECT `__time`, CAST(l AS INT) FROM source",
        "SELECT `__time`, 1 FROM source",
        "SELECT DISTINCT `__time`, l FROM source",
        "SELECT `__time`, l FROM source LIMIT 3",
        "SELECT `__time`, l FROM source UNION ALL SELECT `__time`, l FROM source",
        "SELECT `__time`, m FROM source",
    ],
)
def test_queries_that_only_spark_answers(tmp_path: Path, sql: str) -> None:
    table = source(tmp_path / "rows", columns(__time=TIMESTAMP, l=BIGINT, m=decimal(5, 2)))
    assert chosen(table, "SELECT `__time`, l FROM source") is not None
    assert chosen(table, sql) is None
