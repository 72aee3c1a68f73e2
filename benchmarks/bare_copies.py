"""The copies of `bulk.py` by PySpark alone. Imports nothing else: whole processes are measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

SCHEMA = (
    "__time TIMESTAMP_NTZ, channel STRING, page STRING, editor STRING, comment STRING, namespace STRING,"
    " robot BOOLEAN, added BIGINT, deleted INT, delta DOUBLE"
)


def bare_copy(spark: SparkSession, folder: Path, source: str, target: str) -> None:
    """Reads the files of a source with the schema of the table, and writes ORC or Parquet files, or counts the rows."""
    rows = _read(spark, folder, source)
    if target == "count":
        rows.count()
    else:
        writer = rows.write.mode("overwrite")
        (writer.parquet if target == "parquet" else writer.orc)(str(folder / f"bare_{target}"))


def _read(spark: SparkSession, folder: Path, source: str) -> DataFrame:
    reader = spark.read.schema(SCHEMA)
    match source:
        case "parquet":
            return reader.parquet(str(folder / source))
        case "json":
            return reader.json(str(folder / source))
        case "csv":
            return reader.csv(str(folder / source), escape='"')
        case "text":
            return reader.csv(str(folder / source), sep="\t", quote="", nullValue="\\N")
        case _:
            return reader.orc(str(folder / "orc"))
