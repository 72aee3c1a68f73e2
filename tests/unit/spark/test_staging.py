"""Rows staged for Druid, and their measures: every value is exact, and no row is missing or added."""

from __future__ import annotations

import gzip
import json
import math
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.properties import GRANULARITIES
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import BIGINT, DOUBLE, FLOAT, INT, STRING, TIMESTAMP, HiveType, array_of
from hivedruid.druid import granularities
from hivedruid.druid.interval_sets import merged
from hivedruid.errors import ExecutionError, PlanError, SparkError
from hivedruid.jobs.staged import Interval, StagedRows, Sum
from hivedruid.spark import measures, staging, status, writing
from tests.support.small_disk import small_disk
from tests.unit.spark.conftest import Home, columns, eventually, job

pytestmark = pytest.mark.spark

DRUID_TYPES = {BIGINT: "long", INT: "long", DOUBLE: "double", FLOAT: "float"}
NIGHT = 1_442_018_818_771  # 2015-09-12T00:46:58.771Z


def druid_table(**types: HiveType) -> Table:
    return Table("default", "d", "druid", columns(__time=TIMESTAMP, **types))


def spec(table: Table, granularity: str = "DAY", subtasks: int = 1, partitions: str = "dynamic") -> dict[str, Any]:
    dimensions = [
        {"name": column.field_name, "type": DRUID_TYPES.get(column.type, "string")} for column in table.columns[1:]
    ]
    schema = {
        "dataSource": table.data_source,
        "dimensionsSpec": {"dimensions": dimensions},
        "granularitySpec": {"segmentGranularity": granularity, "rollup": False},
    }
    tuning = {"maxNumConcurrentSubTasks": subtasks, "partitionsSpec": {"type": partitions}}
    return {"spec": {"dataSchema": schema, "tuningConfig": tuning}}


class Stage:
    """Stages into one folder."""

    def __init__(self, home: Home, folder: Path) -> None:
        self.home = home
        self.folder = folder

    def __call__(self, sql: str, table: Table, granularity: str = "DAY", *, skip: bool = False, subtasks: int = 1) -> StagedRows:  # fmt: skip
        given = spec(table, granularity, subtasks)
        return self.home.runner.stage(job(sql), table, given, str(self.folder), skip_timeless=skip)

    def lines(self) -> list[str]:
        assert all(path.name.endswith(".json.gz") and path.name[0] not in "._" for path in self.folder.iterdir())
        return [line for path in self.folder.iterdir() for line in gzip.decompress(path.read_bytes()).decode().split("\n") if line]  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        return sorted((json.loads(line) for line in self.lines()), key=lambda row: row["__time"])


@pytest.fixture
def stage(home: Home, tmp_path: Path) -> Stage:
    return Stage(home, tmp_path / "staging" / "job 1 [ä]")


@contextmanager
def late_numbers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Spark Connect omits counts that take longer than a tenth of a second."""
    with monkeypatch.context() as patch:
        patch.setattr(writing, "observed", lambda frame, write, aggregates: write(frame) or {})
        yield


@pytest.fixture(params=["at once", "late"])
def numbers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if request.param == "at once":
        yield
    else:
        with late_numbers(monkeypatch):
            yield


# --- values ------------------------------------------------------------------------------------------------------


def test_values_are_exact(stage: Stage) -> None:
    """Numbers, NaN and arrays unchanged; null is distinct from '' and 0; booleans are the planner's 0 and 1."""
    table = druid_table(cityName=STRING, d=DOUBLE, f=FLOAT, n=BIGINT, i=INT, l=array_of(STRING))
    staged = stage(
        f"""
        SELECT {NIGHT}, 'x', CAST('NaN' AS DOUBLE), CAST(0.1 AS FLOAT), 9007199254740993, 1, array('x', NULL, '')
        UNION ALL SELECT -1, '', CAST('-Infinity' AS DOUBLE), CAST('Infinity' AS FLOAT), 0, 0, array()
        UNION ALL SELECT 0, NULL, NULL, NULL, NULL, NULL, NULL
        UNION ALL SELECT 1, 'null', 1e300, CAST(16777217 AS FLOAT), -9223372036854775808, -2147483648, array('only')
        """,
        table,
    )
    assert staged.rows == 4
    assert stage.rows() == [
        {"__time": -1, "cityName": "", "d": "-Infinity", "f": "Infinity", "n": 0, "i": 0, "l": []},
        {"__time": 0},
        {"__time": 1, "cityName": "null", "d": 1e300, "f": 16777216.0, "n": -(1 << 63), "i": -(1 << 31), "l": ["only"]},
        {"__time": NIGHT, "cityName": "x", "d": "NaN", "f": 0.1, "n": 9007199254740993, "i": 1, "l": ["x", None, ""]},
    ]


