"""Stores on a fresh home folder, and `index_parallel` specs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.embedded.store import EmbeddedStore
from tests.support.loads import ingest

DATA = Path(__file__).parent / "data"
Spec = dict[str, Any]


def index_task(
    data_source: str,
    folder: Path,
    dimensions: Mapping[str, str],
    metrics: Iterable[Mapping[str, Any]] = (),
    *,
    pattern: str = "*.json",
    segment: str = "DAY",
    query: str = "NONE",
    rollup: bool = False,
    append: bool = False,
    drop: bool = False,
    intervals: list[str] | None = None,
    rows_per_segment: int = 5_000_000,
    time: Mapping[str, str] | None = None,
) -> Spec:
    """An `index_parallel` spec as Druid takes it."""
    granularity: Spec = {
        "type": "uniform",
        "segmentGranularity": segment,
        "queryGranularity": query,
        "rollup": rollup,
    }
    if intervals is not None:
        granularity["intervals"] = intervals
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": {
                "dataSource": data_source,
                "timestampSpec": dict(time or {"column": "__time", "format": "millis"}),
                "dimensionsSpec": {"dimensions": [{"type": t, "name": n} for n, t in dimensions.items()]},
                "metricsSpec": list(metrics),
                "granularitySpec": granularity,
            },
            "ioConfig": {
                "type": "index_parallel",
                "inputSource": {"type": "local", "baseDir": str(folder), "filter": pattern},
                "inputFormat": {"type": "json"},
                "appendToExisting": append,
                "dropExisting": drop,
            },
            "tuningConfig": {
                "type": "index_parallel",
                "partitionsSpec": {"type": "dynamic", "maxRowsPerSegment": rows_per_segment},
            },
        },
    }


@pytest.fixture(name="index_task")
def index_task_fixture() -> Callable[..., Spec]:
    return index_task


@pytest.fixture
def write_rows(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows as newline-delimited JSON into a new folder below the test's own, and returns the folder."""

    def write(rows: Iterable[Mapping[str, Any]], name: str = "input") -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        number = len(list(folder.iterdir()))
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"part-{number:03}.json").write_text("".join(lines))
        return folder

    return write


def opened(home: Path) -> Iterator[EmbeddedStore]:
    connection = open_database(home)
    store = EmbeddedStore(home, connection)
    yield store
    store.close()
    connection.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> Iterator[EmbeddedStore]:
    yield from opened(home)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    """The data sources of the recorded results: `edits`, the same rolled up as `hourly`, and `values`."""
    edits = {
        "id": "long",
        "s": "string",
        "num": "string",
        "l": "long",
        "d": "double",
        "f": "float",
        "tags": "string",
        "b": "long",
    }
    values = {"id": "long", "s": "string", "l": "long", "d": "double", "f": "float", "m": "string", "mv": "string"}
    metrics = [
        {"type": "count", "name": "rows"},
        {"type": "longSum", "name": "lsum", "fieldName": "l"},
        {"type": "doubleSum", "name": "dsum", "fieldName": "d"},
        {"type": "doubleMin", "name": "dmin", "fieldName": "d"},
        {"type": "longMax", "name": "lmax", "fieldName": "l"},
        {"type": "floatMax", "name": "fmax", "fieldName": "f"},
        {"type": "floatSum", "name": "fsum", "fieldName": "f"},
    ]
    hourly = {"s": "string", "tags": "string", "b": "long"}
    for store in opened(tmp_path_factory.mktemp("recorded")):
        ingest(store, index_task("edits", DATA, edits, pattern="edits.json"))
        ingest(
            store,
            index_task(
                "hourly", DATA, hourly, metrics, pattern="edits.json", rollup=True, query="HOUR", segment="MONTH"
            ),
        )
        ingest(store, index_task("values", DATA, values, pattern="values.json"))
        yield store
