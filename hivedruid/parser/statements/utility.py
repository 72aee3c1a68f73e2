"""Statements that look and set: DESCRIBE, SHOW, SET, SOURCE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hivedruid.errors import Span
from hivedruid.parser.statements import Statement, TableName

ShowKind = Literal["tables", "views", "databases", "functions"]


@dataclass(frozen=True)
class DescribeTable(Statement):
    """DESCRIBE [EXTENDED | FORMATTED] table [column]."""

    name: TableName
    mode: Literal["plain", "extended", "formatted"] = "plain"
    column: str | None = None
    column_span: Span | None = None


@dataclass(frozen=True)
class DescribeDatabase(Statement):
    """DESCRIBE DATABASE [EXTENDED] name."""

    name: str
    extended: bool = False
    span: Span | None = None


@dataclass(frozen=True)
class ShowNames(Statement):
    """SHOW TABLES | VIEWS | DATABASES | FUNCTIONS [IN db] [LIKE 'pattern']."""

    kind: ShowKind
    database: str | None = None
    like: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class ShowColumns(Statement):
    name: TableName
    like: str | None = None


@dataclass(frozen=True)
class ShowCreateTable(Statement):
    name: TableName


@dataclass(frozen=True)
class ShowTableProperties(Statement):
    """SHOW TBLPROPERTIES table [('key')]."""

    name: TableName
    key: str | None = None
    key_span: Span | None = None


@dataclass(frozen=True)
class AnalyzeTable(Statement):
    """ANALYZE TABLE table COMPUTE STATISTICS [FOR COLUMNS [columns]] [NOSCAN].

    `columns` are those to look at with their places, all of them where none is named; None: without FOR COLUMNS.
    """

    name: TableName
    columns: tuple[tuple[str, Span], ...] | None = None
    no_scan: bool = False


@dataclass(frozen=True)
class SetSetting(Statement):
    """SET (all changed), SET -v (all), SET key (one), SET key=value."""

    key: str | None = None
    value: str | None = None
    verbose: bool = False
    span: Span | None = None


@dataclass(frozen=True)
class SourceScript(Statement):
    """SOURCE path."""

    path: str
    span: Span | None = None


@dataclass(frozen=True)
class ResetSettings(Statement):
    """RESET (all settings) or RESET key."""

    key: str | None = None
    span: Span | None = None
