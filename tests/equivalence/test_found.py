"""Queries that once answered differently, kept as they were found."""

from __future__ import annotations

import pytest

from hivedruid.catalog.types import TIMESTAMP_LTZ
from tests.equivalence.engine import Engine
from tests.equivalence.queries import Query
from tests.equivalence.sample import compare
from tests.equivalence.tables import TIMES, RandomTable, World, full_world


def small_world(*, rows: int) -> World:
    """`t` with rows of which everything but time and id is null, and an empty `u`."""
    full = full_world("US/Pacific", TIMESTAMP_LTZ)
    nulls = (None,) * (len(full.t.table.columns) - 2)
    made = tuple((TIMES[number], number, *nulls) for number in range(rows))
    return World(full.zone, full.time, RandomTable(full.t.table, made), RandomTable(full.u.table, ()))


OVER_FULL_TABLES = [
    # topN has nulls first whichever way it is turned
    "SELECT s AS k, count(*) AS c FROM t GROUP BY s ORDER BY k DESC NULLS LAST LIMIT 3",
    "SELECT d AS k, count(*) AS c FROM t GROUP BY d ORDER BY k DESC NULLS LAST LIMIT 3",
    # an hour that the clock repeats has two ends
    "SELECT ceil(`__time` TO hour) AS h, count(*) AS c FROM t GROUP BY ceil(`__time` TO hour) ORDER BY h",
    # Hive's abs() of a tinyint is an int
    "SELECT abs(ti) AS a, count(*) AS c FROM t GROUP BY abs(ti) ORDER BY a",
    # behind HAVING Spark's ORDER BY sees only what is selected
    "SELECT c0 FROM (SELECT w AS c0, b AS c1 FROM t GROUP BY w, b HAVING count(*) > 1 ORDER BY c0, c1) x ORDER BY c0",
]

OVER_SMALL_TABLES = [
    # a grand total of which nothing is selected is one row
    "SELECT 0 AS c0 FROM (SELECT min(s) AS c0, count(*) + 1 AS c1 FROM t) x",
    # DuckDB's statistics of a file in which a column is null throughout
    "SELECT id AS c0 FROM t WHERE NOT (regexp_extract(s, 'a(b)', 0) < 'A') ORDER BY c0",
]


@pytest.mark.parametrize("sql", OVER_FULL_TABLES)
def test_full_tables(engine: Engine, sql: str) -> None:
    engine.load(full_world("US/Pacific", TIMESTAMP_LTZ))
    assert compare(engine, Query(sql, ordered=True)).expected


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("sql", OVER_SMALL_TABLES)
def test_tables_of_nulls(engine: Engine, sql: str, rows: int) -> None:
    engine.load(small_world(rows=rows))
    compare(engine, Query(sql, ordered=True))
