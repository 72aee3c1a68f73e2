"""What the catalog remembers of ingestions from Kafka: what was started, what was begun, and every spec that was sent.

It goes with the table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hivedruid.catalog.store import Catalog, from_json, to_json
from hivedruid.catalog.table import Table

MOST_VERSIONS = 20
"""Specs that are kept of a table."""


@dataclass(frozen=True)
class SentSpec:
    """A spec that was sent to Druid, and the table that it was made of; `worked`: its tasks were seen running."""

    version: int
    table: Table
    spec: Mapping[str, Any]
    submitted: str
    worked: bool


@dataclass(frozen=True)
class LastSpec:
    """The spec that was sent last, and what Druid has made of it, secrets starred; empty where that is not known."""

    spec: Mapping[str, Any]
    accepted: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class IngestionRecord:
    """`started`: between START and STOP. `pending` is what was begun and is not finished: its `verb`, and what it needs to know.

    `last`: a spec was sent at some time, so that Druid may have offsets of the topic.
    """

    started: bool = False
    pending: Mapping[str, Any] = field(default_factory=dict)
    last: LastSpec | None = None


class Ingestions:
    """Every change is one transaction. Raises ExecutionError where the catalog cannot be written."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, table_id: str) -> IngestionRecord:
        """What is remembered of a table; of one that was never started, nothing."""
        return self._records("WHERE table_id = ?", (table_id,)).get(table_id, IngestionRecord())

    def all(self) -> dict[str, IngestionRecord]:
        """By table_id."""
        return self._records("", ())

    def _records(self, where: str, values: tuple[str, ...]) -> dict[str, IngestionRecord]:
        newest = (
            "(SELECT {} FROM ingestion_specs s WHERE s.table_id = ingestions.table_id ORDER BY version DESC LIMIT 1)"
        )
        query = (
            f"SELECT table_id, started, pending, {newest.format('spec')}, {newest.format('accepted')} FROM ingestions"
        )
        rows = self._catalog.connection.execute(f"{query} {where}", values)
        return {
            table_id: IngestionRecord(
                bool(started), json.loads(pending) if pending else {},
                LastSpec(json.loads(spec), json.loads(accepted) if accepted else {}) if spec else None,
            )
            for table_id, started, pending, spec, accepted in rows
        }  # fmt: skip

    def is_known(self, table_id: str) -> bool:
        """Whether there is a table of that id."""
        query = "SELECT 1 FROM tables WHERE table_id = ?"
        return self._catalog.connection.execute(query, (table_id,)).fetchone() is not None

    def begin(self, table_id: str, pending: Mapping[str, Any]) -> None:
        """Before the first call: whoever dies on the way leaves word of it."""
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO ingestions (table_id, started, pending) VALUES (?, 0, ?) "
                "ON CONFLICT (table_id) DO UPDATE SET pending = excluded.pending",
                (table_id, json.dumps(pending)),
            )

    def finish(self, table_id: str, *, started: bool) -> None:
        """After the last call."""
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO ingestions (table_id, started) VALUES (?, ?) "
                "ON CONFLICT (table_id) DO UPDATE SET started = excluded.started, pending = ''",
                (table_id, started),
            )

    def restore(self, table_id: str, record: IngestionRecord) -> None:
        """As it was before `begin`: Druid has refused, and nothing has changed."""
        with self._catalog.transaction() as connection:
            connection.execute(
                "UPDATE ingestions SET started = ?, pending = ? WHERE table_id = ?",
                (record.started, json.dumps(record.pending) if record.pending else "", table_id),
            )

    # --- specs -------------------------------------------------------------------------------------------------

    def specs(self, table_id: str) -> tuple[SentSpec, ...]:
        """What was sent, newest first."""
        query = (
            "SELECT s.version, s.definition, s.spec, s.submitted, s.worked, t.database, t.name "
            "FROM ingestion_specs s JOIN tables t ON t.table_id = s.table_id WHERE s.table_id = ? ORDER BY s.version DESC"
        )
        return tuple(
            SentSpec(
                version, from_json(table_id, database, name, definition), json.loads(spec), submitted, bool(worked)
            )
            for version, definition, spec, submitted, worked, database, name in self._catalog.connection.execute(
                query, (table_id,)
            )
        )

    def sending(self, table: Table, spec: Mapping[str, Any], submitted: str) -> None:
        """A spec is about to be sent; the one that was sent last is not kept twice."""
        text = json.dumps(spec)
        with self._catalog.transaction() as connection:
            query = (
                "SELECT version, spec, definition FROM ingestion_specs WHERE table_id = ? ORDER BY version DESC LIMIT 1"
            )
            last = connection.execute(query, (table.table_id,)).fetchone()
            if last and (last[1], last[2]) == (text, to_json(table)):
                return
            version = last[0] + 1 if last else 1
            connection.execute(
                "INSERT INTO ingestion_specs (table_id, version, definition, spec, submitted) VALUES (?, ?, ?, ?, ?)",
                (table.table_id, version, to_json(table), text, submitted),
            )
            connection.execute(
                "DELETE FROM ingestion_specs WHERE table_id = ? AND version <= ?",
                (table.table_id, version - MOST_VERSIONS),
            )

    def accepted(self, table_id: str, accepted: Mapping[str, Any]) -> None:
        """What Druid has made of the spec that was sent last; without secrets."""
        self._set_newest(table_id, "accepted", json.dumps(accepted))

    def worked(self, table_id: str) -> None:
        """The tasks of the spec that was sent last run."""
        self._set_newest(table_id, "worked", 1)

    def _set_newest(self, table_id: str, column: str, value: object) -> None:
        with self._catalog.transaction() as connection:
            connection.execute(
                f"UPDATE ingestion_specs SET {column} = ? WHERE table_id = ? AND version = "
                "(SELECT MAX(version) FROM ingestion_specs WHERE table_id = ?)",
                (value, table_id, table_id),
            )

    def roll_back(self, table_id: str, version: int, pending: Mapping[str, Any] | None = None) -> None:
        """The specs after `version` are as if they had not been; what is `pending` then is begun with that."""
        with self._catalog.transaction() as connection:
            connection.execute("DELETE FROM ingestion_specs WHERE table_id = ? AND version > ?", (table_id, version))
            if pending is not None:
                self.begin(table_id, pending)
