"""The same rows from a view as from its table: random queries, with and without rewriting, on the embedded store."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.catalog.table import Table
from hivedruid.druid.ingestion import index_parallel_spec
from hivedruid.druid.query import native_query
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.plan.decode import decode_rows
from hivedruid.plan.nodes import DruidQuery
from tests.support import loads
from tests.support.planning import COLUMNS, events
from tests.support.views import rewritten, view

VIEWS = (
    "SELECT floor_day(`__time`) AS `__time`, country, city, count(*) AS n, sum(clicks) AS s, sum(imps) AS si, count(imps) AS ci, "
    "min(imps) AS mn, max(clicks) AS mx, sum(revenue) AS r, count(clicks) AS cc FROM ev GROUP BY floor_day(`__time`), country, city",
    "SELECT floor_month(`__time`) AS `__time`, country, avg(clicks) AS a, count(clicks) AS cc, count(*) AS n, sum(revenue) AS r, "
    "max(imps) AS mx FROM ev WHERE city IS NOT NULL GROUP BY floor_month(`__time`), country",
    "SELECT `__time`, country, city, imps, clicks * imps AS product, revenue FROM ev WHERE clicks > 1",
)
KEYS = (
    "country", "city", "upper(country)", "year(`__time`)", "month(`__time`)", "floor_day(`__time`)",
    "floor_month(`__time`)", "floor_week(`__time`)", "concat(country, '!')",
)  # fmt: skip
CALLS = (
    "count(*)", "sum(clicks)", "sum(imps)", "min(imps)", "max(clicks)", "avg(imps)", "avg(clicks)", "count(city)", "count(imps)",
    "sum(1)", "sum(revenue)", "count(DISTINCT city)", "sum(clicks) FILTER (WHERE city = 'a')", "count(*) FILTER (WHERE country <> 'NO')",
    "sum(clicks * imps)", "max(imps)", "count(clicks)",
)  # fmt: skip
CONDITIONS = (
    "country = 'US'", "country IN ('US', 'NO')", "city IS NOT NULL", "city IS NULL", "city <> 'a'", "clicks > 1", "clicks > 2",
    "clicks IN (2, 3)", "`__time` >= '2020-01-02'", "`__time` < '2020-02-01'", "year(`__time`) = 2020", "month(`__time`) = 1",
    "`__time` BETWEEN '2020-01-01' AND '2020-01-31 23:59:59.999'", "NOT (country = 'US')", "country = 'US' OR city = 'a'",
    "country = 'nowhere'", "city = 'a'", "`__time` >= '2020-01-01 12:00:00'",
)  # fmt: skip


def table_of(name: str, like: Table) -> Table:
    return replace(like, properties={"druid.datasource": name, "druid.rollup": "false"})


def ingest(store: EmbeddedStore, table: Table, rows: list[tuple[Any, ...]], folder: Path) -> None:
    folder.mkdir()
    names = [c.name for c in table.columns]
    lines = (json.dumps({n: v for n, v in zip(names, row, strict=True) if v is not None}) for row in rows)
    (folder / "rows.json").write_text("\n".join(lines))
    spec: dict[str, Any] = index_parallel_spec(table, {}, "nothing")
    spec["spec"]["ioConfig"]["inputSource"] = {"type": "local", "baseDir": str(folder), "filter": "*.json"}
    loads.ingest(store, spec)


def answer(store: EmbeddedStore, node: object, zone: str) -> list[tuple[Any, ...]] | None:
    """The rows of a plan that is one native query; None for any other."""
    if not isinstance(node, DruidQuery):
        return None
    read = native_query(node, zone)
    return list(decode_rows(store.rows(read), read.fields, zone))


def comparable(rows: list[tuple[Any, ...]]) -> list[Any]:
    return sorted([f"{v:.9g}" if isinstance(v, float) else str(v) for v in row] for row in rows)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    connection = open_database(tmp_path)
    found = EmbeddedStore(tmp_path, connection)
    yield found
    found.close()
    connection.close()


def event_rows(chance: random.Random) -> list[tuple[Any, ...]]:
    start = datetime(2019, 12, 30, tzinfo=UTC).timestamp() * 1000

    def maybe(value: Any) -> Any:
        return None if chance.random() < 0.15 else value

    return [
        (
            int(start) + chance.randrange(60 * 86_400_000),
            maybe(chance.choice(["US", "NO", "", "é"])), maybe(chance.choice("abc")), maybe(chance.random() < 0.5),
            maybe(chance.choice([1, 2, 3, 4, 1 << 62])), maybe(chance.randrange(-5, 5)), 1, 1,
            maybe(chance.choice([0.1, -2.5, 1e6])), 1.0,
        )
        for _ in range(300)
    ]  # fmt: skip


@pytest.mark.parametrize("zone", ["UTC", "US/Pacific"])
def test_queries_have_the_same_rows(store: EmbeddedStore, tmp_path: Path, zone: str) -> None:
    chance = random.Random(20)
    base = table_of("events", events())
    assert [c.name for c in base.columns] == ["__time", *COLUMNS]
    ingest(store, base, event_rows(chance), tmp_path / "base")
    for number, text in enumerate(VIEWS):
        rows = answer(store, rewritten([], text, zone).optimized, zone)
        assert rows is not None, text
        stored = [tuple(round(v.timestamp() * 1000) if isinstance(v, datetime) else v for v in row) for row in rows]
        made = view(text, zone, name=f"mv{number or ''}").table
        ingest(store, table_of(f"default.{made.name}", made), stored, tmp_path / made.name)
    compared = 0
    for _ in range(250):
        query = random_query(chance)
        found = rewritten(VIEWS, query, zone)
        if not found.is_answered:
            continue
        fast = answer(store, found.optimized, zone)
        slow = answer(store, rewritten([], query, zone).optimized, zone)
        if fast is None or slow is None:
            continue
        compared += 1
        assert comparable(fast) == comparable(slow), f"{query}\n{found.text}"
    assert compared >= 60


def random_query(chance: random.Random) -> str:
    keys = chance.sample(KEYS, chance.choice([0, 1, 1, 2]))
    calls = chance.sample(CALLS, chance.choice([1, 1, 2, 3]))
    conditions = chance.sample(CONDITIONS, chance.choice([0, 0, 1, 2]))
    where = f" WHERE {' AND '.join(f'({c})' for c in conditions)}" if conditions else ""
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    having = " HAVING count(*) > 2" if keys and chance.random() < 0.2 else ""
    return f"SELECT {', '.join([*keys, *calls])} FROM ev{where}{group}{having}"
