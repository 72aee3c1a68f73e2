"""CREATE STREAM and ALTER STREAM: the definition of a stream. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivedruid.actions.ddl.model import AddTable
from hivedruid.actions.lookup import database_of, find_table, refuse_if_materialized
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.streaming.batch import (
    batch,
    check_query,
    columns_by_query,
    note_conversions,
    planned,
    with_source,
)
from hivedruid.actions.streaming.facts import StreamFacts
from hivedruid.actions.streaming.lookup import check_offsets, find_stream, table_of, with_plan
from hivedruid.actions.streaming.malformed import check_handling, handling_text, with_handling
from hivedruid.actions.streaming.model import AddStream, AlterDefinition
from hivedruid.catalog.properties import COMPACTION_AUTO
from hivedruid.catalog.streams import Position, Stream, StreamRecord
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import SemanticError, UnsupportedError, did_you_mean
from hivedruid.parser.statements import streaming as s
from hivedruid.parser.statements.ddl import CreateTable, Property
from hivedruid.plan import nodes
from hivedruid.plan.topic_scans import TopicState
from hivedruid.secrets import is_kept, masked
from hivedruid.settings import AT_START, Settings
from hivedruid.streams import properties
from hivedruid.tables import definition

if TYPE_CHECKING:
    from sqlglot import exp


def create(statement: s.CreateStream, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    database = database_of(statement.name, snapshot)
    name = statement.name.name
    if any((each.stream.database, each.stream.name) == (database, name) for each in snapshot.streams):
        if statement.if_not_exists:
            return StatementPlan(())
        raise SemanticError(
            f"Stream {database}.{name} already exists",
            span=statement.name.span,
            hint="use IF NOT EXISTS to keep it, or DROP STREAM",
        )
    given = _properties(statement)
    source = find_table(statement.from_table, snapshot)
    if not source.has_topic:
        raise SemanticError(
            f"a stream reads a Kafka table, and {source.full_name} is not one",
            span=statement.from_table.span,
            hint="CREATE EXTERNAL TABLE … STORED BY 'kafka' makes one over a topic",
        )
    query, builder = check_query(statement.source, statement.query, source, snapshot, note)
    target, added = _target(statement, query, snapshot)
    facts = snapshot.stream
    assert facts is not None
    assert facts.topic is not None
    first = _first(properties.value(given, "start"), facts.topic, statement)
    made = hashlib.sha256(f"{snapshot.fresh_id}{database}.{name}".encode()).hexdigest()[:16]
    stream = Stream(
        made, database, name, source.full_name, target.full_name, statement.text, snapshot.database, given,
        _settings(snapshot.settings), columns=columns_by_query(statement.query, query, target, builder),
    )  # fmt: skip
    check_handling(stream, source, snapshot, _by_key(statement))
    handled = with_handling(source, stream)
    add = AddStream(
        stream, target, Position(0, first, facts.topic.topic_id), handled, handling_text(handled, snapshot), bool(added)
    )
    record = StreamRecord(stream, "stopped", add.position)
    shown = StreamFacts(record, statement.query, None, facts.topic)
    known = replace(snapshot, tables={**snapshot.tables, (target.database, target.name): target})
    _check_rows(statement, statement.query, target, stream, known)
    if note is not None:
        note_conversions(statement.query, query, target, stream.columns, builder, note)
    plan, append = batch(shown, known, limit=None)
    first_batch = (append,) if append is not None and snapshot.plan_only else ()
    return with_plan((*added, add, *first_batch), plan, snapshot)


def _check_rows(
    statement: s.CreateStream | s.AlterStream, query: exp.Expression, target: Table, stream: Stream, snapshot: Snapshot
) -> None:
    """Raise SemanticError if the rows of the query do not fit the target, even if there is no record yet."""
    source = table_of(stream.source, snapshot)
    topic = snapshot.stream.topic if snapshot.stream is not None else None
    known = with_source(source, topic or TopicState(source.properties["kafka.topic"]), snapshot)
    planned(statement.source, query, target, known, stream.columns)


def _by_key(statement: s.CreateStream | s.AlterStream) -> dict[str, Property]:
    return {item.key: item for item in statement.properties}


def _properties(statement: s.CreateStream | s.AlterStream) -> dict[str, str]:
    given: dict[str, str] = {}
    for item in statement.properties:
        known = properties.PROPERTIES.get(item.key)
        if known is None:
            raise _unknown_property(item)
        if not known.is_valid(item.value):
            raise SemanticError(f"'{item.value}' is not a valid {item.key}: use {known.expects}", span=item.value_span)
        given[item.key] = item.value
    return given


def _settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings that the stream runs with: those that differ from the defaults. Of secrets there are references to
    variables and files, which the manager can read, and none to the memory of this session. The manager has its own
    address of the catalog."""
    defaults = Settings()
    changed = {key: value for key, value in settings.items() if defaults.get(key) != value and key not in AT_START}
    return {key: value for key, value in changed.items() if masked(key, value) == value and not is_kept(value)}


