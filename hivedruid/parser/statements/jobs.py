"""Statements about jobs that write to Druid, and about the segments they leave: hivedruid's own, beside Hive's COMPACT."""

from __future__ import annotations

from dataclasses import dataclass

from hivedruid.errors import Span
from hivedruid.parser.statements import Statement, TableName


@dataclass(frozen=True)
class ShowJobs(Statement):
    """SHOW JOBS [FOR table] [WHERE STATE = 'state']; `state` is in lower case."""

    name: TableName | None = None
    state: str | None = None
    state_span: Span | None = None


@dataclass(frozen=True)
class DescribeJob(Statement):
    """DESCRIBE JOB 'id'."""

    job: str
    span: Span | None = None


@dataclass(frozen=True)
class CancelJob(Statement):
    """CANCEL JOB 'id'."""

    job: str
    span: Span | None = None


@dataclass(frozen=True)
class ResumeJob(Statement):
    """RESUME JOB 'id'."""

    job: str
    span: Span | None = None


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
