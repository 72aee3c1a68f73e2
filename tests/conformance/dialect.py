"""Calcite's SQL to Hive's: the differences that sqlglot's two dialects do not handle.

`hive_sql` preserves the meaning, not the syntax: Calcite divides integers to integers and its AVG of integers is an
integer, which DIV and a cast express; sketches become exact aggregates; the time column of a model is `__time`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from hivedruid.catalog.table import TIME_COLUMN

TIME_NAMES = frozenset({"timestamp", "time"})
"""The names of the time column in the models."""

INTEGER_COLUMNS = frozenset({"unit_sales", "count", "added", "deleted", "delta"})

UNSAYABLE_UNITS = frozenset({"CENTURY", "MILLENNIUM", "DECADE", "EPOCH", "ISODOW", "ISOYEAR", "DOY", "MILLISECOND", "MICROSECOND", "NANOSECOND"})  # fmt: skip
"""Fields of a time that Hive's EXTRACT does not have (HiveParser.g, timeQualifiers)."""


class TranslationError(Exception):
    """Raised for SQL that cannot be expressed in Hive's dialect."""


def hive_sql(sql: str | None) -> str:
    """The statement in Hive's dialect. Raises TranslationError with the reason if it cannot be expressed there."""
    if not sql:
        raise TranslationError("the test builds it with RelBuilder: there is no SQL")
    text = re.sub(r"(?i)^\s*values\s+(?!\()(\S+)\s*$", r"values (\1)", sql)
    try:
        tree = sqlglot.parse_one(text)
    except SqlglotError as error:
        raise TranslationError(f"cannot be parsed: {str(error).splitlines()[0]}") from error
    _name(tree)
    for rewrite in _REWRITES:
        tree = tree.transform(rewrite)
    return tree.sql("hive", unsupported_level=sqlglot.ErrorLevel.IGNORE)


# --- names -----------------------------------------------------------------------------------------------------------


def _name(tree: exp.Expr) -> None:
    """The names of Hive: `__time`, and one for every derived table."""
    for identifier in tree.find_all(exp.Identifier):
        if identifier.this in TIME_NAMES and identifier.args.get("quoted"):
            identifier.set("this", TIME_COLUMN)
        identifier.set("quoted", True)
    for number, subquery in enumerate(list(tree.find_all(exp.Subquery))):
        if not subquery.alias and isinstance(subquery.parent, exp.From | exp.Join):
            subquery.set("alias", exp.TableAlias(this=exp.to_identifier(f"q{number}", quoted=True)))


# --- types -----------------------------------------------------------------------------------------------------------

_INTEGERS = (exp.DataType.Type.INT, exp.DataType.Type.BIGINT, exp.DataType.Type.SMALLINT, exp.DataType.Type.TINYINT)


def _is_integer(node: exp.Expr) -> bool:
    """Whether Calcite types an expression as an integer, as far as its text shows."""
    if isinstance(node, exp.Paren | exp.Neg | exp.Sum | exp.Min | exp.Max | exp.Abs | exp.Filter | exp.Avg):
        return _is_integer(node.this)
    if isinstance(node, exp.Literal):
        return bool(node.is_int)
    if isinstance(node, exp.Column):
        return node.name in INTEGER_COLUMNS
    if isinstance(node, exp.Cast):
        return node.to.this in _INTEGERS
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv | exp.Mod):
        return _is_integer(node.left) and _is_integer(node.right)
    return isinstance(node, exp.Count | exp.Extract | exp.Year | exp.Month | exp.Day | exp.Quarter | exp.Week | exp.Hour | exp.Minute | exp.Second | exp.Length)  # fmt: skip


def _arithmetic(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Div) and _is_integer(node.left) and _is_integer(node.right):
        return exp.IntDiv(this=node.left, expression=node.right)
    if isinstance(node, exp.Avg) and _is_integer(node.this) and not isinstance(node.parent, exp.Cast):
        return exp.cast(node.copy(), "BIGINT")
    return node


def _casts(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.FLOAT:
        return exp.DataType.build("double")  # Calcite's FLOAT is a double, its REAL is not
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.VARCHAR and not node.expressions:
        return exp.DataType.build("string", dialect="hive")
    return node


# --- functions -------------------------------------------------------------------------------------------------------


def _functions(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Extract):
        unit = node.this.name.upper()
        if unit in UNSAYABLE_UNITS:
            raise TranslationError(f"Hive's EXTRACT has no {unit}")
    if isinstance(node, exp.Anonymous):
        made = _ANONYMOUS.get(node.name.upper())
        return made(node) if made else node
    if isinstance(node, exp.Log) and node.expression and node.this.sql() == "10":
        return exp.Anonymous(this="log10", expressions=[node.expression])
    if isinstance(node, exp.Trunc):
        return exp.Anonymous(
            this="trunc", expressions=[node.this, *([node.args["decimals"]] if node.args.get("decimals") else [])]
        )
    if isinstance(node, exp.ApproxDistinct):
        return exp.Count(this=exp.Distinct(expressions=[node.this]))
    if isinstance(node, exp.SimilarTo | exp.Overlay):
        raise TranslationError(f"Hive has no {type(node).__name__}")
    return node


def _add_units(node: exp.Anonymous) -> exp.Expr:
    unit, amount, time = node.expressions
    return exp.Add(this=time, expression=exp.Interval(this=amount, unit=exp.var(unit.name.upper())))


_ANONYMOUS: dict[str, Callable[[exp.Anonymous], exp.Expr]] = {"TIMESTAMPADD": _add_units}

_REWRITES = (_arithmetic, _casts, _functions)
