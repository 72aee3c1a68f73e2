"""Rows of native queries as Parquet files, for Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from hivedruid.errors import DruidError
from hivedruid.plan.physical import Field

BATCH = 32_768
"""The number of rows per batch."""


def write(
    rows: Iterator[tuple[Any, ...]],
    fields: Sequence[Field],
    columns: Sequence[str],
    stored: Mapping[str, str],
    path: Path,
) -> None:
    """Write rows in batches. `stored` gives the known Druid types by field; the default is that of the Hive type."""
    import pyarrow as pa
    from pyarrow import parquet

    from hivedruid.segments.scan import ARROW

    types = [stored.get(field.name) or field.druid_type for field in fields]
    schema = pa.schema([(name, ARROW.get(type_, pa.string())) for name, type_ in zip(columns, types, strict=True)])
    with parquet.ParquetWriter(str(path), schema) as writer:
        while batch := list(islice(rows, BATCH)):
            values = [list(column) for column in zip(*batch, strict=True)]
            try:
                arrays = [
                    pa.array(_lists(column) if type_ == "ARRAY<STRING>" else column, type=wanted)
                    for column, type_, wanted in zip(values, types, schema.types, strict=True)
                ]
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
                raise DruidError(f"Druid returned values that do not match the declared types: {error}") from error
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def _lists(column: list[Any]) -> list[Any]:
    """Druid returns a multi-value with one value as a plain value."""
    return [value if value is None or isinstance(value, list) else [value] for value in column]
