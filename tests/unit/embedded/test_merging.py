"""COMPACT on the embedded store changes where rows are stored, and no result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING
from hivedruid.embedded import merging
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.errors import DruidError
from hivedruid.plan.physical import DruidRead, Field
from tests.support.loads import ingest

START = 1704067200000
DAY = 86_400_000
LOADS = 5
Task = Callable[..., dict[str, Any]]
Write = Callable[..., Path]
Append = Callable[..., None]


@pytest.fixture
def append(store: EmbeddedStore, index_task: Task, write_rows: Write) -> Append:
    """Loads rows of two days, in another order of times each time, as segments of their own."""

    def load(number: int, tags: object = "x", **options: Any) -> None:
        rows = [
            {"__time": START + day * DAY + (LOADS - number), "i": number, "d": 0.1 * number, "tags": tags}
            for day in (0, 1)
        ]
        folder = write_rows(rows, f"load{number}")
        columns = {"i": "long", "d": "double", "tags": "string"}
        ingest(store, index_task("t", folder, columns, **{"append": True, **options}))

    return load


def rows(store: EmbeddedStore) -> list[tuple[Any, ...]]:
    fields = {"__time": BIGINT, "i": BIGINT, "d": DOUBLE, "tags": STRING}
    query = {"queryType": "scan", "dataSource": "t", "columns": [*fields]}
    return list(store.rows(DruidRead(query, tuple(Field(name, type_) for name, type_ in fields.items()))))


def total(store: EmbeddedStore) -> list[tuple[Any, ...]]:
    aggregations = [{"type": "doubleSum", "name": "d", "fieldName": "d"}]
    query = {"queryType": "timeseries", "dataSource": "t", "granularity": "all", "aggregations": aggregations}
    return list(store.rows(DruidRead(query, (Field("d", DOUBLE),))))


def files(home: Path) -> list[Path]:
    return sorted((home / "segments").rglob("*.parquet"))


def test_the_segments_of_an_interval_become_one(store: EmbeddedStore, append: Append, home: Path) -> None:
    for number in range(LOADS):
        append(number)
    before = rows(store), total(store), store.schema("t")
    assert store.merge("t") == (2 * LOADS, 2)
    assert (rows(store), total(store), store.schema("t")) == before
    assert [(s.start, s.number, s.rows) for s in store.segments("t")] == [(START, 0, LOADS), (START + DAY, 0, LOADS)]
    assert files(home) == sorted(home / segment.path for segment in store.segments("t"))
    assert store.merge("t") == (2, 2)
    append(LOADS)
    assert [segment.number for segment in store.segments("t")] == [0, 1] * 2


def test_no_value_is_converted(store: EmbeddedStore, append: Append) -> None:
    """A column with several values in a row has another type in that segment."""
    for number in range(4):
        append(number, ["x", "y"] if number % 2 else "x")
    before = sorted(map(str, rows(store)))
    assert store.merge("t") == (8, 4)
    assert sorted(map(str, rows(store))) == before
    assert [segment.schema["tags"] for segment in store.segments("t")] == ["STRING", "ARRAY<STRING>"] * 2


def test_a_segment_has_a_most_of_rows(store: EmbeddedStore, append: Append, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "MOST_ROWS", 2)
    for number in range(LOADS):
        append(number)
    before = rows(store)
    assert store.merge("t") == (2 * LOADS, 6)
    assert rows(store) == before
    assert [segment.rows for segment in store.segments("t")] == [2, 2, 1] * 2
    assert store.merge("t") == (6, 6)


def test_a_data_source_without_segments(store: EmbeddedStore) -> None:
    assert store.merge("none") == (0, 0)


def test_an_overwrite_meanwhile_wins(
    store: EmbeddedStore, append: Append, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(0)
    append(1)
    written = merging._written

    def late(*arguments: Any) -> Any:
        append(2, append=False, drop=True)
        return written(*arguments)

    monkeypatch.setattr(merging, "_written", late)
    with closing(open_database(home)) as connection:
        other = EmbeddedStore(home, connection)
        with pytest.raises(DruidError):
            other.merge("t")
        other.close()
    assert [row[1] for row in rows(store)] == [2, 2]
    assert files(home) == sorted(home / segment.path for segment in store.segments("t"))
