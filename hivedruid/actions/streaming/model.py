"""The actions of statements about streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hivedruid.actions.ddl.model import RemoveTable
from hivedruid.actions.model import Action, OverJob
from hivedruid.catalog.streams import Desired, Position, Stream, StreamRecord
from hivedruid.catalog.table import Table
from hivedruid.iceberg.history import TableHistory
from hivedruid.lazy_dataclass import dataclass


@dataclass(frozen=True)
class AddStream(Action):
    """Commit the stream's first snapshot to its target, which has the offsets at which it begins, and add it to the
    catalog. `source` is the Kafka table as the stream reads it; `malformed` says what becomes of its malformed
    records, and `is_new` whether the target is created."""

    stream: Stream
    target: Table
    position: Position
    source: Table
    malformed: str = ""
    is_new: bool = False


@dataclass(frozen=True)
class AppendBatch(OverJob, Action):
    """Run `job` over the records from `start` to `after.offsets`, and append its rows to the target: one commit, which
    fails if another writer has changed the table since snapshot `base`. `may_be_empty`: the query may drop all
    records; then nothing is committed. `file_size` is the size of a file in bytes, None for Iceberg's default.
    `malformed` says what becomes of malformed records. `left` is the number of records that Kafka has after those of
    the batch."""

    stream: Stream
    target: Table
    base: int
    start: Mapping[int, int]
    after: Position
    may_be_empty: bool
    file_size: int | None = None
    malformed: str = ""
    left: int = 0

    @property
    def records(self) -> int:
        """The number of offsets; those of control records and of compacted records have no row."""
        return sum(end - self.start.get(partition, 0) for partition, end in self.after.offsets.items())


@dataclass(frozen=True)
class RecordPosition(Action):
    """Record the last batch in the table, whose process was killed before it did so."""

    stream: Stream
    position: Position


@dataclass(frozen=True)
class SetDesired(Action):
    """Change the desired state of a stream, and wait until its manager has followed. A manager is started if none
    runs."""

    stream: Stream
    desired: Desired


@dataclass(frozen=True)
class AwaitOffsets(Action):
    """Wait until a running stream has read up to these offsets."""

    stream: Stream
    target: Table
    offsets: Mapping[int, int]


@dataclass(frozen=True)
class MoveOffsets(Action):
    """Commit a snapshot without rows that has other offsets. `lost` and `repeated` are numbers of records."""

    stream: Stream
    target: Table
    position: Position
    asked: str
    lost: int = 0
    repeated: int = 0


@dataclass(frozen=True)
class AlterDefinition(Action):
    """Change the definition of a stream to its next version. The manager follows after the running batch."""

    stream: Stream
    changed: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class AddCheckpoint(Action):
    """Tag the snapshot of a batch, keep a copy of its position in the catalog, and remove older checkpoints."""

    stream: Stream
    target: Table
    position: Position
    retained: tuple[Position, ...] = ()
    removed: tuple[int, ...] = ()


@dataclass(frozen=True)
class RollBackStream(Action):
    """Make the snapshot of a batch the current one: table and offsets go back together. `effects` says what is lost
    and what is repeated."""

    stream: Stream
    target: Table
    position: Position
    asked: str
    effects: tuple[str, ...] = ()


@dataclass(frozen=True)
class RemoveStream(Action):
    """Stop a stream and remove it from the catalog, with its target if `table` is given; otherwise its checkpoints are
    removed from `target`."""

    stream: Stream
    target: Table | None = None
    checkpoints: tuple[int, ...] = ()
    table: RemoveTable | None = None

    @property
    def empties(self) -> tuple[Table, ...]:
        return self.table.empties if self.table is not None else ()


@dataclass(frozen=True)
class ListStreams(Action):
    """Return the streams and their progress. Kafka is asked for the offsets of their topics."""

    streams: tuple[StreamRecord, ...]
    like: str | None = None


@dataclass(frozen=True)
class ListBatches(Action):
    """Return the batches of a stream whose snapshots have not expired, newest first."""

    record: StreamRecord
    history: TableHistory = field(hash=False, repr=False)


@dataclass(frozen=True)
class ListCheckpoints(Action):
    """Return the checkpoints of a stream, newest first."""

    record: StreamRecord
    history: TableHistory = field(hash=False, repr=False)


@dataclass(frozen=True)
class ShowStream(Action):
    """Return the details of a stream."""

    record: StreamRecord
    rows: tuple[tuple[Any, ...], ...] = ()


StreamingAction = (
    AddStream
    | AppendBatch
    | RecordPosition
    | SetDesired
    | AwaitOffsets
    | MoveOffsets
    | AlterDefinition
    | AddCheckpoint
    | RollBackStream
    | RemoveStream
    | ListStreams
    | ListBatches
    | ListCheckpoints
    | ShowStream
)
