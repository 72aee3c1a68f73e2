"""Statements that change the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hivedruid.catalog.constraints import ConstraintKind
from hivedruid.catalog.layout import PartitionField, SortField
from hivedruid.catalog.types import HiveType
from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, SupervisorName, TableName

if TYPE_CHECKING:
    from sqlglot import exp

    from hivedruid.catalog.databases import OwnerType


@dataclass(frozen=True)
class ColumnName:
    """The name of a column, lower-cased, with its position."""

    name: str
    span: Span | None = None


@dataclass(frozen=True)
class ConstraintDef:
    """A constraint as declared; without a `name` it gets one. `text` is the expression of CHECK or DEFAULT."""

    kind: ConstraintKind
    columns: tuple[ColumnName, ...] = ()
    name: str = ""
    text: str = ""
    text_span: Span | None = None
    parent: TableName | None = None
    parent_columns: tuple[ColumnName, ...] = ()
    enabled: bool = True
    rely: bool = True
    span: Span | None = None


@dataclass(frozen=True)
class ColumnDef:
    """A column as declared; `name` is lower case."""

    name: str
    type: HiveType
    comment: str = ""
    span: Span | None = None
    constraints: tuple[ConstraintDef, ...] = ()


@dataclass(frozen=True)
class Property:
    """One `'key' = 'value'` of TBLPROPERTIES or SERDEPROPERTIES, with the positions of both."""

    key: str
    value: str
    key_span: Span | None = None
    value_span: Span | None = None


@dataclass(frozen=True)
class Clause:
    """A clause that may be rejected (PARTITIONED BY, CLUSTERED BY, …): its keywords and its position."""

    text: str
    span: Span | None = None


@dataclass(frozen=True)
class PartitionItem:
    """A field of PARTITIONED BY and its position."""

    field: PartitionField
    span: Span | None = None


@dataclass(frozen=True)
class Partitioning(Clause):
    """PARTITIONED BY. `columns` are those that it declares; with `at_end` its columns come after the others, otherwise
    it is PARTITIONED BY SPEC."""

    fields: tuple[PartitionItem, ...] = ()
    columns: tuple[ColumnDef, ...] = ()
    at_end: bool = False


@dataclass(frozen=True)
class SortItem:
    """A field of WRITE LOCALLY ORDERED BY and its position."""

    field: SortField
    span: Span | None = None


@dataclass(frozen=True)
class Ordering(Clause):
    """WRITE LOCALLY ORDERED BY."""

    fields: tuple[SortItem, ...] = ()


@dataclass(frozen=True)
class LikeFile:
    """The file or folder whose columns a new table has; `format` is `parquet` or `orc`."""

    format: str
    path: str
    span: Span | None = None


@dataclass(frozen=True)
class CreateTable(Statement):
    """CREATE [EXTERNAL | TEMPORARY] TABLE, from columns, from a query, or both.

    `storage_handler` is the class name in full, short forms resolved. `stored_as` is lower case;
    `other_format` is a STORED AS whose files cannot be read.
    `serde` holds ROW FORMAT and SERDEPROPERTIES under Hive's names (`field.delim`, `serialization.lib`, …).
    `like` is the table of CREATE TABLE … LIKE, which has no columns and no query of its own. `topic_span` is the topic
    of CREATE TABLE … LIKE TOPIC, which is the property kafka.topic. `iceberg_span` is that of STORED BY ICEBERG.
    `supervisor` is that of FROM SUPERVISOR, whose spec has the columns and properties.
    `like_file` is the file of LIKE FILE, or the LOCATION of a table without columns. `constraints` are those beside the
    columns.
    """

    needs: ClassVar[frozenset[Fact]] = frozenset({"ingestions", "jobs", "segment root", "small files"})
    name: TableName
    external: bool = False
    temporary: bool = False
    if_not_exists: bool = False
    columns: tuple[ColumnDef, ...] = ()
    constraints: tuple[ConstraintDef, ...] = ()
    comment: str = ""
    partitioned_by: Partitioning | None = None
    ordered_by: Ordering | None = None
    clustered_by: Clause | None = None
    skewed_by: Clause | None = None
    other_format: Clause | None = None
    iceberg_span: Span | None = None
    storage_handler: str | None = None
    storage_handler_span: Span | None = None
    stored_as: str | None = None
    serde: tuple[Property, ...] = ()
    location: str | None = None
    location_span: Span | None = None
    properties: tuple[Property, ...] = ()
    query: exp.Expression | None = None
    like: TableName | None = None
    topic_span: Span | None = None
    like_file: LikeFile | None = None
    supervisor: SupervisorName | None = None


@dataclass(frozen=True)
class DropTable(Statement):
    needs: ClassVar[frozenset[Fact]] = frozenset({"ingestions", "jobs", "streams"})
    name: TableName
    if_exists: bool = False
    purge: bool = False


@dataclass(frozen=True)
class SetTableProperties(Statement):
    """ALTER TABLE | VIEW … SET TBLPROPERTIES."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"ingestions"})
    name: TableName
    properties: tuple[Property, ...]
    of_view: bool = False


