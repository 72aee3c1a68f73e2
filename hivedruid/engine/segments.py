"""A segment of a data source: one value for the embedded store's manifest, Druid's metadata store and its broker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Literal

from hivedruid.druid.interval_sets import Cover, iso
from hivedruid.lazy_dataclass import dataclass

SegmentState = Literal["used", "unused", "available", "loading", "unavailable", "overshadowed", "tombstone", "realtime"]
"""`used` and `unused`: as the metadata store marks it, with nothing known of the servers. `available`: queries can read
it; `loading`: no historical has it yet; `unavailable`: none is to have it, by the retention rules; `overshadowed`: a
newer version hides it; `tombstone`: it has no rows and hides those of older versions; `realtime`: it grows on a task.
"""


@dataclass(frozen=True, slots=True)
class Segment:
    """The rows of one interval, or a part of them: a file. The interval is in milliseconds, half open.

    The first five fields identify it, and values are equal if these are. A newer `version` hides older ones in its
    interval; `number` counts the segments of one interval and version. Of a segment that is hidden in part the broker
    reports the visible parts, each with its own interval. The other fields are filled where they are known:

    - `rows`: None if they were not counted, or cannot be queried;
    - `size`: bytes;
    - `replicas`: the copies that queries may read, and `servers`: the URLs of those that have them;
    - `task`: the ingestion task that it is marked with (`clients.task_spec`);
    - `marked`: when an unused one was marked as such, as Druid writes it;
    - `path`: its file below the home folder, or its place in deep storage as JSON; `schema`: its columns with their
      Druid types (embedded store).
    """

    data_source: str
    start: int
    end: int
    version: str
    number: int
    rows: int | None = field(default=None, compare=False)
    size: int = field(default=0, compare=False)
    state: SegmentState = field(default="used", compare=False)
    replicas: int = field(default=0, compare=False)
    servers: tuple[str, ...] = field(default=(), compare=False)
    task: str = field(default="", compare=False)
    path: str = field(default="", compare=False)
    marked: str = field(default="", compare=False)
    schema: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def interval(self) -> str:
        """The interval as Druid writes it."""
        return f"{iso(self.start)}/{iso(self.end)}"

    @property
    def id(self) -> str:
        """Druid's SegmentId."""
        number = f"_{self.number}" if self.number else ""
        return f"{self.data_source}_{iso(self.start)}_{iso(self.end)}_{self.version}{number}"

    @property
    def descriptor(self) -> dict[str, Any]:
        """The segment as a query over segments names it (SegmentDescriptor)."""
        return {"itvl": self.interval, "ver": self.version, "part": self.number}

    @property
    def token(self) -> str:
        """A name within the data source and interval that is never used again for other rows."""
        return self.path or f"{self.version}_{self.number}"

    @property
    def is_tombstone(self) -> bool:
        return self.state == "tombstone"

    @property
    def is_growing(self) -> bool:
        """Whether rows are being added to it."""
        return self.state == "realtime"

    def has_part_in(self, parts: Parts) -> bool:
        """Whether a part of it is among these."""
        cover = parts.get((self.version, self.number))
        return cover is not None and cover.overlaps(self.start, self.end)


Parts = Mapping[tuple[str, int], Cover]
"""The time of segments, or of visible parts of them, by version and number."""


def parts_of(segments: Iterable[Segment]) -> Parts:
    found: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for segment in segments:
        found.setdefault((segment.version, segment.number), []).append((segment.start, segment.end))
    return {key: Cover(spans) for key, spans in found.items()}


def hidden_in_part(segments: Iterable[Segment], others: Iterable[Segment]) -> set[Segment]:
    """The segments of which newer ones of `others` hide at least a part."""
    return {segment for segment, newer in _with_newer(segments, others) if newer.overlaps(segment.start, segment.end)}


def hidden(segments: Iterable[Segment], others: Iterable[Segment]) -> set[Segment]:
    """The segments that newer ones of `others` hide completely."""
    return {segment for segment, newer in _with_newer(segments, others) if newer.contains(segment.start, segment.end)}


def _with_newer(segments: Iterable[Segment], others: Iterable[Segment]) -> Iterator[tuple[Segment, Cover]]:
    """Each segment with the time of the newer ones of `others`, which grows with the following segments."""
    left = sorted(others, key=lambda s: s.version)
    newer = Cover()
    for segment in sorted(segments, key=lambda s: s.version, reverse=True):
        while left and left[-1].version > segment.version:
            other = left.pop()
            newer.add(other.start, other.end)
        yield segment, newer
