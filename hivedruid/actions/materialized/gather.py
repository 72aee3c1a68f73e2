"""Read the materialized views and the state of their sources."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from hivedruid.actions.facts import Facts
from hivedruid.actions.reader import TableReader
from hivedruid.catalog.materialized_views import REWRITING, Built, SourceState, ViewFacts, all_views
from hivedruid.catalog.store import Catalog, to_json
from hivedruid.catalog.table import Table
from hivedruid.engine.capabilities import SegmentLists
from hivedruid.engine.kinds import require
from hivedruid.errors import ConnectError, DruidError, ExecutionError
from hivedruid.iceberg.catalog import is_own
from hivedruid.parser.statements import Query, Statement
from hivedruid.parser.statements.ddl import CreateTable, DropDatabase, DropTable, RenameTable
from hivedruid.parser.statements.materialized import (
    AlterMaterializedView,
    CreateMaterializedView,
    DropMaterializedView,
    ShowMaterializedViews,
)
from hivedruid.parser.statements.utility import DescribeTable
from hivedruid.parser.statements.writing import Insert

if TYPE_CHECKING:
    from hivedruid.engine.engine import DruidEngine
    from hivedruid.spark.jobs import SparkRunner


def gather_views(statement: Statement, reader: TableReader, facts: Facts) -> tuple[ViewFacts, ...]:
    """The views relevant to a statement. The state of their sources, which costs requests, is read only if needed."""
    match statement:
        case Query() | Insert() | CreateTable():
            if isinstance(statement, CreateTable) and statement.query is None:
                return ()
            return _candidates(reader, facts)
        case DropTable() | DropDatabase() | RenameTable() | DropMaterializedView():
            return tuple(ViewFacts(table, built) for table, built in all_views(facts.catalog))
        case ShowMaterializedViews():
            return _listed(statement.database or facts.database, reader, facts)
        case AlterMaterializedView():
            for table in [t for t in reader.tables.values() if t.is_materialized]:
                read_definition(table, reader)
            return _named(reader, facts)
        case DescribeTable():
            return () if statement.mode == "plain" else _named(reader, facts)
        case _:
            return ()


def _listed(database: str, reader: TableReader, facts: Facts) -> tuple[ViewFacts, ...]:
    views = [pair for pair in all_views(facts.catalog) if pair[0].database == database]
    with suppress(ConnectError):
        for table, _ in views:
            read_definition(table, reader)
    return tuple(_with_states(views, reader, facts))


def _named(reader: TableReader, facts: Facts) -> tuple[ViewFacts, ...]:
    views = [pair for pair in all_views(facts.catalog) if (pair[0].database, pair[0].name) in reader.tables]
    return tuple(_with_states(views, reader, facts))


def _candidates(reader: TableReader, facts: Facts) -> tuple[ViewFacts, ...]:
    """The views whose tables the statement reads; the state of disabled views is not read."""
    if facts.settings.get(REWRITING, "true").lower() != "true":
        return ()
    hidden = {table.full_name for table in facts.catalog.temporary_tables()}
    views = [pair for pair in all_views(facts.catalog) if hidden.isdisjoint({pair[0].full_name, *pair[1].tables})]
    named = {f"{database}.{name}" for database, name in reader.tables}
    plain = _plain_views(facts.catalog, (name for _, built in views for name in built.tables))
    useful = [(table, built) for table, built in views if _shares(built, named, plain)]
    enabled = [(table, built) for table, built in useful if table.rewrite_enabled]
    for table, _ in enabled:
        read_definition(table, reader)
    disabled = (ViewFacts(table, built) for table, built in useful if not table.rewrite_enabled)
    return (*_with_states(enabled, reader, facts), *disabled)


def _shares(built: Built, named: set[str], plain: set[str]) -> bool:
    """Whether the statement reads a table of the view; without a root table it must read all of them."""
    tables = set(built.tables) - plain
    return bool(tables & named) if built.root is not None else bool(tables) and tables <= named


def _plain_views(catalog: Catalog, names: Iterable[str]) -> set[str]:
    found = set()
    for name in set(names):
        table = catalog.find(*name.split(".", 1))
        if table is not None and table.is_view:
            found.add(name)
    return found


def read_definition(table: Table, reader: TableReader) -> None:
    """Let the reader read the tables of a materialized view's query."""
    from hivedruid.parser import parse
    from hivedruid.parser.statements import Query
    from hivedruid.script import SourceStatement

    view = parse(SourceStatement(table.view_text or ""))
    if isinstance(view, Query):
        reader.query(view.expression, table.database)


def _with_states(views: list[tuple[Table, Built]], reader: TableReader, facts: Facts) -> Iterable[ViewFacts]:
    """Each state is read once."""
    known: dict[str, SourceState | None] = {}

    def state(table: Table) -> SourceState:
        found = known.get(table.full_name)
        if found is None:
            found = known[table.full_name] = state_of(table, facts)
        return found

    for table, built in views:
        if built.sources is None:
            yield ViewFacts(table, built, _states(built.tables, facts, state) if reader.unreachable is None else {})
            continue
        try:
            yield ViewFacts(table, built, _states(built.tables, facts, state), state(table))
        except ExecutionError as error:  # Druid, or an Iceberg catalog
            yield ViewFacts(table, built, problem=f"its sources cannot be queried: {error.message}")


