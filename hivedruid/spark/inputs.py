"""The inputs of a job, as DataFrames with the columns and types that the SQL expects."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, assert_never

from hivedruid.catalog.properties import MALFORMED_ROWS
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.errors import PlanError, UnsupportedError
from hivedruid.filesystems import local_path
from hivedruid.iceberg import home_catalog
from hivedruid.plain_json import KINDS, TEXT
from hivedruid.plan.physical import DruidInput, TableInput
from hivedruid.plan.virtual_columns import OFFSET, VIRTUAL, virtual_among
from hivedruid.setting_types import resolve_zone
from hivedruid.spark import avro_files, paths
from hivedruid.spark.cells import (
    CellFormat,
    delimited_cell,
    identifier,
    json_object,
    literal,
    misfit,
    split_text,
    value,
)
from hivedruid.spark.regex_serde import regex_cells
from hivedruid.spark.relations import query
from hivedruid.spark.serde import csv_fields, delimited_format, is_csv, is_json
from hivedruid.spark.text_files import decoded, without_header
from hivedruid.spark.virtual_columns import LINE_BREAK, iceberg_columns, with_file_names, with_offsets
from hivedruid.tables.hive_tables import TEXTS, is_regex
from hivedruid.tables.metastore_tables import ICEBERG, METADATA_LOCATION

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.readwriter import DataFrameReader
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.types import DataType, StructField, StructType

    from hivedruid.spark.file_schemas import FileSchemas

Place = str | paths.Folders
"""What Spark reads: a path, or the folders of partitions."""
MALFORMED_MARK = "hivedruid: malformed row in view "
NOTHING_PLAIN: Mapping[str, str] = MappingProxyType({})
_MERGES = ("CANNOT_MERGE_SCHEMAS", "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE")
"""Spark's conditions for files whose schemas differ."""
_JSON_NULL = r"^\s*null\s*$"
"""Hive reads it as a row of nulls."""


def druid_frame(rows: DataFrame, schema: StructType, item: DruidInput) -> DataFrame:
    """The rows of a native query, which have this schema, converted from Druid's to Hive types."""
    columns = zip(item.read.fields, item.columns, schema.fields, strict=True)
    return rows.toDF(*(f"_{number}" for number in range(len(item.columns)))).selectExpr(
        *(
            f"{_from_druid(f'_{number}', field.type, stored.dataType)} AS {identifier(column)}"
            for number, (field, column, stored) in enumerate(columns)
        )
    )


def _from_druid(expression: str, hive: HiveType, stored: DataType) -> str:
    """Druid's value as the Hive type: its times are LONG milliseconds in UTC, its booleans LONG 0 and 1.

    A multi-value column is a string column if no row has several values, or there are no rows.
    """
    if hive.name == "array" and stored.typeName() == "string":
        return f"CAST(CASE WHEN {expression} IS NOT NULL THEN array({expression}) END AS {spark_type(hive)})"
    if stored.typeName() in ("long", "integer") and hive.is_time:
        return f"CAST(timestamp_millis({expression}) AS {spark_type(hive)})"
    return f"CAST({expression} AS {spark_type(hive)})"


def table_frame(
    spark: SparkSession,
    item: TableInput,
    settings: Mapping[str, str],
    schemas: FileSchemas,
    metadata: Path | None = None,
) -> DataFrame:
    """A Hive-side table's rows, with the columns of the input or all of them; malformed rows fail the job or are
    skipped, depending on the table. `metadata` is the current metadata file of a managed table, if that is known."""
    table = item.table
    match table.kind:
        case "iceberg":
            return iceberg_frame(spark, item, schemas, metadata)
        case "temporary" if not (table.is_written or table.has_partitions):
            return empty_frame(spark, table, virtual_of(item))
        case "files" | "temporary":
            return files_frame(spark, item, settings, schemas)
        case "druid" | "kafka" | "view":
            raise PlanError(f"{table.full_name} is a {table.kind} table; its rows are not in files")
        case _:
            assert_never(table.kind)


