"""The row groups of Parquet files whose columns are copied into segments without becoming rows of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.actions.parquet_files import check_type, files_of, names_in
from hivedruid.spark.parquet_tasks import CopiedColumn, ParquetPieces

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

    from hivedruid.catalog.table import Table
    from hivedruid.plan.file_columns import FileColumns

MOST_FILES = 2000
"""Reading the footers of so many takes a few seconds."""


def parquet_pieces(columns: FileColumns, target: Table) -> ParquetPieces | None:
    """The pieces for the columns of the target, in order; None if the values of a file may not be those that Spark
    reads."""
    from pyarrow import ArrowException, parquet

    groups: list[tuple[str, int]] = []
    names: list[str] = []
    try:
        for each in files_of(columns.table, MOST_FILES):
            with parquet.ParquetFile(each.path) as file:
                stored = _checked(file, columns)
                if names and stored != names:
                    return None
                names = stored
                groups += [(each.path, number) for number in range(file.num_row_groups)]
    except (ArrowException, OSError, ValueError):
        return None
    if not groups:
        return None
    copied = (
        CopiedColumn(name, field.field_name, column.type.is_timestamp)
        for name, field, column in zip(names, target.columns, columns.columns, strict=True)
    )
    return ParquetPieces(tuple(copied), tuple(groups))


def _checked(file: ParquetFile, columns: FileColumns) -> list[str]:
    """The names of the columns in a file. Raises ValueError for columns of other types."""
    names = names_in(file.schema_arrow, columns.columns)
    for name, column in zip(names, columns.columns, strict=True):
        if column.type.is_timestamp:
            _check_moments(file, name)
        else:
            check_type(file.schema_arrow, name, column.type)
    return names


def _check_moments(file: ParquetFile, name: str) -> None:
    """Raise ValueError unless a column has moments in UTC. Spark reads nanoseconds that are not INT96 as numbers."""
    import pyarrow as pa

    kind = file.schema_arrow.field(name).type
    if not pa.types.is_timestamp(kind) or kind.tz not in (None, "UTC"):
        raise ValueError(f"the column {name} has no timestamps in UTC")
    leaves = map(file.schema.column, range(len(file.schema)))
    if kind.unit == "ns" and not any(leaf.path == name and leaf.physical_type == "INT96" for leaf in leaves):
        raise ValueError(f"the column {name} has nanoseconds")
