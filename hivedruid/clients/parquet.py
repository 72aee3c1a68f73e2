"""Rows of native queries as Parquet files, for Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hivedruid.plan.physical import DruidRead
from hivedruid.responses.batches import batches, schema_of


def write(
    rows: Iterator[tuple[Any, ...]], read: DruidRead, columns: Sequence[str], stored: Mapping[str, str], path: Path
) -> None:
    """Write the rows of a query in batches. `stored` are the Druid types of the columns of its data source."""
    from pyarrow import parquet

    types = read.types(stored)
    with parquet.ParquetWriter(str(path), schema_of(columns, types)) as writer:
        for batch in batches(rows, columns, types):
            writer.write_batch(batch)
