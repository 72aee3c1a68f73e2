"""The partitions of managed tables: Iceberg has one for each combination of values in the rows. Pure.

Statements that change partitions change rows, in one commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from hivedruid.actions.lookup import ignores_missing
from hivedruid.actions.partitioning import values
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.writing.model import ChangeTableRows
from hivedruid.catalog.partitions import NULL_VALUE, Partition
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BOOLEAN, STRING
from hivedruid.errors import UnsupportedError
from hivedruid.iceberg.partitions import PartitionSize, Values
from hivedruid.iceberg.pruning import is_decided_by_files
from hivedruid.iceberg.pruning import matching as matching_files
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import fold
from hivedruid.plan.file_counts import FileCount
from hivedruid.plan.rex import Call, Literal, Ref, Rex, conjunction, disjunction
from hivedruid.plan.spark_pruning import Pruning
from hivedruid.plan.spark_rex import SparkRex
from hivedruid.plan.spark_text import quote_identifier

if TYPE_CHECKING:
    from hivedruid.actions.statement_plan import Note
    from hivedruid.parser.statements import partitioning as p
    from hivedruid.parser.statements.partitioning import PartitionSpec, PartitionValue


@dataclass(frozen=True)
class ManagedPartition(Partition):
    """A partition with rows, and its size."""

    size: PartitionSize = field(default_factory=PartitionSize)


def listed(table: Table, sizes: Mapping[Values, PartitionSize]) -> tuple[Partition, ...]:
    """The partitions by name. As in Hive, one name stands for NULL and for the empty string."""
    found: dict[tuple[str, ...], PartitionSize] = {}
    for key, size in sizes.items():
        texts = tuple(_text(value, column) for value, column in zip(key, table.partition_columns, strict=True))
        before = found.get(texts, PartitionSize())
        found[texts] = PartitionSize(before.files + size.files, before.rows + size.rows, before.size + size.size)
    made = (ManagedPartition(texts, size=size) for texts, size in found.items())
    return tuple(sorted(made, key=lambda each: each.name(table.partition_columns)))


def _text(value: Any, column: Column) -> str:
    return NULL_VALUE if value is None or value == "" else values.shown(value, column)


def check(table: Table, statement: p.PartitioningStatement) -> None:
    """Raises UnsupportedError if a statement does not apply to the partitions of a managed table."""
    from hivedruid.parser.statements import partitioning as p

    if table.partition_spec and not table.partition_columns:
        fields = ", ".join(map(str, table.partition_spec))
        raise UnsupportedError(
            f"{table.full_name} is partitioned by {fields}: such partitions have no names", span=statement.name.span,
            hint="use conditions on the columns: SELECT, UPDATE or DELETE … WHERE",
        )  # fmt: skip
    if isinstance(statement, p.SetPartitionLocation | p.RepairTable):
        verb = "MSCK" if isinstance(statement, p.RepairTable) else "SET LOCATION of a partition"
        raise UnsupportedError(
            f"{verb} is not supported: {table.full_name} is a managed table, whose partitions have no folders",
            span=statement.name.span,
            hint="remove it: the partitions of a managed table are always those of its rows"
            if isinstance(statement, p.RepairTable)
            else "use an external table",
        )


def add(statement: p.AddPartitions, new: Iterable[Partition], table: Table, note: Note | None) -> None:
    """A partition exists with its first row, so that there is nothing to add."""
    for each in statement.partitions:
        if each.location is not None:
            raise UnsupportedError(
                f"ADD PARTITION … LOCATION is not supported: {table.full_name} is a managed table",
                span=each.location_span,
                hint="use LOAD DATA INPATH … INTO TABLE … PARTITION (…), or an external table",
            )
    names = ", ".join(partition.name(table.partition_columns) for partition in new)
    if note is not None and names:
        note(f"a partition of a managed table exists when it has rows: INSERT creates {names}", statement.name.span)


def drop(statement: p.DropPartitions, table: Table, snapshot: Snapshot) -> tuple[ChangeTableRows, ...]:
    known = snapshot.partitions.get((table.database, table.name))
    specs = []
    for spec in statement.specs:
        found = values.matching(spec, table, known or (), snapshot.zone)
        if found or known is None:
            specs.append(spec)
        elif not ignores_missing(snapshot, if_exists=statement.if_exists):
            raise values.not_found(spec, table)
    return removal(specs, table, snapshot)


def removal(specs: Iterable[PartitionSpec], table: Table, snapshot: Snapshot) -> tuple[ChangeTableRows, ...]:
    """Deletes the rows of the partitions for which all comparisons of one of the specs are true."""
    condition = disjunction(condition_of(spec, table, snapshot.zone) for spec in specs)
    return () if condition is None else (_change(table, condition, snapshot),)


def rename(old: Partition, new: Partition, table: Table, snapshot: Snapshot) -> tuple[ChangeTableRows, ...]:
    """Sets the values of the partition columns in all rows of the partition."""
    change = _change(table, rows_of(old, table, snapshot.zone), snapshot)
    writer = SparkRex(snapshot.zone, lambda _: "")
    pairs = zip(table.partition_columns, new.values, strict=True)
    assigned = ((c.field_name, writer.sql(_constant(text, c, snapshot.zone))) for c, text in pairs)
    return (replace(change, assignments=tuple(assigned)),)


def _change(table: Table, condition: Rex, snapshot: Snapshot) -> ChangeTableRows:
    files = snapshot.table_files.get((table.database, table.name))
    found = matching_files(files, condition, _ids(table)) if files is not None else None
    return ChangeTableRows(
        table, condition_sql(condition, table, snapshot.zone), by_rows=not is_decided_by_files(condition),
        files=None if found is None or files is None else FileCount(len(found), len(files.data)),
    )  # fmt: skip


def rows_of(partition: Partition, table: Table, zone: str) -> Rex:
    """The condition of the rows of one partition."""
    pairs = zip(table.partition_columns, partition.values, strict=True)
    condition = conjunction([_equal(column, text, zone) for column, text in pairs])
    assert condition is not None
    return condition


def condition_of(spec: PartitionSpec, table: Table, zone: str) -> Rex:
    """The condition of the rows of the partitions that `values.matching` finds."""
    condition = conjunction([_compared(each, values.partition_column(each, table), zone) for each in spec.values])
    assert condition is not None
    return condition


def _compared(given: PartitionValue, column: Column, zone: str) -> Rex:
    if given.value is None:
        return Literal(BOOLEAN, False)
    if given.op == "=":
        return _equal(column, given.value, zone)
    if given.value == NULL_VALUE:
        is_other = column.type.is_string and given.op == "<>"
        return Call(BOOLEAN, "is_not_null", (_ref(column),)) if is_other else Literal(BOOLEAN, False)
    compared = Call(BOOLEAN, given.op, (_ref(column), _constant(given.value, column, zone)))
    if given.op == "<>" and column.type.is_string:
        return Call(BOOLEAN, "or", (compared, Call(BOOLEAN, "is_null", (_ref(column),))))
    return compared


def _equal(column: Column, text: str, zone: str) -> Rex:
    if text != NULL_VALUE:
        return Call(BOOLEAN, "=", (_ref(column), _constant(text, column, zone)))
    is_null = Call(BOOLEAN, "is_null", (_ref(column),))
    if not column.type.is_string:
        return is_null
    return Call(BOOLEAN, "or", (is_null, Call(BOOLEAN, "=", (_ref(column), Literal(column.type, "")))))


def _constant(text: str, column: Column, zone: str) -> Rex:
    known, value = values.typed(text, column, zone)
    if text == NULL_VALUE or known:
        return Literal(column.type, None if text == NULL_VALUE else value)
    return fold.cast(Literal(STRING, text), column.type, zone)


def _ref(column: Column) -> Ref:
    return Ref(column.type, column.name)


def _ids(table: Table) -> Mapping[str, str]:
    return {column.name: column.field_name for column in table.partition_columns}


def condition_sql(condition: Rex, table: Table, zone: str) -> str:
    """As Spark's SQL over the columns of the table."""
    names = {id_: quote_identifier(name) for id_, name in _ids(table).items()}
    return SparkRex(zone, lambda _: "", Pruning.of((table,))).sql(condition, names)
