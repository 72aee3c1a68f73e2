"""Writes the rows of external tables with partitions: a folder for each partition, beside those of the table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Column, Table
from hivedruid.plan.physical import SparkJob
from hivedruid.setting_types import other_machines
from hivedruid.spark import avro_files, paths, sequence_writing, writing
from hivedruid.spark.arrivals import Arrivals
from hivedruid.spark.cells import identifier
from hivedruid.spark.partitioned import of_files
from hivedruid.spark.row_text import line
from hivedruid.spark.serde import is_json
from hivedruid.tables.hive_tables import TEXTS
from hivedruid.tables.text_output import TextOutput, text_output

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame

    from hivedruid.spark.jobs import SparkRunner


def stage(runner: SparkRunner, job: SparkJob, table: Table, folder: Path, *, divides: bool) -> None:
    """Write the rows of a job into a folder of this machine, with a folder below it for each partition, named as Hive
    names them. With `divides` the rows of a partition are brought together first."""
    output = text_output(runner.iceberg.settings)
    with runner.running(job, target=table) as spark:
        frame = _named(writing.shape(spark.sql(job.sql), table), table)
        if divides:
            frame = frame.hint("rebalance", *(column.name for column in table.partition_columns))
        arrivals = Arrivals() if other_machines(runner.iceberg.settings) else None

        def write(counted: DataFrame) -> None:
            _write(arrivals.followed(counted) if arrivals else counted, table, paths.uri(folder), output)

        rows = writing.counted(frame, write)
        writing.drop_markers(folder)
        names = [file.name for file in folder.rglob("part-*")]
        if rows is not None:
            writing.check_arrived(rows, bool(names), folder)
        if arrivals:
            arrivals.check(names, folder, lambda: (frame.count(), writing.rows_in(spark, folder, table)))


def _named(frame: DataFrame, table: Table) -> DataFrame:
    """The rows with the texts of partition columns, as in the names of folders; NULL for an empty one."""
    stored = [identifier(column.name) for column in table.stored_columns]
    return frame.selectExpr(*stored, *(f"{_text(c)} AS {identifier(c.name)}" for c in table.partition_columns))


def _text(column: Column) -> str:
    text = f"CAST({identifier(column.name)} AS STRING)"
    if column.type.name == "decimal":
        return f"IF({text} LIKE '%.%', rtrim('.', rtrim('0', {text})), {text})"
    return f"nullif({text}, '')"


def _write(frame: DataFrame, table: Table, folder: str, output: TextOutput) -> None:
    names = [column.name for column in table.partition_columns]
    files = of_files(table, folder)
    if table.format in TEXTS or is_json(table):
        lines = frame.selectExpr(f"{line(files, output.zone)} AS _line", *map(identifier, names))
    if table.format == "sequencefile":
        sequence_writing.write(lines, folder, output, names)
    elif writing.is_text(table):
        lines.write.option("compression", output.compression).mode("append").partitionBy(*names).text(folder)
    elif table.format == avro_files.FORMAT:
        avro_files.write(frame, files, folder, names)
    else:
        form = "parquet" if table.format == "parquet" else "orc"
        frame = frame if form == "parquet" else writing.as_hive_stores(frame, files)
        frame.write.mode("append").partitionBy(*names).format(form).save(folder)
