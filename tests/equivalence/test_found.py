"""Queries whose results once differed, as they were found."""

from __future__ import annotations

import pytest

from hivedruid.catalog.types import TIMESTAMP_LTZ
from tests.equivalence.engine import Engine
from tests.equivalence.queries import Query
from tests.equivalence.sample import compare
from tests.equivalence.tables import TIMES, RandomTable, World, full_world


def small_world(*, rows: int) -> World:
    """`t` with rows in which everything except time and id is null, and an empty `u`."""
    full = full_world("US/Pacific", TIMESTAMP_LTZ)
    nulls = (None,) * (len(full.t.table.columns) - 2)
    made = tuple((TIMES[number], number, *nulls) for number in range(rows))
    return World(full.zone, full.time, RandomTable(full.t.table, made), RandomTable(full.u.table, ()))


OVER_FULL_TABLES = [
    # topN sorts nulls first in both directions
    "SELECT s AS k, count(*) AS c FROM t GROUP BY s ORDER BY k DESC NULLS LAST LIMIT 3",
    "SELECT d AS k, count(*) AS c FROM t GROUP BY d ORDER BY k DESC NULLS LAST LIMIT 3",
    # an hour that the clock repeats has two ends
    "SELECT ceil(`__time` TO hour) AS h, count(*) AS c FROM t GROUP BY ceil(`__time` TO hour) ORDER BY h",
    # Hive's abs() of a tinyint is an int
    "SELECT abs(ti) AS a, count(*) AS c FROM t GROUP BY abs(ti) ORDER BY a",
    # after HAVING, Spark's ORDER BY resolves only output columns
    "SELECT c0 FROM (SELECT w AS c0, b AS c1 FROM t GROUP BY w, b HAVING count(*) > 1 ORDER BY c0, c1) x ORDER BY c0",
    # HAVING over grouping sets does not resolve the keys
    "SELECT c0, c1 FROM (SELECT w AS c0, count(*) AS c1 FROM t GROUP BY w, b WITH ROLLUP) x WHERE c0 IS NULL OR c1 = 1 ORDER BY c0, c1",
    # Druid converts the bounds of a range to doubles
    "SELECT count(*) AS c FROM t WHERE big <= 9007199254740993",
    "SELECT count(*) AS c FROM t WHERE big >= 9007199254740993 AND big < 9223372036854775806",
    # for Druid -0.0 is another group than 0.0, and for some of its filters and comparisons below 0.0
    "SELECT d AS k, count(*) AS c FROM t GROUP BY d ORDER BY k",
    "SELECT count(DISTINCT d) AS c FROM t",
    "SELECT id FROM t WHERE d = 0 ORDER BY id",
    "SELECT id FROM t WHERE d IN (0, 1) ORDER BY id",
    "SELECT id FROM t WHERE d BETWEEN 0 AND 1 ORDER BY id",
    "SELECT id, sqrt(d / 2) AS c FROM t WHERE d >= ti ORDER BY id",
    "SELECT id % 7 AS k, min(d) AS m, max(id) AS c FROM t WHERE d BETWEEN -1 AND 0 GROUP BY id % 7 ORDER BY m, k DESC",
    # the smallest double has one digit, Java writes two
    "SELECT id, cast(d AS string) AS c FROM t WHERE d > 0 AND d < 1e-300 ORDER BY id",
    # Druid folds constants before it evaluates the condition that guards them
    "SELECT `__time`, (length('a%b') div 0) AS c, length('ab') div length('') AS e FROM t ORDER BY `__time` LIMIT 3",
    # Druid drops a join of inner queries below a groupBy over a groupBy
    "SELECT c, count(*) AS n FROM (SELECT x.w, count(*) AS c FROM (SELECT DISTINCT w, id FROM t) x"
    " JOIN (SELECT DISTINCT w FROM u) y ON x.w = y.w GROUP BY x.w) z GROUP BY c ORDER BY c",
    "WITH x AS (SELECT DISTINCT w, id FROM t) SELECT count(*) AS c0, count(DISTINCT w) AS c1 FROM x WHERE id IN (SELECT max(id) FROM x GROUP BY w)",
]

