"""Statements about tiered tables: hivedruid's own."""

from __future__ import annotations

from typing import ClassVar

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, TableName


@dataclass(frozen=True)
class Moment:
    """A quoted time, with its position."""

    text: str
    span: Span | None = None


@dataclass(frozen=True)
class ArchiveTable(Statement):
    """ARCHIVE TABLE table [UP TO 'time' | PARTITION (`__time` = 'time')] [AND WAIT].

    AND WAIT has no effect, the statement always waits. `partition` is a time of the span that is archived.
    """

    needs: ClassVar[frozenset[Fact]] = frozenset({"hot segments", "jobs"})
    name: TableName
    up_to: Moment | None = None
    partition: Moment | None = None


@dataclass(frozen=True)
class UnarchiveTable(Statement):
    """UNARCHIVE TABLE table [FROM 'time'] [TO 'time' | PARTITION (`__time` = 'time')] [AND WAIT]."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"jobs", "segment root"})
    name: TableName
    start: Moment | None = None
    end: Moment | None = None
    partition: Moment | None = None


@dataclass(frozen=True)
class ShowArchives(Statement):
    """SHOW ARCHIVES [FOR table]."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"all jobs"})
    name: TableName | None = None


@dataclass(frozen=True)
class VerifyTable(Statement):
    """VERIFY TABLE table [FROM 'time'] [TO 'time']."""

    name: TableName
    start: Moment | None = None
    end: Moment | None = None


TieringStatement = ArchiveTable | UnarchiveTable | ShowArchives | VerifyTable
