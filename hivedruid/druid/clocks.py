"""Clock changes of a time zone, and whether they affect the start of an hour, a day, a week, a month …

A skipped time has no instant, a repeated one has two. Most zones change their clocks during the night, where no day
starts; Cairo, Beirut, Havana, Santiago and others do it at midnight, Lord Howe by half an hour. Druid 33 truncates
such times differently from Hive (see docs/pushdown.md).
"""

from __future__ import annotations

import struct
from datetime import UTC, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hivedruid.druid.interval_sets import MAX, MIN, IntervalSet
from hivedruid.plan import literals

DAY = 86_400_000
_ALIGNED = {"second": 1000, "minute": 60_000, "hour": 3_600_000}
_MARGIN = {"day": 2, "week": 8, "month": 32, "quarter": 93, "year": 367}
"""Maximum days between the start of a bucket and a time in it."""
_WEEK, _YEAR = 8 * DAY, 31_556_952_000


class Change(NamedTuple):
    """An instant at which the offset from UTC changes from `before` to `after` milliseconds."""

    at: int
    before: int
    after: int


class Disturbance(NamedTuple):
    """The effect of clock changes on the starts of a unit: some are skipped, some are repeated. After the instant
    `until` none is repeated.
    """

    skipped: bool
    repeated: bool
    until: int

    def __bool__(self) -> bool:
        return self.skipped or self.repeated


UNDISTURBED = Disturbance(skipped=False, repeated=False, until=MIN)


def disturbance(zone: tzinfo | None, unit: str, span: IntervalSet) -> Disturbance:
    """The effect on the starts of a unit within a span. For an unknown zone the worst case is assumed."""
    if zone is None:
        return Disturbance(skipped=True, repeated=True, until=MAX)
    if not span or not hasattr(zone, "key"):
        return UNDISTURBED
    margin = _MARGIN.get(unit, 2) * DAY
    first, last = span[0][0] - margin, span[-1][1]
    listed, yearly = changes(zone)
    moved = [change for change in listed if first <= change.at <= last and _moves(change, unit)]
    recurring = [change for change in yearly if _recurs(change, first, last) and _moves(change, unit)]
    back = [change.at for change in moved if change.after < change.before]
    return Disturbance(
        any(change.after > change.before for change in (*moved, *recurring)),
        bool(back) or any(change.after < change.before for change in recurring),
        MAX if any(change.after < change.before for change in recurring) else max(back, default=MIN) + margin,
    )


def _recurs(change: Change, first: int, last: int) -> bool:
    """Whether a yearly change may occur between two instants: its date varies by days."""
    years = max(-(-(first - _WEEK - change.at) // _YEAR), 0)
    return change.at + years * _YEAR <= last + _WEEK


def _moves(change: Change, unit: str) -> bool:
    """Whether a start of the unit is skipped or repeated by a change."""
    low, high = sorted((change.at + change.before, change.at + change.after))
    if unit in _ALIGNED:
        return bool(low % _ALIGNED[unit] or high % _ALIGNED[unit])
    midnight = -(-low // DAY) * DAY
    if midnight >= high:
        return False
    day = literals.EPOCH + timedelta(milliseconds=midnight)
    return unit in ("day", "week") or day.day == 1 or high - low >= DAY


@lru_cache(maxsize=16)
def changes(zone: tzinfo) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """The explicit changes of a zone's clocks, and the recurring ones of a year after them."""
    listed = _read(_content(str(zone.key)))  # type: ignore[attr-defined]
    begin = (listed[-1].at if listed else 0) + 1
    steps = [begin + week * 7 * DAY for week in range(55)]
    offsets = [_offset(step, zone) for step in steps]
    weeks = zip(steps, steps[1:], offsets, offsets[1:], strict=False)
    return listed, tuple(Change(_found(a, b, zone), x, y) for a, b, x, y in weeks if x != y)


def _content(key: str) -> bytes:
    """The zoneinfo file of a zone."""
    import zoneinfo
    from importlib.resources import files

    for folder in zoneinfo.TZPATH:
        path = Path(folder, key)
        if path.is_file():
            return path.read_bytes()
    return files("tzdata").joinpath("zoneinfo", *key.split("/")).read_bytes()


def _read(content: bytes) -> tuple[Change, ...]:
    """The changes in a TZif file (RFC 8536): its second part, whose times have 64 bits."""
    header = struct.Struct(">4sc15x6l")
    _, _, utc, std, leaps, times, types, letters = header.unpack_from(content)
    second = header.size + times * 5 + types * 6 + letters + leaps * 8 + std + utc
    *_, times, types, letters = header.unpack_from(content, second)
    body = second + header.size
    instants = struct.unpack_from(f">{times}q", content, body)
    kinds = content[body + times * 8 : body + times * 9]
    offsets = [struct.unpack_from(">lbb", content, body + times * 9 + 6 * kind)[0] * 1000 for kind in range(types)]
    before = [offsets[kind] for kind in (0, *kinds)] if types else []
    made = (Change(at * 1000, *pair) for at, *pair in zip(instants, before, before[1:], strict=False))
    return tuple(change for change in made if change.before != change.after)


def _offset(millis: int, zone: tzinfo) -> int:
    offset = (literals.EPOCH.replace(tzinfo=UTC) + timedelta(milliseconds=millis)).astimezone(zone).utcoffset()
    assert offset is not None
    return offset // timedelta(milliseconds=1)


def _found(early: int, late: int, zone: tzinfo) -> int:
    """The instant of the single change between two instants."""
    before = _offset(early, zone)
    while late - early > 1:
        middle = (early + late) // 2
        early, late = (middle, late) if _offset(middle, zone) == before else (early, middle)
    return late
