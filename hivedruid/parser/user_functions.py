"""CREATE and DROP FUNCTION, and the functions that a statement calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from sqlglot import exp

from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.parser.functions import called_name
from hivedruid.parser.statements import TableName
from hivedruid.parser.statements.ddl import CreateFunction, DropFunction
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement


def parse_create(source: SourceStatement, cursor: Cursor, *, temporary: bool) -> CreateFunction:
    """`[IF NOT EXISTS] name AS 'code' [USING JAR | FILE 'path', …]`, after CREATE [TEMPORARY] FUNCTION."""
    exists = cursor.accept("IF", "NOT", "EXISTS")
    name = _name(cursor, temporary=temporary)
    cursor.expect("AS")
    code, token = cursor.string("'module.function' or the class of a Java function")
    jars: list[str] = []
    file = ""
    while cursor.accept("USING") or (jars and cursor.accept(",")):
        start = cursor.index
        kind = cursor.accept_one("JAR", "FILE", "ARCHIVE")
        path = cursor.string("the path of a file")[0] if kind else cursor.fail("JAR or FILE")
        if kind == "ARCHIVE" or (file and kind == "FILE") or (kind == "FILE" and jars) or (kind == "JAR" and file):
            raise UnsupportedError(
                f"USING {kind} is not supported here",
                span=cursor.span_from(start),
                hint="use USING JAR for a Java function, USING FILE with one .py file for a Python function",
            )
        if kind == "FILE":
            file = path
        else:
            jars.append(path)
    cursor.end()
    return CreateFunction(source, name, code, cursor.span(token), tuple(jars), file, temporary, exists)


def parse_drop(source: SourceStatement, cursor: Cursor, *, temporary: bool) -> DropFunction:
    """`[IF EXISTS] name`, after DROP [TEMPORARY] FUNCTION."""
    exists = cursor.accept("IF", "EXISTS")
    name = _name(cursor, temporary=temporary)
    cursor.end()
    return DropFunction(source, name, temporary, exists)


def _name(cursor: Cursor, *, temporary: bool) -> TableName:
    name = cursor.table_name()
    if temporary and name.database:
        raise SemanticError("a temporary function has no database", span=name.span, hint="remove the database")
    return name


def called(value: Any, current: str) -> Iterator[tuple[str | None, str, str]]:
    """The database if there is one, the current one, and the name of each function that a statement calls."""
    if isinstance(value, exp.Expr):
        for call in value.find_all(exp.Anonymous):
            yield database_of_call(call), current, called_name(call)
    elif isinstance(value, tuple):
        for each in value:
            yield from called(each, current)
    elif is_dataclass(value):
        for field in fields(value):
            yield from called(getattr(value, field.name), current)


def database_of_call(call: exp.Expr) -> str | None:
    """The database of `database.function(…)`."""
    above = call.parent
    if not isinstance(above, exp.Dot) or above.expression is not call:
        return None
    return above.this.name.lower() if isinstance(above.this, exp.Column | exp.Identifier) else None
