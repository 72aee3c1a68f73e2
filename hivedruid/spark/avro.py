"""Avro records as columns and back, by Spark's own Avro functions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hivedruid.catalog.avro import TIMESTAMPS, AvroSchema, Node, hive_type, holds, member, natural_type
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import INT, HiveType, spark_type
from hivedruid.errors import UnsupportedError
from hivedruid.spark.cells import fit, identifier, literal

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame

_READ = "_hivedruid_read"
"""A field of every record that was read: Spark returns a record of nulls for bytes that it cannot decode."""

UNWRITABLE = "cannot write an Avro record: "
"""How the messages of rows begin that have no record of the schema."""


def avro_rows(
    records: DataFrame, table: Table, schemas: Mapping[int, AvroSchema], reader: AvroSchema | None = None
) -> DataFrame:
    """The columns of Avro records, beside those of `records`: `value` is a record without its framing, `_id` that of
    its schema.

    `_bad` is the reason why a record is malformed, or null. With `reader`, fields are resolved as Avro does, with the
    defaults of that schema; otherwise a field that the schema of a record does not have is null.
    """
    for schema in [reader] if reader else schemas.values():
        _check_columns(table, schema)
    decoded = [
        f"CASE WHEN _id = {number} THEN {_from_avro(schema, reader or schema)} END AS _record{number}"
        for number, schema in schemas.items()
    ]
    rows = [
        f"WHEN _id = {number} AND _record{number}.{_READ} THEN {_row(table, reader or schema, f'_record{number}')}"
        for number, schema in schemas.items()
    ]
    row = f"CASE {' '.join(rows)} END" if rows else "NULL"
    kept = [identifier(name) for name in records.columns]
    types = ", ".join(f"{identifier(column.name)}: {spark_type(column.type)}" for column in table.columns)
    read = records.selectExpr("*", *decoded).selectExpr(*kept, f"CAST({row} AS STRUCT<{types}>) AS _row")
    reason = "CASE WHEN value IS NOT NULL AND _row IS NULL THEN 'not a valid Avro record of its schema' END"
    names = [identifier(column.name) for column in table.columns]
    return read.selectExpr(
        *kept, *(f"_row.{name} AS {name}" for name in names), f"IF(spark_partition_id() >= 0, {reason}, NULL) AS _bad"
    )


def avro_value(table: Table, schema: AvroSchema) -> str:
    """The rows of a table as Avro records. Fields without a column are null, or fail if they cannot be."""
    _check_columns(table, schema)
    fields = []
    for column in table.columns:
        found = schema.field(column.name)
        if found is None:
            raise UnsupportedError(
                f"column {column.name} of {table.full_name} is not a field of its Avro schema",
                hint="add the field to the schema, or use a table without the column",
            )
        name, node = found
        fields.append(f"{literal(name)}, {_encoded(identifier(column.name), node, column.type)}")
    return f"to_avro(named_struct({', '.join(fields)}), {literal(schema.text)})"


def _from_avro(schema: AvroSchema, reader: AvroSchema) -> str:
    given = json.loads(reader.text)
    marked = {**given, "fields": [*given["fields"], {"name": _READ, "type": "boolean", "default": True}]}
    options = f"map('mode', 'PERMISSIVE', 'avroSchema', {literal(json.dumps(marked))})"
    return f"from_avro(value, {literal(schema.text)}, {options})"


def _row(table: Table, schema: AvroSchema, record: str) -> str:
    cells = []
    for column in table.columns:
        found = schema.field(column.name)
        cell = _decoded(f"{record}.{identifier(found[0])}", found[1], column.type) if found else "NULL"
        cells.append(f"{literal(column.name)}, CAST({cell} AS {spark_type(column.type)})")
    return f"named_struct({', '.join(cells)})"


def _check_columns(table: Table, schema: AvroSchema) -> None:
    for column in table.columns:
        found = schema.field(column.name)
        if found is not None and not holds(column.type, found[1]):
            raise UnsupportedError(
                f"column {column.name} of {table.full_name} is {column.type}, but its Avro schema has the type"
                f" {natural_type(found[1])}",
                hint="declare the column with that type, or create the table without columns, which are then those of"
                " the schema",
            )


def _decoded(x: str, node: Node, hive: HiveType, level: int = 0) -> str:
    """A value that Spark read, as the column's type."""
    item = f"x{level}"
    if node.kind == "array":
        return f"transform({x}, {item} -> {_decoded(item, node.children[0], hive.children[0], level + 1)})"
    if node.kind == "map":
        inner = _decoded(item, node.children[0], hive.children[1], level + 1)
        return f"transform_values({x}, (k{level}, {item}) -> {inner})"
    if node.kind in ("record", "union"):
        members = []
        for name, child in zip(hive.fields, hive.children, strict=True):
            found = member(node, name)
            cell = _decoded(f"{x}.{_field(node, found[0])}", found[1], child, level) if found else "NULL"
            members.append(f"{literal(name)}, CAST({cell} AS {spark_type(child)})")
        return f"IF({x} IS NULL, NULL, named_struct({', '.join(members)}))"
    if node.logical == "date" and hive.is_integer:
        return f"unix_date({x})"
    if node.logical in TIMESTAMPS and hive.is_integer:
        return f"unix_{node.logical.rpartition('-')[2]}(CAST({x} AS TIMESTAMP))"
    return fit(f"CAST({x} AS {spark_type(hive)})", hive)


