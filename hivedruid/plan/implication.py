"""Implication between conditions, based on the values that comparisons with constants allow."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from operator import itemgetter
from typing import Any

from hivedruid.catalog.types import HiveType
from hivedruid.druid import intervals
from hivedruid.plan.rex import Call, Literal, Ref, Rex, walk

Cut = tuple[Any, ...]
"""A cut between values: LOW, HIGH, before a value (1, v, 0) or after it (1, v, 1)."""
Values = tuple[tuple[Cut, Cut], ...]
"""Ranges between cuts, sorted, neither overlapping nor touching."""

LOW: Cut = (0,)
HIGH: Cut = (2,)
ALL: Values = ((LOW, HIGH),)


def union(sets: Iterable[Values]) -> Values:
    merged: list[tuple[Cut, Cut]] = []
    for low, high in sorted(span for values in sets for span in values):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        elif low < high:
            merged.append((low, high))
    return tuple(merged)


def intersection(*sets: Values) -> Values:
    return complement(union(map(complement, sets)))


def complement(values: Values) -> Values:
    edges = [LOW, *(edge for span in values for edge in span), HIGH]
    return tuple((low, high) for low, high in zip(edges[::2], edges[1::2], strict=True) if low < high)


def within(inner: Values, outer: Values) -> bool:
    def is_within(low: Cut, high: Cut) -> bool:
        place = bisect_right(outer, low, key=itemgetter(0)) - 1
        return place >= 0 and high <= outer[place][1]

    return all(is_within(low, high) for low, high in inner)


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>", "<=>": "<=>"}
_COMMUTATIVE = frozenset({"and", "or", "=", "<>", "<=>", "+", "*"})


def normal(rex: Rex) -> Rex:
    """The normal form of a condition: constants right of a comparison, operands in a fixed order."""
    if not isinstance(rex, Call):
        return rex
    args = [normal(a) for a in rex.args]
    op = rex.op
    if (op in _FLIPPED and isinstance(args[0], Literal) and not isinstance(args[1], Literal)) or (
        op in (">", ">=") and not isinstance(args[1], Literal)
    ):
        args, op = args[::-1], _FLIPPED[op]
    elif op in _COMMUTATIVE and not any(isinstance(a, Literal) for a in args):
        args.sort(key=repr)
    return Call(rex.type, op, tuple(args))


def values_of(term: Rex, times: frozenset[str], zone: str) -> tuple[Rex, Values] | None:
    """The expression of a condition, and the values for which it is true; None if it is not of that form.

    It is not true for NULL. `times` are the columns whose values are whole milliseconds and never null.
    """
    if not isinstance(term, Call) or (term.args and term.args[0].type.name == "char"):
        return None
    allowed = _time_values(term, times, zone)
    if allowed is not None:
        return allowed
    if term.op in ("and", "or"):
        parts = [values_of(a, times, zone) for a in term.args]
        first = parts[0]
        if first is None or any(p is None or p[0] != first[0] for p in parts):
            return None
        sets = [p[1] for p in parts if p is not None]
        try:
            return first[0], union(sets) if term.op == "or" else intersection(*sets)
        except TypeError:
            return None
    if term.op == "is_not_null":
        return term.args[0], ALL
    if term.op == "not":
        inner = values_of(term.args[0], times, zone)
        return None if inner is None or _holds_for_null(term.args[0]) else (inner[0], complement(inner[1]))
    if term.op == "in":
        points = [_compared("=", item, term.args[0].type) for item in term.args[1:]]
        if any(p is None for p in points):
            return None
        try:
            return term.args[0], union([p for p in points if p is not None])
        except TypeError:
            return None
    if term.op in _FLIPPED and term.op != "<=>":
        values = _compared(term.op, term.args[1], term.args[0].type)
        return None if values is None else (term.args[0], values)
    return None


def _holds_for_null(rex: Rex) -> bool:
    """Whether its negation may be true for NULL: IS NULL tests never return NULL."""
    if not isinstance(rex, Call):
        return False
    return rex.op in ("is_null", "is_not_null", "<=>") or any(_holds_for_null(a) for a in rex.args)


def _time_values(term: Call, times: frozenset[str], zone: str) -> tuple[Rex, Values] | None:
    """A condition on a Druid table's `__time`, in milliseconds."""
    used = {node for node in walk(term) if isinstance(node, Ref) and node.id in times}
    if len(used) != 1:
        return None
    (time,) = used
    spans = intervals.of_predicate(term, time.id, zone)
    if spans is None:
        return None
    return time, tuple((_edge(start), _edge(end)) for start, end in spans)


def _edge(millis: int) -> Cut:
    return LOW if millis == intervals.MIN else HIGH if millis == intervals.MAX else (1, millis, 0)


def _compared(op: str, literal: Rex, subject: HiveType) -> Values | None:
    if not isinstance(literal, Literal):
        return None
    value = literal.value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str | date | datetime):
        return None
    if value != value:  # noqa: PLR0124 - NaN, which Hive orders otherwise
        return None
    key: Any = value.encode() if isinstance(value, str) else value
    before, behind = (1, key, 0), (1, key, 1)
    if subject.is_integer and isinstance(value, int):  # integers are discrete
        before, behind = (1, value, 0), (1, value + 1, 0)
    spans: dict[str, Values] = {
        "=": ((before, behind),),
        "<": ((LOW, before),),
        "<=": ((LOW, behind),),
        ">": ((behind, HIGH),),
        ">=": ((before, HIGH),),
        "<>": ((LOW, before), (behind, HIGH)),
    }
    return spans[op]


def implied(term: Rex, given: Iterable[Rex], times: frozenset[str], zone: str) -> bool:
    """Whether `term` holds for every row for which all of `given` hold. All are in `normal` form."""
    given = list(given)
    if term in given:
        return True
    if isinstance(term, Call) and term.op == "or" and any(implied(a, given, times, zone) for a in term.args):
        return True
    wanted = values_of(term, times, zone)
    if wanted is None:
        return False
    found = (values_of(other, times, zone) for other in given)
    try:
        known = [each[1] for each in found if each is not None and each[0] == wanted[0]]
        return bool(known) and within(intersection(*known), wanted[1])
    except TypeError:  # constants of incomparable types
        return False
