"""Segments whose rows are stored elsewhere, and which are then removed together: see `capabilities.Archiving`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from hivedruid.druid.interval_sets import Cover, merged
from hivedruid.engine.segments import Segment
from hivedruid.errors import DruidError
from hivedruid.lazy_dataclass import dataclass

Span = tuple[int, int]
"""An interval in milliseconds, half open."""
HOLD_PATIENCE = 60.0
"""Seconds to wait for the locks of batch tasks, and for the last written segments to be loaded."""
HOLD_LONGEST = 14_400.0
"""Seconds for which intervals can be held."""


class NotRemovedError(DruidError):
    """The segments were not removed, and will not be: they have changed, or a lock was lost. Nothing was changed."""


class UnknownRemovalError(DruidError):
    """Whether segments were removed is no longer known, since all records of them were deleted."""


@dataclass(frozen=True)
class HeldInterval:
    """An interval in which no other writer adds or replaces rows, and the version of the lock."""

    start: int
    end: int
    version: str


@dataclass(frozen=True)
class LeftOut:
    """An interval that is not held, and why."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True)
class Holding:
    """What the task `task` holds: intervals, and all segments with rows in them, each of them completely.

    `notes` is what another process needs for `Archiving.was_removed` and `Archiving.settle`: to be stored before
    `Held.remove`.
    """

    data_source: str
    task: str
    intervals: tuple[HeldInterval, ...] = ()
    segments: tuple[Segment, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def spans(self) -> tuple[Span, ...]:
        return merged((held.start, held.end) for held in self.intervals)

    @property
    def buckets(self) -> tuple[Span, ...]:
        """The intervals of the segments, each once: they do not overlap."""
        return tuple(sorted({(segment.start, segment.end) for segment in self.segments}))

    def version_of(self, span: Span) -> str:
        """The version of the lock that covers this interval."""
        return next(held.version for held in self.intervals if held.start <= span[0] and span[1] <= held.end)

    def notes(self) -> dict[str, Any]:
        """As JSON, without what was left out."""
        return {
            "data_source": self.data_source, "task": self.task,
            "intervals": [[held.start, held.end, held.version] for held in self.intervals],
            "segments": [[s.start, s.end, s.version, s.number, s.rows, s.path] for s in self.segments],
        }  # fmt: skip

    @classmethod
    def of_notes(cls, notes: Mapping[str, Any]) -> Holding:
        name = notes["data_source"]
        segments = (
            Segment(name, start, end, version, number, rows, path=path)
            for start, end, version, number, rows, path in notes["segments"]
        )
        return cls(name, notes["task"], tuple(HeldInterval(*row) for row in notes["intervals"]), tuple(segments))


class Held(Protocol):
    """Intervals that are held until the end of the `with` block of `Archiving.hold`."""

    @property
    def holding(self) -> Holding: ...

    def remove(self) -> None:
        """Remove the segments in one transaction; returns when no query reads them any more (`Archiving.settle`).

        Raises NotRemovedError if nothing was removed: a segment has changed, or a lock was lost. With another error it
        is unknown: `Archiving.was_removed` tells.
        """

    def drop(self) -> None:
        """Drop the segments without anything in their place; returns when no query reads them any more.

        An engine with `DeepStorage` only marks them as unused. Raises NotRemovedError as `remove`.
        """


def together(segments: Iterable[Segment]) -> Iterator[tuple[Span, list[Segment]]]:
    """Segments that overlap, directly or by others, with their common interval; in order of time."""
    group: list[Segment] = []
    end = 0
    for segment in sorted(segments, key=lambda s: (s.start, s.end, s.version, s.number)):
        if group and segment.start >= end:
            yield (group[0].start, end), group
            group = []
        end = max(end, segment.end) if group else segment.end
        group.append(segment)
    if group:
        yield (group[0].start, end), group


def within(segments: Iterable[Segment], spans: Iterable[Span]) -> tuple[list[Span], list[LeftOut]]:
    """The intervals of segments with rows that lie within `spans`, and those that reach beyond them."""
    cover = Cover(spans)
    inside: list[Span] = []
    beyond: list[LeftOut] = []
    for span, group in together(segments):
        if all(segment.is_tombstone for segment in group):
            continue
        if cover.contains(*span):
            inside.append(span)
        elif cover.overlaps(*span):
            beyond.append(LeftOut(*span, "a segment reaches beyond the interval"))
    return inside, beyond
