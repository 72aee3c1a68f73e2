"""ORC, Parquet and Avro files as DataFrames with the columns and types of their table."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import STRING, HiveType, spark_type
from hivedruid.errors import UnsupportedError
from hivedruid.file_writers import UNKNOWN, Writer
from hivedruid.plan.physical import TableInput
from hivedruid.plan.virtual_columns import virtual_among
from hivedruid.spark import avro_files, paths
from hivedruid.spark.cells import identifier, literal
from hivedruid.spark.parquet_schemas import Units, spark_schema
from hivedruid.spark.stored_values import Reading, Unreadable
from hivedruid.spark.virtual_columns import with_file_names

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.readwriter import DataFrameReader
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.types import StructField, StructType

    from hivedruid.spark.file_schemas import FileSchemas

Place = str | paths.Folders
"""What Spark reads: a path, or the folders of partitions."""
_DECLARED = "__CHAR_VARCHAR_TYPE_STRING"
"""The key of Spark's metadata of a column with its type in ORC files."""
_BY_ITSELF = (
    "CANNOT_MERGE_SCHEMAS", "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE", "PARQUET_TYPE_ILLEGAL", "UNSUPPORTED_TIME_TYPE",
)  # fmt: skip
"""Spark's conditions for files whose schemas differ, and for types of which it derives none."""


def columnar_frame(spark: SparkSession, item: TableInput, path: Place, schemas: FileSchemas) -> DataFrame | None:
    """The columns of files; None if there are no files. Columns match by name; files of old Hive versions use `_col0`
    …: those match by position. Files whose writers stored times differently are read apart."""
    has_times = any(_has_times(column.type) for column in item.table.columns if column.name in item.columns)
    writers = schemas.writers(_locations(item, path), item.table.format or "", has_times=has_times)
    if len(writers) < 2:
        writer = next(iter(writers), UNKNOWN[_form(item.table)])
        return _files_frame(spark, item, path, schemas, writer)
    parts = (_files_frame(spark, item, _only(path, files), schemas, writer) for writer, files in writers.items())
    return reduce(lambda a, b: a.unionAll(b), [part for part in parts if part is not None])


def _has_times(hive: HiveType) -> bool:
    return hive.is_time or any(map(_has_times, hive.children))


def _form(table: Table) -> str:
    return table.format if table.format in ("orc", "avro") else "parquet"


def _locations(item: TableInput, path: Place) -> tuple[str, ...]:
    return path.locations if isinstance(path, paths.Folders) else (paths.location_of(item.table),)


def _only(path: Place, files: tuple[str, ...]) -> paths.Folders:
    """These files of a place."""
    return paths.Folders(files, *((path.base, path.columns) if isinstance(path, paths.Folders) else ("", ())))


def _files_frame(
    spark: SparkSession, item: TableInput, path: Place, schemas: FileSchemas, writer: Writer
) -> DataFrame | None:
    """The columns of files whose writers stored times alike."""
    from pyspark.errors import PySparkException

    from hivedruid.spark.orc_instants import has_instants

    table, form = item.table, _form(item.table)
    if form == avro_files.FORMAT:
        return _declared_frame(spark, item, path, writer)
    reader = _with_calendar(spark.read, writer) if form == "parquet" else spark.read
    reader = reader.option("mergeSchema", value=True).option("recursiveFileLookup", value=True)
    virtual = virtual_among(item.columns, table)
    rows: DataFrame | None = None
    try:
        if isinstance(path, paths.Folders):
            schema = _without(reader.format(form).load(path.paths).schema, path.columns)
        else:
            schema = schemas.of(paths.location_of(table), lambda: reader.format(form).load(path).schema)
    except PySparkException as error:
        if error.getCondition() == "UNABLE_TO_INFER_SCHEMA":  # no file
            return None
        if form == "orc" and has_instants(error):
            rows, schema = _instants(spark, table, path, virtual, schemas)
        elif form == "parquet" and error.getCondition() in _BY_ITSELF:
            known = _own_schema(item, path, schemas)
            if known is None:
                return _declared_frame(spark, item, path, writer)
            schema = known
        else:
            raise
    # All columns, though few are read: Spark estimates the size of what it reads, and so whether to broadcast it, from
    # the size of the files and the share of the columns. It also matches those of some ORC files by position.
    if rows is None:
        rows = with_file_names(_load(reader.format(form), path, ddl(schema.fields)), virtual)
    if schema.names and all(name == f"_col{number}" for number, name in enumerate(schema.names)):
        names = [column.field_name for column in table.columns[: len(schema.names)]]
        names += schema.names[len(names) :]
        rows, schema = rows.toDF(*names, *_derived(path), *virtual), _renamed(schema, names)
    reading = _reading(item, path, schemas, writer)
    return cast_by_name(rows, schema, table, item.columns, kept_columns(path, virtual), reading)