DECIMALS = [
    # a BIGINT is summed in two halves: the whole would exceed a LONG
    "SELECT w AS k, sum(big * 1.5) AS a, avg(big * 1.0) AS b, min(big * -0.1) AS c, max(big - 0.5) AS e, count(big * 2.5) AS f FROM t GROUP BY w ORDER BY k",
    "SELECT sum(cast(big AS decimal(20, 2))) AS a, sum(cast(big AS decimal)) AS b, sum(cast(i AS decimal(5, 2))) AS c, avg(cast(l AS decimal(20, 1))) AS e FROM t",
    # an argument in pieces, some of them null
    "SELECT w AS k, avg(CASE WHEN i > 3 THEN 1.0 ELSE 0.0 END) AS a, sum(if(b, 1.5, 0)) AS c, sum(CASE WHEN b THEN i * 0.5 WHEN l > 1 THEN l * 1.25 END) AS e,"
    " avg(coalesce(i, 0.5)) AS f, sum(CASE WHEN b THEN 2.5 END) AS g, sum(sm * 1.5 + ti - 0.25) AS h, count(CASE WHEN b THEN i * 1.5 END) AS j"
    " FROM t GROUP BY w ORDER BY k",
    # nothing is null, over no rows and over some, and also with aggregators of Druid
    "SELECT sum(i * 1.5) AS a, avg(i * 1.5) AS b, sum(1.5) AS c, sum(if(b, 1.0, 0)) AS e, avg(coalesce(i, 1.5)) AS f, count(*) AS g, min(s) AS h FROM t WHERE id < 0",
    "SELECT w AS k, sum(if(b, 1.5, 0)) AS a, avg(i * 0.1) AS c, count(*) AS e FROM t GROUP BY w WITH ROLLUP ORDER BY k, e",
    "SELECT sum(l * 1.5) FILTER (WHERE b) AS a, count(DISTINCT w) AS c, avg(if(b, 1.0, 0.0)) FILTER (WHERE i > 1) AS e FROM t",
    "SELECT w AS k, sum(i) * 100.0 / count(*) AS a, count(*) * 1.0 AS c, round(sum(i) * 100.0 / sum(sm), 2) AS e FROM t GROUP BY w ORDER BY k",
]
"""Sums of decimals are sums of integers in Druid."""

