"""Both answers to a query: pushed into the embedded store, and computed by Spark over the raw rows with nothing pushed."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.database import open_database
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.druid.ingestion import index_parallel_spec
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.plan.decode import decode_rows
from hivedruid.plan.physical import DruidRead, TableInput
from hivedruid.plan.rules import RULES
from hivedruid.plan.split import QueryPlan, constant_rows, druid_read, spark_job
from hivedruid.spark import rows as spark_rows
from hivedruid.spark import session
from hivedruid.spark.jobs import SparkRunner
from tests.equivalence.tables import RandomTable, World
from tests.support.planning import plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",  # a few dozen rows are read sooner than code for them is made
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
Rows = list[tuple[Any, ...]]

MAX_VIEWS = 6
"""How often one query of the generator may read the same table."""


@dataclass(frozen=True)
class Answers:
    """A query's two answers, and the plans they come from."""

    sql: str
    pushed: Rows
    expected: Rows
    plan: QueryPlan
    unpushed: QueryPlan

    @property
    def types(self) -> list[HiveType]:
        return [column.type for column in self.plan.columns]

    @property
    def is_fully_pushed(self) -> bool:
        return druid_read(self.plan) is not None or constant_rows(self.plan) is not None


class Engine:
    """One store and one Spark session for all worlds; `load` puts the next world in the place of the last."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = EmbeddedStore(home, open_database(home))
        self.settings = SETTINGS
        self.runner = SparkRunner(home, self.settings, self.store.write_parquet, lambda _: None, lambda _: None)
        self.spark: SparkSession = session.session(self.settings, home)
        self.loaded = 0
        self.world: World | None = None
        self.tables: tuple[Table, ...] = ()

    def close(self) -> None:
        self.store.close()

    def load(self, world: World) -> None:
        """Ingest the world's rows, and show the same rows to Spark."""
        for made in self.tables:
            self.store.drop(made.data_source)
        self.loaded += 1
        self.world = world
        self.tables = tuple(self._ingest(random) for random in world.tables)
        for random in world.tables:
            self._views(random)

    def _ingest(self, random: RandomTable) -> Table:
        source = f"w{self.loaded}_{random.table.name}"
        table = replace(random.table, properties={**random.table.properties, "druid.datasource": source})
        if random.rows:
            staging = self.home / "staging" / source
            staging.mkdir(parents=True)
            lines = (json.dumps(_document(table, row)) + "\n" for row in random.rows)
            (staging / "rows.json.gz").write_bytes(gzip.compress("".join(lines).encode(), 1))
            spec = index_parallel_spec(table, {}, overwrite=True)
            spec["spec"]["ioConfig"]["inputSource"]["baseDir"] = str(staging)
            self.store.ingest(spec)
        return table

    def _views(self, random: RandomTable) -> None:
        columns = random.table.columns
        names = ", ".join(f"`{column.name}`" for column in columns)
        empty = ", ".join(f"CAST(NULL AS {spark_type(column.type)}) AS `{column.name}`" for column in columns)
        rows = ", ".join(
            "(" + ", ".join(_spark_value(v, c.type) for v, c in zip(row, columns, strict=True)) + ")"
            for row in random.rows
        )
        text = f"SELECT * FROM VALUES {rows} AS v({names})" if rows else f"SELECT {empty} WHERE FALSE"
        frame = self.spark.sql(text)
        for number in range(MAX_VIEWS):
            frame.createOrReplaceTempView(f"{random.table.name}_{number}")

    # --- answers -----------------------------------------------------------------------------------------------

    def plan(self, sql: str, *, pushed: bool = True) -> QueryPlan:
        assert self.world is not None
        return plan(sql, self.world.zone, rules=RULES if pushed else (), tables=self.tables)

    def answers(self, sql: str) -> Answers:
        made, bare = self.plan(sql), self.plan(sql, pushed=False)
        return Answers(sql, self.pushed(made), self.expected(bare), made, bare)

    def pushed(self, made: QueryPlan) -> Rows:
        read = druid_read(made)
        if read is not None:
            return self.read(read)
        constant = constant_rows(made)
        return list(constant) if constant is not None else list(self.runner.rows(spark_job(made)))

    def read(self, read: DruidRead) -> Rows:
        assert self.world is not None
        return [
            # a time that a clock shows twice equals no time of another zone in Python: compare instants in UTC
            tuple([v.astimezone(UTC) if isinstance(v, datetime) and v.tzinfo else v for v in row])
            for row in decode_rows(self.store.rows(read), read.fields, self.world.zone)
        ]

    def expected(self, bare: QueryPlan) -> Rows:
        job = spark_job(bare)
        assert all(isinstance(item, TableInput) for item in job.inputs)
        return list(spark_rows.stream(self.spark.sql(job.sql)))


