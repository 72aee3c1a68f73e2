"""The catalog's record of ingestions from Kafka: started ones, and the submitted specs. It goes with the table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hivedruid.catalog.store import Catalog, from_json, to_json
from hivedruid.catalog.table import Table
from hivedruid.lazy_dataclass import dataclass

MOST_VERSIONS = 20
"""The number of specs that are kept per table."""


@dataclass(frozen=True)
class SentSpec:
    """A spec that was submitted to Druid, and its table; `worked`: its tasks were seen running."""

    version: int
    table: Table
    spec: Mapping[str, Any]
    submitted: str
    worked: bool


@dataclass(frozen=True)
class LastSpec:
    """The last submitted spec, and the spec as Druid accepted it, with secrets masked; empty if not known.

    `is_worse`: no task of it was seen running, but tasks of an earlier one were.
    """

    spec: Mapping[str, Any]
    accepted: Mapping[str, Any] = field(default_factory=dict)
    is_worse: bool = False


@dataclass(frozen=True)
class IngestionRecord:
    """`started`: between START and STOP.

    `last`: a spec was sent at some time, so that Druid may have offsets of the topic.
    """

    started: bool = False
    last: LastSpec | None = None


class Ingestions:
    """Every change is one transaction. Raises ExecutionError if the catalog cannot be written."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, table_id: str) -> IngestionRecord:
        """The record of a table; an empty one if it was never started."""
        return self._records("WHERE table_id = ?", (table_id,)).get(table_id, IngestionRecord())

    def all(self) -> dict[str, IngestionRecord]:
        """By table_id."""
        return self._records("", ())

    def _records(self, where: str, values: tuple[str, ...]) -> dict[str, IngestionRecord]:
        newest = (
            "(SELECT {} FROM ingestion_specs s WHERE s.table_id = ingestions.table_id ORDER BY version DESC LIMIT 1)"
        )
        columns = ", ".join(newest.format(column) for column in ("spec", "accepted", "worked"))
        any_worked = "(SELECT MAX(worked) FROM ingestion_specs s WHERE s.table_id = ingestions.table_id)"
        query = f"SELECT table_id, started, {columns}, {any_worked} FROM ingestions"
        rows = self._catalog.connection.execute(f"{query} {where}", values)
        return {
            table_id: IngestionRecord(
                bool(started),
                LastSpec(json.loads(spec), json.loads(accepted) if accepted else {}, bool(any_worked and not worked))
                if spec
                else None,
            )
            for table_id, started, spec, accepted, worked, any_worked in rows
        }  # fmt: skip

    def is_known(self, table_id: str) -> bool:
        """Whether a table with that id exists."""
        query = "SELECT 1 FROM tables WHERE table_id = ?"
        return self._catalog.connection.execute(query, (table_id,)).fetchone() is not None

    def begin(self, table_id: str) -> None:
        """Make sure that there is a record."""
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO ingestions (table_id, started) VALUES (?, 0) ON CONFLICT (table_id) DO NOTHING",
                (table_id,),
            )

    def finish(self, table_id: str, *, started: bool) -> None:
        """Record the completed change, after the last request."""
        with self._catalog.transaction() as connection:
            connection.execute(
                "INSERT INTO ingestions (table_id, started) VALUES (?, ?) "
                "ON CONFLICT (table_id) DO UPDATE SET started = excluded.started",
                (table_id, started),
            )

    # --- specs -------------------------------------------------------------------------------------------------

    def specs(self, table_id: str) -> tuple[SentSpec, ...]:
        """The submitted specs, newest first."""
        query = (
            "SELECT s.version, s.definition, s.spec, s.submitted, s.worked, t.database, t.name FROM ingestion_specs s"
            " JOIN tables t ON t.table_id = s.table_id WHERE s.table_id = ? ORDER BY s.version DESC"
        )
        return tuple(
            SentSpec(
                version, from_json(table_id, database, name, definition), json.loads(spec), submitted, bool(worked)
            )
            for version, definition, spec, submitted, worked, database, name in self._catalog.connection.execute(
                query, (table_id,)
            )
        )

    def record_spec(self, table: Table, spec: Mapping[str, Any], submitted: str) -> None:
        """Record a spec before it is submitted, unless it equals the last one."""
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

    def save_accepted(self, table_id: str, accepted: Mapping[str, Any]) -> None:
        """Record the last spec as Druid accepted it, without secrets."""
        self._set_newest(table_id, "accepted", json.dumps(accepted))

    def mark_working(self, table_id: str) -> None:
        """Record that tasks of the last spec run."""
        self._set_newest(table_id, "worked", 1)

    def _set_newest(self, table_id: str, column: str, value: object) -> None:
        with self._catalog.transaction() as connection:
            connection.execute(
                f"UPDATE ingestion_specs SET {column} = ? WHERE table_id = ? AND version = "
                "(SELECT MAX(version) FROM ingestion_specs WHERE table_id = ?)",
                (value, table_id, table_id),
            )

    def roll_back(self, table_id: str, version: int) -> None:
        """Discard the specs after `version`."""
        with self._catalog.transaction() as connection:
            connection.execute("DELETE FROM ingestion_specs WHERE table_id = ? AND version > ?", (table_id, version))
