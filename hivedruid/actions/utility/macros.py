"""CREATE TEMPORARY MACRO: the checks of its expression. Pure."""

from __future__ import annotations

from sqlglot import exp

from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.utility.model import ChangeMacro
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.parser.functions import called_name
from hivedruid.parser.macros import Macro
from hivedruid.parser.statements import utility as u


def create(statement: u.CreateMacro, snapshot: Snapshot) -> ChangeMacro:
    """Raises SemanticError for what Hive refuses: a repeated parameter, parameters that are not the columns of the
    expression; and for an expression that cannot be computed."""
    names = [name for name, _ in statement.parameters]
    if len(set(names)) < len(names):
        raise SemanticError(f"a parameter of the macro {statement.name} is repeated", span=statement.span)
    _check_form(statement)
    columns = {column.name.lower() for column in statement.body.find_all(exp.Column)}
    if columns != set(names):
        unknown, unused = sorted(columns - set(names)), sorted(set(names) - columns)
        what = (
            f"uses {', '.join(unknown)}, which is not a parameter" if unknown else f"does not use {', '.join(unused)}"
        )
        raise SemanticError(f"the expression of the macro {statement.name} {what}", span=statement.span)
    macro = Macro(statement.name, statement.parameters, statement.body)
    _check_types(macro, statement, snapshot)
    return ChangeMacro(statement.name, macro)


def _check_form(statement: u.CreateMacro) -> None:
    from hivedruid.plan.functions import AGGREGATES, ALIASES, GENERATORS, WINDOW_FUNCTIONS

    if statement.body.find(exp.Query, exp.Window):
        raise UnsupportedError(
            f"the macro {statement.name} contains a subquery or a window",
            span=statement.span,
            hint="a macro is an expression over its parameters",
        )
    for call in statement.body.find_all(exp.Anonymous):
        name = called_name(call)
        if ALIASES.get(name, name) in AGGREGATES | GENERATORS | WINDOW_FUNCTIONS:
            raise UnsupportedError(
                f"the macro {statement.name} calls {name}(), which does not return a value for each row",
                span=statement.span,
                hint="a macro is an expression over its parameters",
            )


def _check_types(macro: Macro, statement: u.CreateMacro, snapshot: Snapshot) -> None:
    """Plan the expression over NULLs of the parameters' types: an unknown function or wrong types are an error."""
    from hivedruid.plan.split import plan_query

    nulls: list[exp.Expr] = [exp.Null() for _ in macro.parameters]
    plan_query(exp.select(macro.call(nulls)), statement.source, snapshot)
