"""Statements about Kafka ingestion: hivedruid's own, and Hive's ALTER TABLE … SET
TBLPROPERTIES('druid.kafka.ingestion' = …)."""

from __future__ import annotations

from typing import ClassVar, Literal

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, SupervisorName, TableName

IngestionVerb = Literal["START", "STOP", "RESET", "SUSPEND", "RESUME", "HANDOFF", "WAIT", "ROLLBACK"]
ResetTo = Literal["EARLIEST", "LATEST", "OFFSETS", "TIMESTAMP"]


@dataclass(frozen=True)
class ResetTarget:
    """TO …: `offsets` are (partition, offset) pairs of OFFSETS, `timestamp` the text of TIMESTAMP, in the session's
    zone."""

    to: ResetTo
    offsets: tuple[tuple[int, int], ...] = ()
    timestamp: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class AlterIngestion(Statement):
    """START | STOP | SUSPEND | RESUME | HANDOFF | WAIT INGESTION table; RESET INGESTION table [TO …]; ALTER TABLE table
    ROLLBACK INGESTION. All but the last and START also name a supervisor by its id.

    `target` is the position of RESET; None: the position given by the table's useEarliestOffset.
    """

    needs: ClassVar[frozenset[Fact]] = frozenset({"ingestions"})
    name: TableName | SupervisorName
    verb: IngestionVerb
    target: ResetTarget | None = None
    span: Span | None = None


IngestingStatement = AlterIngestion
