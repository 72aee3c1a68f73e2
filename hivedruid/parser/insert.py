"""INSERT, and the multi-insert `FROM … INSERT … INSERT …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import Token, TokenType

from hivedruid.errors import SemanticError
from hivedruid.parser.queries import parse_query, split_at_depth
from hivedruid.parser.statements import Statement, TableName
from hivedruid.parser.statements.writing import Directory, Insert, InsertTarget
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement

if TYPE_CHECKING:
    from sqlglot import exp


def parse_insert(source: SourceStatement, cursor: Cursor) -> Statement:
    """`[WITH …] [FROM …] INSERT … [INSERT …]`: the text before the first INSERT is part of every query."""
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
    local = cursor.word() == "LOCAL" and cursor.word(1) == "DIRECTORY"
    table_follows = kind == "INTO" and not local and not _is_string(cursor, 1)  # a table named `directory`
    if (cursor.word() == "DIRECTORY" and not table_follows) or local:
        if kind == "INTO":
            cursor.fail("a table", hint="use INSERT OVERWRITE DIRECTORY, which replaces the files of the directory")
        return _directory(source, shared, cursor)
    cursor.accept("TABLE")
    table = cursor.table_name()
    partition = None
    if cursor.word() == "PARTITION":
        from hivedruid.parser.partitions import partition_spec

        partition = partition_spec(cursor, dynamic=True)
    exists = cursor.accept("IF", "NOT", "EXISTS")
    columns, tokens = _columns(cursor)
    query = _query(source, shared, cursor)
    spans = tuple(cursor.span(t) for t in tokens)
    return InsertTarget(table, query, kind == "OVERWRITE", columns, spans, partition, exists)


def _is_string(cursor: Cursor, ahead: int) -> bool:
    tokens = cursor.tokens[cursor.index + ahead :]
    return bool(tokens) and tokens[0].token_type == TokenType.STRING


def _query(source: SourceStatement, shared: list[Token], cursor: Cursor) -> exp.Expression:
    body = cursor.rest()
    is_select = bool(body) and body[0].text.upper() in ("SELECT", "MAP", "REDUCE")
    if shared and shared[0].token_type == TokenType.FROM and body and not is_select:
        Cursor(source, body).fail("SELECT")
    return parse_query(source, shared + body)


def _directory(source: SourceStatement, shared: list[Token], cursor: Cursor) -> InsertTarget:
    from hivedruid.parser.table_clauses import TableClauses

    local = cursor.accept("LOCAL")
    cursor.expect("DIRECTORY")
    location, token = cursor.string("the path of the directory")
    span = cursor.span(token)
    found = TableClauses(source, cursor).read_format()
    directory = Directory(location, local, span=span, **found)
    return InsertTarget(TableName("", span=span), _query(source, shared, cursor), overwrite=True, directory=directory)


def _columns(cursor: Cursor) -> tuple[tuple[str, ...], list[Token]]:
    """`(a, b)` after the table; a parenthesis may also start the query."""
    if cursor.word() != "(" or cursor.word(1) in ("SELECT", "WITH", "FROM", "VALUES", "MAP", "REDUCE", "("):
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
