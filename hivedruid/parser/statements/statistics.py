"""Statements that compute statistics."""

from __future__ import annotations

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.partitioning import PartitionSpec


@dataclass(frozen=True)
class AnalyzeTable(Statement):
    """ANALYZE TABLE table [PARTITION (…)] COMPUTE STATISTICS [FOR COLUMNS [columns]] [NOSCAN].

    `columns` are the named columns with their positions, empty for all; None: without FOR COLUMNS.
    """

    name: TableName
    columns: tuple[tuple[str, Span], ...] | None = None
    no_scan: bool = False
    partition: PartitionSpec | None = None


StatisticsStatement = AnalyzeTable
