"""The rules of partition specs and sort orders of managed tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hivedruid.catalog.layout import OF_TIME, PartitionField, SortField, Transform
from hivedruid.catalog.table import Column
from hivedruid.errors import SemanticError, Span, did_you_mean

if TYPE_CHECKING:
    from hivedruid.parser.statements.ddl import Ordering, Partitioning

_NESTED = frozenset(("array", "map", "struct", "uniontype"))
_TRUNCATED = frozenset(("tinyint", "smallint", "int", "bigint", "decimal", "string", "varchar", "char", "binary"))
_BUCKETED = _TRUNCATED | {"date", "timestamp", "timestamp with local time zone"}
_DATES = frozenset(("date", "timestamp", "timestamp with local time zone"))
_TYPES: Mapping[Transform, frozenset[str]] = {
    "year": _DATES, "month": _DATES, "day": _DATES, "hour": _DATES - {"date"}, "bucket": _BUCKETED,
    "truncate": _TRUNCATED,
}  # fmt: skip
"""The names of the types of each transform, as Iceberg defines them."""


def partition_spec(clause: Partitioning | None, columns: tuple[Column, ...]) -> tuple[PartitionField, ...]:
    """The fields of PARTITIONED BY. Raises SemanticError, with the position, if Iceberg does not allow them."""
    found: dict[tuple[str, str], PartitionField] = {}
    for item in clause.fields if clause is not None else ():
        field, span = item.field, item.span
        column = _column(field.column, columns, span)
        _check_type(field, column, span)
        # hours are parts of days, so that Iceberg has one of both
        key = (field.column, "time" if field.transform in OF_TIME else field.transform)
        if key in found:
            raise SemanticError(
                f"the table is partitioned by {found[key]} and {field}, which divide the same column", span=span,
                hint="remove one of them",
            )  # fmt: skip
        if field.transform != "identity" and any(each.name == field.name for each in columns):
            raise SemanticError(
                f"{field} has the name '{field.name}' in Iceberg, which is a column of the table", span=span,
                hint="rename the column",
            )  # fmt: skip
        found[key] = field
    return tuple(found.values())


def sort_order(clause: Ordering | None, columns: tuple[Column, ...]) -> tuple[SortField, ...]:
    """The fields of WRITE LOCALLY ORDERED BY. Raises SemanticError, with the position, if there is no such column."""
    found: dict[str, SortField] = {}
    for item in clause.fields if clause is not None else ():
        column = _column(item.field.column, columns, item.span)
        if column.type.name in _NESTED:
            raise SemanticError(
                f"rows cannot be ordered by column '{column.name}' of type {column.type}", span=item.span,
                hint="use a column of a primitive type",
            )  # fmt: skip
        if column.name in found:
            raise SemanticError(f"column '{column.name}' is specified twice", span=item.span, hint="remove one of them")
        found[column.name] = item.field
    return tuple(found.values())


def _column(name: str, columns: tuple[Column, ...], span: Span | None) -> Column:
    names = [column.name for column in columns]
    if name not in names:
        raise SemanticError(
            f"column '{name}' not found", span=span, hint=did_you_mean(name, names) or f"columns: {', '.join(names)}"
        )
    return columns[names.index(name)]


def _check_type(field: PartitionField, column: Column, span: Span | None) -> None:
    transform = field.transform
    if field.number == 0:
        what = "number of buckets" if transform == "bucket" else "width"
        raise SemanticError(f"the {what} must be positive", span=span)
    allowed = _TYPES.get(transform)
    if column.type.name not in allowed if allowed is not None else column.type.name in _NESTED:
        what = f"{transform}()" if allowed is not None else "PARTITIONED BY"
        types = ", ".join(sorted(allowed)).upper() if allowed is not None else "a primitive type"
        raise SemanticError(
            f"{what} does not support column '{column.name}' of type {column.type}", span=span,
            hint=f"use a column of type {types}" if allowed is not None else f"use a column of {types}",
        )  # fmt: skip
