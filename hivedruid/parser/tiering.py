"""ARCHIVE TABLE, VERIFY TABLE and SHOW ARCHIVES."""

from __future__ import annotations

from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.tiering import ArchiveTable, ShowArchives, VerifyTable
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement


def parse_archive(source: SourceStatement, cursor: Cursor) -> Statement:
    """The rest of ARCHIVE: TABLE table [UP TO 'time'] [AND WAIT]."""
    cursor.expect("TABLE")
    name = cursor.table_name()
    up_to, span = None, None
    if cursor.accept("UP", "TO"):
        up_to, token = cursor.string("a quoted time")
        span = cursor.span(token)
    cursor.accept("AND", "WAIT")
    if not cursor.at_end:
        cursor.fail("AND WAIT or the end of the statement" if up_to else "UP TO or AND WAIT")
    return ArchiveTable(source, name, up_to, span)


def parse_verify(source: SourceStatement, cursor: Cursor) -> Statement:
    """The rest of VERIFY: TABLE table."""
    cursor.expect("TABLE")
    name = cursor.table_name()
    cursor.end()
    return VerifyTable(source, name)


def parse_show_archives(source: SourceStatement, cursor: Cursor) -> Statement:
    """ARCHIVES [FOR table]."""
    cursor.expect("ARCHIVES")
    name = cursor.table_name() if cursor.accept("FOR") else None
    cursor.end()
    return ShowArchives(source, name)
