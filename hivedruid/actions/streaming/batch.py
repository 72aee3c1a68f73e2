"""A batch of a stream: its records, and the job that computes its rows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import Note
from hivedruid.actions.streaming.facts import StreamFacts
from hivedruid.actions.streaming.lookup import table_of
from hivedruid.actions.streaming.malformed import handling_text, with_handling
from hivedruid.actions.streaming.model import AppendBatch
from hivedruid.actions.writing.insert import check_conversion, refuse_unknown_types, write
from hivedruid.actions.writing.insert import positions as column_positions
from hivedruid.actions.writing.model import WriteTable
from hivedruid.catalog.streams import Position, Stream, StreamRecord
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import UNKNOWN, VOID
from hivedruid.errors import ExecutionError, KafkaError, SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.plan import nodes
from hivedruid.plan.build import Builder
from hivedruid.plan.common_types import common_type
from hivedruid.plan.rex import Over, Subquery, has
from hivedruid.plan.split import QueryPlan
from hivedruid.plan.topic_scans import TopicState
from hivedruid.script import SourceStatement
from hivedruid.streams import properties
from hivedruid.streams.admission import check_available, end_offsets, with_new_partitions
from hivedruid.streams.overview import lag
from hivedruid.streams.position import committed, newest_number, rejects_until, start_of
from hivedruid.tables.rejects import leaves_out

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.iceberg.history import TableHistory

_BY_ROW = (nodes.Project, nodes.Filter, nodes.LateralView, nodes.TableScan)
_WHAT: tuple[tuple[type[nodes.Node], str], ...] = (
    (nodes.Aggregate, "aggregates rows"),
    (nodes.Join, "joins tables"),
    (nodes.Sort, "sorts or limits rows"),
    (nodes.SetOp, "combines queries"),
)


def check_query(
    text: SourceStatement, query: exp.Expression, source: Table, snapshot: Snapshot, note: Note | None
) -> tuple[nodes.Node, Builder]:
    """The plan of a stream's query in a statement, and its builder. Raises UnsupportedError if a row of its result
    depends on several records."""
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
    return node, builder


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
    source, target = with_handling(table_of(stream.source, snapshot), stream), table_of(stream.target, snapshot)
    check_columns(facts.history, target)
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
    known = with_source(source, state, replace(snapshot, database=stream.current))
    plan, action = planned(SourceStatement(stream.query), facts.query, target, known, stream.columns)
    number, rejects = newest_number(facts.history, record) + 1, rejects_until(record, last)
    after = Position(number, ends, topic.topic_id, rejects=rejects)
    may_be_empty = any(isinstance(each, nodes.Filter | nodes.LateralView) for each in plan.node.walk())
    may_be_empty |= leaves_out(source.properties)
    base = facts.history.current if facts.history is not None else None
    size = properties.value(stream.properties, "target.file.size")
    left = lag(ends, topic.latest)
    return plan, AppendBatch(
        action.job, stream, target, base or 0, start, after, may_be_empty, int(size) if size else None,
        handling_text(source, snapshot), left,
    )  # fmt: skip


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


def check_columns(history: TableHistory | None, target: Table) -> None:
    """Raise ExecutionError if another tool has dropped or renamed a column of the target: a new one of that name would
    be added for the stream's rows. hivedruid itself only adds columns."""
    columns, former = (history.columns, history.former) if history is not None else ({}, {})
    for column in target.columns:
        stored = column.field_name
        if stored not in columns.values() and (field := former.get(stored)) is not None:
            now = columns.get(field)
            what = f"renamed to '{now}'" if now else "dropped"
            raise ExecutionError(
                f"column '{column.name}' of {target.full_name} was {what} by another tool",
                hint=f"use that tool to {'rename it back' if now else 'add it again'}",
            )


def _check_topic(stream: Stream, last: Position, topic: TopicState) -> None:
    if last.topic_id and last.topic_id != topic.topic_id:
        raise KafkaError(
            f"topic {topic.topic} was deleted and created again: the offsets of stream {stream.full_name} are those of"
            " other records",
            hint=f"RESET STREAM {stream.full_name} TO EARLIEST reads the new topic",
        )


def with_source(source: Table, state: TopicState, snapshot: Snapshot) -> Snapshot:
    """The snapshot for the query of a stream: with the Kafka table as the stream reads it, and these offsets."""
    key = (source.database, source.name)
    return replace(snapshot, tables={**snapshot.tables, key: source}, topics={key: state})