@dataclass(frozen=True)
class UnsetTableProperties(Statement):
    """ALTER TABLE | VIEW … UNSET TBLPROPERTIES [IF EXISTS]; only the keys of `properties` are used."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"ingestions"})
    name: TableName
    properties: tuple[Property, ...]
    if_exists: bool = False
    of_view: bool = False


@dataclass(frozen=True)
class AddColumns(Statement):
    needs: ClassVar[frozenset[Fact]] = frozenset({"ingestions"})
    name: TableName
    columns: tuple[ColumnDef, ...]


@dataclass(frozen=True)
class ChangeColumn(Statement):
    """ALTER TABLE … CHANGE [COLUMN]; `first` and `after` are its new position. `comment` is None if none is given."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"ingestions", "streams"})
    name: TableName
    old: ColumnName
    new: ColumnDef
    comment: str | None = None
    first: Span | None = None
    after: ColumnName | None = None


@dataclass(frozen=True)
class ReplaceColumns(Statement):
    """ALTER TABLE … REPLACE COLUMNS, at `span`."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"ingestions", "streams"})
    name: TableName
    columns: tuple[ColumnDef, ...]
    span: Span | None = None


@dataclass(frozen=True)
class AddConstraint(Statement):
    """ALTER TABLE … ADD CONSTRAINT."""

    name: TableName
    constraint: ConstraintDef


@dataclass(frozen=True)
class DropConstraint(Statement):
    """ALTER TABLE … DROP CONSTRAINT; `span` is the position of its name."""

    name: TableName
    constraint: str
    span: Span | None = None


@dataclass(frozen=True)
class SetPartitionSpec(Statement):
    """ALTER TABLE … SET PARTITION SPEC, which applies to new files."""

    name: TableName
    partitioned_by: Partitioning


@dataclass(frozen=True)
class ChangeStorage(Statement):
    """ALTER TABLE … SET LOCATION | FILEFORMAT | SERDE | SERDEPROPERTIES, UNSET SERDEPROPERTIES; at `span`.

    `stored_as` and `serde` are as in CreateTable; only the keys of `removed` are used.
    """

    name: TableName
    location: str | None = None
    stored_as: str | None = None
    serde: tuple[Property, ...] = ()
    removed: tuple[Property, ...] = ()
    span: Span | None = None


@dataclass(frozen=True)
class RenameTable(Statement):
    """ALTER TABLE | VIEW … RENAME TO."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"streams"})
    name: TableName
    new_name: TableName
    of_view: bool = False


@dataclass(frozen=True)
class TruncateTable(Statement):
    needs: ClassVar[frozenset[Fact]] = frozenset({"ingestions", "jobs", "streams"})
    name: TableName


@dataclass(frozen=True)
class CreateDatabase(Statement):
    """CREATE DATABASE; `ignored` are its clauses on folders, `iceberg` is USING ICEBERG CATALOG."""

    name: str
    if_not_exists: bool = False
    comment: str = ""
    location: str | None = None
    managed_location: str | None = None
    properties: tuple[Property, ...] = ()
    ignored: tuple[Clause, ...] = ()
    iceberg: Clause | None = None
    span: Span | None = None


@dataclass(frozen=True)
class AlterDatabase(Statement):
    """ALTER DATABASE … SET DBPROPERTIES | OWNER | LOCATION | MANAGEDLOCATION; `ignored` is the clause if it has no
    effect."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"comments"})
    name: str
    properties: tuple[Property, ...] = ()
    owner: str | None = None
    owner_type: OwnerType | None = None
    location: str | None = None
    managed_location: str | None = None
    ignored: Clause | None = None
    span: Span | None = None


@dataclass(frozen=True)
class DropDatabase(Statement):
    needs: ClassVar[frozenset[Fact]] = frozenset({"comments", "ingestions", "jobs", "streams"})
    name: str
    if_exists: bool = False
    cascade: bool = False
    span: Span | None = None


@dataclass(frozen=True)
class UseDatabase(Statement):
    name: str
    span: Span | None = None


@dataclass(frozen=True)
class CreateView(Statement):
    """CREATE VIEW; `query_text` is the SELECT as written, `columns` the renamed output columns if given.

    `column_comments` has the same length as `columns`. `alters`: it is ALTER VIEW … AS, whose view must exist and keeps
    its comment and properties.
    """

    name: TableName
    query: exp.Expression
    query_text: str
    if_not_exists: bool = False
    or_replace: bool = False
    columns: tuple[str, ...] = ()
    column_comments: tuple[str, ...] = ()
    comment: str = ""
    properties: tuple[Property, ...] = ()
    alters: bool = False
    temporary: bool = False


@dataclass(frozen=True)
class DropView(Statement):
    name: TableName
    if_exists: bool = False


@dataclass(frozen=True)
class CreateFunction(Statement):
    """CREATE [TEMPORARY] FUNCTION name AS 'code' USING JAR 'jar', … | FILE 'file'."""

    name: TableName
    code: str
    code_span: Span
    jars: tuple[str, ...] = ()
    file: str = ""
    temporary: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropFunction(Statement):
    """DROP [TEMPORARY] FUNCTION [IF EXISTS] name."""

    name: TableName
    temporary: bool = False
    if_exists: bool = False


DdlStatement = (
    CreateTable
    | DropTable
    | SetTableProperties
    | UnsetTableProperties
    | AddColumns
    | ChangeColumn
    | ReplaceColumns
    | AddConstraint
    | DropConstraint
    | SetPartitionSpec
    | ChangeStorage
    | RenameTable
    | TruncateTable
    | CreateDatabase
    | AlterDatabase
    | DropDatabase
    | UseDatabase
    | CreateView
    | DropView
    | CreateFunction
    | DropFunction
)
