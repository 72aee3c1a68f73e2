"""The facts about the stream of a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.catalog.streams import StreamRecord
from hivedruid.iceberg.history import TableHistory
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.topic_scans import TopicState

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class StreamFacts:
    """The stream that a statement names: its record, None if there is none; its query; the snapshots of its target;
    the current offsets of its topic. What the statement does not need is None. `problem` says why the snapshots are
    not known."""

    record: StreamRecord | None = None
    query: exp.Expression | None = None
    history: TableHistory | None = None
    topic: TopicState | None = None
    problem: str = ""