PUSHED_SINCE = [
    # an integer to tens wraps beyond its type
    "SELECT id, round(ti, -1) AS a, round(sm, -2) AS b, round(i, -3) AS c, round(big, -1) AS e, round(l, -18) AS f FROM t ORDER BY id",
    # a row of the left side that does not satisfy its own term matches none, and is kept
    "SELECT x.id AS k, y.c AS c FROM t x LEFT JOIN (SELECT w, count(*) AS c FROM u GROUP BY w) y ON x.w = y.w AND x.i > 0 ORDER BY k",
    "SELECT x.w AS k, sum(y.c) AS c, count(*) AS n FROM (SELECT w, count(*) AS c FROM u GROUP BY w) y RIGHT JOIN t x ON x.w = y.w AND x.b GROUP BY x.w ORDER BY k",
    "SELECT id FROM t x WHERE NOT EXISTS (SELECT 1 FROM u y WHERE y.w = x.w AND x.l > 1) ORDER BY id",
    "SELECT count(*) AS c, max(i) AS m FROM t GROUP BY ()",
    # joined groups in an order with a limit: a period next to the previous one, shares of a total
    "SELECT a.w AS k, a.s AS s, b.s AS p, a.s - b.s AS e FROM (SELECT w, sum(i) AS s FROM t WHERE b GROUP BY w) a"
    " LEFT JOIN (SELECT w, sum(i) AS s FROM t WHERE NOT b GROUP BY w) b ON a.w = b.w ORDER BY e DESC, k LIMIT 3",
    "WITH m AS (SELECT floor_month(`__time`) AS m, count(*) AS c, avg(d) AS d FROM t GROUP BY floor_month(`__time`))"
    " SELECT a.m AS k, a.c AS c, b.c AS p, a.d AS d FROM m a LEFT JOIN m b ON b.m = a.m - INTERVAL '1' MONTH ORDER BY k LIMIT 9",
    "SELECT x.w AS k, x.c AS c, x.c / y.n AS p FROM (SELECT w, count(*) AS c FROM t GROUP BY w) x CROSS JOIN (SELECT count(*) AS n FROM t) y ORDER BY c DESC, k LIMIT 2",
    # NOT IN with nulls on either side, with none, and over no rows
    *(
        f"SELECT count(*) AS c, min(id) AS m FROM t WHERE {value} NOT IN (SELECT {column} FROM {rows})"
        for value, column, rows in (
            ("w", "w", "u"),
            ("w", "w", "u WHERE w IN ('x', 'X')"),
            ("w", "s", "u WHERE id < 0"),
            ("i", "i", "t WHERE i > 1"),
            ("id", "i", "u WHERE id < 20"),
        )
    ),
    # constant rows are an inline data source, with keys and values of every type
    "SELECT v.r AS k, count(*) AS c FROM t JOIN (SELECT 'x' AS w, 1 AS r UNION ALL SELECT 'y', 2 UNION ALL SELECT NULL, 3) v ON t.w = v.w GROUP BY v.r ORDER BY k",
    "SELECT v.r AS k, count(*) AS c, sum(v.k) AS s FROM t JOIN (SELECT 1 AS k, true AS r UNION ALL SELECT 5, false) v ON t.i = v.k GROUP BY v.r ORDER BY k",
    "SELECT v.r AS k, count(*) AS c FROM t JOIN (SELECT 1L AS k, date '2020-01-01' AS r UNION ALL SELECT 9223372036854775807L, null) v ON t.big = v.k GROUP BY v.r ORDER BY k",
    "SELECT v.r AS k, count(*) AS c FROM t LEFT JOIN (SELECT 1.5e0 AS k, timestamp '1970-01-01 00:00:00.001' AS r UNION ALL SELECT 0e0, timestamp '2020-01-01 00:00:00') v"
    " ON t.d = v.k GROUP BY v.r ORDER BY k",
    "SELECT v.p AS k, count(t.id) AS c FROM t JOIN (SELECT posexplode(split('x,y,X', ',')) AS (p, w)) v ON t.w = v.w GROUP BY v.p ORDER BY k",
    "SELECT v.n AS k, count(*) AS c FROM t JOIN (SELECT date_add('2020-03-07', p) AS day, p AS n FROM (SELECT posexplode(split(space(3), ' ')) AS (p, x)) q) v"
    " ON to_date(t.`__time`) = v.day GROUP BY v.n ORDER BY k",
    "SELECT v.k AS k, coalesce(c, 0) AS c FROM (SELECT explode(array(0, 1, 2, 23)) AS k) v LEFT JOIN (SELECT hour(`__time`) AS h, count(*) AS c FROM t GROUP BY hour(`__time`)) x"
    " ON v.k = x.h ORDER BY k",
]
"""Errors that Spark made before."""

OVER_SMALL_TABLES = [
    # an aggregate of nothing is not always NULL
    "SELECT count(*) AS c0, size(collect_set(w)) AS c1, approx_count_distinct(w) AS c2, max(l) AS c3 FROM (SELECT l, w FROM t LIMIT 0) x",
    # in Druid 37, a bare null in a string is a number, and a row of ARRAY<STRING>[null] is none beside a column of nulls
    "SELECT regexp_extract(n, '(a)(b)?', 1) AS c0, count(*) AS c1 FROM t GROUP BY regexp_extract(n, '(a)(b)?', 1)",
    "SELECT greatest(w, w) AS c0, substring_index(w, 'x', 1) AS c1 FROM t GROUP BY greatest(w, w), substring_index(w, 'x', 1)",
    "SELECT id AS c0, tag AS c1 FROM t LATERAL VIEW OUTER explode(tags) p AS tag ORDER BY c0",
    # an empty table is a query with an order
    "SELECT `__time` FROM t ORDER BY `__time` LIMIT 2",
    # a grand total of which nothing is selected is one row
    "SELECT 0 AS c0 FROM (SELECT min(s) AS c0, count(*) + 1 AS c1 FROM t) x",
    # DuckDB's statistics of a file in which a column is null throughout
    "SELECT id AS c0 FROM t WHERE NOT (regexp_extract(s, 'a(b)', 0) < 'A') ORDER BY c0",
]


@pytest.mark.parametrize("sql", OVER_FULL_TABLES + DECIMALS + PUSHED_SINCE)
def test_full_tables(engine: Engine, sql: str) -> None:
    engine.load(full_world("US/Pacific", TIMESTAMP_LTZ))
    assert compare(engine, Query(sql, ordered=True)).expected


@pytest.mark.parametrize("sql", OVER_SMALL_TABLES)
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_tables_of_nulls(engine: Engine, sql: str, rows: int) -> None:
    engine.load(small_world(rows=rows))
    compare(engine, Query(sql, ordered=True))
