"""Read the facts about streams."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from hivedruid.actions.facts import Facts
from hivedruid.actions.reader import TableReader
from hivedruid.actions.streaming.facts import StreamFacts
from hivedruid.catalog.streams import StreamRecord, Streams
from hivedruid.catalog.table import Table
from hivedruid.errors import ConnectError, HiveDruidError, KafkaError, SemanticError
from hivedruid.parser import parse
from hivedruid.parser.statements import Query, Statement, TableName
from hivedruid.parser.statements import streaming as s
from hivedruid.parser.statements.watching import ShowProblems
from hivedruid.plan.topic_scans import TopicState
from hivedruid.script import SourceStatement
from hivedruid.streams import properties
from hivedruid.tables.rejects import rejects_name

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.iceberg.history import TableHistory


def gather_streams(
    statement: Statement, reader: TableReader, facts: Facts
) -> tuple[tuple[StreamRecord, ...], StreamFacts | None]:
    """All streams, and the one that the statement names. Reads the tables of its query, too."""
    streams = Streams(facts.catalog).all()
    if isinstance(statement, ShowProblems):
        for record in streams:
            with suppress(HiveDruidError):  # the problem is found when the query is planned
                reader.query(query_of(record), record.stream.current)
            _table(record.stream.source, reader)
            _table(record.stream.target, reader)
    if not isinstance(statement, s.StreamingStatement):
        return streams, None
    match statement:
        case s.CreateStream():
            return streams, _created(statement, reader, facts)
        case s.ChangeStream():
            with_topic = statement.verb in ("RUN", "WAIT") or (facts.plan_only and statement.verb == "START")
            return streams, _existing(statement.name, streams, reader, facts, with_topic=with_topic)
        case s.ResetStream():
            return streams, _reset(statement, streams, reader, facts)
        case s.AlterStream():
            existing = _existing(statement.name, streams, reader, facts, with_topic=statement.query is not None)
            if existing.record is not None:
                given = {item.key: item.value for item in statement.properties}
                _read_rejects(given, existing.record.stream.database, None, reader)
            if statement.query is not None and existing.record is not None:
                reader.query(statement.query, facts.database)
                existing = replace(existing, query=statement.query)
            return streams, existing
        case s.DropStream() | s.CheckpointStream() | s.RollbackStream() | s.ShowBatches() | s.ShowCheckpoints():
            return streams, _existing(statement.name, streams, reader, facts)
        case s.DescribeStream():
            return streams, _existing(statement.name, streams, reader, facts, with_topic=True)
        case s.ShowStreams():
            return streams, None
        case _:
            assert_never(statement)


def _created(statement: s.CreateStream, reader: TableReader, facts: Facts) -> StreamFacts:
    name = statement.from_table
    table = reader.tables.get(((name.database or facts.database).lower(), name.name))
    given = {item.key: item.value for item in statement.properties}
    start = properties.value(given, "start")
    _read_rejects(given, statement.name.database or facts.database, table, reader)
    topic = _topic(table, _moments(start, facts), facts) if table is not None and table.has_topic else None
    return StreamFacts(topic=topic)


def _existing(
    name: TableName,
    streams: tuple[StreamRecord, ...],
    reader: TableReader,
    facts: Facts,
    *,
    with_topic: bool = False,
    moments: tuple[int, ...] = (),
) -> StreamFacts:
    key = ((name.database or facts.database).lower(), name.name)
    record = next((each for each in streams if (each.stream.database, each.stream.name) == key), None)
    if record is None:
        return StreamFacts()
    query = query_of(record)
    reader.query(query, record.stream.current)
    source, target = _table(record.stream.source, reader), _table(record.stream.target, reader)
    _read_rejects(record.stream.properties, record.stream.database, source, reader)
    history, problem = _history(target, facts)
    topic = _topic(source, moments, facts) if with_topic and source is not None else None
    return StreamFacts(record, query, history, topic, problem)


def _reset(
    statement: s.ResetStream, streams: tuple[StreamRecord, ...], reader: TableReader, facts: Facts
) -> StreamFacts:
    text = statement.target.timestamp
    moments = _moments(text, facts) if text is not None else ()
    return _existing(statement.name, streams, reader, facts, with_topic=True, moments=moments)


def query_of(record: StreamRecord) -> exp.Expression:
    parsed = parse(SourceStatement(record.stream.query))
    assert isinstance(parsed, Query)
    return parsed.expression


def _table(full_name: str, reader: TableReader) -> Table | None:
    database, _, name = full_name.partition(".")
    reader.table(database, name, rows=False)
    return reader.tables.get((database, name))


def _read_rejects(given: Mapping[str, str], database: str, source: Table | None, reader: TableReader) -> None:
    """Read the rejects table of a stream with these properties, or that of its Kafka table."""
    name = properties.value(given, properties.REJECTS).lower()
    if name and properties.PROPERTIES[properties.REJECTS].is_valid(name):
        _table(name if "." in name else f"{database.lower()}.{name}", reader)
    elif source is not None and (own := rejects_name(source)) is not None:
        _table(".".join(own), reader)


def _history(target: Table | None, facts: Facts) -> tuple[TableHistory | None, str]:
    if target is None:
        return None, "the table does not exist"
    try:
        return facts.spark().iceberg_history(target), ""
    except (OSError, ValueError) as error:
        return None, str(error)


def _topic(table: Table, moments: tuple[int, ...], facts: Facts) -> TopicState:
    """The topic's offsets now. EXPLAIN works without Kafka."""
    from hivedruid.clients.topics import topic_state

    try:
        return topic_state(table, moments)
    except (ConnectError, KafkaError) as error:
        if not facts.plan_only:
            raise
        return TopicState(table.properties["kafka.topic"], problem=error.message)


def _moments(start: str, facts: Facts) -> tuple[int, ...]:
    """The time of a timestamp, which is a wall clock in the session's zone, in milliseconds; () for another text."""
    if not start[:1].isdigit() or ":" in start.partition(" ")[0]:
        return ()
    from datetime import UTC

    from hivedruid.plan.literals import from_local, parse_timestamp, zone_of

    local = parse_timestamp(start)
    if local is None:
        raise SemanticError(f"'{start}' is not a valid timestamp", hint="use 'yyyy-MM-dd HH:mm:ss'")
    return (int(from_local(local, zone_of(facts.settings["hive.local.time.zone"]) or UTC).timestamp() * 1000),)
