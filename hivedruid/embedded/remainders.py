"""The remaining rows of segments that are wider than the replaced intervals. In a cluster newer versions hide only a
part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hivedruid.druid.interval_sets import Cover
from hivedruid.embedded.duck import Duck
from hivedruid.embedded.intervals import condition
from hivedruid.embedded.relations import TIME
from hivedruid.embedded.sql import identifier, string_literal
from hivedruid.embedded.storage import Storage
from hivedruid.engine.segments import Segment
from hivedruid.jobs.staged import Interval


def cut_segments(segments: Iterable[Segment], replaced: Sequence[Interval]) -> list[Segment]:
    """The segments that the intervals cover in part."""
    cover = Cover(replaced)
    return [s for s in segments if cover.overlaps(s.start, s.end) and not cover.contains(s.start, s.end)]


def remainders(cut: Sequence[Segment], replaced: Sequence[Interval], folder: Path, storage: Storage) -> list[Segment]:
    """Write segments of the same intervals with the remaining rows to the folder; none for a segment without such
    rows."""
    if not cut:
        return []
    duck = Duck(storage.temporary)
    try:
        return list(_written(duck, cut, replaced, folder, storage.home))
    finally:
        duck.close()


def _written(
    duck: Duck, cut: Sequence[Segment], replaced: Sequence[Interval], folder: Path, home: Path
) -> Iterator[Segment]:
    gone = condition(identifier(TIME), tuple(replaced)) or "TRUE"
    for number, segment in enumerate(cut):
        rows = f"FROM read_parquet({string_literal(str(home / segment.path))}) WHERE NOT {gone}"
        left = int(duck.all(f"SELECT count(*) {rows}")[0][0])
        if not left:
            continue
        path = folder / f"remainder_{number}.parquet"
        duck.run(f"COPY (SELECT * {rows}) TO {string_literal(str(path))} (FORMAT parquet)")
        yield Segment(
            segment.data_source, segment.start, segment.end, segment.version, 0, rows=left, size=path.stat().st_size,
            path=path.relative_to(home).as_posix(), schema=segment.schema,
        )  # fmt: skip
