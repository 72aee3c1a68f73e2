"""Statements about the segments of tables: hivedruid's own statements, and Hive's COMPACT."""

from __future__ import annotations

from dataclasses import dataclass

from hivedruid.errors import Span
from hivedruid.parser.statements import Statement, TableName


@dataclass(frozen=True)
class CompactTable(Statement):
    """ALTER TABLE table COMPACT 'major' [AND WAIT]; `kind` is in lower case, and checked later."""

    name: TableName
    kind: str
    wait: bool = False
    span: Span | None = None


@dataclass(frozen=True)
class ShowCompactions(Statement):
    """SHOW COMPACTIONS [FOR table]."""

    name: TableName | None = None


@dataclass(frozen=True)
class ShowSegments(Statement):
    """SHOW SEGMENTS [FOR table]."""

    name: TableName | None = None


CompactingStatement = CompactTable | ShowCompactions | ShowSegments
