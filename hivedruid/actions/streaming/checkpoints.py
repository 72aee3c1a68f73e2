"""CHECKPOINT STREAM and ROLLBACK STREAM. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.actions.snapshot import Snapshot as Facts
from hivedruid.actions.streaming.lookup import (
    find_stream,
    history_of,
    offsets_now,
    refuse_if_running,
    table_of,
)
from hivedruid.actions.streaming.model import AddCheckpoint, RollBackStream
from hivedruid.catalog.streams import Position, Stream, StreamRecord
from hivedruid.errors import ExecutionError, SemanticError
from hivedruid.iceberg.history import Snapshot, TableHistory
from hivedruid.parser.statements.streaming import CheckpointStream, RollbackStream
from hivedruid.streams import properties
from hivedruid.streams.position import batches, checkpoints, committed, position_in


def checkpoint(statement: CheckpointStream, snapshot: Facts) -> tuple[AddCheckpoint, ...]:
    """The checkpoint of the last batch; nothing if it has one already."""
    _, record = find_stream(statement.name, snapshot)
    history, stream = history_of(statement.name, snapshot), record.stream
    last = committed(history, record)
    if last.snapshot not in history.snapshots:
        raise ExecutionError(
            f"the snapshot of batch {last.batch} of stream {stream.full_name} has expired",
            hint="repeat the statement after the next batch",
        )
    tagged = checkpoints(history, stream.id)
    known = {each.batch: each for each in record.checkpoints} | tagged
    if last.batch in tagged and last in record.checkpoints:
        return ()
    kept = sorted({*known, last.batch})[-int(properties.value(stream.properties, "checkpoints.retained")) :]
    retained = tuple((known | {last.batch: last})[batch] for batch in kept)
    removed = tuple(batch for batch in tagged if batch not in kept)
    return (AddCheckpoint(stream, table_of(stream.target, snapshot), last, retained, removed),)


def roll_back(statement: RollbackStream, snapshot: Facts) -> RollBackStream:
    """Back to a batch whose snapshot exists: an ancestor of the current one, or that of a checkpoint."""
    facts, record = find_stream(statement.name, snapshot)
    history, stream = history_of(statement.name, snapshot), record.stream
    refuse_if_running(record, "roll back", statement.span)
    position = _asked(statement, record, history)
    _refuse_other_streams(statement, stream, position, history, snapshot)
    now = offsets_now(facts, record)
    again = sum(max(0, offset - position.offsets.get(partition, 0)) for partition, offset in now.items())
    effects = tuple(_effects(stream, position, history, again))
    asked = f"ROLLBACK STREAM {stream.full_name} TO BATCH {position.batch}"
    return RollBackStream(stream, table_of(stream.target, snapshot), position, asked, effects)


def _asked(statement: RollbackStream, record: StreamRecord, history: TableHistory) -> Position:
    tagged = checkpoints(history, record.stream.id)
    known = tagged if statement.to == "CHECKPOINT" else {
        **tagged, **{position.batch: position for _, position in batches(history, record.stream.id)}
    }  # fmt: skip
    batch = statement.batch if statement.batch is not None else max(tagged, default=None)
    if batch in known:
        return known[batch]
    name = record.stream.full_name
    if batch is None:
        raise SemanticError(
            f"stream {name} has no checkpoint", span=statement.span, hint=f"SHOW BATCHES {name} lists its batches"
        )
    copy = next((each for each in record.checkpoints if each.batch == batch), None)
    if copy is not None:
        offsets = ", ".join(f"{partition}:{offset}" for partition, offset in sorted(copy.offsets.items()))
        raise SemanticError(
            f"the snapshot of checkpoint {batch} of stream {name} is not in the table any more",
            span=statement.span,
            hint=f"RESET STREAM {name} TO OFFSETS ({offsets}) reads from there on again, and keeps all rows",
        )
    what = "checkpoint" if statement.to == "CHECKPOINT" else "batch"
    raise SemanticError(
        f"stream {name} has no {what} {batch}",
        span=statement.span,
        hint=f"SHOW {'CHECKPOINTS' if what == 'checkpoint' else 'BATCHES'} {name} lists them",
    )


def _undone(history: TableHistory, position: Position) -> list[Snapshot]:
    """The commits that are not part of the table any more after the rollback."""
    kept = {each.id for each in history.chain(position.snapshot)}
    return [each for each in history.ancestors() if each.id not in kept]


def _refuse_other_streams(
    statement: RollbackStream, stream: Stream, position: Position, history: TableHistory, snapshot: Facts
) -> None:
    for other in (each.stream for each in snapshot.streams if each.stream.id != stream.id):
        if any(position_in(each, other.id) is not None for each in _undone(history, position)):
            raise SemanticError(
                f"cannot roll back stream {stream.full_name}: stream {other.full_name} has written to"
                f" {stream.target}, too, since batch {position.batch}",
                span=statement.span,
                hint=f"DROP STREAM {other.full_name} KEEP TABLE, or RESET STREAM {stream.full_name} TO OFFSETS (…)",
            )


def _effects(stream: Stream, position: Position, history: TableHistory, again: int) -> Iterator[str]:
    undone = [each for each in _undone(history, position) if each.summary.get("operation") != "replace"]
    own = [each for each in undone if position_in(each, stream.id) is not None]
    if own:
        rows = sum(int(each.summary.get("added-records", 0)) for each in own)
        yield f"{_counted(len(own), 'batch', 'batches')} with {_counted(rows, 'row', 'rows')} will be removed"
    if again:
        yield f"{_counted(again, 'record', 'records')} will be read again"
    if len(own) < len(undone):
        yield f"{_counted(len(undone) - len(own), 'commit', 'commits')} of other writers will be undone"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
