"""Which rows of a tiered table count. Pure.

The rows of a batch that is moved leave Druid in one transaction, which replaces their segments by tombstones with the
version of the lock. Versions grow with time: in the intervals of a batch every segment with rows and a lower version is
one of those that were archived, and later rows have that version or a higher one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from hivedruid.catalog.archives import Batch, Interval
from hivedruid.druid.interval_sets import Cover, IntervalSet, intersection, merged
from hivedruid.engine.segments import Segment
from hivedruid.errors import TiersChangedError
from hivedruid.plan.tiers import TierFacts


def touched(batches: Iterable[Batch], asked: IntervalSet) -> list[Batch]:
    """The batches with rows of these times."""
    cover = Cover(asked)
    return [b for b in batches if any(cover.overlaps(each.start, each.end) for each in b.intervals)]


def decided(
    table: str,
    known: TierFacts,
    hidden: Iterable[Batch],
    switched: Set[str],
    segments: Iterable[Segment],
    asked: IntervalSet,
) -> TierFacts:
    """The facts for queries of these times. `hidden` are batches whose rows have left Druid, with the intervals at the
    segments. `switched` are those whose transaction has taken place although their job has not recorded it; `segments`
    are those that queries of Druid read of these times.

    Raises TiersChangedError while queries of Druid still read rows that were archived.
    """
    found = sorted(segments, key=lambda segment: segment.start)
    archived = [b for b in touched(known.batches, asked) if b.state in ("switched", "done") or b.id in switched]
    for batch in (*archived, *hidden):
        if is_read(batch, found):
            raise TiersChangedError(
                f"queries of Druid still read segments of {table} that job {batch.id} has archived",
                hint="rerun the statement; SHOW PROBLEMS shows whether it stays so",
            )
    spans = tuple((s.start, s.end) for s in found if not s.is_tombstone)
    hot = intersection(merged(spans), asked)
    return replace(known, asked=asked, hot=hot, archived=frozenset(b.id for b in archived), segments=spans)


def is_read(batch: Batch, segments: Sequence[Segment]) -> bool:
    """Whether queries read segments that a batch has archived, among these, which are in order of time."""
    return any(_is_read(each, segments) for each in batch.intervals)


def _is_read(interval: Interval, segments: Sequence[Segment]) -> bool:
    last = bisect_left(segments, interval.end, key=lambda segment: segment.start)
    return any(s.end > interval.start and s.version < interval.version and not s.is_tombstone for s in segments[:last])


def is_same(before: TierFacts, after: TierFacts) -> bool:
    """Whether the same batches had taken effect at the beginning and at the end of a query."""
    known = {batch.id for batch in before.batches}
    return all(
        batch.id in known and (batch.id in before.archived) == (batch.id in after.archived)
        for batch in touched(after.batches, before.asked)
    )
