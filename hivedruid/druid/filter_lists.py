"""Merges fields of an `and` or `or` filter: bounds to a range, equalities to a list."""

from __future__ import annotations

from collections.abc import Iterable
from math import copysign
from typing import Any

Filter = dict[str, Any]


def distinct(values: Iterable[Any]) -> list[Any]:
    """The values in order, without repetition; -0.0 and 0.0 are two values, as in Druid."""
    return sorted(
        {repr(v): v for v in values}.values(), key=lambda v: (v, copysign(1, v)) if isinstance(v, float) else (v,)
    )


def merged(op: str, fields: list[Filter]) -> list[Filter]:
    """The same condition with fewer fields; a merged field replaces the first of its parts."""
    fields = _flattened(op, fields)
    if op == "and":
        return _merge_lists(_merge_ranges(fields), negated=True)
    return _merge_lists(fields, negated=False)


def _flattened(op: str, fields: list[Filter]) -> list[Filter]:
    """The fields without nesting and repetition."""
    parts = [part for field in fields for part in (field["fields"] if field["type"] == op else [field])]
    if len(parts) < 2:
        return parts
    distinct: dict[str, Filter] = {}
    for part in parts:
        distinct.setdefault(repr(part), part)
    return list(distinct.values())


def _merge_lists(fields: list[Filter], *, negated: bool) -> list[Filter]:
    """`x = a OR x IN (b, c)` is `x IN (a, b, c)`, and `x <> a AND x <> b` is `NOT x IN (a, b)`, also for a null x."""
    lists: dict[tuple[str, str], list[Any]] = {}
    for field in fields:
        listed = _listed(field, negated=negated)
        if listed is not None:
            lists.setdefault(listed[0], []).extend(listed[1])
    result: list[Filter] = []
    for field in fields:
        listed = _listed(field, negated=negated)
        if listed is None:
            result.append(field)
            continue
        column, type_ = listed[0]
        values = lists.pop(listed[0], None)
        if values is None:
            continue
        if values == listed[1]:
            result.append(field)
            continue
        one: Filter = {"type": "inType", "column": column, "matchValueType": type_, "values": distinct(values)}
        result.append({"type": "not", "field": one} if negated else one)
    return result


def _listed(field: Filter, *, negated: bool) -> tuple[tuple[str, str], list[Any]] | None:
    """Column, type and values of an `equals` or `inType`, or of the negation of one."""
    if negated:
        return _listed(field["field"], negated=False) if field["type"] == "not" else None
    if field["type"] == "equals":
        return (field["column"], field["matchValueType"]), [field["matchValue"]]
    return ((field["column"], field["matchValueType"]), field["values"]) if field["type"] == "inType" else None


def _merge_ranges(fields: list[Filter]) -> list[Filter]:
    """A lower and an upper bound of the same column as one range."""
    result: list[Filter] = []
    half_open: dict[tuple[str, str], Filter] = {}
    for field in fields:
        copy = dict(field)
        place = (str(field.get("column")), str(field.get("matchValueType")))
        partner = half_open.get(place) if field["type"] == "range" else None
        if partner is not None and _complete(partner, field):
            partner.update({k: v for k, v in field.items() if k.startswith(("lower", "upper"))})
            del half_open[place]
            continue
        result.append(copy)
        if field["type"] == "range" and ("lower" in field) != ("upper" in field):
            half_open[place] = copy
    return result


def _complete(a: Filter, b: Filter) -> bool:
    """Whether one of two bounds is the lower, the other the upper."""
    return ("lower" in a) != ("lower" in b) and ("upper" in a) != ("upper" in b)
