"""Scans of Druid tables of which some columns are computed from what is stored.

    TableScan[t: BINARY]      =>  Project[unbase64(t, 'db.table.t')](TableScan[t: STRING])
    TableScan[n: BIGINT at j] =>  Project[CAST(get_json_object(j, '$.…') AS BIGINT)](TableScan[j: STRING])

A scan query returns sketches in base64, and Druid does not compute with them as with text. The name is that of the
column in the error of a text that is no base64, which a column of another program may have. A value in nested data is a
column by the property druid.columns.path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.catalog.druid_columns import NestedPath, paths_of
from hivedruid.catalog.stored_types import ROWS
from hivedruid.catalog.types import BINARY, STRING, HiveType
from hivedruid.plan.json_path import spark_path
from hivedruid.plan.nodes import Node, Project
from hivedruid.plan.rex import Call, Literal, Rex

if TYPE_CHECKING:
    from hivedruid.catalog.table import Column, Table
    from hivedruid.plan.build import Builder


def scan_with_computed(table: Table, builder: Builder) -> Node | None:
    """All columns of a Druid table; None if all of them are stored as they are."""
    paths = paths_of(table.properties)
    if not paths and all(column.type != BINARY for column in table.columns):
        return None
    stored = tuple(_as_text(column) for column in table.columns if column.name not in paths)
    scan = builder.table_scan(replace(table, columns=stored))
    refs = {column.name: column.ref for column in scan.columns}
    exprs = tuple(_value(table, column, refs, paths.get(column.name)) for column in table.columns)
    return Project(tuple(builder.new_column(c.name, c.type) for c in table.columns), scan, exprs)


def _as_text(column: Column) -> Column:
    return replace(column, type=STRING, reading=column.reading or ROWS) if column.type == BINARY else column


def _value(table: Table, column: Column, refs: Mapping[str, Rex], path: NestedPath | None) -> Rex:
    if path is not None:
        return _at_path(refs[path.column], path.path, column.type)
    if column.type != BINARY:
        return refs[column.name]
    return Call(BINARY, "unbase64", (refs[column.name], Literal(STRING, f"{table.full_name}.{column.name}")))


def _at_path(nested: Rex, path: str, type_: HiveType) -> Rex:
    text = Call(STRING, "get_json_object", (nested, Literal(STRING, spark_path(path))))
    return text if type_ == STRING else Call(type_, "cast", (text,))
