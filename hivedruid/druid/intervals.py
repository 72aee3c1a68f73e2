"""Sets of time as half-open intervals of milliseconds, and the predicates on `__time` that mean one.

`__time` is never null, so NOT is the complement.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from hivedruid.plan import literals
from hivedruid.plan.rex import Call, Literal, Ref, Rex

MIN = -(1 << 62)
MAX = (1 << 62) - 1
"""Druid's eternity (Intervals.ETERNITY: half of Long's range)."""

IntervalSet = tuple[tuple[int, int], ...]
"""Disjoint, sorted, not touching."""

ALL: IntervalSet = ((MIN, MAX),)
NONE: IntervalSet = ()


def union(sets: list[IntervalSet]) -> IntervalSet:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(interval for s in sets for interval in s):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def intersection(a: IntervalSet, b: IntervalSet) -> IntervalSet:
    found = [(max(s1, s2), min(e1, e2)) for s1, e1 in a for s2, e2 in b]
    return union([tuple((s, e) for s, e in found if s < e)])


def complement(a: IntervalSet) -> IntervalSet:
    edges = [MIN, *(edge for interval in a for edge in interval), MAX]
    return tuple((s, e) for s, e in zip(edges[::2], edges[1::2], strict=True) if s < e)


def iso(millis: int) -> str:
    """An instant as Druid writes it, any year that a LONG reaches."""
    days, rest = divmod(millis, 86_400_000)
    year, month, day = _civil(days)
    hour, rest = divmod(rest, 3_600_000)
    minute, rest = divmod(rest, 60_000)
    second, milli = divmod(rest, 1000)
    sign, width = ("-" if year < 0 else ""), 4
    return f"{sign}{abs(year):0{width}d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{milli:03d}Z"


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month, day of a day number since 1970-01-01 in the proleptic Gregorian calendar."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def to_json(intervals: IntervalSet) -> list[str]:
    """The `intervals` of a native query; no time at all is one empty interval."""
    return [f"{iso(start)}/{iso(end)}" for start, end in intervals] or [
        "1970-01-01T00:00:00.000Z/1970-01-01T00:00:00.000Z"
    ]


def of_predicate(rex: Rex, time_id: str, zone: str) -> IntervalSet | None:
    """The times for which a predicate holds, or None where it is not one on `__time` alone that intervals can say."""
    if isinstance(rex, Literal):
        return None if rex.value is None else ALL if rex.value else NONE
    if not isinstance(rex, Call):
        return None
    if rex.op in ("and", "or"):
        sets = [of_predicate(a, time_id, zone) for a in rex.args]
        known = [s for s in sets if s is not None]
        if len(known) != len(sets):
            return None
        if rex.op == "or":
            return union(known)
        result = ALL
        for s in known:
            result = intersection(result, s)
        return result
    if rex.op == "not":
        inner = of_predicate(rex.args[0], time_id, zone)
        return None if inner is None else complement(inner)
    if rex.op in ("is_null", "is_not_null"):
        return (NONE if rex.op == "is_null" else ALL) if _is_time(rex.args[0], time_id) else None
    if rex.op == "in":
        sets = [_comparison("=", rex.args[0], item, time_id, zone) for item in rex.args[1:]]
        return None if any(s is None for s in sets) else union([s for s in sets if s is not None])
    if rex.op in ("=", "<>", "<", "<=", ">", ">="):
        return _comparison(rex.op, rex.args[0], rex.args[1], time_id, zone)
    return None


def _is_time(rex: Rex, time_id: str) -> bool:
    return isinstance(rex, Ref) and rex.id == time_id


def _is_same_instant(rex: Rex, time_id: str, zone: str) -> bool:
    """A cast between the two timestamp types, which changes nothing in a session in UTC."""
    if not isinstance(rex, Call) or rex.op != "cast" or not rex.type.is_timestamp:
        return False
    return _is_time(rex.args[0], time_id) and literals.zone_of(zone) is UTC


def _comparison(op: str, left: Rex, right: Rex, time_id: str, zone: str) -> IntervalSet | None:
    if not isinstance(right, Literal) or right.value is None:
        return None
    if op == "<>":
        equal = _comparison("=", left, right, time_id, zone)
        return None if equal is None else complement(equal)
    try:
        edges = _edges(left, right.value, time_id, zone)
    except (OverflowError, ValueError):
        return None
    if edges is None:
        return None
    start, next_start = edges
    # `left` is below the constant before `start`, equal to it in [start, next_start), above it from next_start on
    return {
        "=": ((start, next_start),) if start < next_start else NONE,
        "<": ((MIN, start),),
        "<=": ((MIN, next_start),),
        ">": ((next_start, MAX),),
        ">=": ((start, MAX),),
    }[op]


def _edges(left: Rex, value: object, time_id: str, zone: str) -> tuple[int, int] | None:
    """The first milliseconds at which `left` reaches, and passes, the constant."""
    if (_is_time(left, time_id) or _is_same_instant(left, time_id, zone)) and isinstance(value, datetime):
        exact = Decimal(literals.to_micros(value)) / 1000
        start = int(exact.to_integral_value("ROUND_CEILING"))
        return start, start + 1 if exact == start else start
    if not isinstance(left, Call) or not left.args or not _is_time(left.args[0], time_id):
        return None
    zoned = left.args[0].type.name.endswith("zone")
    calendar = literals.zone_of(zone) if zoned else UTC
    if calendar is None:
        return None

    def instant(local: datetime) -> int:
        return literals.to_micros(literals.from_local(local, calendar)) // 1000

    if left.op == "cast" and left.type.name == "date" and isinstance(value, date) and not isinstance(value, datetime):
        midnight = datetime(value.year, value.month, value.day)
        return instant(midnight), instant(midnight + timedelta(days=1))
    if left.op == "extract_year" and isinstance(value, int):
        return instant(datetime(value, 1, 1)), instant(datetime(value + 1, 1, 1))
    if left.op.startswith("floor_") and isinstance(value, datetime):
        return _floor_edges(left.op[6:], value, zoned, zone)
    return None


def _floor_edges(unit: str, value: datetime, zoned: bool, zone: str) -> tuple[int, int] | None:
    """Of floor_<unit>(__time): an unaligned constant lies between two buckets and equals neither."""
    calendar = literals.zone_of(zone) if zoned else UTC
    if calendar is None:
        return None
    local = value.astimezone(calendar).replace(tzinfo=None) if value.tzinfo else value
    if unit in ("hour", "minute", "second"):
        size = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}[unit]
        into = {"hour": local.minute * 60_000_000, "minute": 0, "second": 0}[unit]
        into += local.second * 1_000_000 if unit in ("hour", "minute") else 0
        into += local.microsecond
        floored = literals.to_micros(value) - into
        start, following = floored // 1000, (floored + size) // 1000
        aligned = into == 0
    else:
        bucket = _local_floor(local, unit)
        start = literals.to_micros(literals.from_local(bucket, calendar)) // 1000
        following = literals.to_micros(literals.from_local(_next_bucket(bucket, unit), calendar)) // 1000
        aligned = bucket == local
    return (start, following) if aligned else (following, following)


def _local_floor(local: datetime, unit: str) -> datetime:
    day = local.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return day.replace(day=1, month=(day.month - 1) // 3 * 3 + 1)
    return day.replace(day=1, month=1) if unit == "year" else day


def _next_bucket(bucket: datetime, unit: str) -> datetime:
    if unit in ("day", "week"):
        return bucket + timedelta(days=7 if unit == "week" else 1)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    moved = literals.add_months(bucket, months)
    assert isinstance(moved, datetime)
    return moved
