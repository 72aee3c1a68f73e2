"""INSERT, and the multi-insert `FROM … INSERT … INSERT …`."""

from __future__ import annotations

from sqlglot import Token, TokenType

from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.parser.queries import parse_query, split_at_depth
from hivedruid.parser.statements import Statement
from hivedruid.parser.statements.writing import Insert, InsertTarget
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement


def parse_insert(source: SourceStatement, cursor: Cursor) -> Statement:
    """`[WITH …] [FROM …] INSERT … [INSERT …]`: the text before the first INSERT is part of every query.

    Raises UnsupportedError for PARTITION and DIRECTORY.
    """
    tokens = cursor.rest()
    starts = split_at_depth(tokens, {"INSERT"})
    if not starts:  # a control character attached to the word
        cursor.fail("INSERT")
    shared = tokens[: starts[0]]
    targets = []
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        targets.append(_target(source, shared, Cursor(source, tokens[start:end])))
    if len(targets) > 1 and not split_at_depth(shared, {"FROM"}):
        second = tokens[starts[1]]
        Cursor(source, [second]).fail("the end of the statement")
    return Insert(source, tuple(targets))


def _target(source: SourceStatement, shared: list[Token], cursor: Cursor) -> InsertTarget:
    cursor.expect("INSERT")
    kind = cursor.accept_one("INTO", "OVERWRITE")
    if kind is None:
        cursor.fail("INTO or OVERWRITE")
    if cursor.word() == "DIRECTORY" or (cursor.word() == "LOCAL" and cursor.word(1) == "DIRECTORY"):
        raise UnsupportedError(
            "INSERT OVERWRITE DIRECTORY is not supported",
            span=cursor.span(),
            hint="use an external table with a LOCATION, or --format csv",
        )
    cursor.accept("TABLE")
    table = cursor.table_name()
    if cursor.word() == "PARTITION":
        raise UnsupportedError(
            "INSERT … PARTITION is not supported: tables have no partitions",
            span=cursor.span(),
            hint="remove PARTITION; Druid partitions by __time",
        )
    cursor.accept("IF", "NOT", "EXISTS")
    columns, tokens = _columns(cursor)
    body = cursor.rest()
    if shared and shared[0].token_type == TokenType.FROM and body and body[0].token_type != TokenType.SELECT:
        Cursor(source, body).fail("SELECT")
    query = parse_query(source, shared + body)
    return InsertTarget(table, query, kind == "OVERWRITE", columns, tuple(cursor.span(t) for t in tokens))


def _columns(cursor: Cursor) -> tuple[tuple[str, ...], list[Token]]:
    """`(a, b)` after the table; a parenthesis may also start the query."""
    if cursor.word() != "(" or cursor.word(1) in ("SELECT", "WITH", "FROM", "VALUES", "("):
        return (), []
    cursor.expect("(")
    names: list[str] = []
    tokens: list[Token] = []
    while True:
        name, token = cursor.name("a column name")
        if name in names:
            raise SemanticError(f"column '{name}' is specified twice", span=cursor.span(token))
        names.append(name)
        tokens.append(token)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return tuple(names), tokens
