"""Runs the cases: on the embedded store, on a Druid cluster, and on Spark over the raw rows with nothing pushed
down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.database import open_database
from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.catalog.types import spark_type
from hivedruid.clients.cluster import DruidCluster
from hivedruid.druid.ingestion import index_parallel_spec
from hivedruid.druid.limits import NO_LIMITS, DruidLimits
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.engine.engine import DruidEngine
from hivedruid.errors import DruidError, HiveDruidError, ResourceError
from hivedruid.plan import nodes
from hivedruid.plan.decode import decode_rows
from hivedruid.plan.nodes import Node
from hivedruid.plan.physical import DruidRead, TableInput
from hivedruid.plan.rex import Ref
from hivedruid.plan.split import QueryPlan, constant_rows, druid_read, spark_job
from hivedruid.spark import rows as spark_rows
from hivedruid.spark import session
from hivedruid.spark.jobs import SparkRunner
from tests.conformance.cases import Case
from tests.conformance.data import Rows, rows_of
from tests.conformance.planned import plan_of
from tests.equivalence.engine import SETTINGS
from tests.support.loads import ingest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Table_ = list[tuple[Any, ...]]

AT_ONCE = 4
"""Maximum number of concurrent ingestion tasks."""


@dataclass(frozen=True)
class Answer:
    """The result of a case on one engine: rows, or the reason why there are none. `refused`: Druid refused the
    query."""

    rows: Table_ | None
    error: str | None = None
    refused: bool = False


@dataclass(frozen=True)
class Truth:
    """Spark's rows over the raw rows. `every`: without the query's LIMIT, if it has one. `keys`: the positions of the
    columns by which the rows are ordered, up to the first that is not in the result.
    """

    rows: Table_
    every: Table_ | None
    keys: tuple[int, ...]


class Engines:
    """The engines over the rows of all tables of some cases; `connect` opens a client of a Druid cluster."""

    def __init__(self, home: Path, cases: Sequence[Case], connect: Callable[[], DruidCluster] | None) -> None:
        self.home = home
        self.store = EmbeddedStore(home, open_database(home))
        self._connect = connect
        self.real = connect() if connect else None
        self.limits = self.real.limits() if self.real else NO_LIMITS
        self.rows = self._rows(cases)
        self.made: set[str] = set()
        self._spark: SparkSession | None = None
        self._shown: dict[str, tuple[Path, str]] = {}
        self._true: tuple[str, Truth] | None = None

    def close(self) -> None:
        self.store.close()
        if self.real is not None:
            self.real.close()

    # --- rows ------------------------------------------------------------------------------------------------------

    def _rows(self, cases: Sequence[Case]) -> dict[str, Rows]:
        """The rows of every table, by the identity of the rows."""
        users: dict[str, tuple[Table, list[Case]]] = {}
        for case in cases:
            for table in case.tables:
                users.setdefault(_identity(table), (table, []))[1].append(case)
        return {identity: rows_of(table, some) for identity, (table, some) in users.items()}

    def ingest(self) -> None:
        """Ingest the rows into both engines, if they are missing."""
        tables = {rows.table.data_source: rows for rows in self.rows.values() if rows.table.kind == "druid"}
        for name in sorted(set(tables) - set(self.store.data_sources())):
            ingest(self.store, _task(tables[name]))
        if self.real is not None:
            missing = sorted(set(tables) - set(self.real.data_sources()))
            self._each(missing, lambda druid, name: ingest(druid, _task(tables[name])))
            self.made |= set(missing)

    def _each(self, names: Sequence[str], do: Callable[[DruidCluster, str], object]) -> None:
        """Into the cluster, several data sources concurrently."""
        from concurrent.futures import ThreadPoolExecutor

        connect = self._connect
        assert connect is not None

        def run(name: str) -> None:
            druid = connect()  # a client is for one thread
            try:
                do(druid, name)
            finally:
                druid.close()

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(run, names))

    def drop(self) -> None:
        """Drop the data sources that `ingest` created in the cluster."""
        self._each(sorted(self.made), lambda druid, name: druid.drop(name))
        self.made.clear()

    def bound(self, case: Case) -> Case:
        """The case over the tables with these rows."""
        tables = []
        for table in case.tables:
            rows = self.rows[_identity(table)]
            tables.append(replace(rows.table, columns=table.columns, name=table.name))
        return replace(case, tables=tuple(tables))

    def has_real_rows(self, case: Case) -> bool:
        """Whether these rows are the ones from which the expected rows were computed."""
        return all(self.rows[_identity(table)].is_real for table in case.tables)

    # --- results ---------------------------------------------------------------------------------------------------

    def embedded(self, case: Case) -> Answer:
        return _safely(lambda: self._answer(self.bound(case), self.store, NO_LIMITS))

    def druid(self, case: Case, *, vectorized: bool = True) -> Answer | None:
        """The result of the cluster, None without one."""
        real = self.real
        if real is None:
            return None
        return _safely(lambda: self._answer(self.bound(case), real, self.limits, vectorized=vectorized))

    def _answer(self, case: Case, engine: DruidEngine, limits: DruidLimits, *, vectorized: bool = True) -> Answer:
        try:
            return Answer(self._run(plan_of(case, limits=limits), engine, case.zone, vectorized=vectorized))
        except ResourceError:
            return Answer(
                self._run(plan_of(case, limits=limits, scans_only=True), engine, case.zone, vectorized=vectorized)
            )

    def _run(self, plan: QueryPlan, engine: DruidEngine, zone: str, *, vectorized: bool) -> Table_:
        read = druid_read(plan)
        if read is not None:
            if not vectorized:
                read = DruidRead(
                    {**read.query, "context": {**read.query.get("context", {}), "vectorize": "false"}}, read.fields
                )
            return in_utc(decode_rows(engine.rows(read), read.fields, zone))
        constant = constant_rows(plan)
        if constant is not None:
            return in_utc(constant)
        self._shown.clear()  # a job drops its views, and others may have the same names
        runner = SparkRunner(self.home, SETTINGS, lambda: engine, lambda _: None, lambda _: None)
        return in_utc(runner.rows(spark_job(plan)))

    # --- Spark over the raw rows -----------------------------------------------------------------------------------

    def known_truth(self, case: Case) -> Truth | None:
        """Spark's result, if it was needed."""
        return self._true[1] if self._true is not None and self._true[0] == case.key else None

    def truth(self, case: Case) -> Truth:
        """Spark's result; that of the last case is cached, since several engines are compared with it."""
        known = self.known_truth(case)
        if known is None:
            plan = plan_of(self.bound(case), ())
            limit = _limit(plan.node)
            every = None if limit is None else self._spark_rows(replace(plan, node=_without(plan.node, limit)))
            known = Truth(self._spark_rows(plan), every, _shown_keys(plan.node))
            self._true = (case.key, known)
        return known

    def _spark_rows(self, plan: QueryPlan) -> Table_:
        constant = constant_rows(plan)
        if constant is not None:
            return in_utc(constant)
        if self._spark is None:
            self._spark = session.session(SETTINGS, self.home)
        job = spark_job(plan)
        for item in job.inputs:
            assert isinstance(item, TableInput)
            self._show(item)
        return in_utc(spark_rows.stream(self._spark.sql(job.sql)))

    def _show(self, item: TableInput) -> None:
        """The raw rows of a table as a view, its columns in Hive's types."""
        rows = next(
            r
            for r in self.rows.values()
            if r.table.data_source == item.table.data_source and r.table.name == item.table.name
        )
        columns = [f"{column.name} {column.type}" for column in item.table.columns]
        if self._shown.get(item.view) == (rows.parquet, ", ".join(columns)):
            return
        self._shown[item.view] = (rows.parquet, ", ".join(columns))
        assert self._spark is not None
        frame = self._spark.read.parquet(str(rows.parquet))
        values = []
        for column in item.table.columns:
            stored = f"`{column.field_name}`"
            value = f"timestamp_millis({stored})" if column.name == TIME_COLUMN else stored
            values.append(f"CAST({value} AS {spark_type(column.type)}) AS `{column.name}`")
        frame.selectExpr(*values).createOrReplaceTempView(item.view)


