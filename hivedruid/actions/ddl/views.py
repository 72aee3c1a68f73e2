"""The text of a view, made independent of the current database."""

from __future__ import annotations

from types import MappingProxyType

from sqlglot import exp

from hivedruid.catalog.functions import Functions
from hivedruid.parser.functions import called_name
from hivedruid.parser.queries import parse_query
from hivedruid.parser.tokens import tokenize
from hivedruid.plan.functions import ALIASES, FUNCTIONS
from hivedruid.script import SourceStatement


def qualified(text: str, database: str, functions: Functions = MappingProxyType({})) -> str:
    """The query with the database added to every unqualified name of a table or of one of the `functions`, as Hive
    expands a view's text. Names of WITH queries are left unchanged.
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
    for call in tree.find_all(exp.Anonymous) if functions else ():
        is_known = called_name(call) in FUNCTIONS or called_name(call) in ALIASES
        if (database, called_name(call)) in functions and not is_known and not isinstance(call.parent, exp.Dot):
            places.append(call.meta["start"])
    for start in sorted(set(places), reverse=True):
        text = f"{text[:start]}`{database}`.{text[start:]}"
    return text


def _is_cte(table: exp.Expr, name: str) -> bool:
    """Whether an enclosing WITH defines that name; within a WITH, only earlier queries count."""
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
