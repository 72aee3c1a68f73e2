"""The cluster engine: rows are stored, replaced, rolled back, and read as in the embedded store."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, HiveType, array_of
from hivedruid.clients import task_spec
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.errors import DruidError
from hivedruid.plan.physical import DruidRead, Field
from tests.support.loads import ingest
from tests.support.staged import DAY, ETERNITY, NEW_YEAR, ROWS, NewDataSource, stage, task, values

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.jobs.load import LoadReport


@pytest.fixture
def write(druid: DruidCluster, tmp_path: Path) -> Callable[..., Any]:
    """Stage rows {day: x} and ingest them."""
    count = iter(range(1000))

    def run(name: str, rows: Mapping[int, int], **how: Any) -> LoadReport:
        staged = [{"__time": NEW_YEAR + day * DAY + 7, "x": x} for day, x in rows.items()]
        folder = stage(tmp_path / f"in{next(count)}", staged)
        return ingest(druid, task(name, folder, columns={"x": "long"}, **how))

    return run


# --- writing ---------------------------------------------------------------------------------------------------


def test_rows_can_be_queried_when_the_task_returns(
    druid: DruidCluster, write: Callable[..., Any], new_data_source: NewDataSource
) -> None:
    name = new_data_source("t")
    report = write(name, {0: 1, 40: 2})
    assert (report.rows, report.segments) == (2, 2)
    assert values(druid, name) == [1, 2]
    write(name, {0: 3})
    assert values(druid, name) == [1, 2, 3]


@pytest.mark.parametrize(
    "segments", [("DAY", "DAY"), ("MONTH", "DAY"), ("DAY", "WEEK"), ("ALL", "ALL"), ("ALL", "HOUR"), ("YEAR", "SECOND")]
)
def test_overwriting_replaces_every_row(
    druid: DruidCluster, write: Callable[..., Any], new_data_source: NewDataSource, segments: tuple[str, str]
) -> None:
    name = new_data_source("t")
    before, after = segments
    write(name, {0: 1, 40: 2}, overwrite=True, segment=before)
    write(name, {3: 3, 40: 4}, overwrite=True, segment=after)
    assert values(druid, name) == [3, 4]
    write(name, {0: 5}, segment=after)
    assert values(druid, name) == [3, 4, 5]


def test_many_days_are_emptied_by_one_overwrite(
    druid: DruidCluster, write: Callable[..., Any], new_data_source: NewDataSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_spec, "MOST_TOMBSTONES", 2)
    name = new_data_source("t")
    write(name, {day: day for day in range(5)})
    write(name, {2: 9}, overwrite=True)
    assert values(druid, name) == [9]


def test_no_row_at_all(druid: DruidCluster, write: Callable[..., Any], new_data_source: NewDataSource) -> None:
    name = new_data_source("t")
    write(name, {0: 1})
    write(name, {})
    assert values(druid, name) == [1]
    write(name, {}, overwrite=True)
    assert values(druid, name) == []
    assert name not in druid.data_sources()


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("bad", "message"),
    [({"x": 2}, "unparseable"), ({"__time": NEW_YEAR, "x": "abc"}, "Could not convert value \\[abc\\] to long")],
)
def test_a_row_that_cannot_be_stored_changes_nothing(
    druid: DruidCluster,
    write: Callable[..., Any],
    new_data_source: NewDataSource,
    tmp_path: Path,
    overwrite: bool,
    bad: dict[str, Any],
    message: str,
) -> None:
    name = new_data_source("t")
    write(name, {0: 1})
    folder = stage(tmp_path / "bad", [{"__time": NEW_YEAR, "x": 2}, bad])
    with pytest.raises(DruidError, match=message):
        ingest(druid, task(name, folder, overwrite=overwrite, columns={"x": "long"}))
    assert values(druid, name) == [1]


def test_rows_outside_the_intervals_do_not_vanish(
    druid: DruidCluster, write: Callable[..., Any], new_data_source: NewDataSource, tmp_path: Path
) -> None:
    name = new_data_source("t")
    write(name, {0: 1})
    spec = task(
        name, stage(tmp_path / "in", [{"__time": NEW_YEAR + 5 * DAY, "x": 2}]), overwrite=True, columns={"x": "long"}
    )
    spec["spec"]["dataSchema"]["granularitySpec"]["intervals"] = ["2024-01-01T00:00:00Z/2024-01-03T00:00:00Z"]
    with pytest.raises(DruidError, match=r"Druid ingested 0 of 1 rows \(1 thrownAway\)"):
        ingest(druid, spec)
    assert values(druid, name) == [1]


def test_files_that_druid_does_not_see_drop_nothing(
    druid: DruidCluster,
    write: Callable[..., Any],
    new_data_source: NewDataSource,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A folder that is another place for Druid's processes than for ours, as on another machine."""
    name = new_data_source("t")
    write(name, {0: 1})
    stage(tmp_path / "in", [{"__time": NEW_YEAR, "x": 2}])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DruidError, match="Druid cannot read the staged rows"):
        ingest(druid, task(name, Path("/proc/self/cwd/in"), overwrite=True, columns={"x": "long"}))
    assert values(druid, name) == [1]


def test_ctrl_c_shuts_the_task_down(
    druid: DruidCluster, write: Callable[..., Any], new_data_source: NewDataSource
) -> None:
    name = new_data_source("t")
    write(name, {0: 1})
    notes: list[str] = []
    druid.note = notes.append

    def interrupt(text: str) -> None:
        if "ingesting" in text:
            os.kill(os.getpid(), signal.SIGINT)

    druid.progress = interrupt
    days = {day: day for day in range(1, 400)}  # enough segments to observe the running task
    with pytest.raises(KeyboardInterrupt):
        write(name, days)
    assert len(notes) == 1
    assert "was shut down; nothing was changed" in notes[0]
    assert values(druid, name) == [1]


