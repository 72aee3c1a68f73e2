"""ARCHIVE TABLE, UNARCHIVE TABLE, VERIFY TABLE and SHOW ARCHIVES."""

from __future__ import annotations

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.tiering import ArchiveTable, Moment, ShowArchives, UnarchiveTable, VerifyTable
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement


def parse_archive(source: SourceStatement, cursor: Cursor) -> Statement:
    """The rest of ARCHIVE: TABLE table [UP TO 'time' | PARTITION (`__time` = 'time')] [AND WAIT]."""
    cursor.expect("TABLE")
    name = cursor.table_name()
    partition = _partition(cursor)
    up_to = _moment(cursor) if partition is None and cursor.accept("UP", "TO") else None
    _end(cursor, "" if up_to or partition else "UP TO, PARTITION or ")
    return ArchiveTable(source, name, up_to, partition)


def parse_unarchive(source: SourceStatement, cursor: Cursor) -> Statement:
    """The rest of UNARCHIVE: TABLE table [FROM 'time'] [TO 'time' | PARTITION (`__time` = 'time')] [AND WAIT]."""
    cursor.expect("TABLE")
    name = cursor.table_name()
    partition, start, end = _partition(cursor), None, None
    if partition is None:
        start, end = _times(cursor)
    _end(cursor, "" if end or partition else "TO or " if start else "FROM, TO, PARTITION or ")
    return UnarchiveTable(source, name, start, end, partition)


def _times(cursor: Cursor) -> tuple[Moment | None, Moment | None]:
    """[FROM 'time'] [TO 'time']"""
    start = _moment(cursor) if cursor.accept("FROM") else None
    return start, _moment(cursor) if cursor.accept("TO") else None


def _moment(cursor: Cursor) -> Moment:
    text, token = cursor.string("a quoted time")
    return Moment(text, cursor.span(token))


def _partition(cursor: Cursor) -> Moment | None:
    """PARTITION (`__time` = 'time'): the span of tiered.granularity with that time."""
    if not cursor.accept("PARTITION"):
        return None
    cursor.expect("(")
    if cursor.name(f"`{TIME_COLUMN}`")[0] != TIME_COLUMN:
        cursor.index -= 1
        cursor.fail(f"`{TIME_COLUMN}`")
    cursor.expect("=")
    found = _moment(cursor)
    cursor.expect(")")
    return found


def _end(cursor: Cursor, others: str) -> None:
    cursor.accept("AND", "WAIT")
    if not cursor.at_end:
        cursor.fail(f"{others}AND WAIT" if others else "AND WAIT or the end of the statement")


def parse_verify(source: SourceStatement, cursor: Cursor) -> Statement:
    """The rest of VERIFY: TABLE table [FROM 'time'] [TO 'time']."""
    cursor.expect("TABLE")
    name = cursor.table_name()
    start, end = _times(cursor)
    if not cursor.at_end:
        cursor.fail("the end of the statement" if end else "TO or the end of the statement" if start else "FROM or TO")
    return VerifyTable(source, name, start, end)


def parse_show_archives(source: SourceStatement, cursor: Cursor) -> Statement:
    """ARCHIVES [FOR table]."""
    cursor.expect("ARCHIVES")
    name = cursor.table_name() if cursor.accept("FOR") else None
    cursor.end()
    return ShowArchives(source, name)
