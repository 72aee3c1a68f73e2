"""ORC files with columns of `timestamp with local time zone`, which Spark's reader rejects entirely: they are read
with Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from hivedruid.spark.failures import full_text

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.readwriter import DataFrameReader
    from pyspark.sql.types import StructType


def has_instants(error: Exception) -> bool:
    """Whether Spark failed to read a schema because of such a column."""
    return "timestamp with local time zone" in full_text(error)


def orc_frame(reader: DataFrameReader, path: str, schema: StructType, names: list[str]) -> DataFrame:
    """The columns of these names from all files below the path; each file is read completely into a worker's memory."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    stored = StructType(
        [field.__class__(name, field.dataType) for name, field in zip(names, schema.fields, strict=True)]
    )
    files = reader.format("binaryFile").option("recursiveFileLookup", value=True).option("pathGlobFilter", "[!_.]*")
    return files.load(path).select("content").mapInArrow(_rows_of(to_arrow_schema(stored)), stored)


def _rows_of(schema: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function that workers run; it is serialized completely, so that workers only require Arrow."""

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        import io

        import pyarrow as pa
        from pyarrow import orc

        for batch in batches:
            for content in batch.column(0):
                table = orc.ORCFile(io.BytesIO(content.as_py())).read()
                stored = {name.lower(): name for name in table.column_names}
                columns = []
                for field in schema:
                    name = stored.get(field.name.lower())
                    column = pa.nulls(len(table)) if name is None else table.column(name)
                    columns.append(column.cast(field.type, safe=False))
                yield from pa.table(columns, schema=schema).to_batches()

    return rows
