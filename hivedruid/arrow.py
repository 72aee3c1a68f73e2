"""Results as Arrow record batches, with the Arrow type of each Hive type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from hivedruid.arrow_buffers import without_dictionary
from hivedruid.catalog.types import HiveType
from hivedruid.cells import YearMonthInterval, hive_text
from hivedruid.errors import ExecutionError
from hivedruid.results import Batch, Batches, Column, ResultColumn, Row

ROWS = 10_000
"""Rows of a batch, if the rows do not arrive in batches."""


def schema_of(columns: Sequence[ResultColumn], zone: str) -> pa.Schema:
    """The Arrow schema of a result; `zone` is that of `timestamp with local time zone`."""
    return pa.schema([pa.field(column.name, arrow_type(column.type, zone)) for column in columns])


def arrow_type(hive: HiveType, zone: str) -> pa.DataType:
    """The Arrow type with the same values. A type that is unknown until Spark runs is text, as the command line prints
    it."""
    if hive.name == "timestamp with local time zone":
        return pa.timestamp("us", tz=zone)
    if hive.name == "decimal":
        return pa.decimal128(*(hive.params or (10, 0)))
    members = [arrow_type(child, zone) for child in hive.children]
    if hive.name == "array":
        return pa.list_(members[0])
    if hive.name == "map":
        return pa.map_(*members)
    if hive.name == "struct":
        return pa.struct([pa.field(name, member) for name, member in zip(hive.fields, members, strict=True)])
    return _TYPES.get(hive.name, pa.string())


_TYPES = {
    "void": pa.null(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "interval_year_month": pa.month_day_nano_interval(),
    "interval_day_time": pa.duration("us"),
}
"""By the name of the Hive type; all others are strings."""


def pandas_type(kind: pa.DataType) -> Any:
    """The type of a column in pandas that keeps nulls, decimals and zones; None for pandas' own: it cannot print
    intervals of months in Arrow's type."""
    import pandas as pd

    return None if pa.types.is_interval(kind) else pd.ArrowDtype(kind)


def record_batches(
    columns: Sequence[ResultColumn], rows: Iterable[Row], zone: str, *, keeps_dictionaries: bool = False
) -> Iterator[pa.RecordBatch]:
    """The rows in batches of this schema, computed while they are read; with `keeps_dictionaries`, columns of strings
    may have dictionaries. Raises ExecutionError for a value that does not belong to its type."""
    schema = schema_of(columns, zone)
    changes = [_change(column.type) for column in columns]
    for batch in rows.batches if isinstance(rows, Batches) else _batched(iter(rows)):
        arrays = [
            _array(cells, field, change, column)
            for cells, field, change, column in zip(batch.columns, schema, changes, columns, strict=True)
        ]
        if not keeps_dictionaries:
            arrays = [without_dictionary(array) for array in arrays]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        else:
            yield pa.RecordBatch.from_arrays(arrays, schema.names)


def _batched(rows: Iterator[Row]) -> Iterator[Batch]:
    while some := list(islice(rows, ROWS)):
        yield Batch(len(some), tuple(zip(*some, strict=True)))


def _array(cells: Column, field: pa.Field, change: Callable[[Any], Any] | None, column: ResultColumn) -> pa.Array:
    try:
        if not isinstance(cells, Sequence):
            stored = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
            return cells if stored == field.type else cells.cast(field.type)
        if change is not None:
            cells = [None if cell is None else change(cell) for cell in cells]
        return pa.array(cells, field.type)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise ExecutionError(
            f"column '{column.name}' has a value that is not a valid {column.type}: {error}",
            hint="use CAST to give the column its type",
        ) from error


def _change(hive: HiveType) -> Callable[[Any], Any] | None:
    """A function that converts a value to what Arrow accepts for its type; None if they are the same."""
    if not hive.is_known and not hive.children:
        return _text
    if hive.name == "interval_year_month":
        return _interval
    inner = [_change(child) for child in hive.children]
    if not any(inner) and hive.name not in ("map", "struct"):
        return None
    members = [change or _same for change in inner]
    if hive.name == "array":
        return lambda cells: [None if cell is None else members[0](cell) for cell in cells]
    if hive.name == "map":
        return lambda pairs: [
            (members[0](key), None if item is None else members[1](item)) for key, item in pairs.items()
        ]
    return lambda cells: {
        name: None if (cell := cells.get(name)) is None else member(cell)
        for name, member in zip(hive.fields, members, strict=True)
    }


def _text(value: Any) -> str:
    return hive_text(HiveType("unknown"))(value)


def _interval(value: YearMonthInterval) -> pa.MonthDayNano:
    return pa.MonthDayNano([value.months, 0, 0])


def _same(value: Any) -> Any:
    return value
