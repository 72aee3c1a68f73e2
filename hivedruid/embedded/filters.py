"""Druid's filters as three-valued SQL conditions.

A row is kept where its filter is true; `not` turns false into true and leaves unknown (null) alone. Which filters are
unknown on null and which are false follows what Druid 33 answers on segments, filter by filter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from hivedruid.embedded import intervals as time
from hivedruid.embedded.expressions import translate
from hivedruid.embedded.relations import Scope
from hivedruid.embedded.sql import (
    LONG_MAX,
    LONG_MIN,
    Sql,
    all_of,
    any_of,
    as_condition,
    as_double,
    as_float,
    as_long,
    as_string,
    combine,
    constant,
    double,
    java_double,
    long,
    string,
)
from hivedruid.embedded.string_functions import java_regex, like
from hivedruid.errors import DruidError

Filter = Mapping[str, Any]
UNKNOWN = Sql("CAST(NULL AS BOOLEAN)", "BOOLEAN")


def condition(spec: Filter | None, scope: Scope) -> Sql | None:
    """A filter as SQL; None for no filter. Raises DruidError for a filter that is not supported."""
    if spec is None:
        return None
    build = _FILTERS.get(spec.get("type", ""))
    if build is None:
        raise DruidError(f"filters of type '{spec.get('type')}' are not supported by the embedded store")
    return build(spec, scope)


def _required(spec: Filter, scope: Scope) -> Sql:
    result = condition(spec, scope)
    return UNKNOWN if result is None else result


def _column(spec: Filter, scope: Scope, key: str = "dimension") -> Sql:
    if spec.get("extractionFn"):
        raise DruidError("extraction functions are not supported by the embedded store")
    name = spec[key]
    return scope.resolve(name["dimension"] if isinstance(name, Mapping) else name)


def _each(column: Sql, predicate: Callable[[Sql], Sql]) -> Sql:
    """The predicate on a value, or on any value of a multi-value column (unknown where only nulls could match)."""
    if not column.is_array:
        return predicate(column)
    of_null = predicate(Sql("CAST(NULL AS VARCHAR)", "STRING")).text
    matches = f"list_transform({column.text}, lambda e: {predicate(Sql('e', 'STRING')).text})"
    unknown = f"list_count({matches}) < len({column.text}) THEN NULL"
    text = f"(CASE WHEN {column.text} IS NULL OR len({column.text}) = 0 THEN {of_null}"
    return combine(f"{text} WHEN list_contains({matches}, TRUE) THEN TRUE WHEN {unknown} ELSE FALSE END)",
                   "BOOLEAN", column)  # fmt: skip


def _never(column: Sql) -> Sql:
    """False on every value, unknown on null."""
    return combine(f"(CASE WHEN {column.text} IS NOT NULL THEN FALSE END)", "BOOLEAN", column)


def _compare(column: Sql, operator: str, value: Sql) -> Sql:
    return combine(f"({column.text} {operator} {value.text})", "BOOLEAN", column)


def _number(value: Any) -> int | float | None:
    """A JSON match value as a number, or None where it is none."""
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, float):
        return value
    try:
        return int(str(value))
    except ValueError:
        try:
            return float(str(value))
        except ValueError:
            return None


def _text(value: Any, match_type: str) -> str:
    """A match value as Druid writes it as a string: DOUBLE 7 is '7.0'."""
    if match_type in ("DOUBLE", "FLOAT") or (isinstance(value, float)):
        number = _number(value)
        return java_double(float(number)) if number is not None else str(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def _matching(column: Sql, match_type: str, value: Any) -> Sql | None:
    """The constant that a typed match value is in the column's own type; None where nothing can equal it."""
    if column.type in ("STRING", "NULL") or column.is_array:
        if match_type in ("DOUBLE", "FLOAT", "LONG") and _number(value) is not None:
            return _number_as_text(_number(value))
        return string(_text(value, match_type))
    number = _number(value)
    if number is None:
        return None
    if column.type in ("LONG", "BOOLEAN"):
        if isinstance(number, float):
            if not number.is_integer():
                return None
            number = int(number)
        return long(number) if LONG_MIN <= number <= LONG_MAX else None
    return as_float(double(float(number))) if column.type == "FLOAT" else double(float(number))


def _number_as_text(number: int | float | None) -> Sql:
    # A marker: a string column is compared with a number by value, '7' and '7.0' both equal 7.
    value = constant(number)
    value.type = "NUMBER"
    return value


def _equal(column: Sql, match_type: str, value: Any) -> Sql:
    constant_ = _matching(column, match_type, value)
    if constant_ is None:
        return _never(column)

    def predicate(element: Sql) -> Sql:
        if constant_.type == "NUMBER":
            return _text_equals_number(element, constant_)
        if element.type == "BOOLEAN":
            element = as_long(element)
        return _compare(element, "=", constant_)

    return _each(column, predicate)


def _text_equals_number(element: Sql, number: Sql) -> Sql:
    value = as_double(as_string(element)).text
    text = f"(CASE WHEN {element.text} IS NOT NULL THEN coalesce({value} = {number.text}, FALSE) END)"
    return combine(text, "BOOLEAN", element)


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
        return all_of([_range_bound(element, operator, value, numeric) for operator, value in bounds])

    return _each(column, predicate)


