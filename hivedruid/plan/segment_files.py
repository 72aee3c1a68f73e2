"""The segment files of data sources, as facts for planning and as parts of a plan. Pure values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from hivedruid.catalog.statistics import TableStatistics
from hivedruid.druid.interval_sets import Cover, IntervalSet, intersection
from hivedruid.lazy_dataclass import dataclass

READ = "hivedruid.druid.read"
WORTH = 100_000
"""`auto` reads segments on Spark from this estimated number of rows: fewer rows arrive sooner by one query."""
FEW = 10_000
MOST_IN_PROCESS = 1_000_000
"""Between these estimated numbers of rows `auto` reads segments of this machine in this process: a scan on Spark begins
half a second later, and a query returns some hundred thousand values a second."""
PIECE = 32 * 1024 * 1024
"""Bytes of a segment file in a partition; a larger file is read in several pieces."""


@dataclass(frozen=True)
class SegmentFile:
    """The file of a segment, and the time in which queries read it, in milliseconds, half open: less than its interval
    if a newer segment hides a part of it.

    `location` is the path or URI of a folder or zip, `size` its bytes.
    """

    id: str
    start: int
    end: int
    version: str
    number: int
    location: str
    size: int

    @property
    def key(self) -> SegmentKey:
        return SegmentKey(self.start, self.end, self.version, self.number)


@dataclass(frozen=True)
class SegmentKey:
    """A segment as a query names it (SegmentDescriptor), or its part between the times."""

    start: int
    end: int
    version: str
    number: int


@dataclass(frozen=True)
class SegmentFiles:
    """What queries read of a data source when a statement begins, the Druid types of its columns, and its statistics.
    `growing` are the segments that only tasks have.

    `problem` says why Spark cannot read the files; then there are none.
    """

    files: tuple[SegmentFile, ...] = ()
    growing: tuple[SegmentKey, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    statistics: TableStatistics | None = None
    problem: str = ""

    def within(self, spans: IntervalSet) -> SegmentFiles:
        """Only the segments with rows in these times."""
        cover = Cover(spans)
        return replace(
            self,
            files=tuple(file for file in self.files if cover.overlaps(file.start, file.end)),
            growing=tuple(part for part in self.growing if cover.overlaps(part.start, part.end)),
        )


@dataclass(frozen=True)
class FileScan:
    """The segments that are read in place of a native query, by Spark or by this process.

    `fields` are the stored fields that the query returns, in order, `types` the Druid types as which they are read, and
    `stored` those of all fields of the data source by name. `is_in_process`: this process reads them, for Spark or for
    the result.
    """

    files: tuple[SegmentFile, ...]
    growing: tuple[SegmentKey, ...]
    fields: tuple[str, ...]
    types: tuple[str, ...]
    stored: Mapping[str, str]
    is_in_process: bool = False

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class Piece:
    """A partition of a scan: the rows within the intervals of part `number` of the `of` equal parts of a segment."""

    id: str
    location: str
    intervals: IntervalSet
    number: int
    of: int


def pieces(spans: IntervalSet, files: Iterable[SegmentFile]) -> tuple[Piece, ...]:
    """The partitions of a scan of these times: a segment, or a part of a large one."""
    found: list[Piece] = []
    for file in files:
        within = intersection(spans, ((file.start, file.end),))
        is_divided = "://" not in file.location  # a zip is unpacked for each piece
        of = (max(1, -(-file.size // PIECE)) if is_divided else 1) if within else 0
        found += [Piece(file.id, file.location, within, number, of) for number in range(of)]
    return tuple(found)