def test_a_dropped_data_source_is_gone(
    druid: DruidCluster, write: Callable[..., Any], new_data_source: NewDataSource
) -> None:
    name = new_data_source("t")
    write(name, {0: 1})
    assert name in druid.data_sources()
    druid.drop(name)
    assert name not in druid.data_sources()
    assert (values(druid, name), druid.schema(name)) == ([], {})
    druid.drop(name)
    write(name, {1: 2})
    assert values(druid, name) == [2]


# --- reading, as the embedded store reads ----------------------------------------------------------------------


@pytest.fixture
def both(
    druid: DruidCluster, new_data_source: NewDataSource, tmp_path: Path
) -> Iterator[tuple[str, DruidCluster, EmbeddedStore]]:
    """The same rows in a Druid cluster and in an embedded store."""
    name = new_data_source("same")
    folder = stage(tmp_path / "rows", ROWS)
    connection = open_database(tmp_path / "home")
    store = EmbeddedStore(tmp_path / "home", connection)
    ingest(store, task(name, folder))
    ingest(druid, task(name, folder))
    yield name, druid, store
    store.close()
    connection.close()


def key(row: Sequence[Any]) -> str:
    return json.dumps(row, sort_keys=True)


FIELDS = {"__time": BIGINT, "s": STRING, "m": array_of(STRING), "l": BIGINT, "d": DOUBLE, "f": DOUBLE}
AGGREGATIONS = [
    {"type": "count", "name": "n"},
    {"type": "longSum", "name": "ls", "fieldName": "l"},
    {"type": "doubleMax", "name": "dm", "fieldName": "d"},
    {"type": "floatMin", "name": "fm", "fieldName": "f"},
]
RESULTS = {"n": BIGINT, "ls": BIGINT, "dm": DOUBLE, "fm": DOUBLE}
ZONED = {"type": "period", "period": "P1D", "timeZone": "US/Pacific"}
QUERIES: dict[str, tuple[dict[str, Any], dict[str, HiveType]]] = {
    "scan": ({"queryType": "scan", "columns": list(FIELDS), "resultFormat": "compactedList"}, FIELDS),
    "scan ordered": ({"queryType": "scan", "columns": ["__time", "d"], "order": "descending", "limit": 3}, {"d": DOUBLE, "__time": BIGINT}),
    "scan nothing": ({"queryType": "scan", "columns": list(FIELDS), "filter": {"type": "false"}}, FIELDS),
    "timeseries": ({"queryType": "timeseries", "granularity": ZONED, "aggregations": AGGREGATIONS, "context": {"skipEmptyBuckets": True}}, {"timestamp": BIGINT, **RESULTS}),
    "grand total of nothing": ({"queryType": "timeseries", "granularity": "all", "filter": {"type": "false"}, "aggregations": AGGREGATIONS}, RESULTS),
    "no time": ({"queryType": "timeseries", "granularity": "all", "aggregations": AGGREGATIONS, "intervals": ["1970-01-01/1970-01-01"]}, RESULTS),
    "topN": ({"queryType": "topN", "granularity": "all", "dimension": "s", "metric": {"type": "dimension"}, "threshold": 9, "aggregations": AGGREGATIONS[:3]}, {"s": STRING, "n": BIGINT, "ls": BIGINT, "dm": DOUBLE}),
    "groupBy": ({"queryType": "groupBy", "granularity": "all", "dimensions": ["m", {"type": "default", "dimension": "d", "outputName": "d", "outputType": "DOUBLE"}], "aggregations": AGGREGATIONS}, {"m": STRING, "d": DOUBLE, **RESULTS}),
    "groupBy hour": ({"queryType": "groupBy", "granularity": "hour", "dimensions": ["s"], "aggregations": []}, {"timestamp": BIGINT, "s": STRING}),
    "timeBoundary": ({"queryType": "timeBoundary"}, {"minTime": BIGINT, "maxTime": BIGINT}),
}  # fmt: skip


def test_both_answer_alike(both: tuple[str, DruidCluster, EmbeddedStore]) -> None:
    name, druid, store = both
    assert druid.schema(name) == store.schema(name)
    for title, (query, fields) in QUERIES.items():
        read = DruidRead(
            {"intervals": ETERNITY, **query, "dataSource": name}, tuple(Field(n, t) for n, t in fields.items())
        )
        real, embedded = list(druid.rows(read)), list(store.rows(read))
        if title == "scan":
            real, embedded = sorted(real, key=key), sorted(embedded, key=key)
        assert [key(row) for row in real] == [key(row) for row in embedded], title


@pytest.mark.parametrize("title", ["scan", "scan nothing", "groupBy", "timeseries"])
def test_both_write_the_same_parquet(both: tuple[str, DruidCluster, EmbeddedStore], tmp_path: Path, title: str) -> None:
    from pyarrow import parquet

    name, druid, store = both
    query, fields = QUERIES[title]
    read = DruidRead(
        {"intervals": ETERNITY, **query, "dataSource": name}, tuple(Field(n, t) for n, t in fields.items())
    )
    columns = [f"c{place}" for place in range(len(fields))]
    druid.write_parquet(read, columns, tmp_path / "real.parquet")
    store.write_parquet(read, columns, tmp_path / "embedded.parquet")
    real, embedded = (parquet.read_table(tmp_path / f"{kind}.parquet") for kind in ("real", "embedded"))
    assert [f"{f.name} {f.type}" for f in real.schema] == [f"{f.name} {f.type}" for f in embedded.schema]
    assert sorted(map(key, real.to_pylist())) == sorted(map(key, embedded.to_pylist()))
