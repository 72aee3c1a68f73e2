"""SHOW STREAMS, SHOW BATCHES and DESCRIBE STREAM: rows from records, snapshots and offsets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from hivedruid.actions.ingesting.describe import offsets_text
from hivedruid.actions.streaming.facts import StreamFacts
from hivedruid.catalog.streams import StreamRecord
from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, TIMESTAMP_LTZ
from hivedruid.iceberg.history import TableHistory
from hivedruid.plan.topic_scans import TopicState
from hivedruid.results import ResultColumn
from hivedruid.secrets import masked_all
from hivedruid.streams import properties
from hivedruid.streams.overview import age, lag, moment, state
from hivedruid.streams.position import batches, checkpoints, start_of

STREAM_COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "stream": STRING, "source": STRING, "target": STRING, "state": STRING, "desired": STRING, "lag": BIGINT,
        "rows": BIGINT, "rows_per_second": DOUBLE, "last_batch": TIMESTAMP_LTZ, "newest_row_age": BIGINT,
        "restarts": INT, "rejects": BIGINT, "last_error": STRING,
    }.items()
)  # fmt: skip
BATCH_COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "batch": BIGINT, "committed": TIMESTAMP_LTZ, "records": BIGINT, "rows": BIGINT, "files": INT, "bytes": BIGINT,
        "offsets": STRING, "snapshot": BIGINT,
    }.items()
)  # fmt: skip
CHECKPOINT_COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "checkpoint": BIGINT, "committed": TIMESTAMP_LTZ, "offsets": STRING, "snapshot": BIGINT, "available": BOOLEAN,
    }.items()
)  # fmt: skip
DETAIL_COLUMNS = (ResultColumn("name", STRING), ResultColumn("value", STRING))


def stream_row(record: StreamRecord, behind: int | None, now: datetime) -> tuple[object, ...]:
    """A row of SHOW STREAMS; `behind` is the lag, None if Kafka did not respond."""
    stream, status = record.stream, record.status
    return (
        stream.full_name, stream.source, stream.target, state(record), record.desired, behind, status.rows,
        round(status.rows_per_second, 1), moment(status.batch_at), age(record, now), status.restarts, status.rejects,
        status.error or None,
    )  # fmt: skip


def batch_rows(history: TableHistory, stream_id: str) -> Iterator[tuple[object, ...]]:
    """Newest first. The number of records of the oldest known batch is not known, unless it is the first."""
    known = batches(history, stream_id)
    for number, (snapshot, position) in enumerate(known):
        before = known[number + 1][1].offsets if number + 1 < len(known) else None
        if position.batch == 0:
            before = position.offsets
        records = None if before is None else sum(position.offsets.values()) - sum(before.values())
        counts = [int(snapshot.summary.get(f"added-{name}", 0)) for name in ("records", "data-files", "files-size")]
        committed = datetime.fromtimestamp(snapshot.at / 1000, UTC)
        yield position.batch, committed, records, *counts, offsets_text(position.offsets), snapshot.id


def checkpoint_rows(history: TableHistory, record: StreamRecord) -> Iterator[tuple[object, ...]]:
    """Newest first. A checkpoint is not available if its tag or its snapshot is gone; its offsets remain known."""
    tagged = checkpoints(history, record.stream.id)
    known = {each.batch: each for each in record.checkpoints} | tagged
    for batch, position in sorted(known.items(), reverse=True):
        snapshot = history.snapshots.get(position.snapshot or 0)
        committed = datetime.fromtimestamp(snapshot.at / 1000, UTC) if snapshot is not None else None
        yield batch, committed, offsets_text(position.offsets), position.snapshot, batch in tagged


def described(facts: StreamFacts, record: StreamRecord) -> Iterator[tuple[str, str]]:
    """The rows of DESCRIBE STREAM."""
    stream, status = record.stream, record.status
    known = batches(facts.history, stream.id)
    current = known[0][1] if known else record.position
    yield "stream", stream.full_name
    yield "source", stream.source
    yield "target", stream.target
    yield "query", stream.query
    yield "state", state(record)
    yield "desired", record.desired
    yield from masked_all(properties.known(stream.properties)).items()
    yield "batch", str(current.batch)
    yield "offsets", offsets_text(current.offsets)
    yield from _of_topic(facts.topic, start_of(record, current))
    yield "rows", str(status.rows)
    yield "malformed records", str(status.rejects)
    yield "rows per second", f"{status.rows_per_second:.1f}"
    yield "seconds of the last batch", f"{status.seconds:.1f}"
    yield "last batch", status.batch_at
    yield "newest row", status.newest
    yield "conflicts with other writers", str(status.conflicts)
    yield "restarts", str(status.restarts)
    yield "last error", f"{status.error_at} {status.error}".strip()
    yield "settings", json.dumps(masked_all(stream.settings), ensure_ascii=False)


def _of_topic(topic: TopicState | None, offsets: Mapping[int, int]) -> Iterator[tuple[str, str]]:
    if topic is None:
        return
    if topic.problem:
        yield "latest offsets", f"unknown: {topic.problem}"
        return
    yield "latest offsets", offsets_text(topic.latest)
    yield "lag", str(lag(offsets, topic.latest))
