"""CREATE and DROP TEMPORARY MACRO, and the replacement of a macro's calls by its expression.

As Hive 4.0.1 does: an argument is cast to the parameter's type; a macro comes before a function of the same name; a
macro that another one calls is replaced when the other one is created. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from sqlglot import Token, TokenType, exp

from hivedruid.errors import ParseError, SemanticError, UnsupportedError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.checks import placed, span_of_expression
from hivedruid.parser.functions import called_name
from hivedruid.parser.queries import parse_query
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.ddl import CreateView
from hivedruid.parser.statements.utility import CreateMacro, DropMacro
from hivedruid.parser.tokens import Cursor, token_at
from hivedruid.parser.types import parse_type
from hivedruid.script import SourceStatement


@dataclass(frozen=True)
class Macro:
    """A temporary macro: its parameters, each with the type as sqlglot's tree has it, and its expression."""

    name: str
    parameters: tuple[tuple[str, exp.DataType], ...]
    body: exp.Expr

    def call(self, arguments: list[exp.Expr], position: Mapping[str, Any] | None = None) -> exp.Expr:
        """The expression with the arguments in place of the parameters. Errors in it point to `position`, without one
        into the definition."""
        values = dict(zip((name for name, _ in self.parameters), arguments, strict=True))
        types = dict(self.parameters)
        body = exp.Paren(this=self.body.copy())
        if position is not None:
            for node in body.walk():
                node.meta.clear()
                node.meta.update(position)
        for column in list(body.find_all(exp.Column)):
            name = column.name.lower()
            column.replace(exp.Cast(this=values[name].copy(), to=types[name].copy()))
        return body


def parse_create(source: SourceStatement, cursor: Cursor) -> CreateMacro:
    """`name ( [parameter type, …] ) expression`, after CREATE TEMPORARY MACRO."""
    name, token = cursor.name("a macro name")
    cursor.expect("(")
    parameters: list[tuple[str, list[Token]]] = []
    while not cursor.accept(")"):
        if parameters:
            cursor.expect(",")
        parameter, _ = cursor.name("a parameter name")
        start = cursor.index
        parse_type(cursor)
        parameters.append((parameter, cursor.tokens[start : cursor.index]))
    body = cursor.rest()
    if not body:
        cursor.fail("an expression")
    query = parse_query(source, _query(token, body, [type_ for _, type_ in parameters]))
    known = {"expressions"}
    items = query.expressions
    has_clauses = not isinstance(query, exp.Select) or bool({k for k, v in query.args.items() if v} - known)
    if has_clauses or len(items) != 1 + len(parameters) or isinstance(items[0], exp.Alias | exp.Star):
        raise ParseError("expected an expression", span=cursor.span(body[0], body[-1]))
    types = [(parameter, item.to) for (parameter, _), item in zip(parameters, items[1:], strict=True)]
    return CreateMacro(source, name, tuple(types), items[0].pop(), cursor.span(token))


def _query(at: Token, body: list[Token], types: list[list[Token]]) -> list[Token]:
    """`SELECT body, CAST(NULL AS type), …`: sqlglot parses types only inside expressions."""

    def word(kind: TokenType, text: str) -> Token:
        return token_at(at, kind, text)

    tokens = [word(TokenType.SELECT, "SELECT"), *body]
    for type_ in types:
        tokens += [word(TokenType.COMMA, ","), word(TokenType.VAR, "CAST"), word(TokenType.L_PAREN, "(")]
        tokens += [word(TokenType.NULL, "NULL"), word(TokenType.ALIAS, "AS"), *type_, word(TokenType.R_PAREN, ")")]
    return tokens


def parse_drop(source: SourceStatement, cursor: Cursor) -> DropMacro:
    """`[IF EXISTS] name`, after DROP TEMPORARY MACRO."""
    cursor.accept("IF", "EXISTS")
    name, _ = cursor.name("a macro name")
    cursor.end()
    return DropMacro(source, name)


def expanded(statement: Statement, macros: Mapping[str, Macro]) -> Statement:
    """The statement with the expressions of macros in place of their calls.

    Raises SemanticError, with the position, for another number of arguments, and UnsupportedError for a view: its
    text would outlive the macro.
    """
    if not macros:
        return statement
    changed: Statement = _expanded(statement, statement.source, macros)
    return changed


def _expanded(value: Any, source: SourceStatement, macros: Mapping[str, Macro]) -> Any:
    if isinstance(value, exp.Expr):
        return _tree(value, source, macros)
    if type(value) is tuple:
        return tuple(_expanded(item, source, macros) for item in value)
    if not isinstance(value, Statement) and not (is_dataclass(value) and _has_tree(value)):
        return value
    changed = {}
    for field in fields(value):
        old = getattr(value, field.name)
        if isinstance(value, CreateView) and isinstance(old, exp.Expr):
            _refuse(old, source, macros)
        elif (new := _expanded(old, source, macros)) is not old:
            changed[field.name] = new
    return replace(value, **changed) if changed else value


def _has_tree(value: Any) -> bool:
    return any(isinstance(getattr(value, field.name), exp.Expr | Statement | tuple) for field in fields(value))


def _called(call: exp.Anonymous, macros: Mapping[str, Macro]) -> Macro | None:
    return macros.get(called_name(call))


def _tree(tree: exp.Expr, source: SourceStatement, macros: Mapping[str, Macro]) -> exp.Expr:
    calls = [call for call in tree.find_all(exp.Anonymous) if _called(call, macros)]
    for call in reversed(calls):  # those of arguments first
        macro = _called(call, macros)
        assert macro is not None
        count = len(macro.parameters)
        if len(call.expressions) != count:
            raise SemanticError(
                f"the macro {macro.name} requires {count} argument{'' if count == 1 else 's'},"
                f" not {len(call.expressions)}",
                span=span_of_expression(source, call),
            )
        body = macro.call(call.expressions, _position(call))
        if call is tree:
            return body
        call.replace(body)
    return tree


def _position(call: exp.Expr) -> dict[str, Any]:
    node = placed(call)
    return {key: node.meta[key] for key in ("line", "col", "start", "end") if key in node.meta} if node else {}


def _refuse(view: exp.Expr, source: SourceStatement, macros: Mapping[str, Macro]) -> None:
    for call in view.find_all(exp.Anonymous):
        if (macro := _called(call, macros)) is not None:
            raise UnsupportedError(
                f"a view cannot call the temporary macro {macro.name}",
                span=span_of_expression(source, call),
                hint="write its expression in full",
            )
