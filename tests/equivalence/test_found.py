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
    # HAVING over grouping sets does not find the keys
    "SELECT c0, c1 FROM (SELECT w AS c0, count(*) AS c1 FROM t GROUP BY w, b WITH ROLLUP) x WHERE c0 IS NULL OR c1 = 1 ORDER BY c0, c1",
    # Druid takes the bounds of a range as doubles
    "SELECT count(*) AS c FROM t WHERE big <= 9007199254740993",
    "SELECT count(*) AS c FROM t WHERE big >= 9007199254740993 AND big < 9223372036854775806",
    # to Druid -0.0 is another group than 0.0, and to some of its filters and comparisons below it
    "SELECT d AS k, count(*) AS c FROM t GROUP BY d ORDER BY k",
    "SELECT count(DISTINCT d) AS c FROM t",
    "SELECT id FROM t WHERE d = 0 ORDER BY id",
    "SELECT id FROM t WHERE d IN (0, 1) ORDER BY id",
    "SELECT id FROM t WHERE d BETWEEN 0 AND 1 ORDER BY id",
    "SELECT id, sqrt(d / 2) AS c FROM t WHERE d >= ti ORDER BY id",
    "SELECT id % 7 AS k, min(d) AS m, max(id) AS c FROM t WHERE d BETWEEN -1 AND 0 GROUP BY id % 7 ORDER BY m, k DESC",
    # the smallest double has one digit, Java writes two
    "SELECT id, cast(d AS string) AS c FROM t WHERE d > 0 AND d < 1e-300 ORDER BY id",
    # Druid computes with constants before it looks at what guards them
    "SELECT `__time`, (length('a%b') div 0) AS c, length('ab') div length('') AS e FROM t ORDER BY `__time` LIMIT 3",
    # Druid leaves out a join of inner queries below a groupBy over a groupBy
    "SELECT c, count(*) AS n FROM (SELECT x.w, count(*) AS c FROM (SELECT DISTINCT w, id FROM t) x"
    " JOIN (SELECT DISTINCT w FROM u) y ON x.w = y.w GROUP BY x.w) z GROUP BY c ORDER BY c",
    "WITH x AS (SELECT DISTINCT w, id FROM t) SELECT count(*) AS c0, count(DISTINCT w) AS c1 FROM x WHERE id IN (SELECT max(id) FROM x GROUP BY w)",
]

OVER_SMALL_TABLES = [
    # an aggregate of nothing is not always NULL
    "SELECT count(*) AS c0, size(collect_set(w)) AS c1, approx_count_distinct(w) AS c2, max(l) AS c3 FROM (SELECT l, w FROM t LIMIT 0) x",
    # an empty table is no query without an order
    "SELECT `__time` FROM t ORDER BY `__time` LIMIT 2",
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
