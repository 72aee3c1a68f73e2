"""Predicates as native filters: typed ones (`equals`, `range`, `inType`, `null`, `like`) on columns, else an expression.

Druid 32 and later evaluate filters with SQL's three truth values, so `not` means NOT.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

from hivedruid.druid.exactness import NotExact
from hivedruid.druid.expressions import (
    DruidColumn,
    DruidExpressions,
    exact_number,
    integer_bound,
    like_pattern,
)
from hivedruid.plan.rex import Call, Literal, Ref, Rex

Filter = dict[str, Any]
TRUE: Filter = {"type": "true"}
FALSE: Filter = {"type": "false"}


def to_filter(rex: Rex, columns: Mapping[str, DruidColumn], zone: str) -> Filter:
    """The native filter of a condition; NotExact where there is none."""
    return _Filters(columns, zone).filter(rex)


class _Filters:
    def __init__(self, columns: Mapping[str, DruidColumn], zone: str) -> None:
        self.expressions = DruidExpressions(columns, zone)

    def filter(self, rex: Rex) -> Filter:
        if isinstance(rex, Literal):
            if rex.value is None:
                raise NotExact("a condition that is NULL")
            return TRUE if rex.value else FALSE
        if isinstance(rex, Ref):
            return {"type": "equals", "column": self._column(rex).name, "matchValueType": "LONG", "matchValue": 1}
        if not isinstance(rex, Call):
            raise NotExact(f"{type(rex).__name__.lower()} expressions are computed outside Druid")
        if rex.op in ("and", "or"):
            fields = [self.filter(a) for a in rex.args]
            fields = _merge_ranges(fields) if rex.op == "and" else fields
            return {"type": rex.op, "fields": fields} if len(fields) > 1 else fields[0]
        if rex.op == "not":
            return {"type": "not", "field": self.filter(rex.args[0])}
        if rex.op in ("is_true", "is_false", "is_not_true", "is_not_false"):
            inner: Filter = {"type": rex.op.replace("_not", "").replace("_", ""), "field": self.filter(rex.args[0])}
            return {"type": "not", "field": inner} if "_not_" in rex.op else inner
        typed = self._typed(rex)
        return typed if typed is not None else {"type": "expression", "expression": self.expressions.text(rex)}

    def _column(self, ref: Ref) -> DruidColumn:
        return self.expressions.column(ref)

    def _typed(self, rex: Call) -> Filter | None:
        """A filter that reads an index or a column directly; None where only an expression will do."""
        if not rex.args or not isinstance(rex.args[0], Ref):
            return None
        ref = rex.args[0]
        column = self._column(ref)
        if rex.op in ("is_null", "is_not_null"):
            null: Filter = {"type": "null", "column": column.name}
            return null if rex.op == "is_null" else {"type": "not", "field": null}
        if rex.op == "like" and column.type == "STRING":
            pattern, escape = like_pattern(rex)
            like: Filter = {"type": "like", "dimension": column.name, "pattern": pattern}
            return {**like, "escape": escape} if escape else like
        if rex.op == "in":
            return self._in(rex, ref, column)
        if rex.op in ("=", "<>", "<", "<=", ">", ">=") and isinstance(rex.args[1], Literal):
            return self._compare(rex.op, ref, rex.args[1], column)
        return None

    def _compare(self, op: str, ref: Ref, literal: Literal, column: DruidColumn) -> Filter | None:
        bound = self._bound(op, ref, literal, column)
        if bound is None:
            return None
        op, value = bound
        equals: Filter = {"type": "equals", "column": column.name, "matchValueType": column.type, "matchValue": value}
        if op == "=":
            return equals
        if op == "<>":
            return {"type": "not", "field": equals}
        if isinstance(value, int) and int(float(value)) != value:
            return None  # RangeFilter takes the bounds of LONGs as doubles; an expression compares them as they are
        range_: Filter = {"type": "range", "column": column.name, "matchValueType": column.type}
        if op in (">", ">="):
            range_["lower"] = value
            return {**range_, "lowerOpen": True} if op == ">" else range_
        range_["upper"] = value
        return {**range_, "upperOpen": True} if op == "<" else range_

    def _bound(self, op: str, ref: Ref, literal: Literal, column: DruidColumn) -> tuple[str, Any] | None:
        """The comparison with a constant of the column's own Druid type; None where an expression must do it."""
        value = literal.value
        if column.type == "STRING":
            return (op, value) if isinstance(value, str) else None
        if column.type == "LONG":
            if ref.type.name == "boolean" and op not in ("=", "<>"):
                return None
            number = exact_number(literal, ref.type)
            bound = integer_bound(op, number) if number is not None else None
            return None if bound is None or isinstance(bound, bool) else bound
        if column.type == "DOUBLE" and isinstance(value, int | float | Decimal) and isfinite(value):
            if float(value) == 0 and op not in (">", "<="):
                return None  # these must hold for 0.0 and -0.0 alike, Druid's filters tell them apart
            return op, float(value) + 0.0
        return None  # FLOAT: Druid would round the constant to single precision, Hive widens the column

    def _in(self, rex: Call, ref: Ref, column: DruidColumn) -> Filter | None:
        values = []
        for item in rex.args[1:]:
            if not isinstance(item, Literal) or item.value is None:
                return None
            bound = self._bound("=", ref, item, column)
            if bound is None or bound[0] != "=":
                return None
            values.append(bound[1])
        return {"type": "inType", "column": column.name, "matchValueType": column.type, "values": sorted(set(values))}


def _merge_ranges(fields: list[Filter]) -> list[Filter]:
    """A lower and an upper bound of the same column as one range."""
    merged: list[Filter] = []
    half_open: dict[tuple[str, str], Filter] = {}
    for field in fields:
        copy = dict(field)
        place = (str(field.get("column")), str(field.get("matchValueType")))
        partner = half_open.get(place) if field["type"] == "range" else None
        if partner is not None and _complete(partner, field):
            partner.update({k: v for k, v in field.items() if k.startswith(("lower", "upper"))})
            del half_open[place]
            continue
        merged.append(copy)
        if field["type"] == "range" and ("lower" in field) != ("upper" in field):
            half_open[place] = copy
    return merged


def _complete(a: Filter, b: Filter) -> bool:
    """Whether one of two bounds is the lower, the other the upper."""
    return ("lower" in a) != ("lower" in b) and ("upper" in a) != ("upper" in b)
