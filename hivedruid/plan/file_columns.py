"""Queries that return nothing but columns of Parquet files, whose rows need not pass through Spark's JVM."""

from __future__ import annotations

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import TIMESTAMP
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.nodes import Node, TableScan, below_projects
from hivedruid.plan.rex import Call, Ref, Rex

MOMENTS = "to_millis"
"""The function whose result are milliseconds."""
_SAME = frozenset({"tinyint", "smallint", "int", "bigint", "float", "double", "string"})
"""The types whose values are staged as they are."""


@dataclass(frozen=True)
class FileColumns:
    """All rows of a table of Parquet files without partitions: these of its columns, in this order. Timestamps are
    returned in milliseconds."""

    table: Table
    columns: tuple[Column, ...]


def file_columns(node: Node) -> FileColumns | None:
    """The columns that a plan returns; None if it computes anything else than the milliseconds of a timestamp."""
    scan, exprs = below_projects(node)
    if not isinstance(scan, TableScan) or not scan.table.has_parquet_files or not scan.table.location:
        return None
    table, names = scan.table, {column.id: column.name for column in scan.columns}
    found = [_column(rex, table, names) for rex in exprs]
    columns = tuple(column for column in found if column is not None)
    return FileColumns(table, columns) if len(columns) == len(found) else None


def _column(rex: Rex, table: Table, names: dict[str, str]) -> Column | None:
    """The column of the table that an expression returns."""
    moment = isinstance(rex, Call) and rex.op == MOMENTS
    if isinstance(rex, Call) and moment:
        (rex,) = rex.args
    if not isinstance(rex, Ref):
        return None
    column = table.column(names[rex.id])
    if column is None or column.type != rex.type:
        return None
    fits = column.type == TIMESTAMP if moment else column.type.name in _SAME
    return column if fits else None
