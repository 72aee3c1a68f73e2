"""All streams with what their tables and topics are now, for SHOW PROBLEMS, `hivedruid top` and the metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.streaming import manager
from hivedruid.actions.streaming.malformed import with_handling
from hivedruid.catalog.properties import consumer_properties
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.streams import Position, StreamRecord, Streams
from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError, HiveDruidError, KafkaError, SemanticError
from hivedruid.ingestion.feed import Feed
from hivedruid.ingestion.model import TopicOffsets
from hivedruid.ingestion.overview import Unreachable
from hivedruid.ingestion.repairs import sql_name
from hivedruid.plan.topic_scans import TopicState
from hivedruid.script import SourceStatement
from hivedruid.streams.overview import StreamOverview, WatchedStream
from hivedruid.streams.position import batches, committed
from hivedruid.tables.rejects import rejects_name

if TYPE_CHECKING:
    from hivedruid.iceberg.history import TableHistory

Answer = Mapping[Feed, tuple[TopicOffsets, ...] | KafkaError] | Unreachable
"""The offsets of the topics of one Kafka, or why it does not respond."""


def known_streams(catalog: Catalog) -> tuple[WatchedStream, ...]:
    """The streams as the catalog has them, without a look at their tables."""

    streams = Streams(catalog)

    def known(record: StreamRecord) -> WatchedStream:
        source = streams.source(record.stream)
        feed = _feed(source) if source is not None and source.has_topic else None
        return WatchedStream(record, record.position, feed=feed)

    return tuple(map(known, streams.all()))


def watched(snapshot: Snapshot) -> tuple[WatchedStream, ...]:
    """The streams with their positions, and whether the rows of their queries fit their tables. Pure."""
    return tuple(_watched(record, snapshot) for record in snapshot.streams)


def _watched(record: StreamRecord, snapshot: Snapshot) -> WatchedStream:
    source, target = (_table(name, snapshot) for name in (record.stream.source, record.stream.target))
    history = snapshot.histories.get((target.database, target.name)) if target is not None else None
    one = _positioned(record, history)
    if source is None or not source.has_topic:
        return one
    rejects = rejects_name(with_handling(source, record.stream))
    one = replace(one, feed=_feed(source), rejects=".".join(rejects) if rejects is not None else "")
    try:
        _check_columns(record, source, target, snapshot, history)
    except HiveDruidError as error:
        missing = _missing(record, source, target, snapshot)
        return replace(one, misfit=error.message, missing=missing, advice=error.hint or "")
    return one


def _table(full_name: str, snapshot: Snapshot) -> Table | None:
    database, _, name = full_name.partition(".")
    return snapshot.tables.get((database, name))


def _positioned(record: StreamRecord, history: TableHistory | None) -> WatchedStream:
    """Without snapshots, the catalog's copy counts: those of another Iceberg catalog are not read."""
    if history is None:
        return WatchedStream(record, record.position)
    try:
        return WatchedStream(record, committed(history, record))
    except ExecutionError as error:
        newest = next((position for _, position in batches(history, record.stream.id)), None)
        back = newest.batch if newest is not None else None
        return WatchedStream(record, _known(newest, record), error.message, back)


def _known(newest: Position | None, record: StreamRecord) -> Position:
    return newest if newest is not None else record.position


def _feed(source: Table) -> Feed:
    properties = consumer_properties(source.properties)
    return Feed(
        source.properties["kafka.bootstrap.servers"],
        tuple(sorted(properties.items())),
        source.properties["kafka.topic"],
    )


def _check_columns(
    record: StreamRecord, source: Table, target: Table | None, snapshot: Snapshot, history: TableHistory | None
) -> None:
    """Raise HiveDruidError if the rows of the query do not fit the table, as the next batch would."""
    from hivedruid.actions.streaming.batch import check_columns, planned
    from hivedruid.actions.streaming.gather import query_of

    if target is None:
        raise SemanticError(f"table {record.stream.target} does not exist")
    check_columns(history, target)
    known = _for_query(record, source, snapshot)
    planned(SourceStatement(record.stream.query), query_of(record), target, known, record.stream.columns)


