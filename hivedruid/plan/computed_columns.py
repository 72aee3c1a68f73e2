"""Scans of Druid tables of which some columns are computed from what is stored.

    TableScan[t: BINARY]      =>  Project[unbase64(t)](TableScan[t: STRING])
    TableScan[n: BIGINT at j] =>  Project[CAST(get_json_object(j, '$.…') AS BIGINT)](TableScan[j: STRING])

A scan query returns sketches in base64, and Druid does not compute with them as with text. A value in nested data is a
column by the property druid.columns.path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.catalog.druid_columns import NestedPath, paths_of, sketch_columns
from hivedruid.catalog.stored_types import ROWS
from hivedruid.catalog.types import BINARY, STRING, HiveType
from hivedruid.plan.json_path import spark_path
from hivedruid.plan.nodes import Node, Project, TableScan
from hivedruid.plan.rex import Call, Literal, Rex

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table
    from hivedruid.plan.build import Builder


def scan_with_computed(table: Table, builder: Builder) -> Node | None:
    """All columns of a Druid table; None if all of them are stored as they are."""
    if paths := paths_of(table.properties):
        return _scan_of_paths(table, paths, builder)
    sketches = sketch_columns(table.columns, table.properties)
    if not sketches:
        return None
    read = (replace(c, type=STRING, reading=ROWS) if c.name in sketches else c for c in table.columns)
    scan = builder.table_scan(replace(table, columns=tuple(read)))
    values = tuple(Call(BINARY, "unbase64", (c.ref,)) if c.name in sketches else c.ref for c in scan.columns)
    columns = (builder.new_column(c.name, value.type) for c, value in zip(scan.columns, values, strict=True))
    return Project(tuple(columns), scan, values)


def _scan_of_paths(table: Table, paths: Mapping[str, NestedPath], builder: Builder) -> Node:
    stored = tuple(column for column in table.columns if column.name not in paths)
    scan = TableScan(tuple(builder.new_column(c.name, c.type) for c in stored), table)
    refs = {column.name: column.ref for column in scan.columns}
    exprs = tuple(
        _at_path(refs[paths[c.name].column], paths[c.name].path, c.type) if c.name in paths else refs[c.name]
        for c in table.columns
    )
    columns = tuple(builder.new_column(c.name, c.type) for c in table.columns)
    return Project(columns, scan, exprs)


def _at_path(nested: Rex, path: str, type_: HiveType) -> Rex:
    text = Call(STRING, "get_json_object", (nested, Literal(STRING, spark_path(path))))
    return text if type_ == STRING else Call(type_, "cast", (text,))