def _target(statement: s.CreateStream, query: nodes.Node, snapshot: Snapshot) -> tuple[Table, tuple[Action, ...]]:
    """The table that the stream writes to, and how it is made if it does not exist."""
    name = statement.into
    existing = snapshot.table(name.database, name.name)
    if existing is not None:
        refuse_if_materialized(existing, "insert into", name.span)
        if not existing.has_snapshots:
            raise UnsupportedError(
                f"a stream writes to a managed table, and {existing.full_name} is not one",
                span=name.span,
                hint="name a table that does not exist: CREATE STREAM makes it",
            )
        return existing, ()
    columns = tuple(Column(column.name, column.type) for column in query.columns)
    database = database_of(name, snapshot)
    make = CreateTable(statement.source, name)
    table = definition.define_table(make, database, snapshot.settings, snapshot.discovered, columns)
    table = replace(
        table,
        properties={**table.properties, COMPACTION_AUTO: "true"},
        table_id=hashlib.sha256(f"{snapshot.fresh_id}{table.full_name}".encode()).hexdigest()[:32],
    )
    return table, (AddTable(table),)


def _first(start: str, topic: TopicState, statement: s.CreateStream) -> dict[int, int]:
    """The offsets at which a stream begins."""
    if topic.problem:
        return {}
    if start.lower() in ("earliest", "latest"):
        return dict(topic.earliest if start.lower() == "earliest" else topic.latest)
    if topic.starts:
        return dict(next(iter(topic.starts.values())))
    pairs = (pair.split(":") for pair in start.split(","))
    offsets = {int(partition): int(offset) for partition, offset in pairs}
    span = next(item.value_span for item in statement.properties if item.key == "start")
    check_offsets(offsets, topic, span)
    return {**topic.earliest, **offsets}


def alter(statement: s.AlterStream, snapshot: Snapshot, note: Note | None) -> StatementPlan:
    """Another query, or other properties. Nothing is done if the stream has them already."""
    facts, record = find_stream(statement.name, snapshot)
    stream = record.stream
    changes = _altered_query(statement, stream, snapshot, note) | _altered_properties(statement, stream)
    if "properties" in changes:
        source = table_of(stream.source, snapshot)
        check_handling(replace(stream, **changes), source, snapshot, _by_key(statement))
    if all(getattr(stream, name) == value for name, value in changes.items()):
        return StatementPlan(())
    altered = replace(stream, version=stream.version + 1, **changes)
    plan = None
    if snapshot.plan_only and facts.topic is not None:
        plan, _ = batch(replace(facts, record=replace(record, stream=altered)), snapshot, limit=None)
    shown = {key: value for key, value in changes.items() if key == "query"}
    shown |= {item.key: item.value for item in statement.properties}
    shown |= {item.key: properties.PROPERTIES[item.key].default for item in statement.removed}
    return with_plan((AlterDefinition(altered, shown),), plan, snapshot)


def _altered_query(statement: s.AlterStream, stream: Stream, snapshot: Snapshot, note: Note | None) -> dict[str, Any]:
    if statement.query is None:
        return {}
    source, target = table_of(stream.source, snapshot), table_of(stream.target, snapshot)
    query, builder = check_query(statement.source, statement.query, source, snapshot, note)
    columns = columns_by_query(statement.query, query, target, builder)
    _check_rows(statement, statement.query, target, replace(stream, columns=columns), snapshot)
    if note is not None:
        note_conversions(statement.query, query, target, columns, builder, note)
    return {"query": statement.text, "current": snapshot.database, "columns": columns}


def _altered_properties(statement: s.AlterStream, stream: Stream) -> dict[str, Any]:
    given = _properties(statement)
    for item in (*statement.properties, *statement.removed):
        if item.key == "start":
            raise SemanticError(
                "'start' was decided when the stream was created",
                span=item.key_span,
                hint=f"RESET STREAM {stream.full_name} TO … moves the offsets",
            )
        if item.key not in properties.PROPERTIES:
            raise _unknown_property(item)
    kept = {**stream.properties, **given}
    removed = {item.key for item in statement.removed}
    return {"properties": {key: value for key, value in kept.items() if key not in removed}} if given or removed else {}


def _unknown_property(item: Property) -> SemanticError:
    return SemanticError(
        f"unknown property '{item.key}' of a stream",
        span=item.key_span,
        hint=did_you_mean(item.key, properties.PROPERTIES) or f"the properties are {', '.join(properties.PROPERTIES)}",
    )