def _document(table: Table, row: tuple[Any, ...]) -> dict[str, Any]:
    """A row as the staged JSON has it: nulls left out."""
    return {c.field_name: v for c, v in zip(table.columns, row, strict=True) if v is not None}


def _spark_value(value: Any, type_: HiveType) -> str:
    """A typed constant, written apart from the planner's own way."""
    kind = spark_type(type_)
    if value is None:
        return f"CAST(NULL AS {kind})"
    if type_.is_timestamp:
        return f"CAST(timestamp_millis({value}) AS {kind})"
    if isinstance(value, str):
        return f"CAST(X'{value.encode().hex()}' AS STRING)"
    return f"CAST('{value}' AS {kind})"


# --- comparing ---------------------------------------------------------------------------------------------------


def same(found: Rows, expected: Rows, types: list[HiveType], *, ordered: bool) -> bool:
    """Whether the answers are equal as lists or as multisets; doubles to 1e-9, floats to single precision."""
    if len(found) != len(expected):
        return False
    tolerances = [1e-6 if t.name == "float" else 1e-9 for t in types]
    if not ordered:
        found, expected = sorted(found, key=_sort_key), sorted(expected, key=_sort_key)
    if all(_same_row(a, b, tolerances) for a, b in zip(found, expected, strict=True)):
        return True
    return not ordered and _matched(found, expected, tolerances)


def _matched(found: Rows, expected: Rows, tolerances: list[float]) -> bool:
    """Sorting may part rows whose doubles differ in the last digit: look for a partner for each."""
    left = list(expected)
    for row in found:
        partner = next((i for i, other in enumerate(left) if _same_row(row, other, tolerances)), None)
        if partner is None:
            return False
        left.pop(partner)
    return True


def _same_row(a: tuple[Any, ...], b: tuple[Any, ...], tolerances: list[float]) -> bool:
    return all(_same_value(x, y, t) for x, y, t in zip(a, b, tolerances, strict=True))


def _same_value(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance, abs_tol=0.0) or a == b
    if isinstance(a, float) or isinstance(b, float) or isinstance(a, bool) or isinstance(b, bool):
        return type(a) is type(b) and a == b
    return bool(a == b)


def _sort_key(row: tuple[Any, ...]) -> list[tuple[int, Any]]:
    return [_cell_key(cell) for cell in row]


def _cell_key(cell: Any) -> tuple[int, Any]:
    if cell is None:
        return (0, 0)
    if isinstance(cell, float):
        return (1, 0.0) if math.isnan(cell) else (2, float(f"{cell:.6g}") if math.isfinite(cell) else cell)
    return (3, cell if isinstance(cell, str) else str(cell))


def queries_of(made: QueryPlan) -> Iterator[dict[str, Any]]:
    """The native queries of a plan."""
    read = druid_read(made)
    if read is not None:
        yield dict(read.query)
    elif constant_rows(made) is None:
        for item in spark_job(made).inputs:
            yield dict(item.read.query)  # type: ignore[union-attr]


def shown(rows: Iterable[tuple[Any, ...]], most: int = 12) -> str:
    listed = sorted(rows, key=_sort_key)
    lines = [f"    {row!r}" for row in listed[:most]]
    return "\n".join([*lines, *([f"    … {len(listed) - most} more"] if len(listed) > most else [])]) or "    (none)"
