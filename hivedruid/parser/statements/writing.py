"""Statements that write rows, and statements about the jobs that write to Druid."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, TableName

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.parser.statements.ddl import Property
    from hivedruid.parser.statements.partitioning import PartitionSpec


@dataclass(frozen=True)
class Directory:
    """`[LOCAL] DIRECTORY 'location' [ROW FORMAT …] [STORED AS …]`; `stored_as` and `serde` as in CreateTable."""

    location: str
    local: bool = False
    stored_as: str | None = None
    serde: tuple[Property, ...] = ()
    span: Span | None = None


@dataclass(frozen=True)
class InsertTarget:
    """One `INSERT [INTO | OVERWRITE] TABLE t [PARTITION (…)] [(columns)] query`; `query` may be VALUES. With a
    `directory` the table has no name."""

    table: TableName
    query: exp.Expression
    overwrite: bool = False
    columns: tuple[str, ...] = ()
    column_spans: tuple[Span, ...] = ()
    partition: PartitionSpec | None = None
    if_not_exists: bool = False
    directory: Directory | None = None


@dataclass(frozen=True)
class Insert(Statement):
    """INSERT, or the multi-insert `FROM … INSERT … INSERT …`, whose targets each get the shared FROM."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"jobs", "segment root", "small files"})
    targets: tuple[InsertTarget, ...]


@dataclass(frozen=True)
class LoadData(Statement):
    """LOAD DATA [LOCAL] INPATH 'path' [OVERWRITE] INTO TABLE table [PARTITION (…)] [INPUTFORMAT '…' SERDE '…'].

    `location` is the path, which may contain Hadoop's patterns (`*`, `?`, `[…]`, `{…}`). `serde` is the class of SERDE.
    """

    needs: ClassVar[frozenset[Fact]] = frozenset({"input files"})
    location: str
    table: TableName
    local: bool = False
    overwrite: bool = False
    partition: PartitionSpec | None = None
    serde: Property | None = None
    span: Span | None = None


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
class WhenClause:
    """`WHEN MATCHED [AND condition] THEN UPDATE SET column = value, …` or `… THEN DELETE`, or `WHEN NOT MATCHED
    [AND condition] THEN INSERT [(columns)] VALUES (values)`."""

    kind: Literal["update", "delete", "insert"]
    span: Span
    condition: exp.Expression | None = None
    columns: tuple[str, ...] = ()
    column_spans: tuple[Span, ...] = ()
    values: tuple[exp.Expression, ...] = ()
    value_spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Merge(Statement):
    """MERGE INTO table [AS alias] USING source ON condition WHEN …; `using` is `SELECT * FROM source`."""

    table: TableName
    alias: str | None
    using: exp.Expression
    on: exp.Expression
    clauses: tuple[WhenClause, ...]


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


WritingStatement = Insert | LoadData | ChangeRows | Merge | ShowJobs | DescribeJob | CancelJob | ResumeJob