def test_text_is_exact(stage: Stage) -> None:
    """Characters that end a row in CSV, control characters, and line separators of Unicode that JSON does not treat as
    such.
    """
    texts = ['"a"', "\\", "a\nb\r\nc", "\t,;|", "\x00\x01\x1f\x7f\x85", "\u2028\u2029", "🦆é", "\\n", "{}", " ", "NaN"]
    rows = " UNION ALL ".join(
        f"SELECT {number}L, decode(unhex('{text.encode().hex()}'), 'UTF-8')" for number, text in enumerate(texts)
    )
    assert stage(rows, druid_table(s=STRING)).rows == len(texts)
    assert [row["s"] for row in stage.rows()] == texts
    assert len(stage.lines()) == len(texts)


# --- what is known of the rows -----------------------------------------------------------------------------------


def test_what_is_known(stage: Stage, numbers: None) -> None:
    staged = stage(
        f"""
        SELECT {NIGHT} + day * 86400000L, IF(day = 0, 9223372036854775807, 1L), 0.1D, CAST(-0.1 AS FLOAT), 'x'
        FROM (SELECT explode(array(0, 1, 1, 3)) AS day) UNION ALL SELECT {NIGHT}, NULL, NULL, NULL, NULL
        """,
        druid_table(n=BIGINT, d=DOUBLE, f=FLOAT, s=STRING),
    )
    day = granularities.DAY
    first = NIGHT - NIGHT % day
    assert (staged.folder, staged.rows, staged.skipped) == (str(stage.folder), 5, 0)
    assert staged.size == sum(path.stat().st_size for path in stage.folder.iterdir())
    assert staged.intervals == ((first, first + 2 * day), (first + 3 * day, first + 4 * day))
    assert staged.sums.keys() == {"n", "d", "f"}
    assert staged.sums["n"] == Sum(-(1 << 63) + 2)  # of 64 bits, as Druid adds
    assert vars(staged.sums["d"]) == pytest.approx({"total": 0.4, "magnitude": 0.4})
    single = 0.10000000149011612
    assert vars(staged.sums["f"]) == pytest.approx({"total": -4 * single, "magnitude": 4 * single}, rel=1e-15)
    assert StagedRows.from_json(json.loads(json.dumps(staged.to_json()))) == staged


def test_sums_of_other_types_than_the_fields(stage: Stage, numbers: None) -> None:
    """A number counts with the value that Druid parses from its JSON; values that are not numbers are excluded."""
    table = druid_table(a=BIGINT, b=FLOAT, c=DOUBLE, d=DOUBLE, e=BIGINT)
    staged = stage("SELECT 0L, 3, CAST(0.1 AS DOUBLE), CAST(0.1 AS FLOAT), 7L, 1.5D", table)
    assert {name: found.total for name, found in staged.sums.items()} == {"a": 3, "b": 0.10000000149011612, "c": 0.1, "d": 7.0}  # fmt: skip


def test_sums_with_what_is_no_number(stage: Stage) -> None:
    sql = "SELECT 0L, double(x), double('Infinity') FROM VALUES ('NaN'), ('1') t(x)"
    sums = stage(sql, druid_table(a=DOUBLE, b=DOUBLE)).sums
    assert math.isnan(sums["a"].total)
    assert sums["b"].total == math.inf


