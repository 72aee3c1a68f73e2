"""A view's text, so that it means the same whatever the current database is."""

from __future__ import annotations

from sqlglot import exp

from hivedruid.parser.queries import parse_query
from hivedruid.parser.tokens import tokenize
from hivedruid.script import SourceStatement


def qualified(text: str, database: str) -> str:
    """The query with the database put before every table name that has none, as Hive expands a view's text.

    Names of WITH queries are not tables.
    """
    source = SourceStatement(text)
    tree = parse_query(source, tokenize(source))
    places = []
    for table in tree.find_all(exp.Table):
        name = table.this
        if (
            not isinstance(name, exp.Identifier)
            or table.args.get("db")
            or "." in name.name
            or _is_cte(table, name.name)
        ):
            continue
        start = name.meta.get("start")
        if start is not None:
            places.append(start)
    for start in sorted(set(places), reverse=True):
        text = f"{text[:start]}`{database}`.{text[start:]}"
    return text


def _is_cte(table: exp.Expr, name: str) -> bool:
    """Whether a WITH around the table defines that name; inside a WITH only the queries before its own do."""
    child: exp.Expr = table
    node = table.parent
    inside_with = False
    while node is not None:
        if isinstance(node, exp.With):
            before = node.expressions[: node.expressions.index(child)]
            inside_with = True
        else:
            with_ = node.args.get("with_")
            before = with_.expressions if with_ is not None and not inside_with else []
            inside_with = False
        if any(cte.alias.lower() == name.lower() for cte in before):
            return True
        child, node = node, node.parent
    return False