def _field(node: Node, name: str) -> str:
    """The field of the struct that Spark reads."""
    return identifier(name.replace("tag_", "member") if node.kind == "union" else name)


def _encoded(x: str, node: Node, hive: HiveType, level: int = 0) -> str:
    """The value of a column, as Spark writes it with the type of the field."""
    item = f"x{level}"
    if node.kind == "array":
        return f"transform({x}, {item} -> {_encoded(item, node.children[0], hive.children[0], level + 1)})"
    if node.kind == "map":
        inner = _encoded(item, node.children[0], hive.children[1], level + 1)
        return f"transform_values({x}, (k{level}, {item}) -> {inner})"
    if node.kind == "record":
        members = []
        for name, child in zip(hive.fields, hive.children, strict=True):
            found = member(node, name)
            if found is not None:
                cell = _encoded(f"{x}.{identifier(name)}", found[1], child, level)
                members.append(f"{literal(found[0])}, {cell}")
        return f"IF({x} IS NULL, NULL, named_struct({', '.join(members)}))"
    if node.kind == "union":
        return _union(x, node, hive, level)
    if node.logical == "date" and hive.is_integer:
        return f"date_from_unix_date({_narrowed(x, INT, hive)})"
    if node.logical in TIMESTAMPS:
        instant = f"timestamp_{node.logical.rpartition('-')[2]}({x})" if hive.is_integer else f"CAST({x} AS TIMESTAMP)"
        return f"CAST({instant} AS TIMESTAMP_NTZ)" if node.logical.startswith("local") else instant
    return _narrowed(x, hive_type(node), hive)


def _narrowed(x: str, field: HiveType, column: HiveType) -> str:
    """A value of a column as the type of its field. A number or text that the field does not hold fails: Spark would
    write another one. A double is rounded to a float."""
    cast = f"CAST({x} AS {spark_type(field)})"
    if field.name in ("varchar", "char"):
        fits = f"char_length({x}) <= {field.params[0]}"
    elif field == column or (field.name != "decimal" and not field.is_integer):
        return cast
    else:
        fits = f"CAST({cast} AS {spark_type(column)}) <=> {x}"
    refused = _refused(f"{x}, ' does not fit the type {field}'")
    return f"IF({x} IS NULL OR {fits}, {cast}, {refused})"


def _refused(reason: str) -> str:
    return f"raise_error(concat('{UNWRITABLE}', {reason}))"


def _union(x: str, node: Node, hive: HiveType, level: int) -> str:
    """The struct that Spark writes as a union: it takes the first member that is not null, so that others are lost."""
    of_column = dict(zip(hive.fields, hive.children, strict=True))
    members = []
    for position, (tag, child) in enumerate(zip(node.names, node.children, strict=True)):
        column = of_column.get(tag)
        empty = f"CAST(NULL AS {spark_type(hive_type(child))})"
        cell = _encoded(f"{x}.{identifier(tag)}", child, column, level) if column is not None else empty
        members.append(f"'member{position}', {cell}")
    given = " + ".join(f"INT({x}.{identifier(tag)} IS NOT NULL)" for tag in node.names if tag in of_column)
    several = _refused(f"'more than one field of a union is not NULL: ', to_json({x})")
    return f"CASE {given or '0'} WHEN 0 THEN NULL WHEN 1 THEN named_struct({', '.join(members)}) ELSE {several} END"
