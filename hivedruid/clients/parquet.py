"""Rows of native queries as Parquet files, for Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from hivedruid.plan.physical import DruidRead
from hivedruid.responses.batches import batches, schema_of

BATCHES = 32
"""The number of batches per row group."""


def write(
    rows: Iterator[tuple[Any, ...]], read: DruidRead, columns: Sequence[str], stored: Mapping[str, str], path: Path
) -> None:
    """Write the rows of a query in row groups. `stored` are the Druid types of the columns of its data source."""
    from pyarrow import Table, parquet

    types = read.types(stored)
    found = batches(rows, columns, types)
    with parquet.ParquetWriter(str(path), schema_of(columns, types)) as writer:
        while group := list(islice(found, BATCHES)):
            writer.write_table(Table.from_batches(group))
