"""The result of parsing: one frozen dataclass per kind of statement, without behavior. This module contains what every
query needs; the others, one per family, load when such a statement is parsed (defining a hundred dataclasses takes 50
ms).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import exp

ExplainMode = Literal["user", "extended", "cbo", "formatted", "logical", "dependency", "ddl"]
Fact = Literal[
    "ingestions",
    "runtime",
    "jobs",
    "all jobs",
    "sources",
    "comments",
    "segment root",
    "small files",
    "files",
    "snapshots",
    "own snapshots",
    "streams",
    "hot segments",
    "partition folders",
    "partitions",
    "input files",
    "data source segments",
]
"""The facts that a statement needs besides its tables: the supervisors of Kafka ingestion, the current state of one,
the jobs that it may resume or all jobs, the state of a materialized view's sources, the comments of databases, where
segments can be written, the tables of small JSON files, the files and the snapshots of managed tables, the latter also
only in the home's own catalog, the streams, the segments of a tiered table, the folders of partitions at the LOCATION,
the partitions of managed tables (those of external ones are always read), the files of LOAD DATA, the segments of the
Druid tables that the statement names, used and unused. The snapshot of a statement
that does not list a fact has nothing there."""


@dataclass(frozen=True)
class Statement:
    """Base of all statements; `source` is its text, `needs` are the facts to gather for it."""

    needs: ClassVar[frozenset[Fact]] = frozenset()
    source: SourceStatement


@dataclass(frozen=True)
class TableName:
    """`[database.]name`, lower-cased, with its position."""

    name: str
    database: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class SupervisorName:
    """The id of a supervisor in Druid, as a quoted string, with its position."""

    id: str
    span: Span | None = None


@dataclass(frozen=True)
class Query(Statement):
    """SELECT in any form: a select, set operation, VALUES or WITH … SELECT, as sqlglot's tree.

    Positions in the tree's `meta` count from the start of `source.text`.
    """

    expression: exp.Expression


@dataclass(frozen=True)
class Explain(Statement):
    """EXPLAIN [EXTENDED | CBO | FORMATTED | LOGICAL | DEPENDENCY | DDL] statement. `notes` are on other options, with
    their positions."""

    statement: Statement
    mode: ExplainMode = "user"
    notes: tuple[tuple[str, Span], ...] = ()


@dataclass(frozen=True)
class SourceScript(Statement):
    """SOURCE path."""

    path: str
    span: Span | None = None
