"""INSERT … PARTITION: where the values of partition columns come from. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from hivedruid.actions.partitioning.values import partition_column, text_of
from hivedruid.catalog.partitions import Partition
from hivedruid.catalog.table import Table
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.statements.partitioning import PartitionSpec
from hivedruid.parser.statements.writing import InsertTarget


@dataclass(frozen=True)
class Assigned:
    """The constants of PARTITION (…) by column, and the columns whose values the query returns, in its order."""

    constants: Mapping[str, str]
    columns: tuple[str, ...]

    def whole(self, table: Table) -> Partition | None:
        """The only partition that is written; None if the query determines them."""
        names = [column.name for column in table.partition_columns]
        if not names or not all(name in self.constants for name in names):
            return None
        return Partition(tuple(self.constants[name] for name in names))


def assigned(target: InsertTarget, table: Table, settings: Mapping[str, str], zone: str) -> Assigned:
    """Raises SemanticError or UnsupportedError, with the position, for a PARTITION that does not fit the table."""
    spec = target.partition
    if spec is not None and not table.partition_columns:
        raise no_partitions(table, spec)
    constants: dict[str, str] = {}
    dynamic: list[str] = []
    for given in spec.values if spec is not None else ():
        column = partition_column(given, table)
        if given.is_dynamic:
            dynamic.append(column.name)
        elif dynamic:
            raise SemanticError(
                "Dynamic partition cannot be the parent of a static partition", span=given.span,
                hint="give constants to the first partition columns",
            )  # fmt: skip
        else:
            constants[column.name] = text_of(given, column, zone)
    names = [column.name for column in table.partition_columns]
    if spec is not None:
        _check_order([*constants, *dynamic], names, table, spec)
    dynamic = [name for name in names if name not in constants]
    if dynamic and settings.get("hive.exec.dynamic.partition") == "false":
        raise SemanticError(
            "Dynamic partition is disabled. Either enable it by setting hive.exec.dynamic.partition=true or specify"
            " partition column values",
            span=spec.span if spec is not None else target.table.span,
            hint=f"use PARTITION ({', '.join(f'{name} = constant' for name in names)})",
        )
    if spec is not None and dynamic and not constants and settings.get("hive.exec.dynamic.partition.mode") == "strict":
        raise SemanticError(
            "Dynamic partition strict mode requires at least one static partition column",
            span=spec.span,
            hint="SET hive.exec.dynamic.partition.mode=nonstrict, or use PARTITION (column = constant)",
        )
    if target.if_not_exists and spec is not None and dynamic:
        raise SemanticError(
            "Dynamic partitions do not support IF NOT EXISTS", span=spec.span, hint="remove IF NOT EXISTS"
        )
    return Assigned(constants, _columns(target, table, constants))


def _columns(target: InsertTarget, table: Table, constants: Mapping[str, str]) -> tuple[str, ...]:
    """The columns of the query: those of the column list, or those without constants. With PARTITION, its columns come
    last."""
    for name, span in zip(target.columns, target.column_spans, strict=True):
        if name in constants:
            raise SemanticError(f"column '{name}' is specified twice: it has a constant in PARTITION", span=span)
        if table.column(name) is None:
            hint = did_you_mean(name, [c.name for c in table.columns])
            raise SemanticError(f"table {table.full_name} has no column '{name}'", span=span, hint=hint)
    if target.columns or target.partition is None:
        return target.columns or tuple(c.name for c in table.columns if c.name not in constants)
    named = table.partition_columns
    return tuple(c.name for c in (*(c for c in table.columns if c not in named), *named) if c.name not in constants)


def _check_order(given: list[str], names: list[str], table: Table, spec: PartitionSpec) -> None:
    if sorted(given) != sorted(names):
        raise SemanticError(
            f"PARTITION must name all partition columns of {table.full_name}: {', '.join(names)}", span=spec.span,
            hint="name columns without a constant, too: PARTITION (column = constant, other_column)",
        )  # fmt: skip
    static = [value.column for value in spec.values if not value.is_dynamic]
    dynamic = [value.column for value in spec.values if value.is_dynamic]
    if dynamic and (set(static) != set(names[: len(static)]) or dynamic != names[len(static) :]):
        raise SemanticError(
            "Dynamic partition cannot be the parent of a static partition", span=spec.span,
            hint=f"name the partition columns in the order of the table: {', '.join(names)}",
        )  # fmt: skip


def no_partitions(table: Table, spec: PartitionSpec) -> SemanticError | UnsupportedError:
    """The error of PARTITION for a table without partition columns."""
    span: Span | None = spec.span
    if table.has_snapshots and table.partition_spec:
        fields = ", ".join(map(str, table.partition_spec))
        return UnsupportedError(
            f"{table.full_name} is partitioned by {fields}, not by columns", span=span,
            hint="remove PARTITION, and add the values of its columns to the query",
        )  # fmt: skip
    hint = "remove PARTITION; Druid partitions by __time" if table.has_data_source else "remove PARTITION"
    return SemanticError(f"table {table.full_name} is not a partitioned table", span=span, hint=hint)
