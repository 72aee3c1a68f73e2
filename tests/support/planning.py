"""Planning without a session: from the text of a query to a plan or native JSON. Shared by the planner's tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hivedruid import parser
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.statistics import TableStatistics
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
    array_of,
)
from hivedruid.druid.limits import NO_LIMITS, DruidLimits
from hivedruid.parser.statements import Query
from hivedruid.plan.physical import DruidRead, SparkJob
from hivedruid.plan.rules import RULES, Rule
from hivedruid.plan.split import QueryPlan, druid_read, plan_query, spark_job
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import exp

NOW = datetime(2026, 1, 15, 10, 30, tzinfo=UTC)

ETERNITY = "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"

COLUMNS: dict[str, HiveType] = {
    "country": STRING,
    "city": STRING,
    "is_mobile": BOOLEAN,
    "clicks": BIGINT,
    "imps": INT,
    "small_c": SMALLINT,
    "tiny_c": TINYINT,
    "revenue": DOUBLE,
    "score": FLOAT,
}


def events(time: HiveType = TIMESTAMP_LTZ, name: str = "ev") -> Table:
    """A Druid table with a column of every type."""
    columns = (Column("__time", time), *(Column(n, t) for n, t in COLUMNS.items()))
    return Table("default", name, "druid", columns, external=True, properties={"druid.datasource": "events"})


TAGGED = Table("default", "tagged", "druid", (Column("__time", TIMESTAMP), Column("tags", array_of(STRING))), True)
DIM = Table(
    "default", "dim", "files", (Column("country", STRING), Column("region", STRING), Column("pop", BIGINT)), True,
    format="orc",
)  # fmt: skip
TABLES = (events(), events(TIMESTAMP, "evt"), TAGGED, DIM)
"""`ev` has a zoned `__time`, `evt` a plain one."""


def snapshot(
    zone: str = "UTC", tables: tuple[Table, ...] = TABLES, settings: Mapping[str, str] | None = None
) -> Snapshot:
    return Snapshot(
        {"hive.local.time.zone": zone, **(settings or {})}, NOW, tables={(t.database, t.name): t for t in tables}
    )


@lru_cache(maxsize=4096)
def parse(sql: str) -> tuple[exp.Expr, SourceStatement]:
    """A query's syntax tree, which planning does not change: EXPLAIN and asking first plan the same tree twice."""
    statement = parser.parse(SourceStatement(sql))
    assert isinstance(statement, Query)
    return statement.expression, statement.source


def plan(
    sql: str,
    zone: str = "UTC",
    *,
    rules: tuple[Rule, ...] = RULES,
    tables: tuple[Table, ...] = TABLES,
    notes: list[str] | None = None,
    limits: DruidLimits = NO_LIMITS,
    scans_only: bool = False,
    rows: Mapping[str, int] | None = None,
    settings: Mapping[str, str] | None = None,
) -> QueryPlan:
    """The plan of a query. `rows`: the known numbers of rows of tables, by name."""

    def note(message: str, _span: object) -> None:
        if notes is not None:
            notes.append(message)

    statistics = {("default", name): TableStatistics(rows=count) for name, count in (rows or {}).items()}
    facts = replace(snapshot(zone, tables, settings), limits=limits, scans_only=scans_only, statistics=statistics)
    return plan_query(*parse(sql), facts, note, None if scans_only else rules)


def read(sql: str, zone: str = "UTC", *, tables: tuple[Table, ...] = TABLES) -> DruidRead:
    """The native query of a query that is fully pushed down."""
    made = druid_read(plan(sql, zone, tables=tables))
    assert made is not None, f"not pushed whole: {sql}"
    return made


def native(sql: str, zone: str = "UTC", *, tables: tuple[Table, ...] = TABLES) -> dict[str, Any]:
    return dict(read(sql, zone, tables=tables).query)


def is_pushed(sql: str, zone: str = "UTC", *, tables: tuple[Table, ...] = TABLES) -> bool:
    return druid_read(plan(sql, zone, tables=tables)) is not None


def residual(sql: str, zone: str = "UTC") -> SparkJob:
    """The Spark job of a query that is not fully pushed down."""
    planned = plan(sql, zone)
    assert druid_read(planned) is None, f"pushed whole: {sql}"
    return spark_job(planned)


def where(condition: str, zone: str = "UTC", table: str = "ev") -> tuple[list[str], dict[str, Any] | None]:
    """The intervals and the filter of a condition."""
    query = native(f"SELECT clicks FROM {table} WHERE {condition}", zone)
    return query["intervals"], query.get("filter")
