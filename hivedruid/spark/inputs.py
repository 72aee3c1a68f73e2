"""The inputs of a job, as DataFrames with the columns and types that the SQL expects."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from hivedruid.catalog.properties import MALFORMED_ROWS
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import VOID, HiveType, spark_type
from hivedruid.errors import PlanError
from hivedruid.filesystems import local_path
from hivedruid.iceberg import home_catalog
from hivedruid.plan.physical import DruidInput, TableInput
from hivedruid.plan.spark_strings import checked_base64
from hivedruid.plan.virtual_columns import OFFSET, VIRTUAL, virtual_among
from hivedruid.setting_types import other_machines, resolve_zone
from hivedruid.spark import paths
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
from hivedruid.spark.columnar import Place, cast_by_name, columnar_frame, ddl, kept_columns, with_folders
from hivedruid.spark.plain_columns import PlainColumns, decode_plain, have_plain_values
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
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.types import DataType, StructType

    from hivedruid.spark.file_schemas import FileSchemas

MALFORMED_MARK = "hivedruid: malformed row in view "
NOTHING_PLAIN = PlainColumns()
PYTHON_FROM = 16 << 20
"""The bytes of JSON files from which Python workers decode them: fewer do not pay for the start of the workers."""
_NOT_BLANK = "startswith(value, '{') OR value RLIKE '\\\\S'"
"""Spark evaluates the pattern, which takes several times as long, only for lines that begin otherwise."""
_JSON_NULL = r"^\s*null\s*$"
"""Hive reads it as a row of nulls."""


def druid_frame(rows: DataFrame, schema: StructType, item: DruidInput) -> DataFrame:
    """The rows of a native query, which have this schema, converted from Druid's to Hive types."""
    columns = zip(item.read.fields, item.columns, schema.fields, strict=True)
    return rows.toDF(*(f"_{number}" for number in range(len(item.columns)))).selectExpr(
        *(
            f"{_druid_value(f'_{number}', field.type, stored.dataType, item.binaries.get(column))}"
            f" AS {identifier(column)}"
            for number, (field, column, stored) in enumerate(columns)
        )
    )


def _druid_value(expression: str, hive: HiveType, stored: DataType, binary: str | None) -> str:
    """Druid's value as the Hive type, or as bytes, if it is base64 of the column `binary`."""
    if binary is None:
        return _from_druid(expression, hive, stored)
    return expression if stored.typeName() == "binary" else checked_base64(expression, literal(binary))


def _from_druid(expression: str, hive: HiveType, stored: DataType) -> str:
    """Druid's value as the Hive type: its times are LONG milliseconds in UTC, its booleans LONG 0 and 1.

    A multi-value column is a string column if no row has several values, or there are no rows. A column of the type
    VOID has no values, and no type in Druid's response.
    """
    if hive == VOID:
        return "NULL"
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
        return cast_by_name(rows, rows.schema, table, item.columns, iceberg_columns(virtual_of(item)))
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
        if is_decoded_by_python(table, path, settings):
            lines = _plain_lines(spark, item, path, settings, virtual)
        else:
            lines = json_lines(spark, table, path, settings, virtual)
        return _without_malformed(table, lines, item.view, malformed_rows(table, settings), kept_columns(path, virtual))
    if table.format in TEXTS:
        return delimited_frame(spark, table, path, settings, virtual)
    rows = columnar_frame(spark, item, path, schemas)
    return empty_frame(spark, table, virtual) if rows is None else rows


def virtual_of(item: TableInput) -> list[str]:
    """The virtual columns of an input."""
    return virtual_among(item.columns, item.table)


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
    return cast_by_name(rows.sample(1.0) if item.is_whole else rows, schema, item.table, item.columns, virtual)


def json_lines(
    spark: SparkSession, table: Table, path: Place, settings: Mapping[str, str], virtual: Sequence[str] = ()
) -> DataFrame:
    """The columns of every line of JSON files that is not blank, and `_bad`: why the row is malformed, or null.

    All columns of the table are checked, regardless of which a statement reads, so that every statement sees the same
    rows: `_bad` is not deterministic for Spark, which keeps it from moving filters in front of it.
    """
    kept = kept_columns(path, virtual)
    lines = _text_lines(spark, path, virtual).where(_NOT_BLANK).selectExpr("value", *kept)
    return json_rows(lines, mapped_columns(table), cell_format(table, settings), kept)


def checked_lines(spark: SparkSession, table: Table, path: Place, settings: Mapping[str, str]) -> DataFrame:
    """Every line of JSON files that is not blank as `value`, where it is, and `_bad`, as in `json_lines`."""
    lines = _text_lines(spark, path).where(_NOT_BLANK)
    located = lines.selectExpr("value", "_metadata.file_path AS _file", "_metadata.file_block_start AS _start")
    form = cell_format(table, settings)
    return json_rows(located, mapped_columns(table), form, ("value", "_file", "_start"), returned=())


