"""The rows of external tables with partitions: Spark reads the folders of the chosen ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from hivedruid.catalog.partitions import NULL_VALUE, Partition
from hivedruid.catalog.table import Column, Table
from hivedruid.errors import PlanError
from hivedruid.filesystems import Access, local_path, open_location
from hivedruid.plan.physical import TableInput
from hivedruid.spark import inputs, paths
from hivedruid.spark.cells import CellFormat, identifier, literal, value

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.file_schemas import FileSchemas


LINES = "value"
"""The column with the lines of text files, which would hide a column derived from the names of folders."""


def partitioned_frame(
    spark: SparkSession, item: TableInput, settings: Mapping[str, str], schemas: FileSchemas
) -> DataFrame:
    """The rows of the chosen partitions, with the values of partition columns.

    Spark derives the values of the folders below the LOCATION from their names. Each other folder is read as a table of
    its own.
    """
    table, chosen = item.table, item.partitions
    if chosen is None or chosen.is_pending:
        raise PlanError(f"the partitions of {table.full_name} are not known")
    present = with_files(table, chosen.read, settings)
    is_hidden = table.column(LINES) in table.partition_columns

    def is_usual(partition: Partition) -> bool:
        return partition.location is None and partition.files is None and not is_hidden

    usual = [each for each in present if is_usual(each)]
    others = [each for each in present if not is_usual(each)]
    frames = [_elsewhere(spark, item, each, settings, schemas) for each in others]
    if usual:
        frames.append(_usual(spark, item, usual, settings, schemas))
    typed = [_typed(frame, item, settings) for frame in frames]
    return (
        reduce(lambda a, b: a.unionAll(b), typed)
        if typed
        else inputs.empty_frame(spark, table, inputs.virtual_of(item))
    )


def with_files(table: Table, chosen: Iterable[Partition], settings: Mapping[str, str]) -> list[Partition]:
    """The partitions whose folder exists; on this machine, those that have files."""
    listed: dict[str, set[str]] = {}
    is_visible = paths.is_visible_here(settings)

    def is_there(partition: Partition) -> bool:
        folder = partition.folder(table).rstrip("/")
        path = local_path(folder)
        if path is not None:
            return not is_visible or (path.exists() and paths.has_data(of_files(table, folder), is_visible=True))
        parent, _, name = folder.rpartition("/")
        if parent not in listed:
            listed[parent] = set(open_location(parent, Access.of(settings)).names())
        return name in listed[parent]

    return [each for each in chosen if is_there(each)]


def of_files(table: Table, location: str) -> Table:
    """A folder as a table without partitions."""
    return replace(table, columns=table.stored_columns, partition_spec=(), location=location)


def _part(item: TableInput, location: str) -> TableInput:
    """The input as one of a table without partitions."""
    columns = *_stored(item), *inputs.virtual_of(item)
    return replace(item, table=of_files(item.table, location), columns=columns, partitions=None)


def _stored(item: TableInput) -> tuple[str, ...]:
    """The columns in the files that the query reads; at least one."""
    names = [column.name for column in item.table.stored_columns]
    return tuple(name for name in names if name in item.columns) or (names[0],)


def _elsewhere(
    spark: SparkSession, item: TableInput, partition: Partition, settings: Mapping[str, str], schemas: FileSchemas
) -> DataFrame:
    part = _part(item, partition.folder(item.table))
    if partition.files is not None:
        part = replace(
            part, table=replace(part.table, format=partition.files.format, serde=dict(partition.files.serde))
        )
    frame = inputs.files_frame(spark, part, settings, schemas)
    names = [identifier(column.name) for column in item.table.partition_columns]
    return frame.selectExpr("*", *(f"{literal(v)} AS {n}" for v, n in zip(partition.values, names, strict=True)))


def _usual(
    spark: SparkSession, item: TableInput, chosen: list[Partition], settings: Mapping[str, str], schemas: FileSchemas
) -> DataFrame:
    table = item.table
    place = paths.Folders(
        tuple(each.folder(table) for each in chosen),
        paths.uri(table.location or ""),
        tuple(column.name for column in table.partition_columns),
    )
    part = _part(item, table.location or "")
    frame = inputs.frame_of(spark, part, place, settings, schemas)
    if paths.is_visible_here(settings):
        return frame
    # folders on other machines may all be empty: then Spark derives no values from their names
    missing = [name for name in place.columns if name not in map(str.lower, frame.columns)]
    return frame.selectExpr("*", *(f"CAST(NULL AS STRING) AS {identifier(name)}" for name in missing))


def _typed(frame: DataFrame, item: TableInput, settings: Mapping[str, str]) -> DataFrame:
    """The texts of partition columns as values of their types."""
    form = inputs.cell_format(item.table, settings)
    typed = (_value(column, form) for column in item.table.partition_columns)
    return frame.selectExpr(*map(identifier, _stored(item)), *inputs.virtual_of(item), *typed)


def _value(column: Column, form: CellFormat) -> str:
    """Spark reads the folder of NULL as NULL; a string has its name as its value in Hive."""
    name = identifier(column.name)
    text = f"coalesce({name}, {literal(NULL_VALUE)})" if column.type.is_string else name
    return f"{value(text, column.type, form)} AS {name}"
