"""Constraints of tables and columns: PRIMARY KEY, FOREIGN KEY, UNIQUE, NOT NULL, DEFAULT, CHECK."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.catalog.constraints import ConstraintKind
from hivedruid.errors import UnsupportedError
from hivedruid.parser.statements import TableName
from hivedruid.parser.statements.ddl import AddConstraint, ColumnName, ConstraintDef, DropConstraint
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement

_OF_COLUMN = ("CONSTRAINT", "PRIMARY", "PRIMARY KEY", "UNIQUE", "NOT", "DEFAULT", "CHECK", "REFERENCES")
_OF_TABLE = ("PRIMARY KEY", "FOREIGN KEY", "PRIMARY", "FOREIGN", "UNIQUE", "CHECK")
_ENDS = (",", ")", "COMMENT", "FIRST", "AFTER", "CASCADE", "RESTRICT")
_STATES = ("ENABLE", "ENABLED", "ENFORCED", "DISABLE", "DISABLED", "NOT", "VALIDATE", "NOVALIDATE", "RELY", "NORELY")


def table_constraint(cursor: Cursor) -> ConstraintDef | None:
    """A constraint of a table, if one follows; a column named `check` or `unique` is followed by a type."""
    word, after = cursor.word(), cursor.word(1)
    if (
        word in ("PRIMARY KEY", "FOREIGN KEY")
        or (word in ("PRIMARY", "FOREIGN") and after == "KEY")
        or (word in ("UNIQUE", "CHECK") and after == "(")
        or (word == "CONSTRAINT" and cursor.word(2) in _OF_TABLE)
    ):
        return _with_name(cursor, None)
    return None


def column_constraint(cursor: Cursor, column: ColumnName) -> ConstraintDef | None:
    """A constraint of a column, if one follows."""
    return _with_name(cursor, column) if cursor.word() in _OF_COLUMN else None


def parse_add(source: SourceStatement, cursor: Cursor, name: TableName) -> AddConstraint:
    """From the name of the constraint: `name PRIMARY KEY (…) | FOREIGN KEY (…) REFERENCES … (…) | UNIQUE (…) |
    CHECK (…)` and its state."""
    cursor.index -= 1
    return AddConstraint(source, name, _with_name(cursor, None))


def parse_drop(source: SourceStatement, cursor: Cursor, name: TableName) -> DropConstraint:
    """From the name of the constraint."""
    constraint, token = cursor.name("the name of the constraint")
    return DropConstraint(source, name, constraint, cursor.span(token))


def column_name(cursor: Cursor, what: str = "a column name") -> ColumnName:
    name, token = cursor.name(what)
    return ColumnName(name, cursor.span(token))


def _with_name(cursor: Cursor, column: ColumnName | None) -> ConstraintDef:
    start = cursor.index
    name = cursor.name("the name of the constraint")[0] if cursor.accept("CONSTRAINT") else ""
    parsed = _of_column(cursor, column) if column is not None else _of_table(cursor)
    enabled, rely = _state(cursor)
    return replace(parsed, name=name, enabled=enabled, rely=rely, span=cursor.span_from(start))


def _of_table(cursor: Cursor) -> ConstraintDef:
    if cursor.accept("PRIMARY", "KEY"):
        return ConstraintDef("PRIMARY KEY", _columns(cursor))
    if cursor.accept("UNIQUE"):
        return ConstraintDef("UNIQUE", _columns(cursor))
    if cursor.accept("FOREIGN", "KEY"):
        return _reference(cursor, _columns(cursor))
    if cursor.accept("CHECK"):
        return _check(cursor, ())
    return cursor.fail("PRIMARY KEY, FOREIGN KEY, UNIQUE or CHECK")


def _of_column(cursor: Cursor, column: ColumnName) -> ConstraintDef:
    kinds: tuple[ConstraintKind, ...] = ("PRIMARY KEY", "UNIQUE", "NOT NULL")
    for kind in kinds:
        if cursor.accept(*kind.split()):
            return ConstraintDef(kind, (column,))
    if cursor.accept("CHECK"):
        return _check(cursor, (column,))
    if cursor.accept("DEFAULT"):
        return _default(cursor, column)
    if cursor.word() == "REFERENCES":
        return _reference(cursor, (column,))
    return cursor.fail("PRIMARY KEY, UNIQUE, NOT NULL, DEFAULT, CHECK or REFERENCES")


def _reference(cursor: Cursor, columns: tuple[ColumnName, ...]) -> ConstraintDef:
    cursor.expect("REFERENCES")
    return ConstraintDef("FOREIGN KEY", columns, parent=cursor.table_name(), parent_columns=_columns(cursor))


def _check(cursor: Cursor, columns: tuple[ColumnName, ...]) -> ConstraintDef:
    start = cursor.index
    cursor.skip_group()
    span = cursor.span_from(start)
    return ConstraintDef("CHECK", columns, text=cursor.text_from(start)[1:-1].strip(), text_span=span)


def _default(cursor: Cursor, column: ColumnName) -> ConstraintDef:
    """The expression ends before the state of the constraint, or what follows it."""
    start = cursor.index
    while not cursor.at_end and cursor.word() not in (*_ENDS, *_STATES):
        if cursor.word() == "(":
            cursor.skip_group()
        else:
            cursor.index += 1
    if cursor.index == start:
        cursor.fail("the default")
    return ConstraintDef("DEFAULT", (column,), text=cursor.text_from(start), text_span=cursor.span_from(start))


def _state(cursor: Cursor) -> tuple[bool, bool]:
    """Whether the constraint is enabled, and RELY. As in Hive, an enabled one is RELY unless the statement specifies
    NORELY."""
    enabled, rely = True, None
    while cursor.word() in _STATES:
        place = cursor.span()
        if cursor.accept("VALIDATE"):
            raise UnsupportedError(
                "VALIDATE is not supported: existing rows are not checked", span=place, hint="use NOVALIDATE"
            )
        if cursor.accept_one("DISABLE", "DISABLED") or cursor.accept("NOT", "ENFORCED"):
            enabled = False
        elif word := cursor.accept_one("RELY", "NORELY"):
            rely = word == "RELY"
        elif not cursor.accept_one("ENABLE", "ENABLED", "ENFORCED", "NOVALIDATE"):
            break
    return enabled, enabled if rely is None else rely


def _columns(cursor: Cursor) -> tuple[ColumnName, ...]:
    cursor.expect("(")
    found = [column_name(cursor)]
    while cursor.accept(","):
        found.append(column_name(cursor))
    cursor.expect(")")
    return tuple(found)
