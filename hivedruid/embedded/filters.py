"""Druid's filters as three-valued SQL conditions.

A row is kept if its filter is true; `not` turns false into true and keeps unknown (null). Whether a filter is unknown
or false on null follows the behavior of Druid 33 on segments, for each filter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from hivedruid.embedded import intervals as time
from hivedruid.embedded.matching import (
    bound_of_null,
    bound_side,
    compare,
    matching,
    never,
    number_of,
    range_bound,
    text_equals_number,
    text_of,
)
from hivedruid.embedded.relations import Relation, Scope
from hivedruid.embedded.sql import Sql, all_of, any_of, as_condition, as_double, as_long, as_string, combine, string
from hivedruid.errors import DruidError

Filter = Mapping[str, Any]


def condition(spec: Filter, scope: Scope) -> Sql:
    """A filter as SQL. Raises DruidError for a filter that is not supported."""
    build = _FILTERS.get(spec.get("type", ""))
    if build is None:
        raise DruidError(f"filters of type '{spec.get('type')}' are not supported by the embedded store")
    return build(spec, scope)


def _column(spec: Filter, scope: Scope, key: str = "dimension") -> Sql:
    if spec.get("extractionFn"):
        raise DruidError("extraction functions are not supported by the embedded store")
    name = spec[key]
    return scope.resolve(name["dimension"] if isinstance(name, Mapping) else name)


def _each(column: Sql, predicate: Callable[[Sql], Sql]) -> Sql:
    """The predicate on a value, or on any value of a multi-value column (unknown if only nulls could match)."""
    if not column.is_array:
        return predicate(column)
    of_null = predicate(Sql("CAST(NULL AS VARCHAR)", "STRING")).text
    matches = f"list_transform({column.text}, lambda e: {predicate(Sql('e', 'STRING')).text})"
    unknown = f"list_count({matches}) < len({column.text}) THEN NULL"
    text = f"(CASE WHEN {column.text} IS NULL OR len({column.text}) = 0 THEN {of_null}"
    return combine(
        f"{text} WHEN list_contains({matches}, TRUE) THEN TRUE WHEN {unknown} ELSE FALSE END)", "BOOLEAN", column
    )


def _equal(column: Sql, match_type: str, value: Any) -> Sql:
    constant_ = matching(column, match_type, value)
    if constant_ is None:
        return never(column)

    def predicate(element: Sql) -> Sql:
        if constant_.type == "NUMBER":
            return text_equals_number(element, constant_)
        if element.type == "BOOLEAN":
            element = as_long(element)
        return compare(element, "=", constant_)

    return _each(column, predicate)


def _equals(spec: Filter, scope: Scope) -> Sql:
    column = _column(spec, scope, "column")
    if spec.get("matchValue") is None:
        raise DruidError("Invalid equality filter on column, matchValue cannot be null")
    match_type = spec.get("matchValueType", "STRING")
    if match_type.startswith("ARRAY"):
        raise DruidError("equality with an array is not supported by the embedded store")
    return _equal(column, match_type, spec["matchValue"])


def _range(spec: Filter, scope: Scope) -> Sql:
    column = _column(spec, scope, "column")
    numeric = spec.get("matchValueType", "STRING") in ("LONG", "DOUBLE", "FLOAT")
    bounds = []
    for key, plain, strict in (("lower", ">=", ">"), ("upper", "<=", "<")):
        value = spec.get(key)
        if value is not None:
            bounds.append((strict if spec.get(f"{key}Open") else plain, value))
    if not bounds:
        raise DruidError("Invalid range filter on column, lower and upper cannot both be null")

    def predicate(element: Sql) -> Sql:
        return all_of([range_bound(element, operator, value, numeric) for operator, value in bounds])

    return _each(column, predicate)


def _null(spec: Filter, scope: Scope) -> Sql:
    return _is_null(_column(spec, scope, "column"))


def _is_null(column: Sql) -> Sql:
    if column.is_array:
        empty = f"len({column.text}) = 0 OR list_count({column.text}) < len({column.text})"
        return combine(f"({column.text} IS NULL OR {empty})", "BOOLEAN", column)
    return combine(f"({column.text} IS NULL)", "BOOLEAN", column)


def _selector(spec: Filter, scope: Scope) -> Sql:
    column = _column(spec, scope)
    value = spec.get("value")
    if value is None or (column.is_numeric and number_of(value) is None):
        return _is_null(column)  # on a numeric column Druid treats text that is not a number as null
    if column.type in ("STRING", "NULL") or column.is_array:
        return _each(column, lambda element: compare(as_string(element), "=", string(text_of(value, "STRING"))))
    return _equal(column, "DOUBLE" if isinstance(value, float) else "STRING", value)


def _in(spec: Filter, scope: Scope) -> Sql:
    return _one_of(_column(spec, scope), "STRING", spec["values"])


def _in_type(spec: Filter, scope: Scope) -> Sql:
    values = spec.get("sortedValues")
    return _one_of(_column(spec, scope, "column"), spec["matchValueType"], spec["values"] if values is None else values)


def _one_of(column: Sql, match_type: str, values: list[Any]) -> Sql:
    if not values:
        return Sql("FALSE", "BOOLEAN")
    with_null = any(value is None for value in values)
    by_number = match_type in ("DOUBLE", "FLOAT") and not column.is_numeric
    as_type = match_type if by_number or column.is_numeric else "STRING"
    if match_type in ("DOUBLE", "FLOAT") and column.type == "LONG":  # Druid casts such values: 7.5 is 7 here
        values = [int(value) if isinstance(value, float) and math.isfinite(value) else value for value in values]
    constants = [matching(column, as_type, value) for value in values if value is not None]
    listed = ", ".join(item.text for item in constants if item is not None)

    def predicate(element: Sql) -> Sql:
        tested = as_long(element) if element.type == "BOOLEAN" else as_double(element) if by_number else element
        found = f"{tested.text} IN ({listed})" if listed else never(tested).text
        if by_number:
            found = f"CASE WHEN {element.text} IS NOT NULL THEN coalesce({found}, FALSE) END"
        return combine(f"({element.text} IS NULL OR {found})" if with_null else f"({found})", "BOOLEAN", element)

    return _each(as_string(column) if column.type == "NULL" else column, predicate)


def _bound(spec: Filter, scope: Scope) -> Sql:
    column = _column(spec, scope)
    ordering = spec.get("ordering", "lexicographic")
    ordering = ordering["type"] if isinstance(ordering, Mapping) else ordering
    if ordering not in ("lexicographic", "numeric"):
        raise DruidError(f"bound filters ordered '{ordering}' are not supported by the embedded store")
    bounds = []
    for key, plain, strict in (("lower", ">=", ">"), ("upper", "<=", "<")):
        if spec.get(key) is not None:
            bounds.append((strict if spec.get(f"{key}Strict") else plain, str(spec[key])))
    numeric = ordering == "numeric"

    def predicate(element: Sql) -> Sql:
        holds = all_of([bound_side(element, operator, value, numeric) for operator, value in bounds])
        if element.is_numeric:
            return holds
        of_null = bound_of_null(bounds, numeric, missing=element.type == "NULL")
        text = f"(CASE WHEN {element.text} IS NULL THEN {of_null} ELSE {holds.text} END)"
        return combine(text, "BOOLEAN", element)

    return _each(column, predicate)


def _like(spec: Filter, scope: Scope) -> Sql:
    from hivedruid.embedded.string_functions import like

    return _each(_column(spec, scope), lambda element: like(element, spec["pattern"], spec.get("escape")))


def _regex(spec: Filter, scope: Scope) -> Sql:
    from hivedruid.embedded.string_functions import java_regex

    pattern = java_regex(spec["pattern"])

    def predicate(element: Sql) -> Sql:
        return combine(f"regexp_matches({as_string(element).text}, {pattern})", "BOOLEAN", element)

    return _each(_column(spec, scope), predicate)


def _search(spec: Filter, scope: Scope) -> Sql:
    query = spec["query"]
    kind = query.get("type")
    if kind not in ("contains", "insensitive_contains", "fragment"):
        raise DruidError(f"search queries of type '{kind}' are not supported by the embedded store")
    sensitive = query.get("caseSensitive", query.get("case_sensitive", False)) and kind != "insensitive_contains"
    values = query["values"] if kind == "fragment" else [query["value"]]

    def predicate(element: Sql) -> Sql:
        text = as_string(element).text
        haystack = text if sensitive else f"druid_lower({text})"
        needles = [string(value if sensitive else value.lower()).text for value in values]
        found = " AND ".join(f"contains({haystack}, {needle})" for needle in needles)
        return combine(f"({found})", "BOOLEAN", element)

    return _each(_column(spec, scope), predicate)


def _column_comparison(spec: Filter, scope: Scope) -> Sql:
    """Equal as text, null like null: never unknown."""
    columns = [_column({"dimension": name}, scope) for name in spec["dimensions"]]
    if any(column.is_array for column in columns):
        raise DruidError("columnComparison on multi-value columns is not supported by the embedded store")
    first, *rest = [as_string(column) for column in columns]
    return all_of([Sql(f"({first.text} IS NOT DISTINCT FROM {other.text})", "BOOLEAN") for other in rest])


def _interval(spec: Filter, scope: Scope) -> Sql:
    column = _column(spec, scope)
    value = as_long(column)
    text = time.condition(value.text, time.parse_intervals(spec["intervals"])) or f"({value.text} IS NOT NULL)"
    if column.type in ("STRING", "NULL"):
        text = f"coalesce({text}, FALSE)"
    return combine(text, "BOOLEAN", value)


def _expression(spec: Filter, scope: Scope) -> Sql:
    from hivedruid.embedded.expressions import translate

    return as_condition(translate(spec["expression"], scope.resolve))


def _fields(spec: Filter, scope: Scope) -> list[Sql]:
    fields = spec.get("fields") or []
    if not fields:
        raise DruidError(f"{spec['type'].upper()} operator requires at least one field")
    return [condition(field, scope) for field in fields]


def _not(spec: Filter, scope: Scope) -> Sql:
    inner = condition(spec["field"], scope)
    return combine(f"(NOT {inner.text})", "BOOLEAN", inner)


def _truth(test: str) -> Callable[[Filter, Scope], Sql]:
    def build(spec: Filter, scope: Scope) -> Sql:
        inner = condition(spec["field"], scope)
        return combine(f"({inner.text} IS {test})", "BOOLEAN", inner)

    return build


def _array_contains(spec: Filter, scope: Scope) -> Sql:
    return _equal(
        _column(spec, scope, "column"), spec.get("elementMatchValueType", "STRING"), spec["elementMatchValue"]
    )


_FILTERS: dict[str, Callable[[Filter, Scope], Sql]] = {
    "and": lambda spec, scope: all_of(_fields(spec, scope)),
    "or": lambda spec, scope: any_of(_fields(spec, scope)),
    "not": _not,
    "true": lambda *_: Sql("TRUE", "BOOLEAN"),
    "false": lambda *_: Sql("FALSE", "BOOLEAN"),
    "istrue": _truth("TRUE"),
    "isfalse": _truth("FALSE"),
    "equals": _equals,
    "range": _range,
    "null": _null,
    "selector": _selector,
    "in": _in,
    "inType": _in_type,
    "bound": _bound,
    "like": _like,
    "regex": _regex,
    "search": _search,
    "columnComparison": _column_comparison,
    "interval": _interval,
    "expression": _expression,
    "arrayContainsElement": _array_contains,
}


def filtered(rows: Relation, spec: Mapping[str, Any]) -> Relation:
    """The rows that a filter keeps."""
    kept = condition(spec, Scope(rows.columns))
    sql = f"SELECT * FROM ({rows.sql}) AS f WHERE {kept.text}"
    return Relation(sql, rows.columns, rows.spans, is_in_time=rows.is_in_time)
