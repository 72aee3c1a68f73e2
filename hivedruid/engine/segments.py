"""A segment of a data source: one value for the embedded store's manifest, Druid's metadata store and its broker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hivedruid.druid.interval_sets import iso

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
    - `replicas`: the copies that queries may read;
    - `task`: the ingestion task that it is marked with (`clients.task_spec`);
    - `path`: its file below the home folder, and `schema`: its columns with their Druid types (embedded store).
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
    task: str = field(default="", compare=False)
    path: str = field(default="", compare=False)
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

    def overlaps(self, other: Segment) -> bool:
        return self.start < other.end and other.start < self.end

    def has_part_in(self, parts: Mapping[tuple[str, int], Sequence[Segment]]) -> bool:
        """Whether a part of it is among these, which are given by version and number."""
        return any(map(self.overlaps, parts.get((self.version, self.number), ())))

    def is_under(self, others: Iterable[Segment]) -> bool:
        """Whether any of them is newer, and hides it at least in part."""
        return any(self.version < other.version and self.overlaps(other) for other in others)
