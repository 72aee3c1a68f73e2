"""The parts of tiered tables as a query reads them, for EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from hivedruid.catalog.table import Table
from hivedruid.druid.interval_sets import ALL, MAX, MIN, IntervalSet, iso
from hivedruid.lazy_dataclass import dataclass

Part = Literal["hot", "cold"]
_MOST_SHOWN = 3
"""Intervals that are written out."""


@dataclass(frozen=True)
class TierPart:
    """A part of a tiered table, as one of its mentions in a query reads it.

    `times` are those of the conditions. `read` of the `total` segments or files can have rows of the conditions; None
    if that is not known. `is_left_out`: it has no such rows, and is not read.
    """

    table_id: str
    part: Part
    times: IntervalSet = ALL
    read: int | None = None
    total: int | None = None
    is_left_out: bool = False


def texts(table: Table, found: Sequence[TierPart], setting: str) -> Iterator[tuple[Part, str]]:
    """What is read of each part of a table, or why it is not read; `setting` is the value of hivedruid.tiered.read."""
    for part in ("hot", "cold"):
        mentions = list(dict.fromkeys(each for each in found if each.table_id == table.table_id and each.part == part))
        for each in mentions:
            yield part, _hot(each, table.data_source) if part == "hot" else _cold(each)
        if not mentions:
            named = setting in ("hot", "cold")
            yield part, f"not read: hivedruid.tiered.read is {setting}" if named else "not read: it has no rows"


def _hot(part: TierPart, source: str) -> str:
    if part.is_left_out:
        return f"not read: Druid has no segments with rows of {_times(part.times)}"
    known = f"{_of(part.read, part.total, 'segment')}, " if part.read is not None else ""
    return f"Druid's data source {source}, {known}{_times(part.times)}"


def _cold(part: TierPart) -> str:
    if part.is_left_out:
        return f"not read: none of {_number(part.total or 0, 'file')} can have rows of the conditions"
    if part.read is None:
        return "the Iceberg table" + (f", {_number(part.total, 'file')}" if part.total is not None else "")
    return f"the Iceberg table, at most {_of(part.read, part.total, 'file')}"


def _times(times: IntervalSet) -> str:
    if times == ALL:
        return "all times"
    shown = [_interval(*each) for each in times[:_MOST_SHOWN]]
    more = f", and {_number(len(times) - _MOST_SHOWN, 'interval')}" if len(times) > _MOST_SHOWN else ""
    return ", ".join(shown) + more if shown else "no times"


def _interval(start: int, end: int) -> str:
    if start == MIN:
        return f"times before {iso(end)}"
    return f"times from {iso(start)}" if end == MAX else f"{iso(start)}/{iso(end)}"


def _of(read: int | None, total: int | None, noun: str) -> str:
    if total is None:
        return _number(read or 0, noun)
    return f"{read:,} of {_number(total, noun)}"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def document(part: TierPart) -> dict[str, Any]:
    """Without what is not known."""
    times = [f"{iso(start)}/{iso(end)}" for start, end in part.times] if part.part == "hot" else None
    known = {"part": part.part, "times": times, "read": part.read, "total": part.total, "left_out": part.is_left_out}
    return {name: value for name, value in known.items() if value is not None}
