"""What CHANGE COLUMN and REPLACE COLUMNS may change: the values of existing rows stay what Hive reads.

The files of a table are read by the position of columns (text) or by their names (JSON, Parquet, ORC); Hive reads ORC
by position. Each store allows the changes after which it still returns what Hive returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from hivedruid.catalog.names import free_name
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import INTEGERS, TYPES, HiveType, spark_type
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.tables.hive_tables import TEXTS

_SECOND_TABLE = "use CREATE EXTERNAL TABLE … LOCATION to create another table over the same files"
_COPY = "create a table with the new columns, and INSERT INTO it from this one"
_VIEW = "use a view: CREATE VIEW … AS SELECT column AS new_name FROM …"
_MAY_NOT_FIT = "values in the files may not fit the new type"


class ColumnChange(NamedTuple):
    """The columns of a table before and after a change; `spans` are the positions of the new ones in the statement.
    `former` are the old names of those that CHANGE COLUMN renames."""

    table: Table
    after: tuple[Column, ...]
    spans: Mapping[str, Span]
    span: Span | None
    former: Mapping[str, str] = MappingProxyType({})

    @property
    def renamed(self) -> bool:
        """Whether the table has a column with a new name, or has one less."""
        return {c.name for c in self.after} != {c.name for c in self.table.columns}

    @property
    def moved(self) -> bool:
        return [c.name for c in self.after] != [c.name for c in self.table.columns]

    def span_of(self, column: Column) -> Span | None:
        return self.spans.get(column.name, self.span)


def check_change(change: ColumnChange) -> None:
    """Raise SemanticError or UnsupportedError if the rows of the table would not fit the new columns."""
    if change.table.has_partitions:
        change = _in_files(change)
    table = change.table
    if table.has_data_source:
        _check_druid(change)
    elif table.has_topic:
        _check_topic(change)
    elif table.has_own_folder and not table.is_written:
        pass
    elif table.has_snapshots:
        _check_managed(change)
    elif table.format in TEXTS:
        for before, after in zip(table.columns, change.after, strict=False):
            _check_type(change, before, after, _is_read_as_text, f"at this position of the files, {_MAY_NOT_FIT}")
    else:
        _CHECKS[table.format or ""](change)


def _in_files(change: ColumnChange) -> ColumnChange:
    """The change of the columns in the files: without those of partitions, which come last."""
    table = change.table
    last = len(change.after) - len(table.folder_columns)
    return change._replace(
        table=replace(table, columns=table.stored_columns, partition_spec=()), after=change.after[:last]
    )


def check_partition_names(table: Table, added: Iterable[Column], spans: Mapping[str, Span]) -> None:
    """Raise SemanticError if a new column has the name of a partition field in Iceberg."""
    for column in added:
        if any(field.transform != "identity" and field.name == column.name for field in table.partition_spec):
            raise SemanticError(
                f"'{column.name}' is the name of a partition field in Iceberg", span=spans.get(column.name),
                hint="choose another name",
            )  # fmt: skip


def with_stored_names(columns: Iterable[Column], added: Iterable[Column]) -> tuple[Column, ...]:
    """New columns of a managed table, with names in Iceberg that no other column has. A column that was renamed keeps
    its name there."""
    used = {column.field_name for column in columns}
    result = []
    for column in added:
        name = free_name(column.name, used)
        used.add(name)
        result.append(replace(column, field=name if name != column.name else None))
    return tuple(result)


def absent_in_files(change: ColumnChange) -> tuple[str, ...]:
    """The new columns that existing files do not have: their values are NULL."""
    table = change.table
    by_name = table.kind in ("files", "temporary") and table.format not in TEXTS
    by_name = by_name and not (table.has_own_folder and not table.is_written)
    return tuple(c.name for c in change.after if table.column(c.name) is None) if by_name else ()


def _check_druid(change: ColumnChange) -> None:
    if change.moved or change.renamed:
        raise UnsupportedError(
            "columns of a Druid table cannot be renamed, moved or removed: its segments contain them",
            span=change.span,
            hint=_VIEW,
        )
    why = "values in its segments may not fit the new type"
    _check_by_name(change, _is_same_in_druid, why, "use a view: CREATE VIEW … AS SELECT CAST(column AS type) AS column")


def _check_topic(change: ColumnChange) -> None:
    if change.moved or change.renamed or any(a.type != b.type for a, b in _pairs(change)):
        raise UnsupportedError(
            "only the comments of a Kafka table's columns can be changed",
            span=change.span,
            hint="create another table over the topic",
        )


def _check_managed(change: ColumnChange) -> None:
    if change.renamed and not change.former:
        raise UnsupportedError(
            "columns of a managed table that has rows cannot be replaced by others",
            span=change.span,
            hint=f"use CHANGE COLUMN and ADD COLUMNS, or {_COPY}",
        )
    _check_by_name(change, widens, "Iceberg can only widen a type", _COPY)


def _check_json(change: ColumnChange) -> None:
    _check_by_name(change, _is_wider_number, _MAY_NOT_FIT)


def _check_parquet(change: ColumnChange) -> None:
    _check_by_name(change, _is_stored_alike, "Spark does not read Parquet files with both types together")


def _check_avro(change: ColumnChange) -> None:
    _check_by_name(change, _is_stored_alike, "Spark does not read Avro files with both types")


def _check_orc(change: ColumnChange) -> None:
    names, new = [c.name for c in change.table.columns], [c.name for c in change.after]
    if new[: len(names)] != names:
        raise UnsupportedError(
            f"Reordering columns is not supported for table {change.table.full_name}: Hive reads ORC files by the"
            " position of columns, hivedruid by their names",
            span=change.span,
            hint=_COPY if change.table.is_temporary else _VIEW,
        )
    _check_by_name(change, _is_stored_alike, "Spark does not read ORC files with both types together")


_CHECKS: Mapping[str, Callable[[ColumnChange], None]] = {
    "jsonfile": _check_json,
    "parquet": _check_parquet,
    "avro": _check_avro,
    "orc": _check_orc,
}
"""By the format of files whose columns are read by name."""


def _pairs(change: ColumnChange) -> list[tuple[Column, Column]]:
    names = ((change.former.get(c.name, c.name), c) for c in change.after)
    return [(before, c) for name, c in names if (before := change.table.column(name)) is not None]


def _check_by_name(
    change: ColumnChange, fits: Callable[[HiveType, HiveType], bool], why: str, hint: str | None = None
) -> None:
    for before, after in _pairs(change):
        _check_type(change, before, after, fits, why, hint)


def _check_type(
    change: ColumnChange,
    before: Column,
    after: Column,
    fits: Callable[[HiveType, HiveType], bool],
    why: str,
    hint: str | None = None,
) -> None:
    if before.type == after.type or fits(before.type, after.type):
        return
    raise SemanticError(
        f"column '{after.name}' cannot change from {before.type} to {after.type}: {why}",
        span=change.span_of(after),
        hint=hint or (_COPY if change.table.is_temporary else _SECOND_TABLE),
    )


# --- types -----------------------------------------------------------------------------------------------------

_NUMBERS = (*INTEGERS, "decimal", "float", "double")
"""In Hive's order of implicit conversions."""