def files_frame(spark: SparkSession, item: TableInput, settings: Mapping[str, str], schemas: FileSchemas) -> DataFrame:
    table = item.table
    if table.format == ICEBERG:
        rows = spark.read.format("iceberg").load(paths.uri(table.properties[METADATA_LOCATION]))
        return _cast_by_name(rows, rows.schema, table, item.columns, iceberg_columns(virtual_of(item)))
    if table.has_partitions:
        from hivedruid.spark.partitioned import partitioned_frame

        return partitioned_frame(spark, item, settings, schemas)
    is_visible = paths.is_visible_here(settings)
    path = paths.spark_path(table, is_visible=is_visible)
    if not paths.has_data(table, is_visible=is_visible):
        return empty_frame(spark, table, virtual_of(item))
    return frame_of(spark, item, path, settings, schemas)


def frame_of(
    spark: SparkSession, item: TableInput, path: Place, settings: Mapping[str, str], schemas: FileSchemas
) -> DataFrame:
    """The columns in the files of a table, those that Spark derives from the names of folders, and virtual columns."""
    table, virtual = item.table, virtual_of(item)
    if is_json(table):
        lines = json_lines(spark, table, path, settings, virtual)
        return _without_malformed(table, lines, item.view, malformed_rows(table, settings), _kept(path, virtual))
    if table.format in TEXTS:
        return delimited_frame(spark, table, path, settings, virtual)
    return columnar_frame(spark, item, path, schemas)


def virtual_of(item: TableInput) -> list[str]:
    """The virtual columns of an input."""
    return virtual_among(item.columns, item.table)


def _kept(path: Place, virtual: Sequence[str]) -> list[str]:
    """The columns that are not in the files: virtual ones, and those that Spark derives from the names of folders."""
    return [*(identifier(name) for name in path.columns), *virtual] if isinstance(path, paths.Folders) else [*virtual]


def malformed_rows(table: Table, settings: Mapping[str, str]) -> str:
    """`fail`, `skip`, `null` or `reject`: the table's property, that of OpenX's JsonSerDe, otherwise the setting."""
    if table.effective_serde.get("ignore.malformed.json", "").lower() == "true":
        return "null"
    return (table.properties.get(MALFORMED_ROWS) or settings.get(MALFORMED_ROWS) or "fail").lower()


def empty_frame(spark: SparkSession, table: Table, virtual: Sequence[str] = ()) -> DataFrame:
    types = [(column.name, column.type) for column in table.columns] + [(name, VIRTUAL[name]) for name in virtual]
    columns = ", ".join(f"CAST(NULL AS {spark_type(type_)}) AS {identifier(name)}" for name, type_ in types)
    return query(spark, f"SELECT {columns} WHERE FALSE")


def iceberg_name(table: Table) -> str:
    """The table in Spark's catalog: by its id, which RENAME does not change; in the catalog of a database, by its
    name."""
    if (place := table.iceberg) is not None:
        return ".".join(map(identifier, (place.catalog, *place.namespace, place.name)))
    return f"{home_catalog.CATALOG}.{home_catalog.NAMESPACE}.{identifier(table.table_id)}"


def iceberg_frame(spark: SparkSession, item: TableInput, schemas: FileSchemas, metadata: Path | None) -> DataFrame:
    """The rows of a managed table. If it `is_whole`, no condition is moved below the sample, which has all rows."""
    virtual = iceberg_columns(virtual_of(item))
    if item.table.snapshot is not None:
        rows = spark.read.option("versionAsOf", item.table.snapshot).table(iceberg_name(item.table))
        schema = rows.schema
    else:
        rows = spark.table(iceberg_name(item.table))
        schema = schemas.of_table(item.table.table_id, metadata, lambda: rows.schema)
    return _cast_by_name(rows.sample(1.0) if item.is_whole else rows, schema, item.table, item.columns, virtual)


