"""What DuckDB does for many small segments: one statement writes each, and a count reads each file once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.types import BIGINT, STRING
from hivedruid.embedded.duck import Duck
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.plan.physical import DruidRead, Field
from tests.support.loads import ingest

START = 1704067200000
DAY = 86_400_000
DAYS = 12
Task = Callable[..., dict[str, Any]]
Write = Callable[..., Path]


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that DuckDB runs, in order."""
    found: list[str] = []
    prepare = Duck.prepare

    def recorded(duck: Duck, sql: str) -> None:
        found.append(sql)
        prepare(duck, sql)

    monkeypatch.setattr(Duck, "prepare", recorded)
    return found


@pytest.fixture
def daily(index_task: Task, write_rows: Write) -> Callable[..., dict[str, Any]]:
    """A task over two rows a day."""

    def task(days: int, **options: Any) -> dict[str, Any]:
        rows = [{"__time": START + day * DAY + hour, "i": day} for day in range(days) for hour in (1, 2)]
        return index_task("t", write_rows(rows, f"{days}"), {"i": "long"}, **options)

    return task


def counted(interval: str, *fields: str) -> DruidRead:
    query = {
        "queryType": "timeseries", "granularity": "all", "dataSource": "t", "intervals": [interval],
        "aggregations": [{"type": "count", "name": "n"}],
    }  # fmt: skip
    return DruidRead(query, tuple(Field(name, BIGINT) for name in fields))


@pytest.mark.parametrize("most", [5_000_000, 1])
def test_a_segment_takes_one_statement(most: int, store: EmbeddedStore, daily: Task, statements: list[str]) -> None:
    counts = []
    for days in (DAYS, 2 * DAYS):
        statements.clear()
        assert ingest(store, daily(days, rows_per_segment=most)).segments == (days if most > 1 else 2 * days)
        counts.append(len(statements))
    assert counts[1] - counts[0] == (DAYS if most > 1 else 2 * DAYS)


def test_a_count_names_each_file_once_and_computes_no_time(
    store: EmbeddedStore, daily: Task, statements: list[str]
) -> None:
    ingest(store, daily(DAYS))
    statements.clear()
    assert list(store.rows(counted("2024-01-01/2024-02-01", "n"))) == [(2 * DAYS,)]
    assert [sql.count(".parquet") for sql in statements] == [DAYS]
    assert "WHERE" not in statements[0]


def test_a_count_of_a_part_of_a_segment_filters_by_time(
    store: EmbeddedStore, daily: Task, statements: list[str]
) -> None:
    ingest(store, daily(DAYS))
    statements.clear()
    part = counted("2024-01-01T00:00:00.002/2024-01-02", "n", "timestamp")
    assert list(store.rows(part)) == [(1, START + 2)]
    assert [sql.count(".parquet") for sql in statements] == [2]


def test_the_segments_of_a_load_have_one_version(store: EmbeddedStore, daily: Task) -> None:
    ingest(store, daily(DAYS, rows_per_segment=1))
    segments = store.segments("t")
    assert {segment.version for segment in segments} == {segments[0].version}
    assert [segment.number for segment in segments] == [0, 1] * DAYS


def test_segments_of_equal_schema_are_read_together(
    store: EmbeddedStore, index_task: Task, write_rows: Write, statements: list[str]
) -> None:
    """Every third segment has a row with several tags: its column has another type."""
    tags = {day: ["x", "y"] if day % 3 == 0 else "x" for day in range(DAYS)}
    rows = [{"__time": START + day * DAY, "tags": tags[day]} for day in range(DAYS)]
    ingest(store, index_task("t", write_rows(rows), {"tags": "string"}))
    statements.clear()
    query = {"queryType": "scan", "dataSource": "t", "columns": ["tags"]}
    found = store.rows(DruidRead(query, (Field("tags", STRING),)))
    assert sorted(map(str, found)) == sorted(str((value,)) for value in tags.values())
    assert [sql.count("read_parquet(") for sql in statements] == [2]
