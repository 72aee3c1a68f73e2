"""Rows of native queries as Parquet files, for Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hivedruid.plan.physical import DruidRead
from hivedruid.responses.batches import batches, schema_of, write_groups


def write(
    rows: Iterator[tuple[Any, ...]], read: DruidRead, columns: Sequence[str], stored: Mapping[str, str], path: Path
) -> None:
    """Write the rows of a query in row groups. `stored` are the Druid types of the columns of its data source."""
    types = read.types(stored)
    write_groups(batches(rows, columns, types), schema_of(columns, types), path)
