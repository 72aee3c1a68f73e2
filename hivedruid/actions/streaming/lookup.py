"""The stream that a statement names, its tables, and checks that several statements need. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from hivedruid.actions.lookup import database_of, find_table
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import StatementPlan
from hivedruid.actions.streaming.facts import StreamFacts
from hivedruid.catalog.streams import StreamRecord
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, Span, did_you_mean
from hivedruid.iceberg.history import TableHistory
from hivedruid.parser.statements import TableName
from hivedruid.plan.split import QueryPlan
from hivedruid.plan.topic_scans import TopicState
from hivedruid.streams import position as positions
from hivedruid.streams.overview import is_run


def find_stream(name: TableName, snapshot: Snapshot) -> tuple[StreamFacts, StreamRecord]:
    """The stream of that name. Raises SemanticError if there is none."""
    facts = snapshot.stream
    if facts is None or facts.record is None:
        database = database_of(name, snapshot)
        names = [each.stream.name for each in snapshot.streams if each.stream.database == database]
        raise SemanticError(
            f"Stream not found {name.name}",
            span=name.span,
            hint=did_you_mean(name.name, names) or "run SHOW STREAMS to list the streams",
        )
    return facts, facts.record


def history_of(name: TableName, snapshot: Snapshot) -> TableHistory:
    """The snapshots of a stream's target. Raises SemanticError if they cannot be read."""
    facts, record = find_stream(name, snapshot)
    if facts.history is None:
        raise SemanticError(
            f"the batches of stream {record.stream.full_name} cannot be read: {facts.problem}", span=name.span
        )
    return facts.history


def table_of(full_name: str, snapshot: Snapshot) -> Table:
    database, _, name = full_name.partition(".")
    return find_table(TableName(name, database), snapshot)


def offsets_now(facts: StreamFacts, record: StreamRecord) -> Mapping[int, int]:
    """The offsets in the table, or those that the catalog has if they are not known."""
    batches = positions.batches(facts.history, record.stream.id)
    return batches[0][1].offsets if batches else record.position.offsets


def rejects_so_far(facts: StreamFacts, record: StreamRecord) -> int:
    """The number of malformed records before the next batch."""
    batches = positions.batches(facts.history, record.stream.id)
    return positions.rejects_until(record, batches[0][1] if batches else record.position)


def check_offsets(offsets: Mapping[int, int], topic: TopicState, span: Span | None) -> None:
    for partition, offset in offsets.items():
        if partition not in topic.latest:
            partitions = ", ".join(map(str, sorted(topic.latest)))
            raise SemanticError(
                f"topic {topic.topic} has no partition {partition}", span=span, hint=f"its partitions are {partitions}"
            )
        low, high = topic.earliest[partition], topic.latest[partition]
        if not low <= offset <= high:
            raise SemanticError(
                f"offset {offset} is out of range for partition {partition} of topic {topic.topic}: valid offsets are"
                f" {low} to {high}",
                span=span,
            )


def with_plan(actions: tuple[Action, ...], plan: QueryPlan | None, snapshot: Snapshot) -> StatementPlan:
    """EXPLAIN shows the plan of the query; a batch that runs has the offsets already."""
    return StatementPlan(actions, (plan,) if plan is not None and snapshot.plan_only else ())


def refuse_if_running(record: StreamRecord, verb: str, span: Span | None) -> None:
    """Raise SemanticError if the stream is running, or should be."""
    name = record.stream.full_name
    if record.desired == "running" or is_run(record):
        raise SemanticError(
            f"cannot {verb} stream {name} while it is running", span=span, hint=f"STOP STREAM {name} first"
        )
