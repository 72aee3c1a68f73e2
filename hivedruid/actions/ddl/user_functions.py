"""CREATE and DROP FUNCTION."""

from __future__ import annotations

import re

from hivedruid.actions.ddl.model import AddFunction, RemoveFunction
from hivedruid.actions.facts import Facts
from hivedruid.actions.lookup import database_of, ignores_missing, require_database
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.catalog.functions import TEMPORARY, Functions, UserFunction
from hivedruid.errors import HiveDruidError, SemanticError, did_you_mean
from hivedruid.locations import absolute
from hivedruid.parser.statements import TableName
from hivedruid.parser.statements.ddl import CreateFunction, DropFunction

_JAVA_CLASS = re.compile(r"(?:[a-z_]\w*\.)+[A-Z][\w$]*")


def new_function(statement: CreateFunction, functions: Functions, facts: Facts) -> UserFunction | None:
    """The function with its signature, which is read from the code; None if one of its name exists already."""
    database = TEMPORARY if statement.temporary else (statement.name.database or facts.database)
    if (database, statement.name.name) in functions:
        return None
    try:
        return _loaded(statement, database, facts)
    except HiveDruidError as error:
        raise error.at(statement.code_span) from error


def _loaded(statement: CreateFunction, database: str, facts: Facts) -> UserFunction:
    name, code = statement.name.name, statement.code
    if statement.jars or (_JAVA_CLASS.fullmatch(code) and not statement.file):
        from hivedruid.actions.ddl.java_functions import java_function

        jars = tuple(absolute(jar, statement.source) for jar in statement.jars)
        return java_function(database, name, code, jars, facts.settings)
    from hivedruid.actions.ddl.python_functions import python_function

    file = absolute(statement.file, statement.source) if statement.file else ""
    return python_function(database, name, code, file)


def build(statement: CreateFunction | DropFunction, snapshot: Snapshot) -> tuple[Action, ...]:
    if isinstance(statement, CreateFunction):
        return _create(statement, snapshot)
    return _drop(statement, snapshot)


def _create(statement: CreateFunction, snapshot: Snapshot) -> tuple[Action, ...]:
    name = statement.name
    if not statement.temporary:
        require_database(database_of(name, snapshot), name.span, snapshot)
        from hivedruid.plan.functions import function_names

        if name.database is None and name.name in function_names():
            raise SemanticError(
                f"{name.name}() is a built-in function, which hides functions of databases",
                span=name.span,
                hint="choose another name, or use CREATE TEMPORARY FUNCTION",
            )
    if snapshot.new_function is not None:
        return (AddFunction(snapshot.new_function),)
    if statement.if_not_exists:
        return ()
    kind, drop = ("Temporary function", "DROP TEMPORARY") if statement.temporary else ("Function", "DROP")
    raise SemanticError(
        f"{kind} {_full_name(name, snapshot, temporary=statement.temporary)} already exists",
        span=name.span,
        hint=f"use {drop} FUNCTION first, or IF NOT EXISTS to keep it",
    )


def _drop(statement: DropFunction, snapshot: Snapshot) -> tuple[Action, ...]:
    """As with tables, hive.exec.drop.ignorenonexistent decides whether a missing function is an error."""
    database = TEMPORARY if statement.temporary else database_of(statement.name, snapshot)
    function = snapshot.functions.get((database, statement.name.name))
    if function is not None:
        return (RemoveFunction(function),)
    if ignores_missing(snapshot, if_exists=statement.if_exists):
        return ()
    names = [name for of, name in snapshot.functions if of == database]
    kind = "temporary function" if statement.temporary else "function"
    raise SemanticError(
        f"there is no {kind} {_full_name(statement.name, snapshot, temporary=statement.temporary)}",
        span=statement.name.span,
        hint=did_you_mean(statement.name.name, names) or "use DROP FUNCTION IF EXISTS",
    )


def _full_name(name: TableName, snapshot: Snapshot, *, temporary: bool) -> str:
    return name.name if temporary else f"{database_of(name, snapshot)}.{name.name}"