def expected(instants: list[int], granularity: str) -> tuple[Interval, ...]:
    found = {granularities.number(instant, granularity) for instant in instants}
    return merged(granularities.interval(number, granularity) for number in found)


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_buckets(home: Home, granularity: str) -> None:
    """Spark numbers the buckets as Python does, before and after the epoch, at leap days and month boundaries."""
    instants = [NIGHT, NIGHT + 1, -1, 0, -62_167_219_200_000, 951_782_399_999, 951_782_400_000, 1_709_164_800_000, -86_400_001, 253_402_300_800_000]  # fmt: skip
    values = ", ".join(f"({instant}L)" for instant in instants)
    found = home.query(
        f"SELECT __time, {measures.number_of(granularity)} FROM VALUES {values}, (NULL) t(__time) ORDER BY __time"
    )
    assert found == [(None, None), *((i, granularities.number(i, granularity)) for i in sorted(instants))]


def test_many_buckets(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """More intervals than fit into a bitmap are read from the files; more than Druid supports are refused."""
    sql = "SELECT id * 7000 FROM range(9000) UNION ALL SELECT id * 1000 FROM range(40)"
    instants = [n * 7000 for n in range(9000)] + [n * 1000 for n in range(40)]
    staged = stage(sql, druid_table(), "SECOND")
    assert staged.intervals == expected(instants, "SECOND")
    monkeypatch.setattr(staging, "MOST_INTERVALS", 100)
    other = Stage(stage.home, stage.folder.with_name("other"))
    with pytest.raises(ExecutionError, match="more than 100 intervals of the segment granularity SECOND") as caught:
        other(sql, druid_table(), "SECOND")
    assert caught.value.hint == "choose a coarser druid.segment.granularity"
    assert not other.folder.exists()


@pytest.mark.parametrize("sql", ["SELECT 1L WHERE rand() > 2", "SELECT id FROM range(10) ORDER BY id LIMIT 0"])
def test_no_rows(stage: Stage, sql: str, numbers: None) -> None:
    staged = stage(sql, druid_table())
    assert (staged.rows, staged.intervals) == (0, ())
    assert stage.lines() == []


# --- rows without a time -----------------------------------------------------------------------------------------

TIMELESS = "SELECT IF(id % 3 = 0, NULL, id), id FROM range(0, 10, 1, 2)"


def test_rows_without_a_time(stage: Stage, numbers: None) -> None:
    with pytest.raises(ExecutionError) as caught:
        stage(TIMELESS, druid_table(n=BIGINT))
    assert caught.value.message == "4 of 10 rows have no time: __time is null"
    assert "hivedruid.null.time=skip" in (caught.value.hint or "")
    assert not stage.folder.exists()


def test_rows_without_a_time_are_skipped(stage: Stage, numbers: None) -> None:
    staged = stage(TIMELESS, druid_table(n=BIGINT), skip=True)
    assert (staged.rows, staged.skipped) == (6, 4)
    assert staged.sums["n"] == Sum(1 + 2 + 4 + 5 + 7 + 8)
    assert [row["n"] for row in stage.rows()] == [1, 2, 4, 5, 7, 8]


def test_all_rows_are_skipped(stage: Stage) -> None:
    staged = stage("SELECT CAST(NULL AS BIGINT) FROM range(3)", druid_table(), skip=True)
    assert (staged.rows, staged.skipped, staged.intervals) == (0, 3, ())


# --- files -------------------------------------------------------------------------------------------------------


def test_files_for_subtasks(stage: Stage) -> None:
    """The rows of one interval are in one file, although every Spark task has some of all."""
    stage.home.settings["spark.sql.adaptive.coalescePartitions.enabled"] = "false"
    staged = stage("SELECT id * 3600000 FROM range(0, 2400, 1, 4)", druid_table(), subtasks=2)
    files = [
        {json.loads(line)["__time"] // granularities.DAY for line in gzip.decompress(path.read_bytes()).splitlines()}
        for path in stage.folder.iterdir()
    ]
    assert staged.rows == 2400
    assert len(files) > 1
    assert sum(map(len, files)) == 100
    assert all("__time_granularity" not in row for row in stage.rows())


def test_folder_as_uri(stage: Stage) -> None:
    uri = stage.folder.with_name("uri").as_uri()
    table = druid_table()
    staged = stage.home.runner.stage(job("SELECT 1L"), table, spec(table), uri, skip_timeless=False)
    assert (staged.folder, staged.rows) == (uri, 1)
    assert staged.size > 0
    assert list(stage.folder.with_name("uri").glob("*.json.gz"))


def test_folder_elsewhere(home: Home) -> None:
    """An error if Spark cannot write to the root."""
    table = druid_table()
    with pytest.raises(SparkError, match=r"hadoop-aws-.*\.jar"):
        home.runner.stage(job("SELECT 1L"), table, spec(table), "s3a://bucket/jobs/1", skip_timeless=False)


def test_folder_that_has_files(stage: Stage) -> None:
    """The files of an earlier job, or those its server still writes, are not loaded with the rows of another one."""
    stage("SELECT 1L", druid_table())
    with pytest.raises(ExecutionError, match="is not empty"):
        stage("SELECT 2L", druid_table())
    assert stage.rows() == [{"__time": 1}]


def test_folder_that_cannot_be_made(stage: Stage) -> None:
    stage.folder.parent.parent.mkdir(exist_ok=True)
    stage.folder.parent.write_text("a file")
    with pytest.raises(ExecutionError, match=r"cannot write to the staging folder .*job 1 \[ä\]: ") as caught:
        stage("SELECT 1L", druid_table())
    assert "hivedruid.staging.root" in (caught.value.hint or "")


def test_wrong_number_of_columns(stage: Stage) -> None:
    with pytest.raises(PlanError, match=r"2 columns for the 1 of default\.d"):
        stage("SELECT 1L, 2L", druid_table())


def test_failure_leaves_nothing(stage: Stage) -> None:
    with pytest.raises(SparkError, match="half way"):
        stage("SELECT IF(id < 900, id, raise_error('half way')) FROM range(0, 1000, 1, 10)", druid_table())
    assert not stage.folder.exists()


def test_full_disk(stage: Stage) -> None:
    table = druid_table(s=STRING)
    with small_disk(stage.home.settings, stage.home.path, 1_000_000), pytest.raises(SparkError) as caught:
        stage("SELECT id, sha2(CAST(id AS STRING), 512) FROM range(0, 200000, 1, 2)", table)
    told = rf"the disk is full: Spark could not stage all rows of default.d in {stage.folder}, which has "
    assert caught.value.message.startswith(told)
    assert caught.value.message.endswith(" MB free")
    assert "hivedruid.staging.root" in (caught.value.hint or "")
    assert not stage.folder.exists()
    assert stage("SELECT 1L, 'x'", table).rows == 1


def test_progress(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The status line shows Spark's progress, and the number of staged bytes."""
    monkeypatch.setattr(status, "PROGRESS_AFTER", 0.0)
    sql = "SELECT id, sha2(sha2(sha2(CAST(id AS STRING), 512), 512), 512) FROM range(0, 600000, 1, 8)"
    assert stage(sql, druid_table(s=STRING)).rows == 600_000
    told = [status for status in stage.home.statuses if status.startswith("Spark: stage 1/1")]
    assert any(" MB staged (" in status for status in told), stage.home.statuses


def test_interrupted(stage: Stage) -> None:
    """Ctrl-C stops the writing; afterwards no file is left, and none is written."""

    def interrupt() -> None:
        eventually(lambda: staging.bytes_so_far(str(stage.folder)) > 0)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        stage("SELECT id, sha2(CAST(id AS STRING), 512) FROM range(0, 10000000, 1, 2)", druid_table(s=STRING))
    watcher.join()
    assert stage.home.unfinished() == []
    assert not stage.folder.exists()
