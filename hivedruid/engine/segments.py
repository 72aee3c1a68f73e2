"""Segments as an engine reports them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class StoredSegment:
    """A segment as queries read it now: its interval in milliseconds, half open, and an id that is never reused for other rows.

    `growing`: rows are being added to it.
    """

    start: int
    end: int
    id: str
    growing: bool = False


SegmentState = Literal["available", "loading", "unavailable", "overshadowed", "tombstone", "realtime"]
"""`loading`: no historical has it yet; `unavailable`: none is to have it, by the retention rules; `overshadowed`: a newer
version hides it; `tombstone`: it has no rows and hides those of older versions; `realtime`: it grows on a task."""


@dataclass(frozen=True)
class ListedSegment:
    """A segment as SHOW SEGMENTS lists it. `rows` is None if it cannot be queried; `replicas` counts the copies that queries may read."""

    start: int
    end: int
    version: str
    number: int
    rows: int | None
    size: int
    state: SegmentState
    replicas: int
