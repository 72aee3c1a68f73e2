"""Rows of native queries as Arrow record batches, and those as Parquet files for Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.errors import DruidError

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema

BATCH = 2048
"""The number of rows per batch: with more, the values of a batch do not fit into the processor's cache."""
GROUP = 32
"""The number of batches per row group."""


def schema_of(columns: Sequence[str], types: Sequence[str]) -> Schema:
    """The schema of columns of these Druid types; types that have no Arrow type are strings."""
    import pyarrow as pa

    from hivedruid.segments.conversions import ARROW

    return pa.schema([(name, ARROW.get(type_, pa.string())) for name, type_ in zip(columns, types, strict=True)])


def batches(rows: Iterator[tuple[Any, ...]], columns: Sequence[str], types: Sequence[str]) -> Iterator[RecordBatch]:
    """The rows as columns of these Druid types. Raises DruidError for a value of another type."""
    import pyarrow as pa

    schema = schema_of(columns, types)
    while batch := list(islice(rows, BATCH)):
        values = [list(column) for column in zip(*batch, strict=True)]
        try:
            arrays = [
                pa.array(_lists(column) if type_.startswith("ARRAY<") else column, type=wanted)
                for column, type_, wanted in zip(values, types, schema.types, strict=True)
            ]
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            raise DruidError(f"Druid returned values that do not match the declared types: {error}") from error
        yield pa.record_batch(arrays, schema=schema)


def _lists(column: list[Any]) -> list[Any]:
    """Druid returns a multi-value with one value as a plain value."""
    return [value if value is None or isinstance(value, list) else [value] for value in column]


def write_groups(found: Iterator[RecordBatch], schema: Schema, path: Path) -> None:
    """Write batches into a Parquet file, whose columns get the names of this schema."""
    from pyarrow import Table, parquet

    with parquet.ParquetWriter(str(path), schema) as writer:
        while group := list(islice(found, GROUP)):
            writer.write_table(Table.from_batches(group).rename_columns(schema.names))
