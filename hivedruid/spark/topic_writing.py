"""Rows as records of Kafka topics, which Spark's Python workers produce: Spark's own Kafka sink does not write the
times of records.

Workers on other machines have neither Kafka's client nor its secrets, and may not see the home folder: this process
then receives the rows, and produces or stages the records itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Table
from hivedruid.private import private_folder
from hivedruid.setting_types import other_machines
from hivedruid.spark import paths
from hivedruid.spark.rows import arrow_batches
from hivedruid.spark.topic_formats import Schemas, of_value, written_value

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.connect.dataframe import DataFrame

Produce = Callable[[Iterator["RecordBatch"]], Iterator["RecordBatch"]]
"""Sends the records of a partition: see `clients.records.Produce`."""


def stage_records(
    frame: DataFrame, table: Table, folder: Path, settings: Mapping[str, str], schemas: Schemas | None
) -> int:
    """Write the records of a frame with the table's columns as Parquet files into a folder; returns their number."""
    rows = _records(frame, table, schemas)
    private_folder(folder.parent)
    private_folder(folder)
    if other_machines(settings):
        return _written(arrow_batches(rows), folder / "part-0.parquet")
    rows.write.mode("append").parquet(paths.uri(folder))
    return int(frame.sparkSession.read.schema("value BINARY").parquet(paths.readable(folder)).count())


def write_topic(
    frame: DataFrame, table: Table, produce: Produce, settings: Mapping[str, str], schemas: Schemas | None
) -> int:
    """Produce the rows of a frame with the table's columns; returns their number. When Spark repeats a task, its
    records are written again."""
    rows = _records(frame, table, schemas)
    if other_machines(settings):
        return sum(batch["sent"][0].as_py() for batch in produce(arrow_batches(rows)))
    return int(rows.mapInArrow(produce, "sent BIGINT").selectExpr("sum(sent)").collect()[0][0] or 0)


def _written(batches: Iterable[RecordBatch], path: Path) -> int:
    """Write the rows into a Parquet file, unless there are none; returns their number."""
    from pyarrow.parquet import ParquetWriter

    rows, writer = 0, None
    try:
        for batch in batches:
            writer = writer or ParquetWriter(path, batch.schema)
            writer.write_batch(batch)
            rows += batch.num_rows
    finally:
        if writer is not None:
            writer.close()
    return rows


def _records(frame: DataFrame, table: Table, schemas: Schemas | None) -> DataFrame:
    """The columns of `clients.records.records_of`."""
    value = written_value(of_value(table), schemas)
    return frame.selectExpr(
        f"{value} AS value", "__key", "IF(__partition < 0, NULL, __partition) AS __partition",
        "IF(__timestamp < 0, NULL, __timestamp) AS __timestamp",
    )  # fmt: skip
