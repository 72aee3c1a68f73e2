"""The extent to which queries are pushed down."""

from __future__ import annotations

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
from hivedruid.parser.statements import Query
from hivedruid.plan.split import constant_rows, druid_read, plan_query, spark_job
from hivedruid.script import SourceStatement
from tests.support.planning import snapshot

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
    """`full`, `partly` or `not`: the extent to which the query is pushed down."""
    statement = parser.parse(SourceStatement(sql))
    assert isinstance(statement, Query)
    plan = plan_query(statement.expression, statement.source, snapshot(zone, (EV, K, DIM)))
    if druid_read(plan) is not None or constant_rows(plan) is not None:
        return "full"
    return "partly" if any(hasattr(item, "read") for item in spark_job(plan).inputs) else "not"


@pytest.mark.parametrize(("sql", "expected"), OURS)
def test_our_queries(sql: str, expected: str) -> None:
    assert pushed(sql, "US/Pacific") == expected
