"""Predicates on recurring parts of a time (`month(t) = 4`) within a bounded range."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import lru_cache

from hivedruid.druid.interval_sets import MAX, MIN, IntervalSet, intersection, union
from hivedruid.druid.preimages import PARTS, bucket, next_bucket, wall_clock
from hivedruid.plan import literals
from hivedruid.plan.rex import Call, Literal, Ref, Rex, walk

MAX_BUCKETS = 400
"""Maximum buckets of a range that are enumerated."""
MAX_INTERVALS = 64
"""With more intervals, a filter is shorter."""
_SIZES = {"month": 2_678_400_000, "day": 86_400_000, "hour": 3_600_000, "minute": 60_000, "second": 1000}
_UNITS = ("month", "day", "hour", "minute", "second")


def coarseness(term: Rex) -> int:
    """Months first: their result bounds the days."""
    return max((_UNITS.index(unit) for unit in _units(term)), default=len(_UNITS))


def _units(term: Rex) -> set[str]:
    names = [node.op[8:] for node in walk(term) if isinstance(node, Call) and node.op.startswith("extract_")]
    return {PARTS[name][0] for name in names if name in PARTS}


def within(span: IntervalSet, term: Rex, time_id: str, zone: str) -> IntervalSet | None:
    """The part of a span for which a predicate on parts of `__time` holds; None if that is unknown or has too many
    intervals."""
    session, units = literals.zone_of(zone), _units(term)
    if not units or not span or span[0][0] == MIN or span[-1][1] == MAX or session is None:
        return None
    unit = max(units, key=_UNITS.index)
    zoned = any(isinstance(node, Ref) and node.type.name.endswith("zone") for node in walk(term))
    calendar = session if zoned else UTC
    if calendar is not UTC and unit not in ("month", "day"):
        return None  # an hour may be repeated
    if sum(end - start for start, end in span) > MAX_BUCKETS * _SIZES[unit]:
        return None
    return _kept(span, term, time_id, unit, calendar)


@lru_cache(maxsize=64)
def _kept(span: IntervalSet, term: Rex, time_id: str, unit: str, calendar: tzinfo) -> IntervalSet | None:
    """Evaluated bucket by bucket; cached, since a plan repeats the same predicate."""
    kept: list[tuple[int, int]] = []
    try:
        for start, end in span:
            at = bucket(start, unit, calendar)
            while at < end:
                until = next_bucket(at, unit, calendar)
                holds = _value(term, time_id, wall_clock(at, calendar))
                if holds is None:
                    return None
                if holds:
                    kept.append((at, until))
                at = until
    except (OverflowError, ValueError):
        return None
    ranges = intersection(union([tuple(kept)]), span)
    return ranges if len(ranges) <= max(MAX_INTERVALS, len(span)) else None


def _value(rex: Rex, time_id: str, local: datetime) -> int | bool | None:
    """The value of a predicate, or of a part in it, at a wall clock time; None for unknown functions."""
    if isinstance(rex, Literal):
        return rex.value if isinstance(rex.value, int) else None
    if not isinstance(rex, Call):
        return None
    if rex.op == "extract_year" or rex.op[8:] in PARTS:
        is_part = rex.op.startswith("extract_") and isinstance(rex.args[0], Ref) and rex.args[0].id == time_id
        return (local.year if rex.op == "extract_year" else PARTS[rex.op[8:]][1](local)) if is_part else None
    values = [_value(arg, time_id, local) for arg in rex.args]
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else _computed(rex.op, known)


def _computed(op: str, values: list[int]) -> bool | None:
    match op, values:
        case "and", _:
            return all(values)
        case "or", _:
            return any(values)
        case "not", [a]:
            return not a
        case "in", [a, *items]:
            return a in items
        case (("=" | "<=>"), [a, b]):
            return a == b
        case "<>", [a, b]:
            return a != b
        case "<", [a, b]:
            return a < b
        case "<=", [a, b]:
            return a <= b
        case ">", [a, b]:
            return a > b
        case ">=", [a, b]:
            return a >= b
    return None
