"""The catalog's record of streams: their definitions, the desired states, and what their manager reports.

The offsets that count are in the target table's snapshots (`streams/position.py`). The position here is a copy, which
detects that a table was rolled back, or lost its snapshots.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field, replace
from time import time
from typing import Any, Literal, cast

from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table
from hivedruid.errors import ExecutionError, SemanticError
from hivedruid.lazy_dataclass import dataclass

Desired = Literal["running", "paused", "stopped"]


@dataclass(frozen=True)
class Stream:
    """A stream from a Kafka table into a managed table.

    `source` and `target` are the full names of the tables, `query` the SELECT, `current` the database in which it was
    created or altered, and `settings` the session's settings that differed from the defaults. `properties` are those of
    WITH PROPERTIES. `columns` are the target's columns by the columns of the query. `version` counts the definitions:
    ALTER STREAM makes the next one.
    """

    id: str
    database: str
    name: str
    source: str
    target: str
    query: str
    current: str
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    version: int = 1
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"

    @property
    def rejects(self) -> str:
        """The full name of the table that its property names for malformed records; "" if there is none."""
        name = self.properties.get("rejects", "").lower()
        return f"{self.database}.{name}" if name and "." not in name else name


@dataclass(frozen=True)
class Position:
    """How far a stream has read: the next `offsets` of each partition after batch number `batch`, which counts from 0,
    the stream's beginning. `topic_id` is Kafka's id of the topic, `snapshot` the id of the batch's snapshot. `rejects`
    is the number of malformed records up to there that were left out, since the stream was created."""

    batch: int
    offsets: Mapping[int, int]
    topic_id: str
    snapshot: int | None = None
    rejects: int = 0


@dataclass(frozen=True)
class StreamStatus:
    """What the stream's manager reports. `rows` and `records` are totals since the stream was created; `batch_at` is
    when the last batch with rows was committed (ISO 8601 in UTC), `seconds` how long it took. `newest` is the time of
    the newest record that is read, `rejects` the number of malformed records up to its position. `begun_at` is when the
    last batch with records began, `left` the number of records that it left unread because it was full, and
    `records_per_second` its speed. `checked_at` is when the stream last looked for records, or ended a batch. `error`
    is the last error, "" after a batch that succeeded, and `hint` its next step; `restarts` counts the errors since
    the stream was started."""

    error: str = ""
    error_at: str = ""
    hint: str = ""
    restarts: int = 0
    conflicts: int = 0
    rows: int = 0
    records: int = 0
    rejects: int = 0
    rows_per_second: float = 0.0
    seconds: float = 0.0
    batch_at: str = ""
    newest: str = ""
    begun_at: str = ""
    left: int = 0
    records_per_second: float = 0.0
    checked_at: str = ""


@dataclass(frozen=True)
class StreamRecord:
    """A stream, its desired state, and its progress.

    `position` is that of the last batch that is known to be committed. `skipped` are later offsets that were read
    after it and gave no rows. `attempt` is the number of the batch whose commit was begun, and whose outcome is not yet
    known; 0 if there is none. `manager` is the id of the process that runs the stream, and `beat` the last time at
    which it did (seconds since 1970, by the clock of this machine). `checkpoints` are copies of the positions that are
    tagged in the table, by batch; `followed` is the version of the definition that the manager runs.
    """

    stream: Stream
    desired: Desired
    position: Position
    skipped: Mapping[int, int] = field(default_factory=dict)
    attempt: int = 0
    status: StreamStatus = field(default_factory=StreamStatus)
    manager: str = ""
    beat: float = 0.0
    checkpoints: tuple[Position, ...] = ()
    followed: int = 0


class Streams:
    """Every change is one transaction. Raises ExecutionError if the catalog cannot be written."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, database: str, name: str) -> StreamRecord | None:
        return next(iter(self._records("WHERE database = ? AND name = ?", (database, name))), None)

    def current(self, stream: Stream) -> StreamRecord:
        """The record as it is now. Raises ExecutionError if the stream was dropped."""
        found = next(iter(self._records("WHERE stream_id = ?", (stream.id,))), None)
        if found is None:
            raise ExecutionError(f"stream {stream.full_name} was dropped")
        return found

    def all(self) -> tuple[StreamRecord, ...]:
        """By name."""
        return self._records("ORDER BY database, name", ())

    def of_table(self, full_name: str) -> tuple[Stream, ...]:
        """The streams that read from a table, or write to it."""
        return tuple(each.stream for each in self.all() if full_name in (each.stream.source, each.stream.target))

    def _records(self, rest: str, values: tuple[str, ...]) -> tuple[StreamRecord, ...]:
        columns = "definition, desired, position, skipped, attempt, status, manager, beat, checkpoints, followed"
        rows = self._catalog.connection.execute(f"SELECT {columns} FROM streams {rest}", values).fetchall()
        records = tuple(_record(*row) for row in rows)
        if not any(record.manager for record in records):
            return records
        ahead = time() - self.now()
        return tuple(replace(record, beat=record.beat + ahead) for record in records)

    def add(self, stream: Stream, position: Position) -> None:
        """Raises SemanticError if a stream of that name exists."""
        with self._catalog.transaction() as connection:
            if self.find(stream.database, stream.name) is not None:
                raise SemanticError(
                    f"Stream {stream.full_name} already exists", hint="use IF NOT EXISTS to keep it, or DROP STREAM"
                )
            connection.execute(
                "INSERT INTO streams (stream_id, database, name, definition, desired, position, skipped, attempt,"
                " status) VALUES (?, ?, ?, ?, 'stopped', ?, '{}', 0, '{}')",
                (stream.id, stream.database, stream.name, json.dumps(asdict(stream)), json.dumps(asdict(position))),
            )

    def replace(self, stream: Stream) -> None:
        """Change the definition to the next version. Raises ExecutionError if another statement has changed it."""
        with self._catalog.transaction():
            if self.current(stream).stream.version != stream.version - 1:
                raise ExecutionError(
                    f"another statement altered stream {stream.full_name} meanwhile", hint="rerun the statement"
                )
            self._set(stream, definition=json.dumps(asdict(stream)))

    def follow(self, stream: Stream) -> None:
        """Record that the manager runs this version of the definition."""
        self._set(stream, followed=stream.version)

    def keep_checkpoints(self, stream: Stream, checkpoints: Iterable[Position]) -> None:
        self._set(stream, checkpoints=json.dumps([asdict(each) for each in checkpoints]))

    def remove(self, stream: Stream) -> None:
        with self._catalog.transaction() as connection:
            connection.execute("DELETE FROM streams WHERE stream_id = ?", (stream.id,))

    def set_desired(self, stream: Stream, desired: Desired) -> None:
        """Change the desired state. An error of an earlier run is forgotten when the stream is started."""
        with self._catalog.transaction():
            if desired == "running":
                status = self.current(stream).status
                self.report(stream, replace(status, error="", error_at="", hint="", restarts=0))
            self._set(stream, desired=desired)

    def source(self, stream: Stream) -> Table | None:
        """The Kafka table of a stream; None if it does not exist."""
        database, _, name = stream.source.partition(".")
        return self._catalog.find(database, name)

    # --- progress ----------------------------------------------------------------------------------------------

    def begin_batch(self, stream: Stream, batch: int) -> None:
        """Record that a batch is about to be committed."""
        self._set(stream, attempt=batch)

    def end_batch(self, stream: Stream, position: Position) -> None:
        """Record the position of a committed batch; no other batch is being committed."""
        status = self._with_rejects(stream, position)
        self._set(stream, position=json.dumps(asdict(position)), skipped="{}", attempt=0, status=status)

    def skip(self, stream: Stream, position: Position) -> None:
        """Record that the records up to this position gave no rows."""
        status = self._with_rejects(stream, position)
        self._set(stream, skipped=json.dumps(dict(position.offsets)), attempt=0, status=status)

    def _with_rejects(self, stream: Stream, position: Position) -> str:
        return json.dumps(asdict(replace(self.current(stream).status, rejects=position.rejects)))

    def report(self, stream: Stream, status: StreamStatus) -> None:
        self._set(stream, status=json.dumps(asdict(status)))

    # --- managers ----------------------------------------------------------------------------------------------

    def now(self) -> float:
        """The time at which a lease begins: by the clock of the database, if managers of several machines share it."""
        return self._catalog.connection.now()

    def lease(self, stream: Stream, manager: str, now: float, patience: float, dead: str = "") -> bool:
        """Make a manager the one that runs a stream, if no other but the `dead` one has reported within `patience`
        seconds. It is called again and again while the stream runs. A report of the future is one from before the clock
        was set back."""
        with self._catalog.transaction() as connection:
            changed = connection.execute(
                "UPDATE streams SET manager = ?, beat = ? WHERE stream_id = ? AND (manager IN ('', ?, ?)"
                " OR abs(beat - ?) > ?)",
                (manager, now, stream.id, manager, dead, now, patience),
            )
            return changed.rowcount == 1

    def release(self, manager: str, streams: Iterable[Stream] | None = None) -> None:
        """End the leases of a manager, or only those of some streams."""
        with self._catalog.transaction() as connection:
            if streams is None:
                connection.execute("UPDATE streams SET manager = '', beat = 0 WHERE manager = ?", (manager,))
            for stream in streams or ():
                connection.execute(
                    "UPDATE streams SET manager = '', beat = 0 WHERE manager = ? AND stream_id = ?",
                    (manager, stream.id),
                )

    def _set(self, stream: Stream, **columns: object) -> None:
        names = ", ".join(f"{name} = ?" for name in columns)
        with self._catalog.transaction() as connection:
            connection.execute(f"UPDATE streams SET {names} WHERE stream_id = ?", (*columns.values(), stream.id))


def _record(
    definition: str,
    desired: str,
    position: str,
    skipped: str,
    attempt: int,
    status: str,
    manager: str,
    beat: float,
    checkpoints: str,
    followed: int,
) -> StreamRecord:
    return StreamRecord(
        Stream(**json.loads(definition)), cast("Desired", desired), position_from_json(json.loads(position)),
        _offsets(json.loads(skipped)), attempt, StreamStatus(**json.loads(status)), manager, beat,
        tuple(position_from_json(each) for each in json.loads(checkpoints)), followed,
    )  # fmt: skip


def position_from_json(document: Mapping[str, Any]) -> Position:
    """The inverse of `dataclasses.asdict` and JSON, whose keys are strings."""
    return Position(
        int(document["batch"]), _offsets(document["offsets"]), str(document["topic_id"]), document.get("snapshot"),
        int(document.get("rejects", 0)),
    )  # fmt: skip


def _offsets(document: Mapping[str, int]) -> dict[int, int]:
    return {int(partition): int(offset) for partition, offset in document.items()}