def planned(
    text: SourceStatement, query: exp.Expression, target: Table, snapshot: Snapshot, columns: Mapping[str, str]
) -> tuple[QueryPlan, WriteTable]:
    """The plan of the query's rows as rows of the target, whose columns are given by those of the query. Raises
    SemanticError, at the column, if there are no such columns or their types do not fit."""
    builder = Builder(text, snapshot, None)
    node = builder.whole(query)
    columns = columns or columns_by_query(query, node, target, builder)
    positions = {column: _position(name, column, node, target, builder.span(query)) for name, column in columns.items()}
    order = [positions.get(column.name) for column in target.columns]
    for number, (column, position) in enumerate(zip(target.columns, order, strict=True), 1):
        if position is not None:
            span = span_of_column(query, position, builder)
            check_conversion(node.columns[position].type, column, number, span)
    plan, action = write(target, node, order, builder, snapshot, "nothing", builder.span(query))
    assert isinstance(action, WriteTable)
    return plan, action


def _position(name: str, column: str, node: nodes.Node, target: Table, span: Span | None) -> int:
    """The position of a column of the query that goes into this column of the target."""
    names = [each.name for each in node.columns]
    hint = "ALTER STREAM … AS SELECT … assigns the columns again"
    if target.column(column) is None:
        columns = ", ".join(each.name for each in target.columns)
        raise SemanticError(
            f"table {target.full_name} has no column '{column}' any more, which column '{name}' of the stream's query"
            f" goes into: its columns are {columns}",
            span=span,
            hint=hint,
        )
    if name not in names:
        raise SemanticError(
            f"the stream's query has no column '{name}' any more, which goes into column '{column}' of"
            f" {target.full_name}: its columns are {', '.join(names)}",
            span=span,
            hint=hint,
        )
    return names.index(name)


def columns_by_query(query: exp.Expression, node: nodes.Node, target: Table, builder: Builder) -> dict[str, str]:
    """The target's columns by those of a stream's query, decided when the query is declared: by name if the target has
    all names, otherwise by position. Raises SemanticError if that is not possible, or probably not what is meant."""
    names = [column.name for column in node.columns]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise SemanticError(
                f"columns {names.index(name) + 1} and {position + 1} of the query are both named '{name}'",
                span=span_of_column(query, position, builder),
                hint="name one of them with AS",
            )
    unknown = [name for name in names if target.column(name) is None]
    if not unknown:
        return {name: name for name in names}
    last = min(len(names) - 1, len(target.columns))
    column_positions(target, (), len(names), span_of_column(query, last, builder))
    for position, (name, column) in enumerate(zip(names, target.columns, strict=True)):
        if name != column.name and target.column(name) is not None:
            raise SemanticError(
                f"column {position + 1} of the query, '{name}', goes into column '{column.name}' of"
                f" {target.full_name}, not into '{name}': columns go by position, since the table has no column"
                f" '{unknown[0]}'",
                span=span_of_column(query, names.index(unknown[0]), builder),
                hint=did_you_mean(unknown[0], [each.name for each in target.columns])
                or "use AS to name all columns of the query as columns of the table",
            )
    return {name: column.name for name, column in zip(names, target.columns, strict=True)}


def note_conversions(
    query: exp.Expression, node: nodes.Node, target: Table, columns: Mapping[str, str], builder: Builder, note: Note
) -> None:
    """A note on each column whose type has values that the target's column does not have."""
    types = {column.name: column.type for column in target.columns}
    for position, column in enumerate(node.columns):
        name = columns[column.name]
        source, type_ = column.type, types[name]
        if source != VOID and common_type([source, type_]) not in (type_, UNKNOWN):
            note(
                f"column '{column.name}' of the query is {source}, and column '{name}' of {target.full_name} {type_}:"
                " values that do not fit are NULL, or cut if they are strings",
                span_of_column(query, position, builder),
            )


def span_of_column(query: exp.Expression, position: int, builder: Builder) -> Span | None:
    """Where a column of the query is written; the whole query if there is a `*` before it."""
    from sqlglot import exp

    items = query.selects if isinstance(query, exp.Select) else []
    is_plain = position < len(items) and not any(item.is_star for item in items[: position + 1])
    item = items[position] if is_plain else query
    return builder.span(item.unalias()) or builder.span(item) or builder.span(query)
