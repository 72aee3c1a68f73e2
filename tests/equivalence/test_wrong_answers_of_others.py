"""Queries for which Hive 4.0 (HiveDruidRules) and Calcite's Druid adapter return wrong results or crash: the result
here is Spark's.

Their plans are tested in tests/unit/plan/test_wrong_answers_of_others.py.
"""

from __future__ import annotations

import pytest

from hivedruid.catalog.types import TIMESTAMP, TIMESTAMP_LTZ, HiveType
from tests.equivalence.engine import Engine
from tests.equivalence.queries import Query
from tests.equivalence.sample import compare
from tests.equivalence.tables import full_world


def _where(*conditions: str) -> list[str]:
    return [f"SELECT id FROM t WHERE {condition} ORDER BY id" for condition in conditions]


CALCITE_WRONG = {
    "A1 a time predicate that is no range under OR": _where(
        "`__time` < '2020-01-01' OR month(`__time`) = 6",
        "`__time` < '1970-01-01' OR quarter(`__time`) = 1",
        "`__time` >= '2021-01-01' OR dayofweek(`__time`) = 1",
        "year(`__time`) = 2020 OR month(`__time`) = 12",
        "`__time` < '2020-01-01' OR floor_week(`__time`) = '2020-03-02'",
    ),
    "A2 SUM(DISTINCT)": [
        "SELECT sum(DISTINCT i) AS c, sum(DISTINCT l) AS e FROM t",
        "SELECT w AS k, sum(DISTINCT sm) AS c FROM t GROUP BY w ORDER BY k",
        "SELECT w AS k, sum(DISTINCT ti) AS c, sum(ti) AS e, count(*) AS n FROM t GROUP BY w ORDER BY k",
        "SELECT avg(DISTINCT sm) AS c FROM t",
    ],
    "A3 floor to a day beside an afternoon": _where(
        *(
            f"floor_day(`__time`) {op} '2020-03-08 {hour}'"
            for op in ("=", "<>", "<", "<=", ">", ">=")
            for hour in ("00:00:00", "12:00:00", "15:00:00")
        )
    ),
    "A4 one zone for all comparisons of an instant": _where(
        *(
            f"`__time` {op} {value}"
            for op in ("=", "<", ">=", "<>")
            for value in (
                "'2020-03-08'", "timestamp '2020-03-08 00:00:00'", "date '2020-03-08'", "'2020-03-08 08:00:00 UTC'",
            )
        ),
        "`__time` BETWEEN '2020-03-08' AND '2020-11-01 01:30:00'",
    ),
    "A5 IS NULL of an expression, COALESCE, COUNT(expression)": [
        *_where("(i + 1) IS NULL", "(i + 1) IS NOT NULL", "upper(s) IS NULL", "concat(s, w) IS NOT NULL", "coalesce(s, w) = 'x'"),
        "SELECT id, coalesce(s, 'none') AS c, coalesce(i, l, 0) AS e, nvl(d, 1.5) AS g FROM t ORDER BY id",
        "SELECT count(i + 1) AS c, count(upper(s)) AS e, count(concat(s, w)) AS g FROM t",
    ],
    "A6 conditions that know NULL": _where(
        "b IS NOT TRUE", "b IS NOT FALSE", "b IS TRUE", "b IS FALSE", "NOT (s <=> 'a')", "s <=> NULL", "NOT (i <=> l)",
        "(i > 2) IS NOT TRUE", "(i > 2) IS NOT FALSE", "(s = 'a' OR i > 5) IS NOT TRUE",
    ),
    "A7 where nulls stand, with a limit": [
        f"SELECT {key} AS k, {what} AS c FROM t GROUP BY {key} ORDER BY {by} {order}, k LIMIT 3"
        for key, what, by in (("w", "sum(i)", "c"), ("s", "max(l)", "c"), ("i", "count(*)", "k"))
        for order in ("ASC NULLS FIRST", "ASC NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST")
    ],
    "A8 casts of what is only selected": [
        "SELECT id, CAST(d AS bigint) AS c, CAST(l AS double) AS e, CAST(i AS string) AS g, CAST(s AS varchar(2)) AS h FROM t ORDER BY id",
        "SELECT id, CAST(n AS int) AS c, CAST(n AS double) AS e, CAST(n AS bigint) AS g, CAST(l AS tinyint) AS h FROM t ORDER BY id",
        "SELECT id, CAST(d AS int) AS c, CAST(f AS double) AS e, CAST(b AS int) AS g, CAST(i AS boolean) AS h FROM t ORDER BY id",
    ],
    "A9 a time compared as text": _where(
        "CAST(`__time` AS string) >= '2020'", "CAST(`__time` AS string) < '1970-01-01'", "CAST(`__time` AS string) LIKE '2020-03%'",
    ),
    "A10 every column, behind a long list or a join": [
        f"SELECT * FROM t WHERE id IN ({', '.join(str(n) for n in range(0, 60, 2))}) ORDER BY id",
        "SELECT t.id, t.`__time`, u.id AS other FROM t JOIN u ON t.w = u.w ORDER BY t.id, other",
    ],
    "A11 the number of a weekday": [
        "SELECT id, dayofweek(`__time`) AS c FROM t ORDER BY id",
        "SELECT dayofweek(`__time`) AS k, count(*) AS c FROM t GROUP BY dayofweek(`__time`) ORDER BY k",
        "SELECT EXTRACT(dayofweek FROM `__time`) AS k, min(id) AS c FROM t GROUP BY EXTRACT(dayofweek FROM `__time`) ORDER BY k",
    ],
    "A13 booleans as keys and values": [
        "SELECT b AS k, count(*) AS c FROM t GROUP BY b ORDER BY k",
        "SELECT i > 2 AS k, count(*) AS c FROM t GROUP BY i > 2 ORDER BY k DESC",
        "SELECT id, i > 2 AS c, s = 'a' AS e FROM t ORDER BY id",
    ],
    "A14 casts to decimal round": [
        "SELECT id, CAST(d AS decimal(10,2)) AS c FROM t WHERE abs(d) < 1e7 ORDER BY id",
        "SELECT CAST(sum(i) AS decimal(20,1)) AS c FROM t",
    ],
    "A15 substring from the front and from the end": [
        f"SELECT id, substring(s, {start}) AS c, substring(s, {start}, 2) AS e FROM t ORDER BY id" for start in (0, 1, -1, -2, -9, 9)
    ],
    "A16 a count is an integer": [
        "SELECT count(DISTINCT s) AS c FROM t",
        "SELECT count(DISTINCT s) AS c, count(DISTINCT i) AS e, count(*) AS g FROM t",
        "SELECT w AS k, count(DISTINCT s) AS c, count(DISTINCT i) AS e FROM t GROUP BY w ORDER BY k",
    ],
    "A17 set algebra of intervals": _where(
        "NOT (`__time` >= '2020-01-01' AND `__time` < '2020-06-01')",
        "NOT (`__time` < '2020-01-01' OR `__time` > '2020-06-01')",
        "`__time` NOT IN ('2020-01-01', '2020-03-08')",
        "`__time` < '2020-01-01' AND `__time` > '2020-06-01' AND `__time` > '1970-01-01'",
        "`__time` NOT BETWEEN '2020-01-01' AND '2020-11-01'",
    ),
}  # fmt: skip

