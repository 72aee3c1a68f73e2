"""The values of partition columns: constants of statements, and texts in the names of folders. Pure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from hivedruid.catalog.partitions import NULL_VALUE, Partition
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING
from hivedruid.cells import hive_text
from hivedruid.errors import CatalogStateError, SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.evaluation.exactness import NotLocal
from hivedruid.evaluation.texts import like_pattern
from hivedruid.parser.statements.partitioning import PartitionSpec, PartitionValue
from hivedruid.plan import fold
from hivedruid.plan.rex import Literal

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


_LETTER = re.compile(r"\s*[A-Za-z_](?!nf|aN)")
"""Begins a text that is not a number, unlike NaN and Infinity."""


def typed(text: str, column: Column, zone: str) -> tuple[bool, Any]:
    """Whether the value is known before Spark computes it, and the value. NULL_VALUE is NULL, but a string of its
    own in a column of strings, as in Hive."""
    if column.type.name == "boolean":
        return True, {"true": True, "false": False}.get(text.lower())
    cast = fold.cast(Literal(STRING, text), column.type, zone)
    if isinstance(cast, Literal):
        return True, cast.value
    return column.type.is_numeric and _LETTER.match(text) is not None, None


def text_of(given: PartitionValue, column: Column, zone: str) -> str:
    """The text of a constant in the form of the column's type: `01` is `1` in an INT. Raises SemanticError if it is
    not a value of the type."""
    if given.value == NULL_VALUE:
        return NULL_VALUE
    if given.value == "":
        raise SemanticError(
            f"partition spec is invalid; field {column.name} does not exist or is empty", span=given.span,
            hint="specify a value that is not empty",
        )  # fmt: skip
    known, value = typed(given.value, column, zone) if given.value is not None else (True, None)
    if known and value is None:
        kind = "void" if given.value is None else "string"
        raise SemanticError(
            f"Cannot add partition column {column.name} of type {kind} as it cannot be converted to type {column.type}",
            span=given.span,
            hint=f"specify a constant of type {column.type}" + ("" if given.value else f", or '{NULL_VALUE}'"),
        )
    return shown(value, column) if known else str(given.value)


def shown(value: Any, column: Column) -> str:
    """The text of a value in the name of its folder."""
    return f"{value.normalize():f}" if isinstance(value, Decimal) else hive_text(column.type)(value)


def partition_column(given: PartitionValue, table: Table) -> Column:
    """Raises SemanticError if the table has no such partition column."""
    for column in table.partition_columns:
        if column.name == given.column:
            return column
    names = [column.name for column in table.partition_columns]
    raise SemanticError(
        f"'{given.column}' is not a partition column of {table.full_name}", span=given.span,
        hint=did_you_mean(given.column, names) or f"partition columns: {', '.join(names)}",
    )  # fmt: skip


def texts(spec: PartitionSpec, table: Table, zone: str) -> dict[str, str]:
    """The texts of the constants, by column."""
    return {each.column: text_of(each, partition_column(each, table), zone) for each in spec.values}


def whole(spec: PartitionSpec, table: Table, zone: str) -> Partition:
    """The partition of a spec with all columns. Raises SemanticError if one is missing."""
    given = texts(spec, table, zone)
    names = [column.name for column in table.partition_columns]
    if len(given) < len(names):
        shown = ", ".join(f"{name}={value}" for name, value in given.items())
        raise SemanticError(
            f"{table.full_name}: partition spec {{{shown}}} doesn't contain all ({len(names)}) partition columns",
            span=spec.span,
            hint=f"partition columns: {', '.join(names)}",
        )
    return Partition(tuple(given[name] for name in names))


def find(spec: PartitionSpec, table: Table, known: Iterable[Partition], zone: str) -> Partition:
    """The partition of the catalog that a spec with all columns names. Raises SemanticError."""
    wanted = whole(spec, table, zone)
    for each in known:
        if each.values == wanted.values:
            return each
    raise CatalogStateError(
        f"Partition {wanted.name(table.partition_columns)} of {table.full_name} does not exist", span=spec.span,
        hint=f"run SHOW PARTITIONS {table.name} to list them",
    )  # fmt: skip


def not_found(spec: PartitionSpec, table: Table) -> SemanticError:
    return SemanticError(
        f"Partition not found in {table.full_name}", span=spec.span,
        hint=f"run SHOW PARTITIONS {table.name} to list them, or use DROP IF EXISTS PARTITION",
    )  # fmt: skip


def already_exists(partition: Partition, table: Table, spec: PartitionSpec, hint: str) -> SemanticError:
    name = partition.name(table.partition_columns)
    return SemanticError(f"Partition already exists: {name}", span=spec.span, hint=hint)


def matching(spec: PartitionSpec, table: Table, known: Iterable[Partition], zone: str) -> tuple[Partition, ...]:
    """The partitions for which all comparisons are true."""
    names = [column.name for column in table.partition_columns]
    tests = [(names.index(partition_column(each, table).name), each) for each in spec.values]
    return tuple(
        each for each in known
        if all(_is_true(given, each.values[place], table.partition_columns[place], zone) for place, given in tests)
    )  # fmt: skip


def _is_true(given: PartitionValue, text: str, column: Column, zone: str) -> bool:
    if given.op == "LIKE":
        return _is_like(given, text)
    if given.value == text and given.op in ("=", "<=", ">="):
        return True
    if given.value is None or NULL_VALUE in (given.value, text):
        return given.op == "<>" and given.value is not None and given.value != text and column.type.is_string
    (known, value), (has_constant, constant) = typed(text, column, zone), typed(given.value, column, zone)
    if not known or not has_constant or value is None or constant is None:
        return False
    return bool(_OPERATORS[given.op](value, constant))


def _is_like(given: PartitionValue, text: str) -> bool:
    try:
        return re.fullmatch(like_pattern(given.value or ""), text, re.DOTALL) is not None
    except NotLocal as error:
        raise UnsupportedError(f"{error} is not supported", span=given.span, hint="use % and _ alone") from None


def span_of(spec: PartitionSpec | None) -> Span | None:
    return spec.span if spec is not None else None
