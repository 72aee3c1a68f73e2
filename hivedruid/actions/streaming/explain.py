"""EXPLAIN of statements about streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from hivedruid.actions.ingesting.describe import offsets_text
from hivedruid.actions.model import Action
from hivedruid.actions.operators import Explainer, Fields, document_of, lines_of
from hivedruid.actions.plan_text import indent, job_document, spark_lines
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
from hivedruid.catalog.table import Table
from hivedruid.plan.physical import TableInput
from hivedruid.streams import properties


def _lines(action: Action, settings: Mapping[str, str]) -> list[str]:
    del settings
    assert isinstance(action, StreamingAction)
    lines = lines_of(*_describe(action))
    if isinstance(action, AppendBatch):
        return [lines[0].replace("Stage-0", "Stage-2"), *lines[1:], "    Stage-1", *indent(spark_lines(action.job), 6)]
    return lines


def _document(action: Action, settings: Mapping[str, str]) -> dict[str, Any]:
    del settings
    assert isinstance(action, StreamingAction)
    document = document_of(*_describe(action))
    return {**document, **job_document(action.job)} if isinstance(action, AppendBatch) else document


def _describe(action: StreamingAction) -> tuple[str, Fields]:
    match action:
        case AddStream():
            stream = action.stream
            return "Create Stream Operator", [
                ("name", stream.full_name),
                ("source", _source(action.source)),
                ("target", f"{stream.target} ({'is created' if action.is_new else 'exists'})"),
                ("columns", dict(_columns(action))),
                ("query", stream.query),
                ("properties", properties.known(stream.properties)),
                ("malformed records", action.malformed),
                ("start offsets", offsets_text(action.position.offsets)),
            ]
        case AppendBatch():
            return "Append Batch Operator", [
                ("stream", action.stream.full_name),
                ("source", [_source(item.table) for item in action.job.inputs if isinstance(item, TableInput)]),
                ("table", action.target.full_name), ("batch", action.after.batch),
                ("from offsets", offsets_text(action.start)), ("to offsets", offsets_text(action.after.offsets)),
                ("records", action.records),
                ("base snapshot", action.base or None), ("file size", action.file_size),
                ("malformed records", action.malformed), ("limit of malformed records", _limit(action)),
            ]  # fmt: skip
        case RecordPosition():
            return "Record Position Operator", [
                ("stream", action.stream.full_name), ("batch", action.position.batch),
                ("offsets", offsets_text(action.position.offsets)),
            ]  # fmt: skip
        case SetDesired():
            is_started = action.desired == "running"
            return "Change Stream Operator", [
                ("stream", action.stream.full_name), ("desired state", action.desired),
                ("properties", properties.known(action.stream.properties) if is_started else None),
            ]  # fmt: skip
        case AwaitOffsets():
            return "Wait Operator", [
                ("stream", action.stream.full_name), ("until offsets", offsets_text(action.offsets))
            ]  # fmt: skip
        case MoveOffsets():
            return "Reset Stream Operator", [
                ("stream", action.stream.full_name), ("to offsets", offsets_text(action.position.offsets)),
                ("records lost", action.lost), ("records read again", action.repeated),
            ]  # fmt: skip
        case AlterDefinition():
            return "Alter Stream Operator", [
                ("stream", action.stream.full_name), ("version", action.stream.version), *action.changed.items()
            ]  # fmt: skip
        case AddCheckpoint():
            return "Checkpoint Operator", [
                ("stream", action.stream.full_name), ("table", action.target.full_name),
                ("batch", action.position.batch), ("offsets", offsets_text(action.position.offsets)),
                ("snapshot", action.position.snapshot), ("removed checkpoints", list(action.removed) or None),
            ]  # fmt: skip
        case RollBackStream():
            return "Rollback Stream Operator", [
                ("stream", action.stream.full_name), ("table", action.target.full_name),
                ("to batch", action.position.batch), ("offsets", offsets_text(action.position.offsets)),
                ("snapshot", action.position.snapshot), ("effects", list(action.effects) or None),
            ]  # fmt: skip
        case RemoveStream():
            table = action.table.table.full_name if action.table is not None else None
            return "Drop Stream Operator", [("stream", action.stream.full_name), ("table", table)]
        case ListStreams():
            return "Show Streams Operator", [("like", action.like)]
        case ListBatches():
            return "Show Batches Operator", [("stream", action.record.stream.full_name)]
        case ListCheckpoints():
            return "Show Checkpoints Operator", [("stream", action.record.stream.full_name)]
        case ShowStream():
            return "Describe Stream Operator", [("stream", action.record.stream.full_name)]
        case _:
            assert_never(action)


def _source(table: Table) -> str:
    servers = table.properties["kafka.bootstrap.servers"]
    return f"{table.full_name} (topic {table.properties['kafka.topic']} at {servers})"


def _columns(action: AddStream) -> Iterator[tuple[str, str]]:
    """The columns of the query, and the target's columns that they go into."""
    types = {column.name: column.type for column in action.target.columns}
    for name, column in action.stream.columns.items():
        yield name, f"into {column} {types[column]}"


def _limit(action: AppendBatch) -> str:
    limit = properties.reject_limit(action.stream.properties, action.records)
    return f"{limit.most:,} ('{limit.key}' = '{limit.text}')" if limit is not None else ""


EXPLAINER = Explainer(_lines, _document)
