"""A batch of a stream: its records, and the job that computes its rows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.lookup import find_table
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note
from hivedruid.actions.streaming.facts import StreamFacts
from hivedruid.actions.streaming.model import AppendBatch
from hivedruid.actions.writing.insert import positions as column_positions
from hivedruid.actions.writing.insert import refuse_unknown_types, write
from hivedruid.actions.writing.model import WriteTable
from hivedruid.catalog.streams import Position, Stream, StreamRecord
from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError, KafkaError, SemanticError, Span, UnsupportedError
from hivedruid.parser.statements import TableName
from hivedruid.plan import nodes
from hivedruid.plan.build import Builder
from hivedruid.plan.rex import Over, Subquery, has
from hivedruid.plan.split import QueryPlan
from hivedruid.plan.topic_scans import TopicState
from hivedruid.script import SourceStatement
from hivedruid.streams import properties
from hivedruid.streams.admission import check_available, end_offsets, with_new_partitions
from hivedruid.streams.position import committed, newest_number, start_of

if TYPE_CHECKING:
    from sqlglot import exp

_BY_ROW = (nodes.Project, nodes.Filter, nodes.LateralView, nodes.TableScan)
_WHAT: tuple[tuple[type[nodes.Node], str], ...] = (
    (nodes.Aggregate, "aggregates rows"),
    (nodes.Join, "joins tables"),
    (nodes.Sort, "sorts or limits rows"),
    (nodes.SetOp, "combines queries"),
)


def check_query(
    text: SourceStatement, query: exp.Expression, source: Table, snapshot: Snapshot, note: Note | None
) -> nodes.Node:
    """The plan of a stream's query in a statement. Raises UnsupportedError if a row of its result depends on several
    records."""
    builder = Builder(text, snapshot, note)
    node = builder.whole(query)
    span = builder.span(query)
    refuse_unknown_types(node, span)
    _refuse_state(node, span)
    read = {scan.table.full_name: scan for scan in node.walk() if isinstance(scan, nodes.TableScan)}
    if list(read) != [source.full_name]:
        other = next((name for name in read if name != source.full_name), "no table")
        raise SemanticError(
            f"the query of a stream from {source.full_name} reads {other}",
            span=span,
            hint=f"SELECT … FROM {source.full_name}",
        )
    return node


def _refuse_state(node: nodes.Node, span: Span | None) -> None:
    for each in node.walk():
        what = next((text for kind, text in _WHAT if isinstance(each, kind)), "needs other rows")
        is_nested = any(has(rex, Over) or has(rex, Subquery) for rex in each.expressions())
        if is_nested or not isinstance(each, _BY_ROW):
            what = "has a window function or a subquery" if is_nested else what
            raise UnsupportedError(
                f"the query of a stream {what}: each row must come from one record",
                span=span,
                hint="compute that in a query, or a view, over the stream's target table",
            )


def batch(facts: StreamFacts, snapshot: Snapshot, limit: int | None) -> tuple[QueryPlan | None, AppendBatch | None]:
    """The next batch with at most `limit` records; (None, None) if there are no new records.

    Raises ExecutionError if the stream's offsets are not known, KafkaError if its records are gone.
    """
    record, topic = facts.record, facts.topic
    assert record is not None
    assert facts.query is not None
    assert topic is not None
    stream = record.stream
    last = _last(facts, record)
    source, target = _table(stream.source, snapshot), _table(stream.target, snapshot)
    if topic.problem:
        ends: Mapping[int, int] = {}
        start: Mapping[int, int] = {}
    else:
        _check_topic(stream, last, topic)
        start = with_new_partitions(start_of(record, last), topic.earliest, topic.latest)
        check_available(topic.topic, start_of(record, last), topic.earliest, topic.latest)
        ends = end_offsets(start, topic.latest, limit) if limit is not None else dict(topic.latest)
        if ends == start:
            return None, None
    state = TopicState(topic.topic, start, ends, topic.starts, topic.topic_id, topic.problem)
    known = replace(snapshot, database=stream.current, topics={(source.database, source.name): state})
    plan, action = planned(SourceStatement(stream.query), facts.query, target, known)
    after = Position(newest_number(facts.history, record) + 1, ends, topic.topic_id)
    may_be_empty = any(isinstance(each, nodes.Filter | nodes.LateralView) for each in plan.node.walk())
    may_be_empty |= source.properties.get("hivedruid.malformed.rows") == "skip"
    base = facts.history.current if facts.history is not None else None
    size = properties.value(stream.properties, "target.file.size")
    return plan, AppendBatch(
        action.job, stream, target, base or 0, start, after, may_be_empty, int(size) if size else None
    )


def _last(facts: StreamFacts, record: StreamRecord) -> Position:
    if facts.history is not None:
        return committed(facts.history, record)
    if facts.problem:
        raise ExecutionError(f"stream {record.stream.full_name} cannot run: {facts.problem}")
    if record.position.snapshot is not None:
        raise ExecutionError(
            f"stream {record.stream.full_name} cannot run: the data of {record.stream.target} is missing",
            hint="restore the table from a backup, or DROP STREAM",
        )
    return record.position  # EXPLAIN CREATE STREAM


def _check_topic(stream: Stream, last: Position, topic: TopicState) -> None:
    if last.topic_id and last.topic_id != topic.topic_id:
        raise KafkaError(
            f"topic {topic.topic} was deleted and created again: the offsets of stream {stream.full_name} are those of"
            " other records",
            hint=f"RESET STREAM {stream.full_name} TO EARLIEST reads the new topic",
        )


def _table(full_name: str, snapshot: Snapshot) -> Table:
    database, _, name = full_name.partition(".")
    return find_table(TableName(name, database), snapshot)


def planned(
    text: SourceStatement, query: exp.Expression, target: Table, snapshot: Snapshot
) -> tuple[QueryPlan, WriteTable]:
    """The plan of the query's rows as rows of the target: columns go by name if all names are those of the table,
    otherwise by position. Raises SemanticError if number or types differ, as INSERT does."""
    builder = Builder(text, snapshot, None)
    node = builder.whole(query)
    names = tuple(column.name for column in node.columns)
    by_name = len(set(names)) == len(names) and all(target.column(name) is not None for name in names)
    order = column_positions(target, names if by_name else (), len(names), builder.span(query))
    plan, action = write(target, node, order, builder, snapshot, "nothing")
    assert isinstance(action, WriteTable)
    return plan, action