CALCITE_CRASHES = {
    "B projections that are pushed in part": [
        "SELECT id, CASE WHEN i > 1 THEN 1 END AS c, nullif(s, 'a') AS e, trim(s) AS g, round(d) AS h FROM t ORDER BY id",
        "SELECT id, instr(s, 'b') AS c, `__time` + interval 1 day AS e, unix_timestamp(`__time`) AS g FROM t ORDER BY id",
        "SELECT id, row_number() OVER (ORDER BY id) AS c, upper(s) AS e FROM t ORDER BY id",
        "SELECT count(*) FILTER (WHERE i = 1 OR i = 3) AS c, sum(l) FILTER (WHERE b OR s = 'a') AS e FROM t",
    ],
    "B a late hour of a day": _where(
        *(f"year(`__time`) = 2020 AND month(`__time`) = 2 AND day(`__time`) = 29 AND hour(`__time`) = {h}" for h in (4, 11, 12, 18, 23))
    ),
    "B floors to weeks and quarters": _where(
        "floor_week(`__time`) = '2020-03-02'", "floor_quarter(`__time`) = '2020-01-01'", "floor_quarter(`__time`) = '2020-02-01'",
        "floor_week(`__time`) < '2020-03-03'", "floor_quarter(`__time`) IN ('2020-01-01', '2020-10-01')",
    ),
    "B distinct counts of expressions and of several columns": [
        "SELECT count(DISTINCT lower(s)) AS c FROM t",
        "SELECT count(DISTINCT floor_day(`__time`)) AS c FROM t",
        "SELECT count(DISTINCT s, i) AS c FROM t",
        "SELECT w AS k, count(DISTINCT s, b) AS c, count(DISTINCT i) AS e FROM t GROUP BY w ORDER BY k",
        "SELECT corr(sm, ti) AS c FROM t WHERE ti < 100",
    ],
    "B a key and its cast": [
        "SELECT i AS k, CAST(i AS string) AS m, count(*) AS c FROM t GROUP BY i, CAST(i AS string) ORDER BY k",
        "SELECT s AS k, CAST(s AS varchar(2)) AS m, upper(s) AS u, count(*) AS c FROM t GROUP BY s, CAST(s AS varchar(2)), upper(s) ORDER BY k, m, u",
    ],
    "B floors and ceilings as values": [
        "SELECT id, floor_day(`__time`) AS c, ceil(`__time` TO month) AS e, CAST(`__time` AS date) AS g FROM t ORDER BY id",
    ],
    "B texts as times": [
        "SELECT id, CAST(n AS timestamp) AS c, CAST(n AS date) AS e FROM t ORDER BY id",
        "SELECT id, to_date(n) AS c, unix_timestamp(n, 'yyyy-MM-dd') AS e FROM t ORDER BY id",
    ],
    "B constants with an exponent": ["SELECT id, sm * 1e10 AS c FROM t WHERE d < 1e10 AND d > -1.5e-7 ORDER BY id"],
}  # fmt: skip