def _own_schema(item: TableInput, path: Place, schemas: FileSchemas) -> StructType | None:
    """The columns of Parquet files of which Spark derives no schema; None if the files are on other machines, or if the
    types of a column differ."""
    known = schemas.parquet_schemas(_locations(item, path))
    schema = None if known is None else spark_schema(known)
    return None if schema is None else _without(schema, _derived(path))


def _derived(path: Place) -> tuple[str, ...]:
    """The columns that Spark derives from the names of folders."""
    return path.columns if isinstance(path, paths.Folders) else ()


def _reading(item: TableInput, path: Place, schemas: FileSchemas, writer: Writer) -> Reading:
    moment = partial(_local, writer=writer) if writer.moves_times else None
    if item.table.format == "orc":
        return Reading("orc")
    return Reading("parquet", Units(lambda: schemas.parquet_schemas(_locations(item, path))), moment)


def _local(expression: str, writer: Writer) -> str:
    """A time in UTC as that of the writer's zone. Before 1900, java.util.TimeZone has the standard offset of today."""
    zone = literal(writer.zone or "UTC")
    moved = f"from_utc_timestamp({expression}, {zone})"
    if not writer.is_legacy:
        return moved
    standard = f"least(from_utc_timestamp({{0}}, {zone}), from_utc_timestamp({{1}}, {zone}) - INTERVAL 182 DAYS)"
    standard = standard.format("TIMESTAMP '2024-01-01 12:00:00'", "TIMESTAMP '2024-07-01 12:00:00'")
    offset = f"({standard} - TIMESTAMP '2024-01-01 12:00:00')"
    return f"IF({expression} < TIMESTAMP '1900-01-01 00:00:00', {expression} + {offset}, {moved})"


def _with_calendar(reader: DataFrameReader, writer: Writer) -> DataFrameReader:
    """Hive's INT96 always are in the Julian calendar before 1582-10-15, and its days depend on the writer. Spark's own
    files say how they were written."""
    if writer.zone is None:
        return reader
    reader = reader.option("int96RebaseMode", "LEGACY")
    return reader.option("datetimeRebaseMode", "LEGACY" if writer.is_julian else "CORRECTED")


def _instants(
    spark: SparkSession, table: Table, path: Place, virtual: Sequence[str], schemas: FileSchemas
) -> tuple[DataFrame, StructType]:
    """The rows of ORC files that Spark cannot read, and the columns in them."""
    from hivedruid.spark.orc_instants import orc_rows, stored_schema

    fields = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", value=True)
    files = with_file_names(_load(reader.option("pathGlobFilter", "[!_.]*"), path, fields), virtual)
    if isinstance(path, paths.Folders):
        schema = stored_schema(files)
    else:
        schema = schemas.of(paths.location_of(table), lambda: stored_schema(files), reader="arrow ")
    return orc_rows(files, schema, kept_columns(path, virtual)), schema


def _declared_frame(spark: SparkSession, item: TableInput, path: Place, writer: Writer) -> DataFrame:
    """Avro files, and Parquet files whose schemas Spark does not merge, such as those of Hive and of Spark with
    timestamps: read as the table declares them. Spark reads timestamps as TIMESTAMP in UTC."""
    columns = [column for column in item.table.stored_columns if column.name in item.columns]
    is_avro = item.table.format == avro_files.FORMAT
    types = [spark_type(column.type).replace("TIMESTAMP_NTZ", "TIMESTAMP") for column in columns]
    fields = ", ".join(f"{identifier(c.field_name)} {type_}" for c, type_ in zip(columns, types, strict=True))
    reader = spark.read.option("recursiveFileLookup", value=True)
    if is_avro:
        reader, fields = avro_files.reader_of(reader, item.table, writer), avro_files.fields_of(columns)
    else:
        reader = _with_calendar(reader, writer).format("parquet")
    virtual = virtual_among(item.columns, item.table)
    rows = with_file_names(_load(reader, path, fields), virtual)
    moment = partial(_local, writer=writer) if writer.moves_times else None
    reading = Reading("avro" if is_avro else "parquet", moment=moment)
    return cast_by_name(rows, rows.schema, item.table, item.columns, kept_columns(path, virtual), reading)


