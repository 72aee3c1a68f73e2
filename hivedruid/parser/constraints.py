"""Constraints of tables and columns, which are not enforced: they are accepted with DISABLE, and not stored."""

from __future__ import annotations

from hivedruid.errors import Span, UnsupportedError
from hivedruid.parser.statements import TableName
from hivedruid.parser.statements.ddl import AddConstraint, ColumnName, DropConstraint
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement

_OF_COLUMN = ("CONSTRAINT", "PRIMARY", "PRIMARY KEY", "UNIQUE", "NOT", "DEFAULT", "CHECK", "REFERENCES")
_OF_TABLE = ("PRIMARY KEY", "FOREIGN KEY", "PRIMARY", "FOREIGN", "UNIQUE", "CHECK")
_ENDS = (",", ")", "COMMENT", "FIRST", "AFTER", "CASCADE", "RESTRICT")


def skip_table_constraint(cursor: Cursor) -> bool:
    """Skip a constraint of a table; a column named `check` or `unique` is followed by a type."""
    word, after = cursor.word(), cursor.word(1)
    if (
        word in ("PRIMARY KEY", "FOREIGN KEY")
        or (word in ("PRIMARY", "FOREIGN") and after == "KEY")
        or (word in ("UNIQUE", "CHECK") and after == "(")
        or (word == "CONSTRAINT" and cursor.word(2) in _OF_TABLE)
    ):
        _skip(cursor)
        return True
    return False


def skip_column_constraint(cursor: Cursor) -> bool:
    """Skip a constraint of a column, if one follows."""
    if cursor.word() not in _OF_COLUMN:
        return False
    _skip(cursor)
    return True


def _skip(cursor: Cursor) -> None:
    """Skip a constraint that is not enforced (DISABLE), as Hive does; reject one that must be enforced."""
    start = cursor.index
    disabled = False
    while not cursor.at_end and cursor.word() not in _ENDS:
        place = cursor.span()
        if cursor.accept("VALIDATE"):
            raise _not_supported("VALIDATE is not supported: existing rows are not checked", place, "use NOVALIDATE")
        if cursor.accept("DISABLE") or cursor.accept("NOT", "ENFORCED"):
            disabled = True
        elif cursor.word() == "(":
            cursor.skip_group()
        else:
            cursor.index += 1
    if not disabled:
        raise _not_supported(
            "constraints are not supported: neither Druid nor files enforce them",
            cursor.span_from(start),
            "remove it, or add DISABLE NOVALIDATE",
        )


def _not_supported(message: str, span: Span | None, hint: str) -> UnsupportedError:
    return UnsupportedError(message, span=span, hint=hint)


def parse_add(source: SourceStatement, cursor: Cursor, name: TableName) -> AddConstraint:
    """From the name of the constraint: `name PRIMARY KEY (…) | FOREIGN KEY (…) REFERENCES … (…) | UNIQUE (…) |
    CHECK (…)` and its state."""
    start = cursor.index - 1
    cursor.name("the name of the constraint")
    first = cursor.index
    columns: tuple[ColumnName, ...] = ()
    if cursor.accept("PRIMARY", "KEY") or cursor.accept("FOREIGN", "KEY") or cursor.accept("UNIQUE"):
        columns = _columns(cursor)
    elif not cursor.accept("CHECK"):
        cursor.fail("PRIMARY KEY, FOREIGN KEY, UNIQUE or CHECK")
    cursor.index = first
    _skip(cursor)
    return AddConstraint(source, name, columns, cursor.span_from(start))


def parse_drop(source: SourceStatement, cursor: Cursor, name: TableName) -> DropConstraint:
    """From the name of the constraint."""
    start = cursor.index - 1
    cursor.name("the name of the constraint")
    return DropConstraint(source, name, cursor.span_from(start))


def _columns(cursor: Cursor) -> tuple[ColumnName, ...]:
    cursor.expect("(")
    found = [column_name(cursor)]
    while cursor.accept(","):
        found.append(column_name(cursor))
    cursor.expect(")")
    return tuple(found)


def column_name(cursor: Cursor, what: str = "a column name") -> ColumnName:
    name, token = cursor.name(what)
    return ColumnName(name, cursor.span(token))
