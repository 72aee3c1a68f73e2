"""The offsets of the Kafka tables that a statement reads: facts that are read after its first build, which finds the
times whose offsets are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import StatementPlan
from hivedruid.catalog.table import Table
from hivedruid.errors import ConnectError, KafkaError
from hivedruid.plan.physical import TableInput
from hivedruid.plan.topic_scans import TopicState

Ask = Callable[[Table, Iterable[int]], TopicState]
"""The offsets of a table's topic, and those of its first records at or after some times."""


def needed_topics(built: StatementPlan, snapshot: Snapshot, ask: Ask) -> Mapping[tuple[str, str], TopicState]:
    """The offsets of the Kafka tables that the statement reads, by (database, name). EXPLAIN works without Kafka."""
    tables: dict[tuple[str, str], Table] = {}
    moments: dict[tuple[str, str], set[int]] = {}
    for action in built.actions:
        for item in (item for job in action.jobs for item in job.inputs):
            if isinstance(item, TableInput) and item.topic is not None:
                key = (item.table.database, item.table.name)
                tables[key] = item.table
                moments.setdefault(key, set()).update(item.topic.moments)
    found: dict[tuple[str, str], TopicState] = {}
    for key, table in tables.items():
        try:
            found[key] = ask(table, sorted(moments[key]))
        except (ConnectError, KafkaError) as error:
            if not snapshot.plan_only:
                raise
            found[key] = TopicState(table.properties["kafka.topic"], problem=error.message)
    return found
