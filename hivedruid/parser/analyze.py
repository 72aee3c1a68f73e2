"""ANALYZE TABLE."""

from __future__ import annotations

from hivedruid.errors import Span, UnsupportedError
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.statistics import AnalyzeTable
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement


def parse_analyze(source: SourceStatement, cursor: Cursor) -> Statement:
    """ANALYZE TABLE [database.]table COMPUTE STATISTICS [FOR COLUMNS [column, …] | CACHE METADATA | NOSCAN].

    CACHE METADATA applied to an HBase metastore; it has no effect.
    """
    cursor.expect("TABLE")
    name = cursor.table_name()
    if cursor.word() == "PARTITION":
        raise UnsupportedError(
            "ANALYZE … PARTITION is not supported: statistics are those of the whole table",
            span=cursor.span(),
            hint="remove it: ANALYZE covers the whole table",
        )
    cursor.expect("COMPUTE", "STATISTICS")
    columns = None
    if cursor.accept("FOR", "COLUMNS"):
        columns = _columns(cursor)
    elif cursor.accept("CACHE"):
        cursor.expect("METADATA")
    no_scan = columns is None and cursor.accept("NOSCAN")
    cursor.end()
    return AnalyzeTable(source, name, columns, no_scan)


def _columns(cursor: Cursor) -> tuple[tuple[str, Span], ...]:
    columns: list[tuple[str, Span]] = []
    while not cursor.at_end and (not columns or cursor.accept(",")):
        name, token = cursor.name("a column name")
        columns.append((name, cursor.span(token)))
    return tuple(columns)
