"""Statements about the partitions of external and managed tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from hivedruid.errors import Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements import Fact, Statement, TableName
from hivedruid.parser.statements.ddl import ColumnDef

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class PartitionValue:
    """`column = value` of PARTITION (…), and the comparisons of DROP PARTITION. `value` is the text of the constant;
    None is NULL, or no value with `is_dynamic`."""

    column: str
    value: str | None
    op: str = "="
    span: Span | None = None
    is_dynamic: bool = False


@dataclass(frozen=True)
class PartitionSpec:
    """PARTITION (column = value, …)."""

    values: tuple[PartitionValue, ...]
    span: Span | None = None


@dataclass(frozen=True)
class NewPartition:
    """PARTITION (…) [LOCATION '…'] of ADD."""

    spec: PartitionSpec
    location: str | None = None
    location_span: Span | None = None


@dataclass(frozen=True)
class AddPartitions(Statement):
    """ALTER TABLE … ADD [IF NOT EXISTS] PARTITION (…) [LOCATION '…'] …."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"partitions"})
    name: TableName
    partitions: tuple[NewPartition, ...]
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropPartitions(Statement):
    """ALTER TABLE … DROP [IF EXISTS] PARTITION (…), … [PURGE]."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"partitions", "files", "data source segments", "streams"})
    name: TableName
    specs: tuple[PartitionSpec, ...]
    if_exists: bool = False
    purge: bool = False


@dataclass(frozen=True)
class RestorePartitions(Statement):
    """ALTER TABLE … RESTORE PARTITION (__time comparison, …), …: undoes DROP PARTITION of a Druid table."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"data source segments"})
    name: TableName
    specs: tuple[PartitionSpec, ...]


@dataclass(frozen=True)
class ExchangePartition(Statement):
    """ALTER TABLE name EXCHANGE PARTITION (…) WITH TABLE other, whose partitions become those of the table."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"partitions"})
    name: TableName
    spec: PartitionSpec
    other: TableName


@dataclass(frozen=True)
class RenamePartition(Statement):
    """ALTER TABLE … PARTITION (…) RENAME TO PARTITION (…)."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"partitions", "files"})
    name: TableName
    old: PartitionSpec
    new: PartitionSpec


@dataclass(frozen=True)
class ChangePartitionColumn(Statement):
    """ALTER TABLE … PARTITION COLUMN (column type [COMMENT 'text']); `comment` is None if none is given."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"partitions"})
    name: TableName
    column: ColumnDef
    comment: str | None = None


@dataclass(frozen=True)
class SetPartitionLocation(Statement):
    """ALTER TABLE … PARTITION (…) SET LOCATION '…'."""

    name: TableName
    spec: PartitionSpec
    location: str
    location_span: Span | None = None


@dataclass(frozen=True)
class ShowPartitions(Statement):
    """SHOW PARTITIONS table [PARTITION (…)] [WHERE …] [ORDER BY …] [LIMIT n]; `where` has the comparisons of WHERE, or
    `condition` is another expression. `order` are the columns of ORDER BY, with whether they are descending."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"partitions"})
    name: TableName
    spec: PartitionSpec | None = None
    where: PartitionSpec | None = None
    condition: exp.Expression | None = None
    order: tuple[tuple[PartitionValue, bool], ...] = ()
    limit: int | None = None


@dataclass(frozen=True)
class RepairTable(Statement):
    """MSCK [REPAIR] TABLE table [ADD | DROP | SYNC PARTITIONS [(column = value, …)]]; without REPAIR the differences
    are only shown. `spec` has the comparisons of the partitions that it is about."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"partition folders"})
    name: TableName
    adds: bool = True
    drops: bool = False
    shows: bool = False
    spec: PartitionSpec | None = None


@dataclass(frozen=True)
class DescribePartition(Statement):
    """DESCRIBE [EXTENDED | FORMATTED] table PARTITION (…)."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"partitions"})
    name: TableName
    spec: PartitionSpec
    mode: Literal["plain", "extended", "formatted"] = "plain"


@dataclass(frozen=True)
class TruncatePartitions(Statement):
    """TRUNCATE TABLE table PARTITION (…)."""

    needs: ClassVar[frozenset[Fact]] = frozenset({"partitions", "files"})
    name: TableName
    spec: PartitionSpec


PartitioningStatement = (
    AddPartitions
    | DropPartitions
    | RestorePartitions
    | ExchangePartition
    | RenamePartition
    | ChangePartitionColumn
    | SetPartitionLocation
    | ShowPartitions
    | RepairTable
    | DescribePartition
    | TruncatePartitions
)