def widens(before: HiveType, after: HiveType) -> bool:
    """Whether every value of a type is the same value of another one, as Iceberg promotes types."""
    if before.is_integer and after.is_integer:
        return INTEGERS.index(before.name) <= INTEGERS.index(after.name)
    if before.name == after.name == "decimal":
        (precision, scale), (wider, same) = before.params, after.params
        return scale == same and precision <= wider
    if before.name == "varchar":
        return after.name == "string" or (after.name == "varchar" and before.params <= after.params)
    return (before.name, after.name) == ("float", "double")


def _is_stored_alike(before: HiveType, after: HiveType) -> bool:
    return widens(before, after) and spark_type(before) == spark_type(after)


def _is_same_in_druid(before: HiveType, after: HiveType) -> bool:
    return widens(before, after) and TYPES[before.name].druid == TYPES[after.name].druid


def _is_wider_number(before: HiveType, after: HiveType) -> bool:
    if not (before.is_numeric and after.is_numeric) or "decimal" in (before.name, after.name):
        return widens(before, after)
    return _NUMBERS.index(before.name) <= _NUMBERS.index(after.name)


def _is_read_as_text(before: HiveType, after: HiveType) -> bool:
    """Whether Hive lets the type of a column of text files change (TypeInfoUtils.implicitConvertible)."""
    is_plain = not before.children
    return (
        _is_wider_number(before, after)
        or (is_plain and after.name == "string")
        or (before.is_string and after.name == "double")
    )