HIVE_WRONG = {
    "1 negated ranges": [
        *_where("i NOT BETWEEN 2 AND 7", "NOT (i BETWEEN 2 AND 7)", "i < 2 OR i > 7", "`__time` < '2020-01-01' OR `__time` > '2020-06-01'"),
        "SELECT w AS k, sum(sm) AS c FROM t GROUP BY w HAVING sum(sm) NOT BETWEEN 0 AND 100 ORDER BY k",
    ],
    "2 floors in ranges and lists": _where(
        "floor_day(`__time`) BETWEEN '2020-03-08' AND '2020-06-15'", "floor_hour(`__time`) IN ('2020-03-08 01:00:00', '2020-11-01 01:00:00')",
        "floor_month(`__time`) NOT IN ('2020-03-01', '2020-11-01')",
    ),
    "3 an OR with an hour": _where("`__time` < '2020-01-01' OR hour(`__time`) = 3"),
    "4 every column": ["SELECT * FROM t ORDER BY id", "SELECT * FROM t WHERE i > 3 ORDER BY id"],
    "6 negations and nulls": _where("s <> 'a'", "s NOT IN ('a', 'b')", "s NOT LIKE 'a%'", "NOT (s = 'a' AND i = 1)", "NOT b"),
    "7 SUM(DISTINCT)": ["SELECT sum(DISTINCT sm) AS c, sum(sm) AS e, count(DISTINCT sm) AS g FROM t"],
    "8 casts of keys": [
        "SELECT CAST(`__time` AS string) AS k, count(*) AS c FROM t GROUP BY CAST(`__time` AS string) ORDER BY k",
        "SELECT CAST(d AS bigint) AS k, count(*) AS c FROM t WHERE abs(d) < 1e9 GROUP BY CAST(d AS bigint) ORDER BY k",
    ],
    "9 dates of timestamps": [
        "SELECT CAST(`__time` AS date) AS k, count(*) AS c FROM t GROUP BY CAST(`__time` AS date) ORDER BY k",
        *_where("CAST(`__time` AS timestamp) >= '2020-03-08'", "CAST(`__time` AS date) = '2020-03-08'"),
    ],
    "10 an hour beside a range": _where("`__time` >= '2020-03-08' AND `__time` < '2020-11-02' AND hour(`__time`) = 1"),
    "11 lists of years and months": _where("year(`__time`) IN (1969, 2020)", "year(`__time`) BETWEEN 1950 AND 1970", "month(`__time`) IN (3, 11)"),
    "12 sums of nothing": [
        "SELECT sum(i) AS c, min(d) AS e, count(*) AS g, avg(l) AS h FROM t WHERE s = 'nowhere'",
        "SELECT w AS k, sum(i) AS c FROM t WHERE i IS NULL GROUP BY w ORDER BY k",
        "SELECT id, i, d, b FROM t WHERE i IS NULL OR d IS NULL OR b IS NULL ORDER BY id",
    ],
    "13 decimals after an aggregate": ["SELECT w AS k, CAST(sum(sm) AS decimal(10,2)) AS c, sum(sm) * 1.5 AS e FROM t GROUP BY w ORDER BY k"],
    "14 unix_timestamp with a format": ["SELECT id, unix_timestamp(n, 'yyyy-MM-dd') AS c, unix_timestamp(n) AS e FROM t ORDER BY id"],
}  # fmt: skip

ROWS = [
    pytest.param(queries, id=f"{who} {row}")
    for who, rows in (("Calcite", CALCITE_WRONG), ("Calcite", CALCITE_CRASHES), ("Hive", HIVE_WRONG))
    for row, queries in rows.items()
]


@pytest.mark.parametrize("queries", ROWS)
@pytest.mark.parametrize("time", [TIMESTAMP_LTZ, TIMESTAMP], ids=["zoned", "plain"])
def test_the_answer_is_that_of_the_rows(engine: Engine, queries: list[str], time: HiveType) -> None:
    engine.load(full_world("US/Pacific", time))
    for sql in queries:
        compare(engine, Query(sql, ordered=True))
