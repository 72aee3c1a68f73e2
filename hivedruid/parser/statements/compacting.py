"""Statements about the segments and files of tables: hivedruid's own statements, and Hive's COMPACT."""

from __future__ import annotations

from typing import ClassVar

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, TableName


@dataclass(frozen=True)
class CompactTable(Statement):
    """ALTER TABLE table COMPACT 'type' [AND WAIT]; `kind` is in lower case, and checked later."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"files"})
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
