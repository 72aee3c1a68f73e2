"""Statements that write rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hivedruid.errors import Span
from hivedruid.parser.statements import Statement, TableName

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class InsertTarget:
    """One `INSERT [INTO | OVERWRITE] TABLE t [(columns)] query`; `query` may be VALUES."""

    table: TableName
    query: exp.Expression
    overwrite: bool = False
    columns: tuple[str, ...] = ()
    column_spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Insert(Statement):
    """INSERT, or the multi-insert `FROM … INSERT … INSERT …`, whose targets each get the shared FROM."""

    targets: tuple[InsertTarget, ...]