def kept_columns(path: Place, virtual: Sequence[str]) -> list[str]:
    """The columns that are not in the files: virtual ones, and those that Spark derives from the names of folders."""
    return [*map(identifier, _derived(path)), *virtual]


def _load(reader: DataFrameReader, path: Place, fields: str) -> DataFrame:
    if isinstance(path, str):
        return reader.schema(fields).load(path)
    if not path.columns:
        return reader.schema(fields).load(path.paths)
    return with_folders(reader.option("recursiveFileLookup", value=False), path, fields).load(path.paths)


def with_folders(reader: DataFrameReader, folders: paths.Folders, fields: str) -> DataFrameReader:
    """A reader of the folders of partitions, whose values are strings."""
    derived = [f"{identifier(name)} STRING" for name in folders.columns]
    return reader.option("basePath", folders.base).schema(", ".join(filter(None, [fields, *derived])))


def _without(schema: StructType, names: Sequence[str]) -> StructType:
    """The columns in the files, without those of folders, which Hive does not read in the files."""
    return type(schema)([field for field in schema.fields if field.name.lower() not in names])


def ddl(fields: Sequence[StructField]) -> str:
    """The fields as Spark's readers parse them fastest. Their metadata is not included: by it Spark would pad values
    that it compares with a CHAR."""
    return ", ".join(f"{identifier(field.name)} {_ddl_type(field.dataType)}" for field in fields)


def _ddl_type(kind: Any) -> str:
    match kind.typeName():
        case "struct":
            return f"STRUCT<{', '.join(f'{identifier(f.name)}: {_ddl_type(f.dataType)}' for f in kind.fields)}>"
        case "array":
            return f"ARRAY<{_ddl_type(kind.elementType)}>"
        case "map":
            return f"MAP<{_ddl_type(kind.keyType)}, {_ddl_type(kind.valueType)}>"
        case _:
            return str(kind.simpleString())


def _renamed(schema: StructType, names: Sequence[str]) -> StructType:
    fields = zip(names, schema.fields, strict=True)
    return type(schema)([type(field)(name, field.dataType, field.nullable) for name, field in fields])


def cast_by_name(
    rows: DataFrame,
    schema: StructType,
    table: Table,
    columns: Container[str],
    kept: Sequence[str] = (),
    reading: Reading | None = None,
) -> DataFrame:
    """These columns of the table, null if missing in the data, and those that are kept. A plain ORC TIMESTAMP was read
    in UTC: its cast to TIMESTAMP_NTZ gives what was written. Without `reading`, values are those of Spark's cast."""
    stored = {field.name.lower(): field for field in schema.fields}

    def column_of(column: Column) -> str:
        name, type_ = identifier(column.name), spark_type(column.type)
        field = stored.get(column.field_name.lower())
        if field is None:
            return f"CAST(NULL AS {type_}) AS {name}"
        source = identifier(field.name)
        if reading is not None:
            value = _read(reading, source, field, column, table)
        else:
            is_same = field.dataType.simpleString() == type_.lower()
            value = source if is_same else f"CAST({source} AS {type_})"
        return value if value == name else f"{value} AS {name}"

    return rows.selectExpr(*[column_of(c) for c in table.columns if c.name in columns], *kept)


def _is_shorter(field: StructField, hive: HiveType) -> bool:
    """Whether the files have a VARCHAR that is not longer: it need not be cut, so that conditions reach the reader."""
    stored = re.fullmatch(r"varchar\((\d+)\)", (field.metadata or {}).get(_DECLARED, ""))
    return hive.name == "varchar" and stored is not None and int(stored[1]) <= hive.params[0]


def _read(reading: Reading, source: str, field: StructField, column: Column, table: Table) -> str:
    hive = STRING if _is_shorter(field, column.type) else column.type
    try:
        return reading.column(source, field.dataType, hive, column.field_name.lower())
    except Unreadable as no:
        form = reading.form.upper() if reading.form == "orc" else reading.form.capitalize()
        why = ": nothing in the files says which unit it counts" if no.hive.is_timestamp and form == "Parquet" else ""
        raise UnsupportedError(
            f"the column {column.field_name} of {table.full_name} is {no.stored} in its {form} files, "
            f"which cannot be read as {str(no.hive).upper()}{why}",
            hint=f"declare it as {no.stored}, and convert it in the query",
        ) from None