def columnar_frame(spark: SparkSession, item: TableInput, path: Place, schemas: FileSchemas) -> DataFrame:
    """ORC and Parquet files. Columns match by name; files of old Hive versions use `_col0` …: those match by
    position."""
    from pyspark.errors import PySparkException

    table, virtual = item.table, virtual_of(item)
    if table.format == "avro":
        return _declared_frame(spark, item, path)
    reader = spark.read.option("mergeSchema", value=True).option("recursiveFileLookup", value=True)
    form = "orc" if table.format == "orc" else "parquet"
    try:
        if isinstance(path, paths.Folders):
            schema = _without(reader.format(form).load(list(path.paths)).schema, path.columns)
        else:
            schema = schemas.of(paths.location_of(table), lambda: reader.format(form).load(path).schema)
    except PySparkException as error:
        from hivedruid.spark.orc_instants import has_instants, orc_frame

        if error.getCondition() == "UNABLE_TO_INFER_SCHEMA":  # no file
            return empty_frame(spark, table, virtual)
        if form == "parquet" and error.getCondition() in _MERGES:
            return _declared_frame(spark, item, path)
        if form != "orc" or not has_instants(error):
            raise
        if isinstance(path, paths.Folders):
            raise
        if virtual:
            raise UnsupportedError(
                f"{table.full_name} has no INPUT__FILE__NAME: its ORC files have timestamps with local time zone",
                hint="remove it",
            ) from error
        rows = orc_frame(spark.read, path, empty_frame(spark, table).schema, [c.field_name for c in table.columns])
        return _cast_by_name(rows, rows.schema, table, item.columns)
    kept = [*(path.columns if isinstance(path, paths.Folders) else ()), *virtual]
    is_positional = bool(schema.names) and all(name == f"_col{number}" for number, name in enumerate(schema.names))
    # All columns, though few are read: Spark estimates the size of what it reads, and so whether to broadcast it, from
    # the size of the files and the share of the columns. It also matches those of some ORC files by position.
    fields = _ddl(schema.fields)
    if isinstance(path, paths.Folders):
        rows = _reader(spark, path, fields).format(form).load(list(path.paths))
    else:
        rows = reader.schema(fields).format(form).load(path)
    rows = with_file_names(rows, virtual)
    if is_positional:
        names = [column.field_name for column in table.columns[: len(schema.names)]]
        names += schema.names[len(names) :]
        rows, schema = rows.toDF(*names, *kept), _renamed(schema, names)
    return _cast_by_name(rows, schema, table, item.columns, _kept(path, virtual))


def _declared_frame(spark: SparkSession, item: TableInput, path: Place) -> DataFrame:
    """Avro files, and Parquet files whose schemas Spark does not merge, such as those of Hive and of Spark with
    timestamps: read as the table declares them. Spark reads timestamps as TIMESTAMP in UTC."""
    columns = [column for column in item.table.stored_columns if column.name in item.columns]
    is_avro = item.table.format == avro_files.FORMAT
    types = [spark_type(column.type).replace("TIMESTAMP_NTZ", "TIMESTAMP") for column in columns]
    fields = ", ".join(f"{identifier(c.field_name)} {type_}" for c, type_ in zip(columns, types, strict=True))
    fields = avro_files.fields_of(columns) if is_avro else fields
    reader, places = spark.read.option("recursiveFileLookup", value=True).schema(fields), [path]
    if isinstance(path, paths.Folders):
        reader, places = _reader(spark, path, fields), list(path.paths)
    rows = avro_files.reader_of(reader, item.table).load(places) if is_avro else reader.parquet(*places)
    named = with_file_names(rows, virtual_of(item))
    return _cast_by_name(named, rows.schema, item.table, item.columns, _kept(path, virtual_of(item)))


def _without(schema: StructType, names: Sequence[str]) -> StructType:
    """The columns in the files, without those of folders, which Hive does not read in the files."""
    return type(schema)([field for field in schema.fields if field.name.lower() not in names])


