"""What the parser makes of a statement: one frozen dataclass per kind, no methods that act.

Only what every query needs is here; the other modules, one for each family of statements, load when such a statement is
parsed (a hundred dataclasses cost 50 ms to define, and a one-shot EXPLAIN has no time for that).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from hivedruid.errors import Span
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import exp

ExplainMode = Literal["user", "extended", "cbo", "formatted"]
Fact = Literal["ingestions", "runtime", "jobs", "all jobs", "sources"]
"""What a statement has to know besides its tables: the supervisors of tables fed from Kafka, what Druid says of one now,
the jobs that it may go on with or all jobs, the state of what a materialized view is built from."""


@dataclass(frozen=True)
class Statement:
    """Base of all statements; `source` is the text it came from, `needs` is what is gathered for it."""

    needs: ClassVar[frozenset[Fact]] = frozenset()
    source: SourceStatement


@dataclass(frozen=True)
class TableName:
    """`[database.]name`, lower-cased, and where it stands."""

    name: str
    database: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Query(Statement):
    """SELECT in any form: a select, set operation, VALUES or WITH … SELECT, as sqlglot's tree.

    Positions in the tree's `meta` count from the start of `source.text`.
    """

    expression: exp.Expression


@dataclass(frozen=True)
class Explain(Statement):
    """EXPLAIN [EXTENDED | CBO | FORMATTED] statement."""

    statement: Statement
    mode: ExplainMode = "user"


@dataclass(frozen=True)
class SourceScript(Statement):
    """SOURCE path."""

    path: str
    span: Span | None = None
