"""Statements about tiered tables: hivedruid's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hivedruid.errors import Span
from hivedruid.parser.statements import Fact, Statement, TableName


@dataclass(frozen=True)
class ArchiveTable(Statement):
    """ARCHIVE TABLE table [UP TO 'time'] [AND WAIT]; AND WAIT has no effect, the statement always waits."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"hot segments", "jobs"})
    name: TableName
    up_to: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class ShowArchives(Statement):
    """SHOW ARCHIVES [FOR table]."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"all jobs"})
    name: TableName | None = None


@dataclass(frozen=True)
class VerifyTable(Statement):
    """VERIFY TABLE table."""

    name: TableName


TieringStatement = ArchiveTable | ShowArchives | VerifyTable
