"""ANALYZE TABLE."""

from __future__ import annotations

from hivedruid.errors import Span
from hivedruid.parser.partitions import partition_spec
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.statistics import AnalyzeTable
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement


def parse_analyze(source: SourceStatement, cursor: Cursor) -> Statement:
    """ANALYZE TABLE [database.]table [PARTITION (…)] COMPUTE STATISTICS [FOR COLUMNS [column, …] | CACHE METADATA |
    NOSCAN].

    CACHE METADATA applied to an HBase metastore; it has no effect.
    """
    cursor.expect("TABLE")
    name = cursor.table_name()
    partition = partition_spec(cursor, dynamic=True) if cursor.word() == "PARTITION" else None
    cursor.expect("COMPUTE", "STATISTICS")
    columns = None
    if cursor.accept("FOR", "COLUMNS"):
        columns = _columns(cursor)
    elif cursor.accept("CACHE"):
        cursor.expect("METADATA")
    no_scan = columns is None and cursor.accept("NOSCAN")
    cursor.end()
    return AnalyzeTable(source, name, columns, no_scan, partition)


def _columns(cursor: Cursor) -> tuple[tuple[str, Span], ...]:
    columns: list[tuple[str, Span]] = []
    while not cursor.at_end and (not columns or cursor.accept(",")):
        name, token = cursor.name("a column name")
        columns.append((name, cursor.span(token)))
    return tuple(columns)
