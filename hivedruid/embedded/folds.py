"""`expression` aggregators: a fold over the rows, written in Druid's expression language.

DuckDB folds a list of rows in quadratic time in the size of a group; the folds of `_SHAPES` use DuckDB's aggregates
instead. There is no limit on the accumulator's size (`maxSizeBytes`), and nothing to `combine`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from hivedruid.embedded.expressions import translate, translate_node
from hivedruid.embedded.relations import Scope
from hivedruid.embedded.sql import NULL, Sql, as_double, as_string, cast, identifier, long
from hivedruid.errors import DruidError
from hivedruid.parser.druid_expression import Node, parse

Spec = Mapping[str, Any]
_ACCUMULATOR = "__acc"
_FIELD = "x"
_WELFORD = (
    "array(array_offset(__acc, 0) + 1.0,"
    " array_offset(__acc, 1) + (x - array_offset(__acc, 1)) / (array_offset(__acc, 0) + 1.0),"
    " array_offset(__acc, 2) + (x - array_offset(__acc, 1))"
    " * (x - (array_offset(__acc, 1) + (x - array_offset(__acc, 1)) / (array_offset(__acc, 0) + 1.0))))"
)


def fold(spec: Spec, scope: Scope, kept: Sql | None) -> Sql:
    """The SQL of an `expression` aggregator over the rows that `kept` keeps."""
    fields = {name: scope.resolve(name) for name in spec["fields"]}
    start = translate(spec["initialValue"], lambda _: NULL)
    start = cast(start, {"NULL": "STRING", "BOOLEAN": "LONG"}.get(start.type, start.type))
    step = parse(spec["fold"])
    accumulator = spec.get("accumulatorIdentifier", _ACCUMULATOR)
    _check(spec, step, start, accumulator)
    if spec.get("shouldAggregateNullInputs") is False:
        present = " AND ".join(f"{value.text} IS NOT NULL" for value in fields.values())
        kept = Sql(present if kept is None else f"({kept.text} AND {present})", "BOOLEAN")
    where = f" FILTER (WHERE {kept.text})" if kept is not None else ""
    only = next(iter(fields.values()))
    shape = _shapes().get(_normal(step, accumulator, next(iter(fields)))) if len(fields) == 1 else None
    if shape is not None and shape.takes(only, start):
        folded = shape.sql(only, where, start)
    else:
        folded = _fold_list(step, fields, where, start, accumulator)
    of_nothing = "NULL" if spec.get("isNullUnlessAggregated", True) else start.text
    result = Sql(f"(CASE WHEN count(*){where} = 0 THEN {of_nothing} ELSE {folded} END)", start.type)
    if spec.get("finalize"):
        return translate(spec["finalize"], lambda name: result if name == "o" else NULL)
    return result


def _check(spec: Spec, step: Node, start: Sql, accumulator: str) -> None:
    """Raises DruidError for folds that Druid refuses, or computes wrongly with several segments."""
    if not spec.get("combine"):
        raise DruidError(
            f"the expression aggregator '{spec['name']}' has no combine",
            hint="Druid replaces the field's name in the text of the fold, also where it is a part of other words",
        )
    if start.is_array and _is_bare(step, accumulator):
        raise DruidError(f"Invalid expression: [{accumulator}] used as both scalar and array variables")


def _is_bare(node: Node, accumulator: str) -> bool:
    """Whether an array accumulator is used where Druid expects a scalar."""
    takes_arrays = node.kind == "call" and node.value.lower().startswith(("array_", "mv_"))
    return any(
        (child.kind == "identifier" and child.value == accumulator and not takes_arrays) or _is_bare(child, accumulator)
        for child in node.children
    )


def _fold_list(step: Node, fields: Mapping[str, Sql], where: str, start: Sql, accumulator: str) -> str:
    """The fold over the list of the group's rows. Raises DruidError if the accumulator changes its type."""
    places = {name: f"f{place}" for place, name in enumerate(fields)}
    rows = ", ".join(f"{identifier(places[name])}: {value.text}" for name, value in fields.items())

    def resolve(name: str) -> Sql:
        if name == accumulator:
            return Sql("a", start.type)
        if name in places:
            return Sql(f"e.{identifier(places[name])}", fields[name].type)
        raise DruidError(f"the fold of an expression aggregator reads '{name}', which is not one of its fields")

    value = translate_node(step, resolve)
    if value.type not in ("NULL", "BOOLEAN", start.type):
        raise DruidError(f"the fold of an expression aggregator changes its type from {start.type} to {value.type}")
    value = cast(value, start.type)
    return f"list_reduce(list({{{rows}}}){where}, lambda a, e: {value.text}, {start.text})"


def _normal(node: Node, accumulator: str, field: str) -> Node:
    """The fold with the default names of its accumulator and its one field."""
    value = node.value
    if node.kind == "identifier":
        value = {accumulator: _ACCUMULATOR, field: _FIELD}.get(value, f"?{value}")
    return Node(node.kind, value, tuple(_normal(child, accumulator, field) for child in node.children))


class Shape:
    """A fold with a DuckDB aggregate: its SQL for a column, a FILTER clause and the initial accumulator, and its
    types."""

    __slots__ = ("columns", "sql", "start")

    def __init__(self, sql: Callable[[Sql, str, Sql], str], columns: tuple[str, ...], start: str) -> None:
        self.sql = sql
        self.columns = columns
        self.start = start

    def takes(self, column: Sql, start: Sql) -> bool:
        return column.type in self.columns and start.text == self.start


def _extreme(function: str) -> Shape:
    return Shape(lambda x, where, _: f"{function}({x.text}){where}", ("STRING",), as_string(NULL).text)


def _bits(function: str, neutral: int) -> Shape:
    """Null as soon as one value is null, as the operators are."""

    def build(x: Sql, where: str, _: Sql) -> str:
        return f"CASE WHEN count({x.text}){where} = count(*){where} THEN {function}({x.text}){where} END"

    return Shape(build, ("LONG",), long(neutral).text)


def _moments(x: Sql, where: str, _: Sql) -> str:
    """Count, mean and sum of squared differences from the mean."""
    value = as_double(x).text
    count = f"CAST(count(*){where} AS DOUBLE)"
    finite = f"bool_and(isfinite({value})){where}"  # of one infinity var_pop is 0
    squares = f"CASE WHEN {finite} THEN var_pop({value}){where} * {count} ELSE CAST('NaN' AS DOUBLE) END"
    moments = f"[{count}, avg({value}){where}, {squares}]"
    return f"CASE WHEN count({value}){where} = count(*){where} THEN {moments} ELSE [{count}, NULL, NULL] END"


@cache
def _shapes() -> dict[Node, Shape]:
    """The folds with a DuckDB aggregate."""
    zeros = translate("ARRAY<DOUBLE>[0.0, 0.0, 0.0]", lambda _: NULL).text
    shapes = {_WELFORD: Shape(_moments, ("LONG", "DOUBLE", "FLOAT"), zeros)}
    for sign, function in ((">", "max"), ("<", "min")):
        better = f"isnull(__acc) || (x {sign} __acc)"
        shapes[f"case_searched(isnull(x), __acc, {better}, x, __acc)"] = _extreme(function)
    for name, function, neutral in (
        ("bitwiseAnd", "bit_and", -1),
        ("bitwiseOr", "bit_or", 0),
        ("bitwiseXor", "bit_xor", 0),
    ):
        shapes[f"{name}(__acc, x)"] = shapes[f"{name}(x, __acc)"] = _bits(function, neutral)
    return {parse(text): shape for text, shape in shapes.items()}
