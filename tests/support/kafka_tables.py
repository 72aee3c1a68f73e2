"""Kafka tables over topics of a real Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.job_homes import run

if TYPE_CHECKING:
    from hivedruid.session import Session
    from tests.support.kafka import Topics

SERDES = "org.apache.hadoop.hive.serde2."


@dataclass
class KafkaTables:
    """Creates tables of topics in a session. `notes` are those that the session has printed."""

    session: Session
    topics: Topics
    notes: list[str] = field(default_factory=list)

    def create(self, topic: str, columns: str, serde: str = "JsonSerDe", more: str = "", **properties: str) -> str:
        """The table of a topic, with its name; `_` in the names of properties is a point."""
        given = {"kafka.topic": topic, "kafka.bootstrap.servers": self.topics.bootstrap}
        given["kafka.serde.class"] = SERDES + serde
        given |= {key.replace("_", "."): value for key, value in properties.items()}
        pairs = ", ".join(f"'{key}' = '{_quoted(value)}'" for key, value in given.items())
        of_columns = f"({columns})" if columns else ""
        self.run(f"CREATE EXTERNAL TABLE {topic} {of_columns} STORED BY 'kafka' {more} TBLPROPERTIES ({pairs})")
        return topic

    def run(self, sql: str) -> list[Mapping[str, Any]]:
        return run(self.session, sql)

    def values(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in self.run(sql)]

    def set(self, table: str, **properties: str) -> None:
        pairs = ", ".join(f"'{key.replace('_', '.')}' = '{_quoted(value)}'" for key, value in properties.items())
        self.run(f"ALTER TABLE {table} SET TBLPROPERTIES ({pairs})")


def offsets(session: Session, query: str) -> str:
    """What EXPLAIN says of the offsets that a query reads."""
    lines = [str(row["Explain"]).strip() for row in run(session, f"EXPLAIN {query}")]
    return next(line.removeprefix("kafka.offsets: ") for line in lines if line.startswith("kafka.offsets: "))


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