def _reader(spark: SparkSession, folders: paths.Folders, fields: str) -> DataFrameReader:
    """A reader of the folders of partitions, whose values are strings."""
    derived = [f"{identifier(name)} STRING" for name in folders.columns]
    return spark.read.option("basePath", folders.base).schema(", ".join(filter(None, [fields, *derived])))


def _ddl(fields: Sequence[StructField]) -> str:
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


def _cast_by_name(
    rows: DataFrame, schema: StructType, table: Table, columns: Container[str], kept: Sequence[str] = ()
) -> DataFrame:
    """These columns of the table, null if missing in the data, and those that are kept. A plain ORC TIMESTAMP was read
    in UTC: its cast to TIMESTAMP_NTZ gives what was written."""
    stored = {field.name.lower(): field for field in schema.fields}

    def column_of(column: Column) -> str:
        name, type_ = identifier(column.name), spark_type(column.type)
        field = stored.get(column.field_name.lower())
        if field is None:
            return f"CAST(NULL AS {type_}) AS {name}"
        source = identifier(field.name)
        if field.dataType.simpleString() == type_.lower():
            return source if source == name else f"{source} AS {name}"
        return f"CAST({_with_moments(source, field.dataType, column.type)} AS {type_}) AS {name}"

    return rows.selectExpr(*[column_of(c) for c in table.columns if c.name in columns], *kept)


def _with_moments(expression: str, stored: DataType, hive: HiveType, depth: int = 0) -> str:
    """The expression with the nanoseconds of Parquet, which Spark reads as BIGINT, as timestamps; truncated to
    microseconds."""
    kind = stored.typeName()
    if kind == "long" and hive.is_timestamp:
        return f"timestamp_micros(({expression} - pmod({expression}, 1000)) div 1000)"
    if kind == "array" and hive.name == "array":
        item = f"_x{depth}"
        inner = _with_moments(item, stored.elementType, hive.children[0], depth + 1)
        return expression if inner == item else f"transform({expression}, {item} -> {inner})"
    if kind == "map" and hive.name == "map":
        key, item = f"_k{depth}", f"_x{depth}"
        keys = _with_moments(key, stored.keyType, hive.children[0], depth + 1)
        items = _with_moments(item, stored.valueType, hive.children[1], depth + 1)
        changed = expression if keys == key else f"transform_keys({expression}, ({key}, {item}) -> {keys})"
        return changed if items == item else f"transform_values({changed}, ({key}, {item}) -> {items})"
    if kind == "struct" and hive.name == "struct":
        members = [f"{expression}.{identifier(field.name)}" for field in stored.fields]
        types = [field.dataType for field in stored.fields]
        moved = [_with_moments(m, t, h, depth) for m, t, h in zip(members, types, hive.children, strict=False)]
        if moved == members[: len(moved)]:
            return expression
        names = [literal(field.name) for field in stored.fields]
        made = ", ".join(f"{n}, {m}" for n, m in zip(names, [*moved, *members[len(moved) :]], strict=True))
        return f"IF({expression} IS NULL, NULL, named_struct({made}))"
    return expression


def json_lines(
    spark: SparkSession, table: Table, path: Place, settings: Mapping[str, str], virtual: Sequence[str] = ()
) -> DataFrame:
    """Every line of JSON files that is not blank: `value`, the columns, and `_bad`: why the row is malformed, or null.

    All columns of the table are checked, regardless of which a statement reads, so that every statement sees the same
    rows: `_bad` is not deterministic for Spark, which keeps it from moving filters in front of it.
    """
    lines = _text_lines(spark, path, virtual).where("value RLIKE '\\\\S'")
    kept = _kept(path, virtual)
    located = lines.selectExpr("value", "_metadata.file_path AS _file", "_metadata.file_block_start AS _start", *kept)
    form = cell_format(table, settings)
    return json_rows(located, mapped_columns(table), form, ("value", "_file", "_start", *kept))


def mapped_columns(table: Table) -> list[Column]:
    """The columns with the fields of OpenX's `mapping.column` properties."""
    return [replace(c, field=table.effective_serde.get(f"mapping.{c.name}", c.field)) for c in table.stored_columns]


