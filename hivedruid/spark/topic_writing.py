"""Rows as records of Kafka topics, which Spark's Python workers produce: Spark's own Kafka sink does not write the
times of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Table
from hivedruid.errors import UnsupportedError
from hivedruid.private import private_folder
from hivedruid.setting_types import other_machines
from hivedruid.spark import paths
from hivedruid.spark.topic_formats import Schemas, of_value, written_value

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.connect.dataframe import DataFrame

Produce = Callable[[Iterator["RecordBatch"]], Iterator["RecordBatch"]]
"""Sends the records of a partition: see `clients.records.Produce`."""


def stage_records(
    frame: DataFrame, table: Table, folder: Path, settings: Mapping[str, str], schemas: Schemas | None
) -> int:
    """Write the records of a frame with the table's columns as Parquet files into a folder; returns their number.
    Raises UnsupportedError."""
    rows = _records(frame, table, settings, schemas)
    private_folder(folder.parent)
    private_folder(folder)
    rows.write.mode("append").parquet(paths.uri(folder))
    return int(frame.sparkSession.read.schema("value BINARY").parquet(paths.readable(folder)).count())


def write_topic(
    frame: DataFrame, table: Table, produce: Produce, settings: Mapping[str, str], schemas: Schemas | None
) -> int:
    """Produce the rows of a frame with the table's columns; returns their number. When Spark repeats a task, its
    records are written again. Raises UnsupportedError."""
    rows = _records(frame, table, settings, schemas)
    return int(rows.mapInArrow(produce, "sent BIGINT").selectExpr("sum(sent)").collect()[0][0] or 0)


def _records(frame: DataFrame, table: Table, settings: Mapping[str, str], schemas: Schemas | None) -> DataFrame:
    """The columns of `clients.records.records_of`."""
    if elsewhere := other_machines(settings):
        raise UnsupportedError(
            f"cannot insert into {table.full_name}: Spark runs on other machines ({elsewhere})",
            hint="records are only written by Spark on this machine",
        )
    value = written_value(of_value(table), schemas)
    return frame.selectExpr(
        f"{value} AS value", "__key", "IF(__partition < 0, NULL, __partition) AS __partition",
        "IF(__timestamp < 0, NULL, __timestamp) AS __timestamp",
    )  # fmt: skip