def _safely(ask: Callable[[], Answer]) -> Answer:
    try:
        return ask()
    except HiveDruidError as error:
        return Answer(None, error.message, refused=type(error) is DruidError)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong belongs into the report
        return Answer(None, f"{type(error).__name__}: {str(error)[:300]}")


def _identity(table: Table) -> str:
    """The identity of the rows of a table: everything except the type of `__time`, which is the same in Druid."""
    columns = ", ".join(f"{c.field_name} {c.type}" for c in table.columns if c.name != TIME_COLUMN)
    return f"{table.name} {table.kind} {table.data_source} ({columns})"


def _task(rows: Rows) -> dict[str, Any]:
    columns = {column.field_name: column for column in rows.table.columns}  # two names may refer to one field
    task: dict[str, Any] = index_parallel_spec(replace(rows.table, columns=tuple(columns.values())), {}, "nothing")
    task["spec"]["ioConfig"]["inputSource"]["baseDir"] = str(rows.json)
    return task


def in_utc(rows: Iterable[Sequence[Any]]) -> Table_:
    """Rows with instants in UTC: in Python, a time in a repeated hour never equals a time of another zone."""
    return [tuple([v.astimezone(UTC) if isinstance(v, datetime) and v.tzinfo else v for v in row]) for row in rows]


# --- what a query leaves undetermined ----------------------------------------------------------------------------


def _limit(node: Node) -> nodes.Sort | None:
    """The LIMIT of the whole query."""
    while isinstance(node, nodes.Project):
        node = node.input
    return node if isinstance(node, nodes.Sort) and (node.fetch is not None or node.offset) else None


def _without(node: Node, limit: nodes.Sort) -> Node:
    if node is limit:
        return replace(limit, fetch=None, offset=0)
    return node.with_inputs(tuple(_without(i, limit) for i in node.inputs))


def _shown_keys(node: Node) -> tuple[int, ...]:
    """The positions of the query's ORDER BY keys in the result, up to the first that is not in it."""
    places: list[str | None] = [c.id for c in node.columns]
    while isinstance(node, nodes.Project):
        by_id = {c.id: e for c, e in zip(node.columns, node.exprs, strict=True)}
        rexes = [by_id.get(place) if place else None for place in places]
        places = [rex.id if isinstance(rex, Ref) else None for rex in rexes]
        node = node.input
    shown: list[int] = []
    for key in node.keys if isinstance(node, nodes.Sort) else ():
        if not isinstance(key.rex, Ref) or key.rex.id not in places:
            break
        shown.append(places.index(key.rex.id))
    return tuple(shown)