def json_rows(
    texts: DataFrame,
    columns: Sequence[Column],
    form: CellFormat,
    kept: Sequence[str],
    plain: Mapping[str, str] = NOTHING_PLAIN,
) -> DataFrame:
    """The columns of JSON objects, beside those of `texts` that are `kept`; `value` is the text. See `json_lines`.

    `plain` are the columns of `texts` with the values of plain records, whose text is null, by the names of columns:
    see `plain_json`.

    A value is malformed where Hive's JsonSerDe fails, or where it would return another value: 0 for text that is not a
    number, the remainder of a number that is too large, NULL.
    """
    decimals = any(column.type.name == "decimal" for column in columns)
    objects = texts.selectExpr(
        "*",
        f"{json_object('value')} AS _object",
        *([f"{json_object('value', 'VARIANT')} AS _variants"] if decimals else []),
    )
    reasons = [f"WHEN _object IS NULL AND value NOT RLIKE {literal(_JSON_NULL)} THEN 'not a JSON object'"]
    parsed_columns = []
    for column in columns:
        key = literal(column.field_name.lower())
        text = f"_object[{key}]"
        if column.name in plain and KINDS[column.type.name] == TEXT:
            text = f"coalesce({plain[column.name]}, {text})"
        parsed = value(text, column.type, form)
        if column.type.name == "decimal":
            decimal = f"try_variant_get(_variants[{key}], '$', '{spark_type(column.type)}')"
            parsed = f"IF({text} IN ('true', 'false'), NULL, {decimal})"  # Spark reads true as 1
        unfit = misfit(text, parsed, column.type, form)
        if unfit:
            reasons.append(f"WHEN {unfit} THEN {literal(f'{column.field_name} is not a valid {column.type}')}")
        if column.name in plain and KINDS[column.type.name] != TEXT:
            parsed = f"coalesce({plain[column.name]}, {parsed})"
        parsed_columns.append(f"{parsed} AS {identifier(column.name)}")
    bad = f"IF(spark_partition_id() >= 0, CASE {' '.join(reasons)} END, NULL) AS _bad"
    return objects.selectExpr(*kept, *parsed_columns, bad)


def _without_malformed(
    table: Table, lines: DataFrame, view: str, malformed: str, kept: Sequence[str] = ()
) -> DataFrame:
    names = [*(identifier(column.name) for column in table.columns), *kept]
    if malformed == "skip":
        return lines.where("_bad IS NULL").selectExpr(*names)
    if malformed == "null":
        nulls = [f"IF(_bad IS NULL, {name}, NULL) AS {name}" for name in names[: len(table.columns)]]
        return lines.selectExpr(*nulls, *kept)
    stop = f"raise_error({literal(MALFORMED_MARK + view + ' ')})"
    return lines.where(f"IF(_bad IS NOT NULL AND spark_partition_id() >= 0, {stop}, TRUE)").selectExpr(*names)


def delimited_frame(
    spark: SparkSession, table: Table, path: Place, settings: Mapping[str, str], virtual: Sequence[str] = ()
) -> DataFrame:
    """Delimited text (LazySimpleSerDe), CSV (OpenCSVSerde) or groups (RegexSerDe): a field that is missing or does not
    parse is null."""
    kept = _kept(path, virtual)
    if table.format == "sequencefile":  # Hive leaves out headers of text files only
        lines = sequence_lines(spark, table, path, virtual)
    else:
        lines = without_header(_text_lines(spark, path, virtual), table, kept)
    rows = delimited_rows(decoded(lines, table, kept), table, cell_format(table, settings), kept)
    return rows.selectExpr(*(identifier(column.name) for column in table.columns), *kept) if kept else rows


