"""Hive's virtual columns: in which file a row is, and where. A query has those that it names; `*` has none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog.types import BIGINT, STRING, HiveType
from hivedruid.errors import Span, UnsupportedError

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table
    from hivedruid.plan.nodes import PlanColumn

FILE_NAME, OFFSET = "input__file__name", "block__offset__inside__file"
VIRTUAL: Mapping[str, HiveType] = {FILE_NAME: STRING, OFFSET: BIGINT}
_LINES = frozenset({"textfile", "jsonfile"})
"""The formats of files whose rows are lines."""


def named_in(query: exp.Expr) -> tuple[str, ...]:
    """The virtual columns whose names are in a query."""
    names = {column.name.lower() for column in query.find_all(exp.Column)}
    return tuple(name for name in VIRTUAL if name in names)


def of_table(table: Table, names: tuple[str, ...]) -> tuple[tuple[str, HiveType], ...]:
    """Those of the virtual columns that a table has; a column of the table hides one of the same name."""
    return tuple((n, VIRTUAL[n]) for n in names if table.column(n) is None and _reason(table, n) is None)


def virtual_among(columns: tuple[PlanColumn, ...] | tuple[str, ...], table: Table) -> list[str]:
    """The names of virtual columns among the columns of a scan."""
    names = (column if isinstance(column, str) else column.name for column in columns)
    return [name for name in names if name in VIRTUAL and table.column(name) is None]


def refusal(name: str, table: Table, span: Span | None) -> UnsupportedError | None:
    """The error of a virtual column that a table does not have; None for other names."""
    found = _reason(table, name.lower()) if name.lower() in VIRTUAL else None
    if found is None:
        return None
    reason, hint = found
    return UnsupportedError(f"{table.full_name} has no {name.upper()}: {reason}", span=span, hint=hint)


def _reason(table: Table, name: str) -> tuple[str, str] | None:
    """Why a table does not have a virtual column, and what to do."""
    if table.is_loose:
        return "it is a file without a table", "CREATE EXTERNAL TABLE over the file"
    if table.is_tiered or not table.has_folder:
        where = "a Druid data source" if table.has_data_source else "a Kafka topic"
        hint = (
            "remove it; SHOW SEGMENTS lists the segments" if table.has_data_source else "use __partition and __offset"
        )
        return f"its rows are in {where}, not in files", hint
    if name == FILE_NAME or (table.format in _LINES and not table.has_snapshots):
        return None
    format_ = (table.format or "").upper()
    return f"the rows of {format_} files have no offsets of their own", "use INPUT__FILE__NAME"
