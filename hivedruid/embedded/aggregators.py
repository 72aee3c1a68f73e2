"""Druid's aggregators as SQL aggregates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hivedruid.embedded.relations import TIME, Scope
from hivedruid.embedded.sql import Sql, as_double, as_float, as_long, as_string, cast
from hivedruid.errors import DruidError

_CONVERSIONS: dict[str, Callable[[Sql], Sql]] = {
    "long": as_long,
    "double": as_double,
    "float": as_float,
    "string": as_string,
}
_TYPES = {"long": "LONG", "double": "DOUBLE", "float": "FLOAT", "string": "STRING"}


class Aggregate:
    """One aggregator: its output `name`, SQL, type, and its result without rows (SQL)."""

    __slots__ = ("name", "of_nothing", "sql", "type")

    def __init__(self, name: str, sql: str, type_: str, of_nothing: str = "NULL") -> None:
        self.name = name
        self.sql = sql
        self.type = type_
        self.of_nothing = of_nothing


def aggregate(spec: Mapping[str, Any], scope: Scope, grouped_by: tuple[str, ...] | None = None) -> Aggregate:
    """An aggregator's JSON as SQL; `grouped_by` are the dimensions of the grouping set that `grouping` looks at."""
    return _aggregate(spec, scope, None, grouped_by)


def _aggregate(
    spec: Mapping[str, Any], scope: Scope, kept: Sql | None, grouped_by: tuple[str, ...] | None
) -> Aggregate:
    kind = spec.get("type", "")
    if kind == "filtered":
        from hivedruid.embedded.filters import condition

        inner = spec["aggregator"]
        holds = condition(spec["filter"], scope)
        both = holds if kept is None else Sql(f"({kept.text} AND {holds.text})", "BOOLEAN")
        result = _aggregate({**inner, "name": inner.get("name") or spec.get("name")}, scope, both, grouped_by)
        result.name = spec.get("name") or result.name
        return result
    name = spec.get("name", "")
    if kind == "count":
        return Aggregate(name, f"count(*){_filter_clause(kept)}", "LONG", "CAST(0 AS BIGINT)")
    if kind == "grouping":
        return Aggregate(name, _grouping(spec, grouped_by), "LONG")
    other = _other(kind, spec, scope, kept)
    if other is not None:
        return Aggregate(name, other.text, other.type)
    for prefix, convert in _CONVERSIONS.items():
        function = kind[len(prefix) :]
        if kind.startswith(prefix) and function in _FUNCTIONS and (prefix != "string" or function not in _NUMERIC):
            value = convert(_argument(spec, scope))
            if kept is not None and value.fails:
                value = Sql(f"(CASE WHEN {kept.text} THEN {value.text} END)", value.type)
            if prefix == "string":
                value = _cut(value, spec.get("maxStringBytes", 1024))
            sql = _FUNCTIONS[function](value, _filter_clause(kept), spec, scope)
            return Aggregate(name, sql, _TYPES[prefix])
    raise DruidError(
        f"aggregators of type '{kind}' are not supported by the embedded store",
        hint="approximate and sketch aggregators need a real Druid" if "ardinal" in kind or "nique" in kind else None,
    )


def _other(kind: str, spec: Mapping[str, Any], scope: Scope, kept: Sql | None) -> Sql | None:
    """The aggregators that are not functions of one column; None for other kinds."""
    match kind:
        case "expression":
            from hivedruid.embedded.folds import fold

            return fold(spec, scope, kept)
        case "singleValue":
            value = cast(scope.resolve(spec["fieldName"]), spec["columnType"])
            where = _filter_clause(kept)
            several = "error('Subquery expression returned more than one row')"
            return Sql(
                f"(CASE WHEN count(*){where} > 1 THEN {several} ELSE first({value.text}){where} END)", value.type
            )
        case "doubleMean":
            mean = f"avg({as_double(_argument(spec, scope)).text}){_filter_clause(kept)}"
            return Sql(f"coalesce({mean}, CAST(0 AS DOUBLE))", "DOUBLE")
    from hivedruid.embedded.sketches import SKETCHES, sketch

    return sketch(spec, scope, _filter_clause(kept)) if kind in SKETCHES else None


def _filter_clause(kept: Sql | None) -> str:
    return f" FILTER (WHERE {kept.text})" if kept is not None else ""


def _argument(spec: Mapping[str, Any], scope: Scope) -> Sql:
    if spec.get("expression") is not None:
        from hivedruid.embedded.expressions import translate

        return translate(spec["expression"], scope.resolve)
    return scope.resolve(spec["fieldName"])


def _cut(value: Sql, size: int) -> Sql:
    return Sql(
        f"(CASE WHEN strlen({value.text}) <= {size} THEN {value.text} ELSE left({value.text}, {size}) END)",
        "STRING",
        fails=value.fails,
    )


