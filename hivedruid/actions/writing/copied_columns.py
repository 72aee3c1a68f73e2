"""Writes that only copy columns, from Parquet files into segments or the other way round: Spark's Python workers do so
without rows of Spark, if every value is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.actions.parquet_files import check_type, files_of, names_in, notes_of

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

    from hivedruid.actions.services import Services
    from hivedruid.actions.writing.model import IngestDruid, SegmentWriting, WriteTable
    from hivedruid.catalog.table import Table
    from hivedruid.jobs.staged import StagedRows
    from hivedruid.plan.file_columns import FileColumns
    from hivedruid.spark.parquet_tasks import ParquetPieces

MOST_FILES = 2000
"""Reading the footers of so many takes a few seconds."""


def into_segments(
    action: IngestDruid, writing: SegmentWriting | None, folder: str, services: Services, *, skip_timeless: bool
) -> StagedRows | None:
    """The segments of a statement that copies columns of Parquet files; None for others, and if only Spark can read a
    file."""
    if writing is None or writing.columns is None:
        return None
    from hivedruid.spark.building import build_from_files

    pieces = parquet_pieces(writing.columns, action.table)
    if pieces is None:
        return None
    return build_from_files(
        services.spark(), pieces, action.table, action.spec, writing.plan, folder, skip_timeless=skip_timeless
    )


def into_files(action: WriteTable, services: Services) -> int | None:
    """The number of rows of a statement that copies columns of segment files; None for others, and if only Spark can
    read a file."""
    if action.copied is None:
        return None
    from hivedruid.spark.copying import copy_segments

    return copy_segments(services.spark(), action.job, action.table, action.copied, overwrite=action.overwrite)


def parquet_pieces(columns: FileColumns, target: Table) -> ParquetPieces | None:
    """The pieces for the columns of the target, in order; None if the values of a file may not be those that Spark
    reads."""
    from pyarrow import ArrowException, parquet

    from hivedruid.spark.parquet_tasks import CopiedColumn, ParquetPieces

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

    if notes_of(file).moves_times:
        raise ValueError(f"Hive moved the times of the column {name} to UTC")
    kind = file.schema_arrow.field(name).type
    if not pa.types.is_timestamp(kind) or kind.tz not in (None, "UTC"):
        raise ValueError(f"the column {name} has no timestamps in UTC")
    leaves = map(file.schema.column, range(len(file.schema)))
    if kind.unit == "ns" and not any(leaf.path == name and leaf.physical_type == "INT96" for leaf in leaves):
        raise ValueError(f"the column {name} has nanoseconds")
