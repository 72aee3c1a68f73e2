"""PARTITIONED BY and WRITE LOCALLY ORDERED BY."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from hivedruid.catalog.layout import WITH_NUMBER, PartitionField, SortField, Transform
from hivedruid.errors import SemanticError, Span
from hivedruid.parser.statements.ddl import ColumnDef, Ordering, Partitioning, PartitionItem, SortItem
from hivedruid.parser.tokens import Cursor
from hivedruid.parser.types import parse_type

_TRANSFORMS = {
    **{word + plural: word.lower() for word in ("YEAR", "MONTH", "DAY", "HOUR") for plural in ("", "S")},
    "BUCKET": "bucket",
    "TRUNCATE": "truncate",
}
Item = TypeVar("Item")


def partitioned_by(cursor: Cursor, span: Span) -> Partitioning:
    """What follows PARTITIONED BY: SPEC (…), columns with types, or columns of AS SELECT."""
    if cursor.accept("SPEC"):
        return partition_spec(cursor, span)
    cursor.expect("(")
    columns: list[ColumnDef] = []

    def item() -> PartitionItem:
        name, token = cursor.name("a column name")
        if cursor.word() not in (",", ")"):
            hive_type = parse_type(cursor)
            comment = cursor.string("the comment")[0] if cursor.accept("COMMENT") else ""
            columns.append(ColumnDef(name, hive_type, comment, cursor.span(token)))
        return PartitionItem(PartitionField(name), cursor.span(token))

    fields = _listed(cursor, item)
    if columns and len(columns) != len(fields):
        untyped = next(field for field in fields if field.field.column not in {column.name for column in columns})
        raise SemanticError(
            f"partition column '{untyped.field.column}' has no type",
            span=untyped.span,
            hint="specify the types of all partition columns, or none with AS SELECT",
        )
    return Partitioning("PARTITIONED BY", span, fields, tuple(columns), at_end=True)


def partition_spec(cursor: Cursor, span: Span) -> Partitioning:
    """What follows SPEC: `(day(ts), bucket(16, id), …)`."""
    cursor.expect("(")
    return Partitioning("PARTITIONED BY", span, _listed(cursor, lambda: _transform(cursor)))


def _transform(cursor: Cursor) -> PartitionItem:
    start = cursor.index
    word = _TRANSFORMS.get(cursor.word()) if cursor.word(1) == "(" else None
    if word is None:
        name, token = cursor.name("a column, or one of year, month, day, hour, bucket and truncate of a column")
        if cursor.word() == "(":
            cursor.index -= 1
            cursor.fail("a column, or one of year, month, day, hour, bucket and truncate of a column")
        return PartitionItem(PartitionField(name), cursor.span(token))
    cursor.index += 2
    number = None
    transform = cast("Transform", word)
    if transform in WITH_NUMBER:
        number = cursor.integer("the number of buckets" if transform == "bucket" else "the width")
        cursor.expect(",")
    name, _ = cursor.name("a column name")
    cursor.expect(")")
    return PartitionItem(PartitionField(name, transform, number), cursor.span_from(start))


def ordered_by(cursor: Cursor, span: Span) -> Ordering:
    """What follows ORDERED BY. Nulls come last in ascending order and first in descending order, as in ORDER BY."""
    parenthesis = cursor.accept("(")
    items = []
    while True:
        start = cursor.index
        name, _ = cursor.name("a column name")
        descending = cursor.accept_one("ASC", "DESC") == "DESC"
        nulls_first = descending
        if cursor.accept("NULLS"):
            nulls = cursor.accept_one("FIRST", "LAST")
            if nulls is None:
                cursor.fail("FIRST or LAST")
            nulls_first = nulls == "FIRST"
        items.append(SortItem(SortField(name, descending, nulls_first), cursor.span_from(start)))
        if not cursor.accept(","):
            break
    if parenthesis:
        cursor.expect(")")
    return Ordering("WRITE LOCALLY ORDERED BY", span, tuple(items))


def _listed(cursor: Cursor, item: Callable[[], Item]) -> tuple[Item, ...]:
    """The items up to and including the closing parenthesis."""
    items = [item()]
    while cursor.accept(","):
        items.append(item())
    cursor.expect(")")
    return tuple(items)