def _range_bound(element: Sql, operator: str, value: Any, numeric: bool) -> Sql:
    if not numeric:
        return _compare(as_string(element), operator, string(str(value)))
    number = _number(value)
    if number is None:
        raise DruidError(f"range filter: '{value}' is not a number")
    if element.type in ("LONG", "BOOLEAN") and (isinstance(number, int) or math.isfinite(number)):
        return _long_bound(as_long(element), operator, number)
    if element.type != "STRING":
        return _compare(as_double(element), operator, double(float(number)))
    text = f"(CASE WHEN {element.text} IS NOT NULL THEN {_text_bound(element, operator, number)} END)"
    return combine(text, "BOOLEAN", element)


def _text_bound(element: Sql, operator: str, number: float) -> str:
    """A text compared as a number; one that is no number is below all numbers."""
    value = f"druid_comparable_number({element.text})"
    return f"coalesce({value} {operator} {double(float(number)).text}, {str(operator[0] == '<').upper()})"


def _long_bound(element: Sql, operator: str, number: int | float) -> Sql:
    """A bound on a LONG column, exact: 9.5 from above is `<= 9`."""
    if isinstance(number, float):
        if not number.is_integer():
            operator, number = (">=", math.ceil(number)) if operator[0] == ">" else ("<=", math.floor(number))
        number = int(number)
    if LONG_MIN <= number <= LONG_MAX:
        return _compare(element, operator, long(number))
    holds = (operator[0] == ">") == (number < LONG_MIN)
    return combine(f"(CASE WHEN {element.text} IS NOT NULL THEN {str(holds).upper()} END)", "BOOLEAN", element)


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
    if value is None or (column.is_numeric and _number(value) is None):
        return _is_null(column)  # on a numeric column Druid takes a text that is no number for null
    if column.type in ("STRING", "NULL") or column.is_array:
        return _each(column, lambda element: _compare(as_string(element), "=", string(_text(value, "STRING"))))
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
    matching = [_matching(column, as_type, value) for value in values if value is not None]
    listed = ", ".join(item.text for item in matching if item is not None)

    def predicate(element: Sql) -> Sql:
        tested = as_long(element) if element.type == "BOOLEAN" else as_double(element) if by_number else element
        found = f"{tested.text} IN ({listed})" if listed else _never(tested).text
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
        holds = all_of([_bound_side(element, operator, value, numeric) for operator, value in bounds])
        if element.is_numeric:
            return holds
        of_null = _bound_of_null(bounds, numeric, missing=element.type == "NULL")
        text = f"(CASE WHEN {element.text} IS NULL THEN {of_null} ELSE {holds.text} END)"
        return combine(text, "BOOLEAN", element)

    return _each(column, predicate)


def _bound_of_null(bounds: list[tuple[str, str]], numeric: bool, missing: bool) -> str:
    """Null strings are below everything: within an upper bound, outside a lower one (unknown, where it is by text)."""
    if not any(operator[0] == ">" for operator, _ in bounds):
        return "TRUE"
    return "FALSE" if numeric or missing else "NULL"


def _bound_side(element: Sql, operator: str, value: str, numeric: bool) -> Sql:
    if not numeric:
        return _compare(as_string(element), operator, string(value))
    number = _number(value)
    below = operator[0] == "<"
    if number is None:  # a text that is no number is below all numbers
        holds = "FALSE" if below else "TRUE"
        return combine(f"(CASE WHEN {element.text} IS NOT NULL THEN {holds} END)", "BOOLEAN", element)
    if element.type in ("LONG", "BOOLEAN"):
        return _long_bound(as_long(element), operator, number)
    if element.type == "STRING":
        return combine(f"({_text_bound(element, operator, number)})", "BOOLEAN", element)
    return _compare(as_double(element), operator, double(float(number)))


def _like(spec: Filter, scope: Scope) -> Sql:
    return _each(_column(spec, scope), lambda element: like(element, spec["pattern"], spec.get("escape")))


def _regex(spec: Filter, scope: Scope) -> Sql:
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
    return as_condition(translate(spec["expression"], scope.resolve))


def _fields(spec: Filter, scope: Scope) -> list[Sql]:
    fields = spec.get("fields") or []
    if not fields:
        raise DruidError(f"{spec['type'].upper()} operator requires at least one field")
    return [_required(field, scope) for field in fields]


def _not(spec: Filter, scope: Scope) -> Sql:
    inner = _required(spec["field"], scope)
    return combine(f"(NOT {inner.text})", "BOOLEAN", inner)


def _truth(test: str) -> Callable[[Filter, Scope], Sql]:
    def build(spec: Filter, scope: Scope) -> Sql:
        inner = _required(spec["field"], scope)
        return combine(f"({inner.text} IS {test})", "BOOLEAN", inner)

    return build


def _array_contains(spec: Filter, scope: Scope) -> Sql:
    return _equal(_column(spec, scope, "column"), spec.get("elementMatchValueType", "STRING"), spec["elementMatchValue"])


_FILTERS: dict[str, Callable[[Filter, Scope], Sql]] = {
    "and": lambda spec, scope: all_of(_fields(spec, scope)),
    "or": lambda spec, scope: any_of(_fields(spec, scope)),
    "not": _not,
    "true": lambda spec, scope: Sql("TRUE", "BOOLEAN"),
    "false": lambda spec, scope: Sql("FALSE", "BOOLEAN"),
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
