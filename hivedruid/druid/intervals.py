"""Converts predicates on `__time` to intervals.

`__time` is never null, so NOT is the complement. A comparison of a function of the time with a constant is inverted:
first the function values that satisfy it, then the times that produce them (`_Calendar.below`).
"""

from __future__ import annotations

from datetime import UTC
from decimal import Decimal
from math import ceil, floor

from hivedruid.druid import calendar_parts
from hivedruid.druid.interval_sets import (
    ALL,
    MAX,
    MIN,
    NONE,
    IntervalSet,
    complement,
    intersection,
    iso,
    to_json,
    union,
)
from hivedruid.druid.preimages import below, constant_of
from hivedruid.plan import literals
from hivedruid.plan.rex import Call, Literal, Ref, Rex, refs

__all__ = [
    "ALL",
    "MAX",
    "MIN",
    "NONE",
    "IntervalSet",
    "complement",
    "intersection",
    "iso",
    "of_conjuncts",
    "of_predicate",
    "to_json",
    "union",
]

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def of_conjuncts(terms: list[Rex], time_id: str, zone: str) -> tuple[IntervalSet, list[Rex]]:
    """The times that satisfy all terms, and the terms that must be checked per row. Recurring conditions (`month(t) IN
    (4, 6)`) also become intervals if another term bounds the time.
    """
    span, rest = ALL, []
    for term in terms:
        times = of_predicate(term, time_id, zone)
        if times is None:
            rest.append(term)
        else:
            span = intersection(span, times)
    if span == ALL:
        return span, rest
    unknown = []
    for term in sorted(rest, key=calendar_parts.coarseness):
        times = calendar_parts.within(span, term, time_id, zone) if refs(term) == {time_id} else None
        if times is None:
            unknown.append(term)
        else:
            span = times
    return span, [term for term in rest if term in unknown]


def of_predicate(rex: Rex, time_id: str, zone: str) -> IntervalSet | None:
    """The times for which a predicate holds, or None if it is not a condition on `__time` alone that intervals can
    express."""
    if isinstance(rex, Literal):
        return None if rex.value is None else ALL if rex.value else NONE
    if not isinstance(rex, Call):
        return None
    if rex.op == "and":
        span, rest = of_conjuncts(list(rex.args), time_id, zone)
        return None if rest else span
    if rex.op == "or":
        sets = [of_predicate(a, time_id, zone) for a in rex.args]
        known = [s for s in sets if s is not None]
        return union(known) if len(known) == len(sets) else None
    if rex.op in ("not", "is_true", "is_false", "is_not_true", "is_not_false"):
        inner = of_predicate(rex.args[0], time_id, zone)
        return inner if inner is None or rex.op in ("is_true", "is_not_false") else complement(inner)
    if rex.op in ("is_null", "is_not_null"):
        return (NONE if rex.op == "is_null" else ALL) if rex.args[0] == Ref(rex.args[0].type, time_id) else None
    if rex.op == "in":
        sets = [_comparison("=", rex.args[0], item, time_id, zone) for item in rex.args[1:]]
        return None if any(s is None for s in sets) else union([s for s in sets if s is not None])
    if rex.op in ("=", "<>", "<", "<=", ">", ">=", "<=>"):
        return _comparison("=" if rex.op == "<=>" else rex.op, rex.args[0], rex.args[1], time_id, zone)
    return None


def _comparison(op: str, left: Rex, right: Rex, time_id: str, zone: str) -> IntervalSet | None:
    if not isinstance(right, Literal) or right.value is None or refs(left) != {time_id}:
        return None
    if op == "<>":
        equal = _comparison("=", left, right, time_id, zone)
        return None if equal is None else complement(equal)
    try:
        if isinstance(left, Call) and left.op == "datediff" and isinstance(left.args[0], Literal):
            return _days_until(op, left, right, time_id, zone)
        constant = constant_of(op, left, right)
        if constant is None:
            return None
        op, left, number = constant
        edges = _edges(op, number)
        if edges is None:
            return NONE
        start, end = (_below(left, edge, time_id, zone) for edge in edges)
    except (OverflowError, ValueError):
        return None
    return None if start is None or end is None else intersection(complement(start), end)


def _edges(op: str, number: Decimal) -> tuple[int, int] | None:
    """The half-open range of integers that satisfy the comparison with the constant; None if there is none."""
    if op == "=":
        return (int(number), int(number) + 1) if number == number.to_integral_value() else None
    return {
        "<": (MIN, ceil(number)),
        "<=": (MIN, floor(number) + 1),
        ">": (floor(number) + 1, MAX),
        ">=": (ceil(number), MAX),
    }[op]


def _below(rex: Rex, edge: int, time_id: str, zone: str) -> IntervalSet | None:
    """The times at which an expression is less than `edge`."""
    if edge in (MIN, MAX):
        return NONE if edge == MIN else ALL
    if isinstance(rex, Ref):
        return ((MIN, edge),) if rex.id == time_id else None
    step = below(rex, edge, literals.zone_of(zone), literals.zone_of(zone) is UTC) if isinstance(rex, Call) else None
    if step is None:
        return None
    inner, values = step
    pulled = []
    for start, end in values:
        before, until = _below(inner, start, time_id, zone), _below(inner, end, time_id, zone)
        if before is None or until is None:
            return None
        pulled.append(intersection(complement(before), until))
    return union(pulled)


def _days_until(op: str, left: Call, right: Literal, time_id: str, zone: str) -> IntervalSet | None:
    """datediff(constant, t) decreases as t increases."""
    if not isinstance(right.value, int):
        return None
    flipped = Call(left.type, "datediff", (left.args[1], left.args[0]))
    return _comparison(FLIPPED.get(op, op), flipped, Literal(right.type, -right.value), time_id, zone)
