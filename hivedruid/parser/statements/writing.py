"""Statements that write rows, and statements about the jobs that write to Druid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hivedruid.errors import Span
from hivedruid.parser.statements import Fact, Statement, TableName

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

    needs: ClassVar[frozenset[Fact]] = frozenset({"jobs", "segment root"})
    targets: tuple[InsertTarget, ...]


@dataclass(frozen=True)
class ChangeRows(Statement):
    """DELETE FROM table [WHERE condition], or UPDATE table SET column = value, … [WHERE condition] if there are
    `columns`.

    `query` selects the rows of the table for which the condition is true: all columns, or the new values of `columns`.
    """

    table: TableName
    query: exp.Expression
    columns: tuple[str, ...] = ()
    column_spans: tuple[Span, ...] = ()
    value_spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class ShowJobs(Statement):
    """SHOW JOBS [FOR table] [WHERE STATE = 'state']; `state` is in lower case."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"all jobs"})
    name: TableName | None = None
    state: str | None = None
    state_span: Span | None = None


@dataclass(frozen=True)
class DescribeJob(Statement):
    """DESCRIBE JOB 'id'."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"all jobs"})
    job: str
    span: Span | None = None


@dataclass(frozen=True)
class CancelJob(Statement):
    """CANCEL JOB 'id'."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"all jobs"})
    job: str
    span: Span | None = None


@dataclass(frozen=True)
class ResumeJob(Statement):
    """RESUME JOB 'id'."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"all jobs"})
    job: str
    span: Span | None = None


WritingStatement = Insert | ChangeRows | ShowJobs | DescribeJob | CancelJob | ResumeJob