def _sum(value: Sql, kept: str, _spec: Mapping[str, Any], _scope: Scope) -> str:
    if value.type == "LONG":
        return f"druid_wrap(sum({value.text}){kept})"
    if value.type == "FLOAT":
        return f"druid_double_to_float(sum(CAST({value.text} AS DOUBLE)){kept})"
    return f"sum({value.text}){kept}"


def _simple(function: str) -> Callable[[Sql, str, Mapping[str, Any], Scope], str]:
    def build(value: Sql, kept: str, _spec: Mapping[str, Any], _scope: Scope) -> str:
        return f"{function}({value.text}){kept}"

    return build


def _least(value: Sql, kept: str, _spec: Mapping[str, Any], _scope: Scope) -> str:
    """`Math.min`: NaN is the lowest value, while DuckDB treats it as the highest."""
    if value.type not in ("DOUBLE", "FLOAT"):
        return f"min({value.text}){kept}"
    nan = f"CAST('NaN' AS {value.type})"
    return f"(CASE WHEN bool_or(isnan({value.text})){kept} THEN {nan} ELSE min({value.text}){kept} END)"


def _by_time(function: str) -> Callable[[Sql, str, Mapping[str, Any], Scope], str]:
    def build(value: Sql, kept: str, spec: Mapping[str, Any], scope: Scope) -> str:
        time = as_long(scope.resolve(spec.get("timeColumn") or TIME))
        return f"{function}({value.text}, {time.text}){kept}"

    return build


_NUMERIC = ("Sum", "Min", "Max")
_FUNCTIONS: dict[str, Callable[[Sql, str, Mapping[str, Any], Scope], str]] = {
    "Sum": _sum,
    "Min": _least,
    "Max": _simple("max"),
    "First": _by_time("arg_min_null"),
    "Last": _by_time("arg_max_null"),
    "Any": _simple("first"),
}


def _grouping(spec: Mapping[str, Any], grouped_by: tuple[str, ...] | None) -> str:
    """A bit for each listed dimension, the first the highest: 1 if the grouping set omits it."""
    bits = 0
    for dimension in spec["groupings"]:
        bits = bits * 2 + (grouped_by is not None and dimension not in grouped_by)
    return f"CAST({bits} AS BIGINT)"


def post_aggregate(spec: Mapping[str, Any], scope: Scope) -> Sql:
    """A post-aggregator over the row of one group, whose fields `scope` knows."""
    kind = spec.get("type", "")
    from hivedruid.embedded.sketches import ESTIMATES, estimate, finalized_value

    if kind in ("fieldAccess", "finalizingFieldAccess"):
        value = scope.resolve(spec["fieldName"])
        return value if kind == "fieldAccess" else finalized_value(value)
    if kind == "constant":
        value = spec["value"]
        return Sql(f"CAST({value} AS BIGINT)", "LONG") if isinstance(value, int) else as_double(_double(value))
    if kind == "expression":
        from hivedruid.embedded.expressions import translate

        result = translate(spec["expression"], lambda name: finalized_value(scope.resolve(name)))
        return cast(result, spec["outputType"]) if spec.get("outputType") else result
    if kind == "arithmetic":
        return _arithmetic(spec, scope)
    if kind == "hyperUniqueCardinality":
        return as_double(scope.resolve(spec["fieldName"]))
    if kind in ESTIMATES:
        return estimate(spec, post_aggregate(spec["field"], scope))
    raise DruidError(f"post-aggregators of type '{kind}' are not supported by the embedded store")


def _double(value: float) -> Sql:
    return Sql(f"CAST('{value!r}' AS DOUBLE)", "DOUBLE")


def _arithmetic(spec: Mapping[str, Any], scope: Scope) -> Sql:
    """Left to right over doubles; x / 0 is 0 (`quotient` follows floating point rules); null if an operand is null."""
    fields = [as_double(post_aggregate(field, scope)) for field in spec["fields"]]
    operator = spec["fn"]
    if operator not in ("+", "-", "*", "/", "quotient", "pow"):
        raise DruidError(f"arithmetic post-aggregator: unknown fn '{operator}'")
    result = fields[0].text
    for field in fields[1:]:
        if operator == "/":
            result = f"(CASE WHEN {field.text} = 0 AND {result} IS NOT NULL THEN 0.0 ELSE {result} / {field.text} END)"
        elif operator == "pow":
            result = f"pow({result}, {field.text})"
        else:
            result = f"({result} {'/' if operator == 'quotient' else operator} {field.text})"
    return Sql(f"CAST({result} AS DOUBLE)", "DOUBLE")
