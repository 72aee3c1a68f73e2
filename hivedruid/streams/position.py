"""Where a stream continues: the offsets in the snapshots of its target table.

Every batch is one commit, whose snapshot has the offsets after it as a property. Spark's checkpoint folders have no
counterpart: rows and offsets cannot disagree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from hivedruid.catalog.streams import Position, StreamRecord, position_from_json
from hivedruid.errors import ExecutionError
from hivedruid.iceberg.history import Snapshot, TableHistory

PREFIX, SUFFIX, TAG = "hivedruid.stream.", ".offsets", "hivedruid-stream-"


def key(stream_id: str) -> str:
    """The property of the snapshots of a stream's batches. Expiry keeps the newest snapshot of each such key."""
    return f"{PREFIX}{stream_id}{SUFFIX}"


def property_of(stream_id: str, position: Position) -> dict[str, str]:
    """The property of a batch's snapshot."""
    document: dict[str, object] = {
        "batch": position.batch, "topic_id": position.topic_id, "offsets": dict(position.offsets),
    }  # fmt: skip
    if position.rejects:
        document["rejects"] = position.rejects
    return {key(stream_id): json.dumps(document, separators=(",", ":"))}


def position_in(snapshot: Snapshot, stream_id: str) -> Position | None:
    """The position in a snapshot; None if it is not one of the stream's batches."""
    text = snapshot.summary.get(key(stream_id))
    return None if text is None else position_from_json({**json.loads(text), "snapshot": snapshot.id})


def batches(history: TableHistory | None, stream_id: str) -> list[tuple[Snapshot, Position]]:
    """The batches whose rows are in the table, newest first, as far as their snapshots have not expired. None is the
    history of a table that has no snapshots, or whose snapshots are not known."""
    found = ((each, position_in(each, stream_id)) for each in (history.ancestors() if history is not None else ()))
    return [(snapshot, position) for snapshot, position in found if position is not None]


def tag(stream_id: str, batch: int) -> str:
    """The tag of a checkpoint. It keeps the batch's snapshot from expiring."""
    return f"{TAG}{stream_id}-{batch}"


def checkpoints(history: TableHistory, stream_id: str) -> dict[int, Position]:
    """The positions with a checkpoint's tag in the table, by batch."""
    tagged = {name: history.snapshots.get(at) for name, at in history.refs.items()}
    found = [
        position
        for name, snapshot in tagged.items()
        if snapshot is not None and (position := position_in(snapshot, stream_id)) is not None
        if name == tag(stream_id, position.batch)
    ]
    return {position.batch: position for position in sorted(found, key=lambda each: each.batch)}


def newest_number(history: TableHistory | None, record: StreamRecord) -> int:
    """The highest number of a batch that is known: numbers are not used again, even after a rollback."""
    known = [] if history is None else [position_in(each, record.stream.id) for each in history.snapshots.values()]
    return max(record.position.batch, record.attempt, *(each.batch for each in known if each is not None))


def committed(history: TableHistory, record: StreamRecord) -> Position:
    """The position after the last batch in the table.

    The newest snapshot of the stream among the ancestors of the current one has it. If they have expired, which
    hivedruid's own expiry prevents, the copy in the catalog is used, unless a commit was begun whose outcome is not
    known. A stream never begins anew because its offsets are gone. Raises ExecutionError.
    """
    newest = next(iter(batches(history, record.stream.id)), None)
    if newest is not None:
        position = newest[1]
        if position.batch < record.position.batch:
            raise _unknown(
                record,
                f"the table was rolled back to batch {position.batch}, after batch {record.position.batch}",
                f"ROLLBACK STREAM {record.stream.full_name} TO BATCH {position.batch} continues there, and",
            )
        return position
    if not history.is_cut:
        raise _unknown(record, "none of the table's snapshots is one of its batches")
    elsewhere = _elsewhere(history, record.stream.id)
    if record.attempt == 0:
        return record.position
    if elsewhere is not None and elsewhere.batch == record.attempt:
        return elsewhere
    raise _unknown(
        record, f"the table's snapshots have expired, and it is not known whether batch {record.attempt} was committed"
    )


def start_of(record: StreamRecord, position: Position) -> Mapping[int, int]:
    """The offsets at which the next batch begins."""
    return record.skipped if record.skipped and position.batch == record.position.batch else position.offsets


def rejects_until(record: StreamRecord, position: Position) -> int:
    """The number of malformed records up to where the next batch begins."""
    is_skipped = bool(record.skipped) and position.batch == record.position.batch
    return record.status.rejects if is_skipped else position.rejects


def _elsewhere(history: TableHistory, stream_id: str) -> Position | None:
    """The newest position in a snapshot that is not an ancestor of the current one: a tag can keep it."""
    found: Iterable[Position | None] = (position_in(each, stream_id) for each in history.snapshots.values())
    return max((each for each in found if each is not None), key=lambda each: each.batch, default=None)


def _unknown(record: StreamRecord, why: str, first: str = "") -> ExecutionError:
    name = record.stream.full_name
    return ExecutionError(
        f"the offsets of stream {name} in {record.stream.target} are not known: {why}",
        hint=f"{first} RESET STREAM {name} TO OFFSETS (…) continues at given offsets".strip(),
    )
