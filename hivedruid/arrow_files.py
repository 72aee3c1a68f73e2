"""Results in Arrow's stream format, in its file format, and as Parquet, written while rows arrive."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import IO

import pyarrow as pa

from hivedruid.arrow import record_batches, schema_of
from hivedruid.catalog.types import UNKNOWN, HiveType
from hivedruid.results import Result, ResultColumn, unique_names

GROUP_ROWS = 100_000
GROUP_BYTES = 64_000_000
"""A row group of Parquet is written when it has so many rows, or bytes in memory."""

_CONTINUATION = b"\xff\xff\xff\xff"
"""What each message of a stream begins with. A stream may end without a mark, so that readers take the rows before an
error for all rows; after this, they report that the stream is incomplete."""


def write_arrow_stream(file: IO[bytes], result: Result, zone: str) -> None:
    """Arrow's stream format; streams may follow each other. After an error, a reader of the stream fails, too."""
    columns = _columns(result)
    writer = pa.ipc.new_stream(file, schema_of(columns, zone))
    try:
        for batch in _batches(columns, result, zone):
            writer.write_batch(batch)
            file.flush()
    except OSError:  # the file cannot be written
        raise
    except BaseException:
        file.write(_CONTINUATION)
        file.flush()
        raise
    writer.close()
    file.flush()


def write_arrow_file(file: IO[bytes], result: Result, zone: str) -> None:
    """Arrow's file format, which is also Feather."""
    columns = _columns(result)
    with pa.ipc.new_file(file, schema_of(columns, zone)) as writer:
        for batch in _batches(columns, result, zone):
            writer.write_batch(batch)


def write_parquet(file: IO[bytes], result: Result, zone: str) -> None:
    """Parquet. It has no intervals that its readers agree on: they are text, as Hive prints them."""
    from pyarrow import parquet

    columns = [ResultColumn(column.name, _without_intervals(column.type)) for column in _columns(result)]
    schema = schema_of(columns, zone)
    groups = _groups(_batches(columns, result, zone, keeps_dictionaries=True))
    first = next(groups, pa.Table.from_batches([], schema))
    with parquet.ParquetWriter(file, first.schema, use_dictionary=_repeating(schema), store_schema=False) as writer:
        for group in chain((first,), groups):
            if group.num_rows:
                writer.write_table(_as(first.schema, group), row_group_size=group.num_rows)
        # readers get the types of the schema, not the dictionaries of the first group
        writer.add_key_value_metadata({"ARROW:schema": b64encode(schema.serialize()).decode()})


def _repeating(schema: pa.Schema) -> list[str]:
    """The columns for which the writer looks for repeated values: those of times take the time in vain."""
    return [field.name for field in schema if not pa.types.is_timestamp(field.type)]


def _as(schema: pa.Schema, rows: pa.Table) -> pa.Table:
    """The rows with a dictionary for the columns which have one in the schema."""
    if rows.schema == schema:
        return rows
    arrays = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(rows.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


BINARY: dict[str, Callable[[IO[bytes], Result, str], None]] = {
    "arrow": write_arrow_stream,
    "arrow file": write_arrow_file,
    "parquet": write_parquet,
}
"""The binary formats."""


def _columns(result: Result) -> list[ResultColumn]:
    return [
        replace(column, name=name) for column, name in zip(result.columns, unique_names(result.columns), strict=True)
    ]


def _batches(
    columns: list[ResultColumn], result: Result, zone: str, *, keeps_dictionaries: bool = False
) -> Iterator[pa.RecordBatch]:
    rows = iter([("\n".join(line for (line,) in result.rows),)]) if result.is_json else result.rows
    return record_batches(columns, rows, zone, keeps_dictionaries=keeps_dictionaries)


def _groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    group: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if group and batch.schema != group[0].schema:
            yield pa.Table.from_batches(group)
            group, rows, size = [], 0, 0
        group.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            yield pa.Table.from_batches(group)
            group, rows, size = [], 0, 0
    if group:
        yield pa.Table.from_batches(group)


def _without_intervals(hive: HiveType) -> HiveType:
    """The type with text in place of intervals: a value of an unknown type becomes the text that Hive prints."""
    if hive.name.startswith("interval"):
        return UNKNOWN
    return replace(hive, children=tuple(map(_without_intervals, hive.children)))
