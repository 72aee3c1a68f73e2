"""Scans of Druid tables with sketch columns.

    TableScan[t: BINARY]  =>  Project[unbase64(t)](TableScan[t: STRING])

since a scan query returns sketches in base64, and Druid does not compute with them as with text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.catalog.druid_columns import sketch_columns
from hivedruid.catalog.stored_types import ROWS
from hivedruid.catalog.types import BINARY, STRING
from hivedruid.plan.nodes import Node, Project
from hivedruid.plan.rex import Call

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table
    from hivedruid.plan.build import Builder


def rows_in_druid(table: Table, builder: Builder) -> Node:
    """All columns of a Druid table with sketch columns."""
    sketches = sketch_columns(table.columns, table.properties)
    read = (replace(c, type=STRING, reading=ROWS) if c.name in sketches else c for c in table.columns)
    scan = builder.table_scan(replace(table, columns=tuple(read)))
    values = tuple(Call(BINARY, "unbase64", (c.ref,)) if c.name in sketches else c.ref for c in scan.columns)
    columns = (builder.new_column(c.name, value.type) for c, value in zip(scan.columns, values, strict=True))
    return Project(tuple(columns), scan, values)
