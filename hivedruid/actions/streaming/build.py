"""The actions of statements about streams. Pure: the snapshot holds the state of the stream, its target and its
topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from hivedruid.actions.ddl.removal import removal
from hivedruid.actions.lookup import refuse_temporary
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note, StatementPlan
from hivedruid.actions.streaming.batch import batch
from hivedruid.actions.streaming.checkpoints import checkpoint, roll_back
from hivedruid.actions.streaming.definition import alter, create
from hivedruid.actions.streaming.describe import described
from hivedruid.actions.streaming.facts import StreamFacts
from hivedruid.actions.streaming.lookup import (
    check_offsets,
    find_stream,
    history_of,
    offsets_now,
    refuse_if_running,
    rejects_so_far,
    table_of,
    with_plan,
)
from hivedruid.actions.streaming.model import (
    AwaitOffsets,
    ListBatches,
    ListCheckpoints,
    ListStreams,
    MoveOffsets,
    RecordPosition,
    RemoveStream,
    SetDesired,
    ShowStream,
)
from hivedruid.catalog.streams import Desired, Position, StreamRecord
from hivedruid.errors import KafkaError, SemanticError, Span
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements import streaming as s
from hivedruid.streams import properties
from hivedruid.streams.position import batches, checkpoints, newest_number

_DESIRED: Mapping[str, Desired] = {"START": "running", "RESUME": "running", "PAUSE": "paused", "STOP": "stopped"}


def build(statement: Statement, snapshot: Snapshot, note: Note | None = None) -> StatementPlan:
    """The actions of a statement about streams."""
    assert isinstance(statement, s.StreamingStatement)
    match statement:
        case s.CreateStream():
            refuse_temporary("stream", statement.name.span, snapshot)
            return create(statement, snapshot, note)
        case s.AlterStream():
            refuse_temporary("stream", statement.name.span, snapshot)
            return alter(statement, snapshot, note)
        case s.ChangeStream():
            return _change(statement, snapshot)
        case s.ResetStream():
            return StatementPlan((_reset(statement, snapshot),))
        case s.CheckpointStream():
            return StatementPlan(checkpoint(statement, snapshot))
        case s.RollbackStream():
            return StatementPlan((roll_back(statement, snapshot),))
        case s.DropStream():
            return StatementPlan(_drop(statement, snapshot))
        case s.ShowStreams():
            return StatementPlan((ListStreams(snapshot.streams, statement.like),))
        case s.ShowBatches() | s.ShowCheckpoints():
            _, record = find_stream(statement.name, snapshot)
            history = history_of(statement.name, snapshot)
            shown = ListBatches if isinstance(statement, s.ShowBatches) else ListCheckpoints
            return StatementPlan((shown(record, history),))
        case s.DescribeStream():
            facts, record = find_stream(statement.name, snapshot)
            return StatementPlan((ShowStream(record, tuple(described(facts, record))),))
        case _:
            assert_never(statement)


# --- an existing stream ------------------------------------------------------------------------------------------


def _change(statement: s.ChangeStream, snapshot: Snapshot) -> StatementPlan:
    facts, record = find_stream(statement.name, snapshot)
    verb = statement.verb
    if verb == "RUN":
        plan, append = batch(facts, snapshot, statement.limit)
        return with_plan((append,) if append is not None else _unrecorded(facts, record), plan, snapshot)
    if verb == "WAIT":
        _check_running(record, statement.span)
        assert facts.topic is not None
        return StatementPlan(
            (AwaitOffsets(record.stream, table_of(record.stream.target, snapshot), facts.topic.latest),)
        )
    if verb == "RESUME" and record.desired == "stopped":
        raise SemanticError(
            f"stream {record.stream.full_name} is stopped, not paused",
            span=statement.span,
            hint=f"START STREAM {record.stream.full_name}",
        )
    if verb == "PAUSE" and record.desired == "stopped":
        raise SemanticError(f"stream {record.stream.full_name} is not running", span=statement.span)
    change = SetDesired(record.stream, _DESIRED[verb])
    if not (snapshot.plan_only and verb == "START"):
        return StatementPlan((change,))
    plan, append = batch(facts, snapshot, properties.limit(record.stream.properties, 1.0))
    return with_plan((change, *([append] if append else [])), plan, snapshot)


def _unrecorded(facts: StreamFacts, record: StreamRecord) -> tuple[Action, ...]:
    """Without new records no later batch records the last one in the table."""
    last = batches(facts.history, record.stream.id)[:1]
    return tuple(RecordPosition(record.stream, at) for _, at in last if at.batch > record.position.batch)


def _check_running(record: StreamRecord, span: Span | None) -> None:
    if record.desired != "running":
        name = record.stream.full_name
        raise SemanticError(f"stream {name} is {record.desired}", span=span, hint=f"START STREAM {name}")


def _reset(statement: s.ResetStream, snapshot: Snapshot) -> MoveOffsets:
    facts, record = find_stream(statement.name, snapshot)
    name, target, topic = record.stream.full_name, statement.target, facts.topic
    refuse_if_running(record, "reset", statement.span)
    assert topic is not None
    if topic.problem:
        raise KafkaError(topic.problem)
    if target.to == "OFFSETS":
        check_offsets(dict(target.offsets), topic, target.span)
        offsets = {**topic.earliest, **offsets_now(facts, record), **dict(target.offsets)}
    elif target.to == "TIMESTAMP":
        offsets = dict(next(iter(topic.starts.values())))
    else:
        offsets = dict(topic.earliest if target.to == "EARLIEST" else topic.latest)
    now = offsets_now(facts, record)
    moved = [(now.get(partition, 0), offset) for partition, offset in offsets.items()]
    number = newest_number(facts.history, record) + 1
    return MoveOffsets(
        record.stream, table_of(record.stream.target, snapshot),
        Position(number, offsets, topic.topic_id, rejects=rejects_so_far(facts, record)),
        f"RESET STREAM {name} TO {target.to}",
        sum(max(0, to - at) for at, to in moved), sum(max(0, at - to) for at, to in moved),
    )  # fmt: skip


def _drop(statement: s.DropStream, snapshot: Snapshot) -> tuple[Action, ...]:
    if statement.if_exists and (snapshot.stream is None or snapshot.stream.record is None):
        return ()
    facts, record = find_stream(statement.name, snapshot)
    database, _, name = record.stream.target.partition(".")
    target = snapshot.table(database, name)
    if target is None or facts.history is None:
        return (RemoveStream(record.stream),)
    if statement.with_table:
        return (RemoveStream(record.stream, table=removal(target, snapshot)),)
    return (RemoveStream(record.stream, target, tuple(checkpoints(facts.history, record.stream.id))),)
