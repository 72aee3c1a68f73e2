"""Times as Druid writes them: ISO 8601 in UTC with milliseconds and `Z`."""

from __future__ import annotations

from datetime import UTC, datetime


def instant(time: datetime) -> str:
    """`2026-11-26T15:52:34.120Z` of a time with an offset."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now() -> str:
    """The present time."""
    return instant(datetime.now(UTC))