def delimited_rows(lines: DataFrame, table: Table, form: CellFormat, kept: Sequence[str] = ()) -> DataFrame:
    """The columns of delimited text, CSV or RegexSerDe, beside those of `lines` that are kept; `value` is the text."""
    form = delimited_format(table, form)
    separator = form.separators[0]
    nested = CellFormat(form.zone, form.timestamp_formats, form.separators[1:], form.escape, form.null)
    if is_regex(table.serde):
        fields, cells = lines, regex_cells(table, nested)
    elif is_csv(table):
        fields = lines.select("*", csv_fields(table.effective_serde).alias("_fields"))
        texts = [f"try_element_at(_fields, {number})" for number in _positions(table)]
        cells = [value(text, column.type, form) for text, column in zip(texts, table.columns, strict=True)]
    else:
        fields = lines.selectExpr(*kept, f"{split_text('value', separator, form.escape)} AS _fields")
        texts = [f"try_element_at(_fields, {number})" for number in _positions(table)]
        if table.effective_serde.get("serialization.last.column.takes.rest", "").lower() == "true":
            rest = f"slice(_fields, {len(texts)}, size(_fields))"
            texts[-1] = f"IF(size(_fields) < {len(texts)}, NULL, array_join({rest}, {literal(separator)}))"
        cells = [delimited_cell(text, column.type, nested) for text, column in zip(texts, table.columns, strict=True)]
    return fields.selectExpr(
        *kept, *(f"{cell} AS {identifier(column.name)}" for cell, column in zip(cells, table.columns, strict=True))
    )


def query_rows(spark: SparkSession, path: Path) -> tuple[DataFrame, StructType]:
    """The rows of a native query in a Parquet file that Spark can read, and their schema: the footer is read here, as
    Spark would run a job for it."""
    from pyarrow.parquet import read_schema
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(read_schema(path))
    return spark.read.schema(_ddl(schema.fields)).parquet(str(path)), schema


def _positions(table: Table) -> range:
    return range(1, len(table.columns) + 1)


def _text_lines(spark: SparkSession, path: Place, virtual: Sequence[str] = ()) -> DataFrame:
    """The lines of text files, with Spark's metadata columns."""
    folders = _kept(path, ())
    reader = spark.read.option("recursiveFileLookup", value=True)
    if isinstance(path, paths.Folders):
        reader = _reader(spark, path, "value STRING")
    places = list(path.paths) if isinstance(path, paths.Folders) else path
    if OFFSET in virtual:
        return with_offsets(reader.text(places, lineSep=LINE_BREAK), virtual, folders)
    lines = reader.text(places)
    return with_file_names(lines.selectExpr("*", "_metadata"), virtual) if virtual else lines


def sequence_lines(spark: SparkSession, table: Table, path: Place, virtual: Sequence[str] = ()) -> DataFrame:
    """The texts in SequenceFiles, which Spark's Python workers read. They open the files themselves if they are in a
    file system; others Spark reads as a whole."""
    from pyspark import cloudpickle

    from hivedruid import sequence_files

    kept = _kept(path, virtual)
    fields = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
    if isinstance(path, paths.Folders):
        files = _reader(spark, path, fields).format("binaryFile").load(list(path.paths))
    else:
        files = spark.read.format("binaryFile").option("recursiveFileLookup", value=True).load(path)
    content = [] if local_path(paths.location_of(table)) is not None else ["content"]
    cloudpickle.register_pickle_by_value(sequence_files)
    try:
        columns = ", ".join(["value BINARY", *(f"{name} STRING" for name in kept)])
        named = with_file_names(files, virtual)
        rows = named.select("path", *content, *kept).mapInArrow(sequence_files.rows, columns)
    finally:
        cloudpickle.unregister_pickle_by_value(sequence_files)
    return rows.selectExpr("CAST(value AS STRING) AS value", *kept)


def cell_format(table: Table, settings: Mapping[str, str]) -> CellFormat:
    formats = table.effective_serde.get("timestamp.formats", "")
    return CellFormat(
        zone=resolve_zone(settings.get("hive.local.time.zone") or "LOCAL"),
        timestamp_formats=tuple(pattern for pattern in formats.split(",") if pattern),
    )
