"""Writes SequenceFiles. Spark has no writer for them: its Python workers write the files, in a folder that they
share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.catalog import partitions
from hivedruid.catalog.partitions import escape
from hivedruid.errors import UnsupportedError
from hivedruid.filesystems import local_path
from hivedruid.spark.cells import identifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.connect.dataframe import DataFrame

    from hivedruid.tables.text_output import TextOutput


def write(lines: DataFrame, folder: str, output: TextOutput, columns: Sequence[str] = ()) -> None:
    """Add files with the texts of the first column to a folder, or to those of partitions by these columns."""
    path = local_path(folder)
    if path is None:
        raise UnsupportedError(
            f"cannot write SequenceFiles to {folder}: they are only written to file systems of the machines",
            hint="INSERT INTO a table STORED AS ORC, PARQUET, AVRO or TEXTFILE",
        )
    from pyspark import cloudpickle

    from hivedruid import sequence_file_writing

    def place_of(values: Sequence[str | None]) -> str:
        pairs = zip(columns, values, strict=True)
        return "/".join(f"{escape(name)}={escape(value or '')}" for name, value in pairs)

    texts = lines.selectExpr(f"CAST({identifier(lines.columns[0])} AS BINARY) AS _text", *map(identifier, columns))
    for module in (sequence_file_writing, partitions):
        cloudpickle.register_pickle_by_value(module)
    try:
        write = sequence_file_writing.writer(str(path), place_of, output.codec, is_block=output.is_block)
        texts.mapInArrow(write, "rows BIGINT").collect()
    finally:
        for module in (sequence_file_writing, partitions):
            cloudpickle.unregister_pickle_by_value(module)