def is_decoded_by_python(table: Table, path: Place, settings: Mapping[str, str]) -> bool:
    """Spark on other machines may lack what Python needs."""
    if other_machines(settings) or not have_plain_values(mapped_columns(table)):
        return False
    return paths.has_bytes(path.paths if isinstance(path, paths.Folders) else [path], PYTHON_FROM)


def _plain_lines(
    spark: SparkSession, item: TableInput, path: Place, settings: Mapping[str, str], virtual: Sequence[str]
) -> DataFrame:
    """The columns that a statement needs and `_bad`, as `json_lines`: Python workers decode what they can."""
    lines = _text_lines(spark, path, virtual).where(_NOT_BLANK)
    kept = kept_columns(path, virtual)
    types = {name: spark_type(VIRTUAL[name]) if name in VIRTUAL else "STRING" for name in kept}
    records = lines.selectExpr("CAST(value AS BINARY) AS value", *kept)
    columns, form = mapped_columns(item.table), cell_format(item.table, settings)
    rows, plain = decode_plain(records, columns, form, item.columns, types)
    named = (*plain.texts.values(), *plain.values.values())
    texts = rows.selectExpr("CAST(value AS STRING) AS value", *kept, *dict.fromkeys(named))
    return json_rows(texts, columns, form, kept, plain)


def mapped_columns(table: Table) -> list[Column]:
    """The columns with the fields of OpenX's `mapping.column` properties."""
    return [replace(c, field=table.effective_serde.get(f"mapping.{c.name}", c.field)) for c in table.stored_columns]


def json_rows(
    texts: DataFrame,
    columns: Sequence[Column],
    form: CellFormat,
    kept: Sequence[str],
    plain: PlainColumns = NOTHING_PLAIN,
    returned: Collection[str] | None = None,
) -> DataFrame:
    """The columns of JSON objects, beside those of `texts` that are `kept`; `value` is the text. See `json_lines`.

    `plain` are the columns of `texts` with the values of plain records, whose text is null. `returned` are the names of
    the columns whose values are returned; all are checked.

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
        if column.name in plain.texts:
            text = f"coalesce({plain.texts[column.name]}, {text})"
        parsed = value(text, column.type, form)
        if column.type.name == "decimal":
            decimal = f"try_variant_get(_variants[{key}], '$', '{spark_type(column.type)}')"
            parsed = f"IF({text} IN ('true', 'false'), NULL, {decimal})"  # Spark reads true as 1
        unfit = misfit(text, parsed, column.type, form)
        if unfit:
            reasons.append(f"WHEN {unfit} THEN {literal(f'{column.field_name} is not a valid {column.type}')}")
        if column.name in plain.values:
            parsed = f"coalesce({plain.values[column.name]}, {parsed})"
        if returned is None or column.name in returned:
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
    kept = kept_columns(path, virtual)
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
    # Every row is needed, and the bounds do not include NaN: Spark would skip rows that a condition is true for.
    skipping = {f"parquet.filter.{by}.enabled": "false" for by in ("stats", "dictionary", "columnindex", "bloom")}
    return spark.read.options(**skipping).schema(ddl(schema.fields)).parquet(str(path)), schema


def _positions(table: Table) -> range:
    return range(1, len(table.columns) + 1)


def _text_lines(spark: SparkSession, path: Place, virtual: Sequence[str] = ()) -> DataFrame:
    """The lines of text files, with Spark's metadata columns."""
    folders = kept_columns(path, ())
    reader = spark.read.option("recursiveFileLookup", value=True)
    if isinstance(path, paths.Folders):
        reader = with_folders(spark.read, path, "value STRING")
    places = path.paths if isinstance(path, paths.Folders) else path
    if OFFSET in virtual:
        return with_offsets(reader.text(places, lineSep=LINE_BREAK), virtual, folders)
    lines = reader.text(places)
    return with_file_names(lines.selectExpr("*", "_metadata"), virtual) if virtual else lines


def sequence_lines(spark: SparkSession, table: Table, path: Place, virtual: Sequence[str] = ()) -> DataFrame:
    """The texts in SequenceFiles, which Spark's Python workers read. They open the files themselves if they are in a
    file system; others Spark reads as a whole."""
    from pyspark import cloudpickle

    from hivedruid import sequence_files

    kept = kept_columns(path, virtual)
    fields = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
    if isinstance(path, paths.Folders):
        files = with_folders(spark.read, path, fields).format("binaryFile").load(path.paths)
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
