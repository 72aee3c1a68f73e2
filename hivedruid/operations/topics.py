"""Operations that write to Kafka topics exactly once: rows are staged, and one transaction contains all their records.

    planned → staged → submitted → done

A consumer group with the operation's name gets an offset in the same transaction: it tells whether it was committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, Literal

from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.operation import Operation, Transitions


@dataclass(frozen=True, kw_only=True)
class TopicJob(Operation):
    """An INSERT INTO a Kafka table with kafka.write.semantic EXACTLY_ONCE.

    `target` are the table's properties when the statement began, with references to secrets. `folder` contains the
    staged records, of which there are `rows`. `submitted` is when the first transaction began (ISO 8601).
    """

    kind: ClassVar[str] = "topic"
    transitions: ClassVar[Transitions] = {
        "planned": ("staged", "cancelled"),
        "staged": ("submitted", "cancelled"),
        "submitted": ("done", "cancelled"),
        "done": (),
        "cancelled": (),
    }

    state: Literal["planned", "staged", "submitted", "done", "cancelled"] = "planned"
    fingerprint: str = ""
    target: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    rows: int = 0
    submitted: str = ""

    @property
    def topic(self) -> str:
        return self.target["kafka.topic"]

    @property
    def group(self) -> str:
        """The transactional id, and the consumer group that tells whether the transaction was committed."""
        return f"hivedruid-{self.id}"
