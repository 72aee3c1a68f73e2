"""The results of a query: pushed down to the embedded store and a Druid cluster, and on Spark over the raw rows with
nothing pushed down.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.database import open_database
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import HiveType
from hivedruid.druid.ingestion import index_parallel_spec
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.plan.decode import decode_rows
from hivedruid.plan.physical import DruidInput, DruidRead
from hivedruid.plan.rules import RULES, SCANS
from hivedruid.plan.split import QueryPlan, constant_rows, druid_read, spark_job
from hivedruid.spark import session
from hivedruid.spark.jobs import SparkRunner
from tests.equivalence.comparison import Rows
from tests.equivalence.local import answered, in_utc
from tests.equivalence.real import RealDruid
from tests.equivalence.tables import ZONES, RandomTable, World, documents
from tests.equivalence.tiered import TieredTables
from tests.support.loads import ingest
from tests.support.planning import plan
from tests.support.reference import Confirmed, Reference
from tests.support.spark_settings import FEW_ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    **FEW_ROWS,
    "hivedruid.spark.idle.timeout": "P1D",  # the session is also used between jobs, for the whole run
}


@dataclass(frozen=True)
class Answers:
    """A query's results, and their plans; `local` are those of local evaluation, if it is supported, and `tiered` those
    over tiered tables, if the world has them.
    """

    sql: str
    pushed: Rows
    expected: Rows
    local: tuple[Rows, ...]
    tiered: tuple[Rows, ...]
    plan: QueryPlan
    unpushed: QueryPlan

    @property
    def types(self) -> list[HiveType]:
        return [column.type for column in self.plan.columns]

    @property
    def is_fully_pushed(self) -> bool:
        return druid_read(self.plan) is not None or constant_rows(self.plan) is not None


class Engine:
    """One store, one Druid cluster and one Spark session for all worlds; `load` selects the current one."""

    def __init__(self, home: Path, real: RealDruid, confirmed: Confirmed) -> None:
        self.home = home
        self.real = real
        self.store = EmbeddedStore(home, open_database(home))
        self.settings = SETTINGS
        self.runner = SparkRunner(home, self.settings, lambda: self.store, lambda _: None, lambda _: None)
        self.reference = Reference(self._spark, confirmed)
        self.world: World | None = None
        self.tables: tuple[Table, ...] = ()
        self.sql = ""
        self._plans: dict[tuple[str, bool], QueryPlan] = {}
        self._answers: dict[str, Answers] = {}
        self._rows: dict[str, Rows] = {}
        self.evaluated = 0
        self.not_evaluated = 0
        self.tiered = TieredTables(home / "tiered", self.settings)

    def close(self) -> None:
        self.tiered.close()
        self.store.close()

    def prepare(self, worlds: Iterable[World]) -> None:
        """Ingest worlds into the cluster: many at once are faster than one by one."""
        randoms = [random for world in worlds for random in world.tables]
        self.real.ingest([self._task(random) for random in randoms if random.rows])

    def forget(self, worlds: Iterable[World]) -> None:
        """Drop worlds from the cluster."""
        self.real.drop([_stored(random).data_source for world in worlds for random in world.tables])

    def load(self, world: World) -> None:
        """Ingest the world's rows, and make the same rows available to Spark."""
        self.prepare([world])
        tables = tuple(_stored(random) for random in world.tables)
        of = self.world
        if of is not None and (world.zone, world.split, tables) == (of.zone, of.split, self.tables):
            return
        if world.split is not None:
            self.tiered.load(world)
        self._plans.clear()
        self._answers.clear()
        there = self.store.data_sources()
        for random, table in zip(world.tables, tables, strict=True):
            if random.rows and table.data_source not in there:
                ingest(self.store, self._task(random))
            if table not in self.tables:
                self.reference.load(random.table, random.rows)
        self.world = world
        self.tables = tables

    def _spark(self) -> SparkSession:
        """Tests of other modules that run in between may kill or replace Spark's server."""
        return session.session(self.settings, self.home)

    def _task(self, random: RandomTable) -> dict[str, Any]:
        """The task that ingests a table, its rows staged."""
        table = _stored(random)
        staging = self.home / "staging" / table.data_source
        if not staging.exists():
            staging.mkdir(parents=True)
            (staging / "rows.json.gz").write_bytes(gzip.compress(documents(random).encode(), 1))
        task: dict[str, Any] = index_parallel_spec(table, {}, "nothing")
        task["spec"]["ioConfig"]["inputSource"]["baseDir"] = str(staging)
        return task

    # --- results -----------------------------------------------------------------------------------------------

    def plan(self, sql: str, *, pushed: bool = True) -> QueryPlan:
        assert self.world is not None
        self.sql = sql
        if (sql, pushed) not in self._plans:
            rows = known_rows(self.world)
            made = plan(sql, self.world.zone, rules=RULES if pushed else (), tables=self.tables, rows=rows)
            self._plans[sql, pushed] = made
        return self._plans[sql, pushed]

    def answers(self, sql: str, *, ordered: bool) -> Answers:
        """All results. A query that was run before in this world is not repeated, unless Druid's rows differed: to
        shrink a difference, every run must show it.
        """
        if sql in self._answers:
            return self._answers[sql]
        before = len(self.real.differences)
        bare, made = self.plan(sql, pushed=False), self.plan(sql)
        tiered = (self.tiered.rows(sql),) if self.world is not None and self.world.split is not None else ()
        pushed = self.pushed(made)
        expected = self.expected(bare, pushed, ordered=ordered)
        found = Answers(sql, pushed, expected, self.local(sql, made), tiered, made, bare)
        if len(self.real.differences) == before:
            self._answers[sql] = found
        return found

    def local(self, sql: str, made: QueryPlan) -> tuple[Rows, ...]:
        """The results of local evaluation: for the part of the pushed-down plan outside Druid, and for the whole query
        over plain scans.
        """
        residual = druid_read(made) is None and constant_rows(made) is None
        plans = [*([made] if residual else []), self.scans(sql)]
        found = [rows for plan in plans if (rows := answered(plan, self.stored)) is not None]
        self.evaluated += len(found)
        self.not_evaluated += len(plans) - len(found)
        return tuple(found)

    def scans(self, sql: str) -> QueryPlan:
        """The plan with scans only, whatever the statistics of the tables."""
        assert self.world is not None
        return plan(sql, self.world.zone, rules=SCANS, tables=self.tables)

    def pushed(self, made: QueryPlan) -> Rows:
        read = druid_read(made)
        if read is not None:
            return self.read(read)
        constant = constant_rows(made)
        if constant is not None:
            return list(constant)
        job = spark_job(made)
        for item in job.inputs:
            assert isinstance(item, DruidInput)
            self._stored_rows(item.read)
        return list(self.runner.rows(job))

    def _stored_rows(self, read: DruidRead) -> Rows:
        """The embedded store's rows, compared with the cluster's."""
        rows = self.stored(read)
        self.real.check(read, rows, self.sql)
        return rows

    def stored(self, read: DruidRead) -> Rows:
        """The embedded store's rows. A data source has one content, so that each native query runs once."""
        key = _text(read)
        if key not in self._rows:
            self._rows[key] = list(self.store.rows(read))
        return self._rows[key]

    def read(self, read: DruidRead) -> Rows:
        assert self.world is not None
        return in_utc(list(decode_rows(self._stored_rows(read), read.fields, self.world.zone)))

    def expected(self, bare: QueryPlan, found: Rows, *, ordered: bool) -> Rows:
        """Spark's rows over the raw rows; they are `found` itself if it is equal to them."""
        return self.reference.rows(spark_job(bare), found, [column.type for column in bare.columns], ordered=ordered)


