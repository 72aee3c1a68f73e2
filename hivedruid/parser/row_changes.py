"""DELETE and UPDATE, parsed as the query of the rows that they change."""

from __future__ import annotations

from sqlglot import Token, TokenType, exp

from hivedruid.errors import SemanticError
from hivedruid.parser.names import with_names
from hivedruid.parser.queries import parse_query, split_at_depth
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.writing import ChangeRows
from hivedruid.parser.tokens import Cursor, token_at
from hivedruid.script import SourceStatement

_CLAUSES = {
    "WHERE", "GROUP BY", "HAVING", "QUALIFY", "WINDOW", "ORDER BY", "CLUSTER BY", "DISTRIBUTE BY", "SORT BY", "LIMIT",
    "OFFSET", "UNION", "EXCEPT", "MINUS", "INTERSECT", "LATERAL", "FROM", "JOIN", "INTO", "AS", "SELECT",
}  # fmt: skip
"""The words of a query outside parentheses that do not belong to an expression."""


def parse_delete(source: SourceStatement, cursor: Cursor) -> Statement:
    """`DELETE FROM table [WHERE condition]`, after DELETE."""
    cursor.tokens = with_names(cursor.tokens)
    cursor.expect("FROM")
    table, named = _table(cursor)
    query = _query(source, [token_at(named[0], TokenType.STAR, "*")], named, _where(cursor))
    return ChangeRows(source, table, query)


def parse_update(source: SourceStatement, cursor: Cursor) -> Statement:
    """`UPDATE table SET column = value [, column = value …] [WHERE condition]`, after UPDATE."""
    cursor.tokens = with_names(cursor.tokens)
    table, named = _table(cursor)
    cursor.expect("SET")
    names: list[str] = []
    columns: list[Token] = []
    values: list[list[Token]] = []
    while True:
        name, column = cursor.name("a column name")
        if name in names:
            raise SemanticError(f"column '{name}' is set twice", span=cursor.span(column))
        cursor.expect("=")
        names.append(name)
        columns.append(column)
        values.append(_value(cursor))
        if not cursor.accept(","):
            break
    items = [token for value in values for token in (*value, token_at(value[-1], TokenType.COMMA, ","))][:-1]
    query = _query(source, items, named, _where(cursor))
    for value, tokens in zip(query.expressions, values, strict=True):
        if isinstance(value, exp.Alias):
            Cursor(source, tokens[-1:]).fail("',', WHERE or the end of the statement")
        if value.is_star:
            Cursor(source, tokens).fail("an expression")
    spans = tuple(cursor.span(tokens[0], tokens[-1]) for tokens in values)
    return ChangeRows(source, table, query, tuple(names), tuple(map(cursor.span, columns)), spans)


def _table(cursor: Cursor) -> tuple[TableName, list[Token]]:
    """The table, and the tokens of its name in a query."""
    first = cursor.current
    table = cursor.table_name()
    assert first is not None
    name = token_at(first, TokenType.IDENTIFIER, table.name)
    if table.database is None:
        return table, [name]
    return table, [token_at(first, TokenType.IDENTIFIER, table.database), token_at(first, TokenType.DOT, "."), name]


def _value(cursor: Cursor) -> list[Token]:
    """The tokens of a value, up to a comma outside parentheses or WHERE."""
    rest = cursor.tokens[cursor.index :]
    end = next(iter(split_at_depth(rest, {",", *_CLAUSES})), len(rest))
    if not end:
        cursor.fail("an expression")
    cursor.index += end
    return rest[:end]


def _where(cursor: Cursor) -> list[Token]:
    """The tokens from WHERE to the end of the statement."""
    if cursor.at_end:
        return []
    if cursor.word() != "WHERE":
        cursor.fail("WHERE or the end of the statement")
    tokens = cursor.rest()
    if others := split_at_depth(tokens[1:], _CLAUSES):
        Cursor(cursor.source, tokens[1 + others[0] :]).fail("the end of the statement")
    return tokens


def _query(source: SourceStatement, items: list[Token], table: list[Token], where: list[Token]) -> exp.Expression:
    """`SELECT items FROM table where`, whose tokens have the positions of the statement."""
    select, from_ = token_at(items[0], TokenType.SELECT, "SELECT"), token_at(table[0], TokenType.FROM, "FROM")
    query = parse_query(source, [select, *items, from_, *table, *where])
    known = {"expressions", "from_", "where"}
    if not isinstance(query, exp.Select) or {key for key, value in query.args.items() if value} - known:
        Cursor(source, where or items).fail("an expression")
    return query
