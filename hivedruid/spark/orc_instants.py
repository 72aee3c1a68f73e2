"""ORC files with columns of `timestamp with local time zone`, which Spark's reader rejects entirely: its Python workers
read them with Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hivedruid import orc_files
from hivedruid.spark.failures import full_text

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.types import StructType


def has_instants(error: Exception) -> bool:
    """Whether Spark failed to read a schema because of such a column."""
    return "timestamp with local time zone" in full_text(error)


def stored_schema(files: DataFrame) -> StructType:
    """The columns of all files, as Spark has them; `files` are those of its source `binaryFile`."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    found = _by_value(files.select("content"), orc_files.schemas, "schema BINARY").distinct().collect()
    schemas = [pa.ipc.read_schema(pa.py_buffer(bytes(row[0]))) for row in found]
    names = {name.lower(): name for schema in schemas for name in schema.names}
    renamed = [pa.schema([field.with_name(names[field.name.lower()]) for field in schema]) for schema in schemas]
    return from_arrow_schema(_plain(pa.unify_schemas(renamed, promote_options="permissive")))


def orc_rows(files: DataFrame, schema: StructType, kept: list[str]) -> DataFrame:
    """The columns of the files, beside those of `files` that are kept; each file is read completely into a worker's
    memory."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StringType, StructField, StructType

    every = StructType([*schema.fields, *(StructField(name.strip("`"), StringType()) for name in kept)])
    return _by_value(files.selectExpr("content", *kept), orc_files.rows(to_arrow_schema(schema)), every)


def _by_value(files: DataFrame, function: Any, schema: Any) -> DataFrame:
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(orc_files)
    try:
        return files.mapInArrow(function, schema)
    finally:
        cloudpickle.unregister_pickle_by_value(orc_files)


def _plain(schema: pa.Schema) -> pa.Schema:
    """Without the metadata of the files."""
    import pyarrow as pa

    return pa.schema([field.remove_metadata() for field in schema])