def _text(read: DruidRead) -> str:
    """The native query, its fields and the query over nothing, as text."""
    nothing = None if read.over_nothing is None else _text(read.over_nothing)
    return json.dumps([read.query, [field.name for field in read.fields], nothing], sort_keys=True)


def known_rows(world: World) -> dict[str, int]:
    """The statistics of each table's number of rows, which determine where joins run. In one zone there are none."""
    return {} if world.zone == ZONES[-1] else {random.table.name: len(random.rows) for random in world.tables}


def _stored(random: RandomTable) -> Table:
    """The table with its own data source, named after its content: rows that have been ingested once are permanent."""
    columns = ", ".join(f"{column.name} {column.type}" for column in random.table.columns)
    digest = hashlib.sha256(f"{columns}\n{documents(random)}".encode()).hexdigest()
    name = f"equivalence_{os.getpid()}_{random.table.name}_{digest[:16]}"  # concurrent runs drop only their own data sources
    return replace(random.table, properties={**random.table.properties, "druid.datasource": name})


def queries_of(made: QueryPlan) -> Iterator[dict[str, Any]]:
    """The native queries of a plan."""
    read = druid_read(made)
    if read is not None:
        yield dict(read.query)
    elif constant_rows(made) is None:
        for item in spark_job(made).inputs:
            yield dict(item.read.query)  # type: ignore[union-attr]
