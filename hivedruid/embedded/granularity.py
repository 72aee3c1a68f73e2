"""Druid's granularities: `all`, `none`, the named ones, periods with zone and origin, durations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.druid.syntax import PERIODS
from hivedruid.embedded import periods
from hivedruid.embedded.intervals import parse_instant
from hivedruid.errors import DruidError

NAMED = {
    "second": "PT1S",
    "minute": "PT1M",
    "five_minute": "PT5M",
    "ten_minute": "PT10M",
    "fifteen_minute": "PT15M",
    "thirty_minute": "PT30M",
    "hour": "PT1H",
    "six_hour": "PT6H",
    "eight_hour": "PT8H",
    "day": "P1D",
    "week": "P1W",
    "month": "P1M",
    "quarter": "P3M",
    "year": "P1Y",
}

_UNITS = {period: unit for unit, period in PERIODS.items()}


class Granularity:
    """A granularity; `is_all` has one bucket, `is_none` one for every millisecond."""

    __slots__ = ("_duration", "_origin", "_period", "is_all", "is_none", "zone")

    def __init__(self, spec: Any) -> None:
        self._period: periods.Period | None = None
        self._duration = 0
        self.zone = periods.Zone(None)
        self._origin: str | None = None
        name = spec.lower() if isinstance(spec, str) else str((spec or {}).get("type", "all")).lower()
        self.is_all = name == "all"
        self.is_none = name == "none"
        if self.is_all or self.is_none:
            return
        if name in NAMED:
            self._period = periods.Period(NAMED[name])
        elif isinstance(spec, Mapping) and name in ("period", "duration"):
            self._read(name, spec)
        else:
            raise DruidError(f"granularity '{spec}' is not supported by the embedded store")

    def _read(self, name: str, spec: Mapping[str, Any]) -> None:
        if spec.get("origin") is not None:
            origin = spec["origin"]
            self._origin = f"CAST({origin if isinstance(origin, int) else parse_instant(origin)} AS BIGINT)"
        if name == "duration":
            self._duration = int(spec["duration"])
            if self._duration <= 0:
                raise DruidError("duration should be greater than 0!")
        else:
            self._period = periods.Period(spec["period"])
            self.zone = periods.Zone(spec.get("timeZone"))

    def floor(self, t: str) -> str:
        """SQL for the start of the bucket of instant `t`; not for `all`."""
        if self.is_none:
            return t
        if self._period is None:
            return f"({t} - druid_floor_mod({t} - ({self._origin or 0}), {self._duration}))"
        return periods.floor(t, self._period, self.zone, self._origin)

    def end(self, start: str) -> str:
        """SQL for the end of the bucket that begins at `start`."""
        if self._period is None:
            return f"({start} + {self._duration or 1})"
        return periods.shift(start, self._period, "1", self.zone)

    @property
    def unit(self) -> str | None:
        """The calendar unit of a bucket; None for other granularities."""
        return _UNITS.get(self._period.text.upper()) if self._period is not None and self._origin is None else None

    @property
    def step(self) -> int:
        """The minimum length of a bucket in milliseconds: steps of this size miss no bucket."""
        return self._duration if self._period is None else max(self._period.shortest // 2, 1)
