"""Run the actions of statements about streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from typing import TYPE_CHECKING, assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.actions.streaming import manager
from hivedruid.actions.streaming.batch import check_columns
from hivedruid.actions.streaming.describe import (
    BATCH_COLUMNS,
    CHECKPOINT_COLUMNS,
    DETAIL_COLUMNS,
    STREAM_COLUMNS,
    batch_rows,
    checkpoint_rows,
    stream_row,
)
from hivedruid.actions.streaming.model import (
    AddCheckpoint,
    AddStream,
    AlterDefinition,
    AppendBatch,
    AwaitOffsets,
    ListBatches,
    ListCheckpoints,
    ListStreams,
    MoveOffsets,
    RecordPosition,
    RemoveStream,
    RollBackStream,
    SetDesired,
    ShowStream,
    StreamingAction,
)
from hivedruid.actions.utility.show import matches
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.streams import Position, Stream, StreamRecord, Streams
from hivedruid.catalog.table import Table
from hivedruid.errors import CommitConflictError, ConnectError, ExecutionError, KafkaError, MalformedRecordError
from hivedruid.plan.literals import rows_in_zone
from hivedruid.results import Result
from hivedruid.streams.admission import check_rejects
from hivedruid.streams.overview import is_run, lag
from hivedruid.streams.position import batches, property_of, start_of, tag

if TYPE_CHECKING:
    from hivedruid.spark.topics import Malformed

PATIENCE = 120.0
"""Seconds to wait for a manager to follow a statement: it first completes the running batch."""
TRIES = 3
"""Errors of a stream, one after the other, after which WAIT STREAM fails."""
_PAUSE = 0.2


def run(action: Action, services: Services) -> Result | None:
    assert isinstance(action, StreamingAction)
    match action:
        case AddStream():
            _add(action, services)
        case AppendBatch():
            append(action, services)
        case RecordPosition():
            Streams(services.catalog).end_batch(action.stream, action.position)
        case SetDesired():
            _set_desired(action, services)
        case AwaitOffsets():
            _await_offsets(action, services)
        case MoveOffsets():
            _move(action, services)
        case AlterDefinition():
            _alter(action, services)
        case AddCheckpoint():
            _checkpoint(action, services)
        case RollBackStream():
            _roll_back(action, services)
        case RemoveStream():
            _remove(action, services)
        case ListStreams():
            return _list(action, services)
        case ListBatches():
            rows = batch_rows(action.history, action.record.stream.id)
            return Result(BATCH_COLUMNS, rows_in_zone(rows, services.zone()))
        case ListCheckpoints():
            rows = checkpoint_rows(action.history, action.record)
            return Result(CHECKPOINT_COLUMNS, rows_in_zone(rows, services.zone()))
        case ShowStream():
            return Result(DETAIL_COLUMNS, action.rows)
        case _:
            assert_never(action)
    return None


def _add(action: AddStream, services: Services) -> None:
    """The snapshot comes first: one that belongs to no stream, after an interruption, is harmless."""
    position = _commit_position(action.stream, action.target, action.position, services)
    Streams(services.catalog).add(action.stream, position)
    _mark_written(action.target, services.catalog)


def _commit_position(stream: Stream, target: Table, position: Position, services: Services) -> Position:
    from hivedruid.spark import streams

    streams.begin(services.spark(), target, property_of(stream.id, position))
    return _in_table(stream, target, services) or position


def _in_table(stream: Stream, target: Table, services: Services) -> Position | None:
    found = batches(services.spark().iceberg_history(target), stream.id)
    return found[0][1] if found else None


def _mark_written(target: Table, catalog: Catalog) -> None:
    known = catalog.find(target.database, target.name)
    if known is not None and not known.is_written:
        catalog.mark_written(known, written=True)


# --- a batch -----------------------------------------------------------------------------------------------------


def append(action: AppendBatch, services: Services) -> None:
    """Commit a batch. Its malformed records come first: they are not added again when the batch is repeated. The
    catalog is told before and after the commit: between the two, only the table knows whether it is committed."""
    from hivedruid.clients.newest_record import NewestRecord
    from hivedruid.spark.streams import append_batch

    check_columns(services.spark().iceberg_history(action.target), action.target)  # altered since the plan was made
    streams, begun = Streams(services.catalog), monotonic()
    newest = NewestRecord(streams.source(action.stream), action.start, action.after.offsets)
    after = replace(action.after, rejects=action.after.rejects + _reject(action, services))
    streams.begin_batch(action.stream, after.batch)
    try:
        has_rows = append_batch(
            services.spark(),
            action.job, action.target, action.base, property_of(action.stream.id, after),
            may_be_empty=action.may_be_empty, file_size=action.file_size,
        )  # fmt: skip
    except CommitConflictError:
        status = streams.current(action.stream).status
        streams.report(action.stream, replace(status, conflicts=status.conflicts + 1))
        raise
    except MalformedRecordError as error:
        name = action.stream.full_name
        hint = f"ALTER STREAM {name} SET PROPERTIES ('rejects' = '{name}_rejects') adds such records to that table"
        raise ExecutionError(error.message, hint=hint) from error
    seconds = monotonic() - begun
    if not has_rows:
        streams.skip(action.stream, after)
        _report(action, 0, seconds, newest.at(), streams)
        return
    found = batches(services.spark().iceberg_history(action.target), action.stream.id)
    committed = next((each for each in found if each[1].batch == action.after.batch), None)
    if committed is None:
        raise ExecutionError(f"batch {action.after.batch} of stream {action.stream.full_name} is not in the table")
    streams.end_batch(action.stream, committed[1])
    _report(action, int(committed[0].summary.get("added-records", 0)), seconds, newest.at(), streams)


def _reject(action: AppendBatch, services: Services) -> int:
    """Add the malformed records of a batch to its rejects table; returns their number."""
    from hivedruid.spark.streams import reject_batch

    def check(found: Malformed) -> None:
        check_rejects(action.stream, action.records, found.count, found.first)

    return reject_batch(services.spark(), action.job, check)


def _report(action: AppendBatch, rows: int, seconds: float, newest: datetime | None, streams: Streams) -> None:
    status = streams.current(action.stream).status
    ended = datetime.now(UTC)
    now, begun = ended.isoformat(timespec="milliseconds"), (ended - timedelta(seconds=seconds)).isoformat()
    status = replace(
        status, error="", error_at="", hint="", records=status.records + action.records, checked_at=now, begun_at=begun,
        left=action.left, records_per_second=action.records / max(seconds, 0.001),
        newest=max(status.newest, newest.isoformat(timespec="milliseconds") if newest is not None else ""),
    )  # fmt: skip
    if rows:
        status = replace(
            status, rows=status.rows + rows, rows_per_second=rows / max(seconds, 0.001), seconds=seconds, batch_at=now
        )
    streams.report(action.stream, status)


# --- states ------------------------------------------------------------------------------------------------------


def _set_desired(action: SetDesired, services: Services) -> None:
    streams = Streams(services.catalog)
    streams.set_desired(action.stream, action.desired)
    if action.desired == "running":
        if manager.start(services.home, services.catalog, services.settings):
            services.note("started a manager of streams in the background: hivedruid streams status shows it")
        _await(lambda: is_run(streams.current(action.stream)), action, "is started by a manager", services)
    else:
        _await(lambda: not is_run(streams.current(action.stream)), action, f"is {action.desired}", services)


def _await(is_so: Callable[[], bool], action: SetDesired | AlterDefinition, what: str, services: Services) -> None:
    end = monotonic() + PATIENCE
    while not is_so():
        if monotonic() > end:
            raise ExecutionError(
                f"timed out after {PATIENCE:.0f} s waiting until stream {action.stream.full_name} {what}",
                hint=f"the change is recorded, and a manager follows it later; see {manager.log_file(services.home)}",
            )
        sleep(_PAUSE)


def _await_offsets(action: AwaitOffsets, services: Services) -> None:
    """Raises ExecutionError if the stream is stopped, or its batches keep failing. An error from before the statement
    may have been repaired."""
    streams, name = Streams(services.catalog), action.stream.full_name
    seen, known = monotonic(), streams.current(action.stream).status.restarts
    while True:
        record = streams.current(action.stream)
        behind = lag(start_of(record, record.position), action.offsets)
        if behind == 0:
            return
        if record.desired != "running":
            raise ExecutionError(f"stream {name} was {record.desired} while {behind} records were not read")
        if record.status.restarts >= TRIES and record.status.restarts > known and record.status.error:
            raise ExecutionError(f"stream {name} fails: {record.status.error}", hint="SHOW STREAMS shows its state")
        if is_run(record):
            seen = monotonic()
        elif monotonic() - seen > PATIENCE:
            raise ExecutionError(
                f"no manager runs stream {name}", hint="run hivedruid streams run, or START STREAM again"
            )
        sleep(_PAUSE)


def _move(action: MoveOffsets, services: Services) -> None:
    effects = [
        f"{count:,} record{'s' * (count != 1)} {what}"
        for count, what in ((action.lost, "will never be read"), (action.repeated, "will be read again"))
        if count
    ]
    _confirm(action.asked, effects, services)
    streams = Streams(services.catalog)
    position = _commit_position(action.stream, action.target, action.position, services)
    streams.end_batch(action.stream, position)


def _confirm(asked: str, effects: Sequence[str], services: Services) -> None:
    """Raises ExecutionError if the user does not confirm."""
    question = f"{asked}: {', '.join(effects)}"
    if effects and not services.confirm(question):
        raise ExecutionError(f"{question}; nothing was changed", hint="confirm at the prompt, or pass --yes")


def _alter(action: AlterDefinition, services: Services) -> None:
    streams = Streams(services.catalog)
    streams.replace(action.stream)

    def is_followed() -> bool:
        record = streams.current(action.stream)
        return record.desired != "running" or not is_run(record) or record.followed >= action.stream.version

    _await(is_followed, action, "runs with its new definition", services)


def _checkpoint(action: AddCheckpoint, services: Services) -> None:
    """A tag that the catalog does not know, after an interruption, is found in the table."""
    from hivedruid.spark import streams

    spark, id_ = services.spark(), action.stream.id
    streams.add_tag(spark, action.target, tag(id_, action.position.batch), action.position.snapshot or 0)
    Streams(services.catalog).keep_checkpoints(action.stream, action.retained)
    streams.remove_tags(spark, action.target, [tag(id_, batch) for batch in action.removed])


def _roll_back(action: RollBackStream, services: Services) -> None:
    """The copy of the offsets in the catalog goes back first: if the table does not follow, after an interruption, its
    later batches count. Raises ExecutionError if the user does not confirm."""
    from hivedruid.spark import streams

    _confirm(action.asked, action.effects, services)
    catalog = Streams(services.catalog)
    catalog.end_batch(action.stream, action.position)
    catalog.report(action.stream, replace(catalog.current(action.stream).status, newest=""))
    streams.roll_back(services.spark(), action.target, action.position.snapshot or 0)


def _remove(action: RemoveStream, services: Services) -> None:
    """The stream is removed last, so that the statement can be repeated after an interruption."""
    streams = Streams(services.catalog)
    record = streams.current(action.stream)
    if record.desired != "stopped" or is_run(record):
        _set_desired(SetDesired(action.stream, "stopped"), services)
    if action.target is not None and action.checkpoints:
        from hivedruid.spark.streams import remove_tags

        remove_tags(services.spark(), action.target, [tag(action.stream.id, batch) for batch in action.checkpoints])
    if action.table is not None:
        from hivedruid.actions.ddl.run import run as run_ddl

        run_ddl(action.table, services)
    streams.remove(action.stream)


# --- lists -------------------------------------------------------------------------------------------------------


def _list(action: ListStreams, services: Services) -> Result:
    shown = [each for each in action.streams if action.like is None or matches(action.like, each.stream.name)]
    sources = {each.stream.source: each.stream for each in shown}
    latest, now = {name: _latest(stream, services) for name, stream in sources.items()}, datetime.now(UTC)
    rows = [stream_row(each, _behind(each, latest[each.stream.source]), now) for each in shown]
    return Result(STREAM_COLUMNS, rows_in_zone(rows, services.zone()))


def _behind(record: StreamRecord, latest: Mapping[int, int] | None) -> int | None:
    return None if latest is None else lag(start_of(record, record.position), latest)


def _latest(stream: Stream, services: Services) -> Mapping[int, int] | None:
    """The latest offsets of a stream's topic; None, and a note, if Kafka does not respond."""
    from hivedruid.clients.topics import topic_state

    table = Streams(services.catalog).source(stream)
    if table is None:
        return None
    try:
        return topic_state(table, ()).latest
    except (ConnectError, KafkaError) as error:
        services.note(error.message)
    return None
