"""Queries that Hive's own planner was asked, and some of ours: each has a plan, and no fewer are pushed than before.

The cases of Hive are read from `../shared` where that exists; ours run everywhere.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hivedruid import parser
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    HiveType,
)
from hivedruid.errors import HiveDruidError
from hivedruid.parser.statements import Query
from hivedruid.plan.split import constant_rows, druid_read, plan_query, spark_job
from hivedruid.script import SourceStatement
from tests.support.planning import snapshot

CASES = Path(__file__).parents[4] / "shared" / "cases" / "hive" / "oracle_hive401.json"

FULLY_PUSHED = 349
"""Of the 385 queries among the cases; Hive itself pushes 293 of them whole."""

EV = Table(
    "default", "ev", "druid",
    (
        Column("__time", TIMESTAMP_LTZ), Column("country", STRING), Column("city", STRING), Column("device", HiveType("varchar", (20,))),
        Column("code", HiveType("char", (3,))), Column("is_mobile", BOOLEAN), Column("clicks", BIGINT), Column("imps", INT),
        Column("small_c", SMALLINT), Column("tiny_c", TINYINT), Column("revenue", DOUBLE), Column("score", FLOAT),
    ),
    external=True, properties={"druid.datasource": "events"},
)  # fmt: skip
K = Table(
    "default", "k", "druid",
    (Column("__time", TIMESTAMP), *(Column(n, STRING) for n in ("page", "user", "language")), Column("added", INT), Column("deleted", INT)),
    external=True, properties={"druid.datasource": "default.k"},
)  # fmt: skip
DIM = Table(
    "default", "dim", "iceberg",
    (Column("country", STRING), Column("region", STRING), Column("pop", BIGINT), Column("since", TIMESTAMP)), format="orc",
)  # fmt: skip

OURS = [
    ("SELECT * FROM ev", "full"),
    (
        "SELECT city FROM ev WHERE country NOT IN ('US', 'DE') AND `__time` >= '2020-01-01' ORDER BY `__time` LIMIT 5 OFFSET 5",
        "full",
    ),
    ("SELECT floor_hour(`__time`), sum(clicks), avg(revenue) FROM ev GROUP BY floor_hour(`__time`)", "full"),
    (
        "SELECT device, code, count(*) FROM ev GROUP BY device, code HAVING sum(clicks) / count(*) > 2 ORDER BY 3 DESC, 1 LIMIT 7",
        "full",
    ),
    ("SELECT page, count(DISTINCT `user`), sum(added - deleted) FROM k GROUP BY page", "full"),
    ("SELECT max(c) FROM (SELECT count(*) c FROM k GROUP BY page, language) x", "full"),
    ("SELECT 1 + 1, current_date", "full"),
    ("SELECT min(city) FROM ev", "full"),
    (
        "SELECT region, sum(clicks) FROM ev JOIN dim ON ev.country = dim.country WHERE clicks > 3 GROUP BY region",
        "partly",
    ),
    ("SELECT country FROM ev UNION ALL SELECT country FROM dim", "partly"),
    ("SELECT country, rank() OVER (ORDER BY clicks) FROM ev", "partly"),
    ("SELECT region FROM dim", "not"),
]


def pushed(sql: str, zone: str) -> str:
    """`full`, `partly` or `not`: how much of the query Druid answers."""
    statement = parser.parse(SourceStatement(sql))
    assert isinstance(statement, Query)
    plan = plan_query(statement.expression, statement.source, snapshot(zone, (EV, K, DIM)))
    if druid_read(plan) is not None or constant_rows(plan) is not None:
        return "full"
    return "partly" if any(hasattr(item, "read") for item in spark_job(plan).inputs) else "not"


@pytest.mark.parametrize(("sql", "expected"), OURS)
def test_our_queries(sql: str, expected: str) -> None:
    assert pushed(sql, "US/Pacific") == expected


def hive_queries() -> list[dict[str, Any]]:
    """The SELECTs among the cases."""
    cases = json.loads(CASES.read_text(encoding="utf-8")) if CASES.exists() else []
    return [case for case in cases if case["sql"].split(None, 1)[0].upper() in ("SELECT", "WITH", "FROM")]


def test_every_query_of_hives_cases_has_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    cases = hive_queries()
    counts: Counter[str] = Counter()
    refused = []
    for case in cases:
        try:
            counts[pushed(case["sql"], case["settings"]["hive.local.time.zone"])] += 1
        except HiveDruidError as error:
            refused.append(f"{case['sql']}: {error}")
    hive = Counter(case["pushdown"] for case in cases)
    with capsys.disabled():
        print(f"\nHive's {len(cases)} queries: {dict(counts)}; Hive: {dict(hive)}")
    assert refused == []
    assert counts["full"] >= (FULLY_PUSHED if cases else 0)
