"""The dialect with which Superset reads statements: sqlglot's Hive, but statements stay as they were written.

Superset parses what its users write, for the tables in it, whether it changes data, and to add a LIMIT, and sends what
sqlglot generates from the tree. For Hive that is another statement at times: `months_between(a, b, false)` without its
last argument, CHAR(5) as STRING. So a tree has the text from which it was parsed, and the text is sent if the tree is
still the same, or differs only in its LIMIT.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import TokenType, errors, exp
from sqlglot.dialects.hive import Hive

from hivedruid.errors import ParseError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.script import split, without_comments

WRITTEN = "hivedruid.written"
"""The key of the text in the `meta` of a tree."""
_QUERIES = frozenset(("SELECT", "WITH", "FROM", "VALUES", "TABLE", "("))
"""First words of queries."""
_READS = _QUERIES | {"SHOW", "DESCRIBE", "DESC", "EXPLAIN", "USE"}
"""First words of statements that change nothing."""
_CHANGES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.TruncateTable, exp.Alter)
"""The trees of which Superset says that they change something."""
_INCOMPLETE = re.compile(r"Required (argument|keyword)|The number of provided arguments")
"""Errors of sqlglot about a function that Hive calls with other arguments: its tree is complete."""


@dataclass(frozen=True)
class Written:
    """The text of a statement, and the tree that it had then."""

    text: str
    tree: exp.Expr

    def limited(self, tree: exp.Expr) -> str | None:
        """The text with the LIMIT of a tree; None if the tree differs in more than that."""
        before, after = (each.args.get("limit") for each in (self.tree, tree))
        if isinstance(tree, exp.Command) or (before == after and tree == self.tree):
            return self.text  # the LIMIT that Superset adds to a SHOW has no effect
        rest = tree.copy()
        rest.set("limit", before.copy() if before is not None else None)
        if rest != self.tree or not isinstance(after, exp.Limit) or not isinstance(after.expression, exp.Literal):
            return None
        if not isinstance(tree, exp.Query):
            return self.text  # nor that of a DESCRIBE
        rows = after.expression.name
        if before is None:
            return None if tree.args.get("offset") is not None else f"{self.text}\nLIMIT {rows}"
        if not isinstance(before, exp.Limit) or not isinstance(before.expression, exp.Literal):
            return None
        tokens = Hive().tokenize(self.text)
        at = next((n for n in reversed(range(len(tokens) - 1)) if tokens[n].token_type == TokenType.LIMIT), None)
        if at is None or tokens[at + 1].text != before.expression.name:
            return None
        number = tokens[at + 1]
        return f"{self.text[: number.start]}{rows}{self.text[number.end + 1 :]}"


class HiveDruid(Hive):
    def parse(self, sql: str, **options: Any) -> list[exp.Expr | None]:
        try:
            return [_statement(without_comments(each.text).strip(), options) for each in split(sql)]
        except ParseError as error:
            raise errors.ParseError(error.message) from error

    def generate(self, expression: exp.Expr, copy: bool = True, **options: Any) -> str:
        written = expression.meta.get(WRITTEN)
        text = written.limited(expression) if written is not None else None
        return super().generate(expression, copy=copy, **options) if text is None else text


def _statement(text: str, options: Any) -> exp.Expr:
    first = re.match(r"\w+|\S", text)
    word = first[0].upper() if first else ""
    try:
        tree = _parsed(text, options)
    except errors.SqlglotError:
        if word in _QUERIES:
            raise  # Superset must know the tables that a query reads
        tree = exp.Command(this=word, expression=text[len(word) :])
    is_clause = isinstance(tree, exp.Condition)  # an expression of a chart
    if word not in _READS and not is_clause and tree.find(*_CHANGES) is None:
        tree = exp.Command(this="ALTER", expression=f" {text}")  # a name that Superset takes for a change
    tree.meta[WRITTEN] = Written(text, tree.copy())
    return tree


def _parsed(text: str, options: Any) -> exp.Expr:
    """The tree of the text. Raises SqlglotError."""
    try:
        trees: Sequence[exp.Expr | None] = Hive().parse(text, **options)
    except errors.ParseError as error:
        if not all(_INCOMPLETE.match(each.get("description") or "") for each in error.errors):
            raise
        trees = Hive().parse(text, error_level=errors.ErrorLevel.IGNORE)
    if len(trees) != 1 or trees[0] is None:
        raise errors.ParseError("expected one statement")
    return trees[0]
