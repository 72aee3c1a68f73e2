"""Statements about materialized views."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, TableName
from hivedruid.parser.statements.ddl import CreateTable

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class CreateMaterializedView(Statement):
    """CREATE MATERIALIZED VIEW: `table` is the equivalent CREATE TABLE … AS SELECT, `query_text` its SELECT as
    written."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"jobs", "sources", "segment root"})
    name: TableName
    query: exp.Expression
    query_text: str
    table: CreateTable
    rewrite: bool = True
    if_not_exists: bool = False


@dataclass(frozen=True)
class AlterMaterializedView(Statement):
    """ALTER MATERIALIZED VIEW … REBUILD | ENABLE REWRITE | DISABLE REWRITE."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"jobs", "sources", "segment root"})
    name: TableName
    what: Literal["rebuild", "enable", "disable"]


@dataclass(frozen=True)
class DropMaterializedView(Statement):
    needs: ClassVar[frozenset[Fact]] = frozenset({"jobs"})
    name: TableName
    if_exists: bool = False


@dataclass(frozen=True)
class ShowMaterializedViews(Statement):
    """SHOW MATERIALIZED VIEWS [IN db] [LIKE 'pattern']."""

    database: str | None = None
    like: str | None = None
    span: Span | None = None


MaterializedStatement = CreateMaterializedView | AlterMaterializedView | DropMaterializedView | ShowMaterializedViews
