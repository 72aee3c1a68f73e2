"""Statements about streams from Kafka tables into managed tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, TableName
from hivedruid.parser.statements.ddl import Property
from hivedruid.parser.statements.ingesting import ResetTarget

if TYPE_CHECKING:
    from sqlglot import exp

StreamVerb = Literal["START", "PAUSE", "RESUME", "STOP", "WAIT", "RUN"]


@dataclass(frozen=True)
class CreateStream(Statement):
    """CREATE STREAM [IF NOT EXISTS] name FROM source INTO target [WITH PROPERTIES (…)] AS query; `text` is the
    query's."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    name: TableName
    from_table: TableName
    into: TableName
    query: exp.Expression
    text: str
    properties: tuple[Property, ...] = ()
    if_not_exists: bool = False


@dataclass(frozen=True)
class ChangeStream(Statement):
    """START | PAUSE | RESUME | STOP | WAIT STREAM name; RUN STREAM name [LIMIT n]: one batch, in this session, of all
    records that Kafka has now, or of at most `limit`."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    name: TableName
    verb: StreamVerb
    span: Span | None = None
    limit: int | None = None


@dataclass(frozen=True)
class ResetStream(Statement):
    """RESET STREAM name TO EARLIEST | LATEST | TIMESTAMP '…' | OFFSETS (partition:offset, …)."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    name: TableName
    target: ResetTarget
    span: Span | None = None


@dataclass(frozen=True)
class AlterStream(Statement):
    """ALTER STREAM name SET PROPERTIES (…) | UNSET PROPERTIES (…) | AS query; `text` is the query's."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    name: TableName
    properties: tuple[Property, ...] = ()
    removed: tuple[Property, ...] = ()
    query: exp.Expression | None = None
    text: str = ""


@dataclass(frozen=True)
class CheckpointStream(Statement):
    """CHECKPOINT STREAM name: keep the last batch, for ROLLBACK STREAM."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    name: TableName


@dataclass(frozen=True)
class RollbackStream(Statement):
    """ROLLBACK STREAM name TO CHECKPOINT [n] | BATCH n; without n it is the last checkpoint."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    name: TableName
    to: Literal["CHECKPOINT", "BATCH"]
    batch: int | None = None
    span: Span | None = None


@dataclass(frozen=True)
class DropStream(Statement):
    """DROP STREAM [IF EXISTS] name [KEEP TABLE | WITH TABLE]."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams", "jobs"})
    name: TableName
    if_exists: bool = False
    with_table: bool = False


@dataclass(frozen=True)
class ShowStreams(Statement):
    """SHOW STREAMS [LIKE 'pattern']."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    like: str | None = None


@dataclass(frozen=True)
class ShowBatches(Statement):
    """SHOW BATCHES stream."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    name: TableName


@dataclass(frozen=True)
class ShowCheckpoints(Statement):
    """SHOW CHECKPOINTS stream."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    name: TableName


@dataclass(frozen=True)
class DescribeStream(Statement):
    """DESCRIBE STREAM name."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    name: TableName


StreamingStatement = (
    CreateStream
    | AlterStream
    | ChangeStream
    | ResetStream
    | CheckpointStream
    | RollbackStream
    | DropStream
    | ShowStreams
    | ShowBatches
    | ShowCheckpoints
    | DescribeStream
)
