"""MERGE INTO: the source as a query, and the expressions of its clauses."""

from __future__ import annotations

from typing import Literal

from sqlglot import TokenType, exp

from hivedruid.errors import SemanticError, Span
from hivedruid.parser.expressions import parse_expression, tokens_until
from hivedruid.parser.queries import parse_query
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.writing import Merge, WhenClause
from hivedruid.parser.tokens import Cursor, token_at
from hivedruid.script import SourceStatement

_AT_MOST_ONE = "MERGE statement can have at most 1 WHEN MATCHED ... {} clause"
_PREDICATE_REQUIRED = (
    'MERGE statement with both UPDATE and DELETE clauses requires "AND <boolean>" on the 1st WHEN MATCHED clause'
)


def parse_merge(source: SourceStatement, cursor: Cursor) -> Statement:
    """`MERGE INTO table [AS alias] USING source ON condition WHEN … [WHEN …] [WHEN …]`, after MERGE.

    As in Hive there is at most one UPDATE and one DELETE, in any order, and an INSERT only as the last clause.
    """
    cursor.expect("INTO")
    table = cursor.table_name()
    is_named = cursor.accept("AS")
    alias = cursor.name("an alias")[0] if is_named or cursor.word() != "USING" else None
    cursor.expect("USING")
    using = _source(source, cursor)
    cursor.expect("ON")
    on = parse_expression(source, tokens_until(cursor, {"WHEN"}))[0]
    clauses: list[WhenClause] = []
    while True:
        clauses.append(_clause(source, cursor))
        if cursor.at_end or clauses[-1].kind == "insert":
            break
    cursor.end()
    _check(clauses)
    return Merge(source, table, alias, using, on, tuple(clauses))


def _source(source: SourceStatement, cursor: Cursor) -> exp.Expression:
    """The source up to ON: one table or subquery, with its alias."""
    tokens = tokens_until(cursor, {"ON"}, "a table or a subquery")
    words = [token_at(tokens[0], TokenType.SELECT, "SELECT"), token_at(tokens[0], TokenType.STAR, "*")]
    query = parse_query(source, [*words, token_at(tokens[0], TokenType.FROM, "FROM"), *tokens])
    item = query.args["from_"].this if isinstance(query, exp.Select) else None
    is_single = isinstance(item, exp.Table | exp.Subquery) and not (item.args.get("joins") or item.args.get("laterals"))
    if not is_single or {key for key, value in query.args.items() if value} != {"expressions", "from_"}:
        Cursor(source, tokens).fail("one table or subquery", hint="write a join as (SELECT … FROM … JOIN …) alias")
    if isinstance(item, exp.Subquery) and not item.alias:
        Cursor(source, tokens[-1:]).fail("an alias after the subquery")
    return query


def _clause(source: SourceStatement, cursor: Cursor) -> WhenClause:
    start = cursor.index
    cursor.expect("WHEN")
    is_matched = not cursor.accept("NOT")
    cursor.expect("MATCHED")
    condition = parse_expression(source, tokens_until(cursor, {"THEN"}))[0] if cursor.accept("AND") else None
    cursor.expect("THEN")
    if not is_matched:
        cursor.expect("INSERT")
        return _insert(source, cursor, start, condition)
    kind = cursor.accept_one("UPDATE", "DELETE")
    if kind is None:
        cursor.fail("UPDATE or DELETE")
    if kind == "DELETE":
        return WhenClause("delete", cursor.span_from(start), condition)
    cursor.expect("SET")
    names: list[str] = []
    spans: list[Span] = []
    values: list[tuple[exp.Expression, Span]] = []
    while True:
        _name(cursor, names, spans, "set")
        cursor.expect("=")
        values.append(parse_expression(source, tokens_until(cursor, {",", "WHEN"})))
        if not cursor.accept(","):
            break
    return _with_values("update", cursor.span_from(start), condition, names, spans, values)


def _insert(source: SourceStatement, cursor: Cursor, start: int, condition: exp.Expression | None) -> WhenClause:
    names: list[str] = []
    spans: list[Span] = []
    if cursor.accept("("):
        _name(cursor, names, spans, "specified")
        while cursor.accept(","):
            _name(cursor, names, spans, "specified")
        cursor.expect(")")
    cursor.expect("VALUES")
    cursor.expect("(")
    values = [parse_expression(source, tokens_until(cursor, {",", ")"}))]
    while cursor.accept(","):
        values.append(parse_expression(source, tokens_until(cursor, {",", ")"})))
    cursor.expect(")")
    return _with_values("insert", cursor.span_from(start), condition, names, spans, values)


def _with_values(
    kind: Literal["update", "insert"],
    span: Span,
    condition: exp.Expression | None,
    names: list[str],
    spans: list[Span],
    values: list[tuple[exp.Expression, Span]],
) -> WhenClause:
    expressions, value_spans = zip(*values, strict=True)
    return WhenClause(kind, span, condition, tuple(names), tuple(spans), expressions, value_spans)


def _name(cursor: Cursor, names: list[str], spans: list[Span], verb: str) -> None:
    name, token = cursor.name("a column name")
    if name in names:
        raise SemanticError(f"column '{name}' is {verb} twice", span=cursor.span(token))
    names.append(name)
    spans.append(cursor.span(token))


def _check(clauses: list[WhenClause]) -> None:
    """Hive's limits (ErrorMsg 10401 to 10405)."""
    matched = [clause for clause in clauses if clause.kind != "insert"]
    for kind in ("update", "delete"):
        same = [clause for clause in matched if clause.kind == kind]
        if len(same) > 1:
            hint = (
                "write one clause, with OR in its condition and CASE in its values"
                if kind == "update"
                else "write one clause, with OR in its condition"
            )
            raise SemanticError(_AT_MOST_ONE.format(kind.upper()), span=same[1].span, hint=hint)
    if len(matched) == 2 and matched[0].condition is None:
        raise SemanticError(_PREDICATE_REQUIRED, span=matched[0].span, hint="write WHEN MATCHED AND condition THEN …")