def _states(names: Iterable[str], facts: Facts, state: object) -> Mapping[str, SourceState]:
    assert callable(state)
    tables = ((name, facts.catalog.find(*name.split(".", 1))) for name in names)
    return {name: state(table) for name, table in tables if table is not None}


def gather_states(statement: Statement, reader: TableReader, facts: Facts) -> Mapping[str, SourceState]:
    """The state of the sources of a statement that builds a view."""
    assert isinstance(statement, CreateMaterializedView | AlterMaterializedView)
    if isinstance(statement, AlterMaterializedView) and statement.what != "rebuild":
        return {}
    view = ((statement.name.database or facts.database).lower(), statement.name.name)
    if reader.unreachable is not None:
        return {}
    return source_states((table for key, table in reader.tables.items() if key != view), facts)


def source_states(tables: Iterable[Table], facts: Facts) -> dict[str, SourceState]:
    """The state, by name, of the tables that a view is built from. Raises ConnectError and DruidError."""
    stored = ((t.full_name, facts.catalog.find(t.database, t.name)) for t in tables)
    return {name: state_of(table, facts) for name, table in stored if table is not None}


def state_of(table: Table, facts: Facts) -> SourceState:
    """The current state of a table. Raises ConnectError and DruidError if Druid cannot be queried."""
    if table.has_snapshots and facts.plan_only and not is_own(facts.settings, table):
        return SourceState(
            _definition(table), unknown="is in an Iceberg catalog that EXPLAIN cannot query without Spark"
        )
    if table.has_partitions:
        return _partitions_state(table, facts)
    return own_state(table, facts.druid, facts.spark)


def _partitions_state(table: Table, facts: Facts) -> SourceState:
    """The partitions in the catalog, and the files at the LOCATION and in their other folders."""
    from hivedruid.catalog.partitions import Partitions

    definition, known = _definition(table), Partitions(facts.catalog).of(table)
    folders = [table, *(replace(table, location=each.location) for each in known if each.location is not None)]
    states = [_files_state(folder, definition) for folder in folders]
    unknown = next((state.unknown for state in states if state.unknown), "")
    lines = "\n".join((*map(str, known), *(state.token for state in states)))
    return SourceState(definition, token=f"partitions {sha256(lines.encode()).hexdigest()[:24]}", unknown=unknown)


def own_state(table: Table, druid: Callable[[], DruidEngine], spark: Callable[[], SparkRunner]) -> SourceState:
    """The current state of a table, without `Facts`: used for a view's own table after a build."""
    definition = _definition(table)
    if table.has_data_source:
        segments = require(druid(), SegmentLists).segments(table.data_source)
        return SourceState(
            definition,
            tuple((s.start, s.end, s.token) for s in segments if not s.is_growing),
            growing=tuple((s.start, s.end) for s in segments if s.is_growing),
        )
    if table.has_snapshots:
        return SourceState(definition, token=_iceberg_token(table, spark()))
    if table.kind == "files":
        return _files_state(table, definition)
    return SourceState(definition, unknown="" if table.is_view else "is not a table whose changes can be tracked")


def _definition(table: Table) -> str:
    """What changes when the table is another one, or altered."""
    return sha256(f"{table.table_id} {to_json(replace(table, rewrite_enabled=False))}".encode()).hexdigest()[:16]


def _iceberg_token(table: Table, spark: SparkRunner) -> str:
    """The current metadata file and its snapshot; empty before the first write."""
    try:
        state = spark.iceberg_state(table)
    except (OSError, ValueError) as error:
        raise DruidError(f"the state of {table.full_name} cannot be read: {error}") from error
    return "" if state is None else state.token


def _files_state(table: Table, definition: str) -> SourceState:
    """Names, sizes and times of the files at a LOCATION on this machine."""
    from hivedruid.filesystems import local_path
    from hivedruid.spark.paths import location_of

    path = local_path(location_of(table))
    if path is None:
        return SourceState(definition, unknown="stores its files on remote storage, where changes cannot be tracked")
    lines = []
    for folder, folders, names in os.walk(path) if path.is_dir() else [(str(path.parent), [], [path.name])]:
        folders[:] = sorted(name for name in folders if not name.startswith(("_", ".")))
        for name in sorted(names):
            try:
                found = os.stat(f"{folder}/{name}")  # noqa: PTH116
            except FileNotFoundError:
                continue
            lines.append(f"{folder}/{name} {found.st_size} {found.st_mtime_ns} {found.st_ino}")
    return SourceState(definition, token=f"{len(lines)} files {sha256(chr(10).join(lines).encode()).hexdigest()[:24]}")
