"""Read from outside, once, what building a statement's actions needs to know."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.actions.build import ABOUT_JOBS, REMOVING, WRITING
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.names import with_field_names
from hivedruid.catalog.properties import is_fed
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table
from hivedruid.druid.engine import NO_LIMITS, DruidEngine
from hivedruid.errors import ConnectError
from hivedruid.parser.statements import Explain, Query, Statement, TableName

if TYPE_CHECKING:
    from hivedruid.catalog.materialized_views import SourceState, ViewFacts
    from hivedruid.catalog.statistics import Statistics
    from hivedruid.ingestion.lifecycle import IngestionFacts
    from hivedruid.jobs.job import KnownJob
    from hivedruid.parser.statements.ddl import CreateTable


_MAY_CHANGE_INGESTION = frozenset(
    (
        "CreateTable",
        "SetTableProperties",
        "UnsetTableProperties",
        "AddColumns",
        "DropTable",
        "DropDatabase",
        "TruncateTable",
        "AlterIngestion",
    )
)
"""Statements by name, so that the others load nothing of it."""


@dataclass
class Facts:
    """Where facts come from: the catalog, Druid, the session.

    With `plan_only` nothing will be executed: where Druid cannot be reached, the catalog has to do. `with_figures`: the
    statistics of every table are wanted, not only where they choose between plans.
    """

    catalog: Catalog
    druid: Callable[[], DruidEngine]
    settings: Mapping[str, str]
    now: datetime
    database: str
    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    plan_only: bool = False
    with_figures: bool = False


def gather(statement: Statement, facts: Facts) -> Snapshot:
    """A snapshot with every table the statement names, views seen through."""
    if isinstance(statement, Explain):
        figures = statement.mode == "extended"
        return gather(statement.statement, replace(facts, plan_only=True, with_figures=figures))
    tables: dict[tuple[str, str], Table] = {}
    reader = _Reader(facts, tables)
    if isinstance(statement, Query):
        reader.query(statement.expression, facts.database)
    else:
        reader.statement(statement)
    databases = facts.catalog.databases()
    ingestions: Mapping[tuple[str, str], IngestionFacts] = {}
    if type(statement).__name__ in _MAY_CHANGE_INGESTION:
        from hivedruid.actions.gather_ingestion import gather_ingestions

        ingestions = gather_ingestions(statement, tables, reader.all_tables, facts)
    elif getattr(statement, "mode", "plain") != "plain" and type(statement).__name__ == "DescribeTable":
        from hivedruid.actions.describe_ingestion import gather_runtime

        ingestions, reader.unreachable = gather_runtime(tables, facts)
    views, states = reader.materialized(statement)
    statistics: Statistics = {}
    if reader.mentions > 1 or (reader.mentions and facts.with_figures):
        from hivedruid.actions.gather_statistics import gather_statistics

        statistics = gather_statistics(tables.values(), facts, reachable=reader.unreachable is None)
    return Snapshot(
        facts.settings, facts.now, facts.database, databases, tables,
        discovered=reader.discovered, all_tables=tuple(reader.all_tables),
        database_comments=reader.comments, variables=facts.variables,
        limits=reader.limits, absent=tuple(reader.absent), unreachable=reader.unreachable,
        ingestions=ingestions, fresh_id=os.urandom(8).hex(),
        statistics=statistics, materialized_views=views, source_states=states, jobs=_jobs(statement, facts),
    )  # fmt: skip


def _jobs(statement: Statement, facts: Facts) -> tuple[KnownJob, ...]:
    listing = type(statement).__name__ in ABOUT_JOBS
    if not listing and type(statement).__name__ not in WRITING | REMOVING:
        return ()
    if not facts.catalog.connection.execute("SELECT 1 FROM jobs WHERE ended = 0 OR ?", (listing,)).fetchone():
        return ()
    from hivedruid.actions.gather_jobs import gather_jobs

    return gather_jobs(facts.catalog, facts.home, facts.settings, every=listing)


class _Reader:
    def __init__(self, facts: Facts, tables: dict[tuple[str, str], Table]) -> None:
        self.facts = facts
        self.tables = tables
        self.discovered: dict[str, Mapping[str, str]] = {}
        self.all_tables: list[Table] = []
        self.comments: dict[str, str] = {}
        self.named: set[tuple[str, str]] = set()
        self.resolved: set[tuple[str, str]] = set()
        self.limits = NO_LIMITS
        self.absent: list[str] = []
        self.unreachable: str | None = None
        self.mentions = 0
        """How often queries name a table to read."""

    def query(self, e: exp.Expr, database: str) -> None:
        for node in e.find_all(exp.Table):
            self.mentions += 1
            self.table((node.db or database).lower(), node.name.lower(), rows=True)

    def table(self, database: str, name: str, *, rows: bool) -> None:
        """One table; a view brings what it reads.

        With `rows` it is read or written, and its columns get the data source's own spelling of its fields. DDL must
        not ask for that: it repairs tables whose fields cannot be told apart.
        """
        key = (database, name)
        if key in self.named and (not rows or key in self.resolved):
            return
        table = self.facts.catalog.find(database, name)
        self.named.add(key)
        if table is None:
            self._neighbours(database)
            return
        if table.kind == "druid" and rows:
            table = with_field_names(table, self._fields(table.data_source))
            self.resolved.add(key)
        self.tables[key] = table
        if table.kind == "view" and table.view_text:
            from hivedruid.parser import parse
            from hivedruid.script import SourceStatement

            view = parse(SourceStatement(table.view_text))
            if isinstance(view, Query):
                self.query(view.expression, table.database)

    def _fields(self, data_source: str) -> Mapping[str, str]:
        """The fields of a data source that is read or written, and on the way the limits of its Druid."""
        schema = self._schema(data_source, needed=not self.facts.plan_only)
        if self.unreachable is None:
            self.limits = self.facts.druid().limits()
            if not schema:
                self.absent.append(data_source)
        return schema

    def _schema(self, data_source: str, *, needed: bool) -> Mapping[str, str]:
        """Empty where Druid has no such data source, or where it cannot be asked and is not needed."""
        if self.unreachable is not None:
            return {}
        try:
            return self.facts.druid().schema(data_source)
        except ConnectError as error:
            if needed:
                raise
            self.unreachable = error.message
            return {}

    def materialized(self, statement: Statement) -> tuple[tuple[ViewFacts, ...], Mapping[str, SourceState]]:
        """The materialized views that matter to a statement, and the state of what a new build of one reads."""
        builds = type(statement).__name__ in ("CreateMaterializedView", "AlterMaterializedView")
        if not builds and not self.facts.catalog.connection.execute("SELECT 1 FROM materialized_views").fetchone():
            return (), {}
        from hivedruid.actions.gather_materialized import gather_states, gather_views

        views = gather_views(statement, self, self.facts)
        return views, gather_states(statement, self, self.facts) if builds else {}

    def _neighbours(self, database: str) -> None:
        """The other tables there, so that an error can say which one was meant."""
        if not any(t.database == database for t in self.all_tables):
            self.all_tables += self.facts.catalog.tables(database)

    def statement(self, statement: Statement) -> None:
        """The tables of DDL, DML and utility statements, found by the types of their fields."""
        from hivedruid.parser.statements import utility as u
        from hivedruid.parser.statements.ddl import CreateTable, DropDatabase
        from hivedruid.parser.statements.dml import Insert

        for item in fields(statement):
            self._part(getattr(statement, item.name))
        if isinstance(statement, Insert):
            for target in statement.targets:
                self.table((target.table.database or self.facts.database).lower(), target.table.name.lower(), rows=True)
                self._part(target.query)
        if type(statement).__name__ == "CreateMaterializedView":
            statement = statement.table  # type: ignore[attr-defined]
        if isinstance(statement, CreateTable) and "DruidStorageHandler" in (statement.storage_handler or ""):
            self._discover(statement)
        if isinstance(statement, u.AnalyzeTable):
            name = statement.name
            self.table((name.database or self.facts.database).lower(), name.name.lower(), rows=True)
        if isinstance(statement, u.ShowNames | u.DescribeDatabase):
            self._listing(statement)
        if isinstance(statement, DropDatabase):
            self._neighbours(statement.name)

    def _part(self, value: object) -> None:
        if isinstance(value, TableName):
            self.table((value.database or self.facts.database).lower(), value.name.lower(), rows=False)
        elif isinstance(value, exp.Expr):
            self.query(value, self.facts.database)

    def _discover(self, statement: CreateTable) -> None:
        """The data sources that the new table may name: its own, and one that is there already."""
        names = {f"{statement.name.database or self.facts.database}.{statement.name.name}"}
        properties = {item.key: item.value for item in statement.properties}
        names |= {properties["druid.datasource"]} if "druid.datasource" in properties else set()
        checked = statement.query is not None or is_fed(properties) or not statement.columns
        for name in sorted(names):
            schema = self._schema(name, needed=checked and not self.facts.plan_only)
            if schema:
                self.discovered[name] = schema

    def _listing(self, statement: object) -> None:
        self._neighbours(getattr(statement, "database", None) or self.facts.database)
        for name in self.facts.catalog.databases():
            self.comments[name] = self.facts.catalog.database_comment(name) or ""
