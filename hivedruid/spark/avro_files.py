"""Avro files of external tables, by Spark's Avro data source, with the types that Hive's AvroSerDe stores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.avro import LITERAL, schema_property
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.spark.cells import identifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.readwriter import DataFrameReader

    from hivedruid.file_writers import Writer

_PRIMITIVES = {
    "boolean": "boolean", "tinyint": "int", "smallint": "int", "int": "int", "bigint": "long", "float": "float",
    "double": "double", "string": "string", "binary": "bytes",
}  # fmt: skip
FORMAT = "avro"
_CALENDAR = "spark.sql.avro.datetimeRebaseModeInWrite"


def literal_of(table: Table) -> str:
    """The schema of avro.schema.literal; empty without one."""
    return schema_property(table.effective_serde, LITERAL)


def fields_of(columns: Sequence[Column]) -> str:
    """The columns as Spark reads them. A field that a file does not have is null."""
    return ", ".join(f"{identifier(column.field_name)} {stored_type(column.type)}" for column in columns)


def reader_of(reader: DataFrameReader, table: Table, writer: Writer) -> DataFrameReader:
    """A reader of the files. With avro.schema.literal, fields are resolved as Avro does, with the defaults there. Days
    before 1582-10-15 are in the calendar of the writer, but in files of Spark that say otherwise."""
    given = literal_of(table)
    found = reader.format(FORMAT).option("datetimeRebaseMode", "LEGACY" if writer.is_julian else "CORRECTED")
    return found.option("avroSchema", given) if given else found


def stored_type(hive: HiveType) -> str:
    """The type that Spark has for the Avro type of a column: Avro has neither short integers nor lengths of strings,
    and its timestamps are instants."""
    match hive.name:
        case "tinyint" | "smallint":
            return "INT"
        case "char" | "varchar":
            return "STRING"
        case "array":
            return f"ARRAY<{stored_type(hive.children[0])}>"
        case "map":
            return f"MAP<{stored_type(hive.children[0])}, {stored_type(hive.children[1])}>"
        case "struct":
            members = zip(hive.fields, hive.children, strict=True)
            return f"STRUCT<{', '.join(f'{identifier(name)}: {stored_type(child)}' for name, child in members)}>"
        case _:
            return spark_type(hive).replace("TIMESTAMP_NTZ", "TIMESTAMP")


def write(frame: DataFrame, table: Table, folder: str, partitions: Sequence[str] = ()) -> None:
    """Add files to a folder, or to those of partitions by columns of the rows beside the table's.
    TIMESTAMP is stored in UTC, with milliseconds, and days before 1582-10-15 in the Julian calendar, as Hive does."""
    types = {column.name: stored_type(column.type) for column in table.stored_columns}
    cast = [f"CAST({identifier(name)} AS {type_}) AS {identifier(name)}" for name, type_ in types.items()]
    writer = frame.selectExpr(*cast, *map(identifier, partitions)).write.mode("append").format(FORMAT)
    writer = writer.partitionBy(*partitions).option("avroSchema", literal_of(table) or schema_text(table))
    conf = frame.sparkSession.conf
    conf.set(_CALENDAR, "LEGACY")  # the writer has no option for it, and records of topics have the other calendar
    try:
        writer.save(folder)
    finally:
        conf.unset(_CALENDAR)


def schema_text(table: Table) -> str:
    """The schema that AvroSerDe derives from columns (TypeInfoToSchema): every field may be null."""
    names = count()
    fields = [_field(column.field_name, column.type, names) for column in table.stored_columns]
    return json.dumps({"type": "record", "name": table.name, "namespace": table.database, "fields": fields})


def _field(name: str, hive: HiveType, names: Iterator[int]) -> dict[str, Any]:
    return {"name": name, "type": ["null", _type(hive, names)], "default": None}


def _type(hive: HiveType, names: Iterator[int]) -> Any:
    if hive.name in _PRIMITIVES:
        return _PRIMITIVES[hive.name]
    match hive.name:
        case "decimal":
            precision, scale = hive.params
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        case "char" | "varchar":
            return {"type": "string", "logicalType": hive.name, "maxLength": hive.params[0]}
        case "date":
            return {"type": "int", "logicalType": "date"}
        case "array":
            return {"type": "array", "items": ["null", _type(hive.children[0], names)]}
        case "map":
            return {"type": "map", "values": ["null", _type(hive.children[1], names)]}
        case "struct":
            members = zip(hive.fields, hive.children, strict=True)
            fields = [_field(name, child, names) for name, child in members]
            return {"type": "record", "name": f"record_{next(names)}", "fields": fields}
        case _:
            return {"type": "long", "logicalType": "timestamp-millis"}
