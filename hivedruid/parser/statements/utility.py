"""Statements that show metadata and change settings: DESCRIBE, SHOW, SET."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, TableName

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.parser.statements.partitioning import PartitionSpec

ShowKind = Literal["tables", "views", "databases", "functions"]


@dataclass(frozen=True)
class DescribeTable(Statement):
    """DESCRIBE [EXTENDED | FORMATTED] table [column]."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"runtime"})
    name: TableName
    mode: Literal["plain", "extended", "formatted"] = "plain"
    column: str | None = None
    column_span: Span | None = None


@dataclass(frozen=True)
class LoosePath:
    """The path of a file without a table; a relative one starts from `folder`."""

    path: str
    folder: str


@dataclass(frozen=True)
class DescribeFile(Statement):
    """DESCRIBE 'path': the CREATE TABLE of a file without a table."""

    file: LoosePath
    span: Span | None = None


@dataclass(frozen=True)
class DescribeDatabase(Statement):
    """DESCRIBE DATABASE [EXTENDED] name."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"comments"})
    name: str
    extended: bool = False
    span: Span | None = None


@dataclass(frozen=True)
class DescribeFunction(Statement):
    """DESCRIBE FUNCTION [EXTENDED] name."""

    name: str
    extended: bool = False


@dataclass(frozen=True)
class ShowNames(Statement):
    """SHOW TABLES | VIEWS | DATABASES | FUNCTIONS [IN db] [LIKE 'pattern']."""

    kind: ShowKind
    database: str | None = None
    like: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class ShowTableExtended(Statement):
    """SHOW TABLE EXTENDED [IN db] LIKE 'pattern' [PARTITION (…)]. With a partition, the pattern is a name."""

    like: str
    database: str | None = None
    spec: PartitionSpec | None = None
    span: Span | None = None


@dataclass(frozen=True)
class ShowColumns(Statement):
    name: TableName
    like: str | None = None


@dataclass(frozen=True)
class ShowCreateTable(Statement):
    name: TableName


@dataclass(frozen=True)
class ShowCreateDatabase(Statement):
    """SHOW CREATE DATABASE name."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"comments"})
    name: str
    span: Span | None = None


@dataclass(frozen=True)
class ShowTableProperties(Statement):
    """SHOW TBLPROPERTIES table [('key')]."""

    name: TableName
    key: str | None = None
    key_span: Span | None = None


@dataclass(frozen=True)
class ShowConf(Statement):
    """SHOW CONF 'key': the default, the type and the description of a setting."""

    key: str
    span: Span | None = None


@dataclass(frozen=True)
class SetSetting(Statement):
    """SET (all changed), SET -v (all), SET key (one), SET key=value."""

    key: str | None = None
    value: str | None = None
    verbose: bool = False
    span: Span | None = None


@dataclass(frozen=True)
class WithoutEffect(Statement):
    """A statement of Hive that is accepted and does nothing, for a reason: GRANT, LOCK TABLE, …. `files` are
    those of ADD FILE, which has an effect if scripts may run; `columns` those of SHOW LOCKS and others without rows."""

    reason: str
    hint: str
    span: Span | None = None
    files: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Resources(Statement):
    """ADD, DELETE and LIST JAR, and DELETE and LIST FILE. Without paths all are meant."""

    change: Literal["add", "delete", "list"]
    kind: Literal["jar", "file"]
    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class ResetSettings(Statement):
    """RESET (all settings) or RESET key."""

    key: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class CreateMacro(Statement):
    """CREATE TEMPORARY MACRO name(parameter type, …) expression. `parameters` have their types as sqlglot's tree."""

    name: str
    parameters: tuple[tuple[str, exp.DataType], ...]
    body: exp.Expr
    span: Span | None = None


@dataclass(frozen=True)
class DropMacro(Statement):
    """DROP TEMPORARY MACRO [IF EXISTS] name. As in Hive, an unknown name is no error."""

    name: str


ShowStatement = (
    ShowNames | ShowTableExtended | ShowColumns | ShowCreateTable | ShowCreateDatabase | ShowTableProperties | ShowConf
)
EffectiveStatement = (
    DescribeTable
    | DescribeFile
    | DescribeFunction
    | DescribeDatabase
    | ShowStatement
    | SetSetting
    | Resources
    | ResetSettings
    | CreateMacro
    | DropMacro
)
UtilityStatement = EffectiveStatement | WithoutEffect