def _missing(record: StreamRecord, source: Table, target: Table | None, snapshot: Snapshot) -> tuple[str, ...]:
    """The columns that the stream writes and the table does not have, with their types."""
    from hivedruid.actions.streaming.gather import query_of
    from hivedruid.plan.build import Builder

    known, names = _for_query(record, source, snapshot), record.stream.columns
    try:
        columns = Builder(SourceStatement(record.stream.query), known, None).whole(query_of(record)).columns
    except HiveDruidError:  # the Kafka table was altered
        return ()
    pairs = [(names[column.name], column.type) for column in columns if column.name in names]
    return tuple(
        f"{sql_name(name)} {type_}" for name, type_ in pairs if target is not None and target.column(name) is None
    )


def _for_query(record: StreamRecord, source: Table, snapshot: Snapshot) -> Snapshot:
    """Without the topic's offsets."""
    from hivedruid.actions.streaming.batch import with_source

    state = TopicState(source.properties["kafka.topic"])
    return with_source(source, state, replace(snapshot, database=record.stream.current))


# --- with what Kafka has now -------------------------------------------------------------------------------------


def overview(streams: Sequence[WatchedStream], home: Path, catalog: Catalog | None = None) -> StreamOverview:
    """The streams without the offsets of their topics."""
    return StreamOverview(datetime.now(UTC), tuple(streams), is_managed=manager.is_running(home, catalog))


def with_topics(seen: StreamOverview, patience: float | None = None) -> StreamOverview:
    """Add Kafka's offsets of the topics. Each Kafka cluster is queried once; one that does not respond within
    `patience` seconds counts as unreachable."""
    feeds = [one.feed for one in seen.streams if one.feed is not None]
    kafkas: dict[Any, list[Feed]] = {}
    for feed in feeds:
        kafkas.setdefault(feed.kafka, []).append(feed)
    answers = _asked(kafkas, patience)
    streams = tuple(_with_topic(one, answers) for one in seen.streams)
    away = tuple(
        replace(answer, evidence=f"read by {', '.join(one.name for one in seen.streams if _reads(one, kafka))}")
        for kafka, answer in answers.items()
        if isinstance(answer, Unreachable)
    )
    return replace(seen, now=datetime.now(UTC), streams=streams, unreachable=away)


def _reads(one: WatchedStream, kafka: Any) -> bool:
    return one.feed is not None and one.feed.kafka == kafka


def _asked(kafkas: Mapping[Any, Sequence[Feed]], patience: float | None) -> dict[Any, Answer]:
    """In one thread for each Kafka. One that does not respond is not awaited at the end of the process."""
    from hivedruid.clients.observe import ask_kafka

    answers: dict[Any, Answer] = {}

    def ask(kafka: Any) -> None:
        answers[kafka] = ask_kafka(kafkas[kafka])

    threads = [Thread(target=ask, args=(kafka,), daemon=True) for kafka in kafkas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patience)
    late = {
        kafka: Unreachable(f"Kafka at {kafka[0]}", f"Kafka at {kafka[0]} did not respond within {patience:g} s")
        for kafka in kafkas
        if patience is not None
    }
    return {**late, **answers}


def _with_topic(one: WatchedStream, answers: Mapping[Any, Answer]) -> WatchedStream:
    from hivedruid.clients.kafka import NoTopicError

    answer = answers.get(one.feed.kafka) if one.feed is not None else None
    if one.feed is None or answer is None or isinstance(answer, Unreachable):
        return one
    found = answer.get(one.feed)
    if isinstance(found, KafkaError):
        return replace(one, topic_problem=found.message, has_no_topic=isinstance(found, NoTopicError))
    return replace(one, offsets=found[0]) if found else one
