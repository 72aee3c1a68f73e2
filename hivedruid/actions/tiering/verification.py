"""Whether the parts of a tiered table have what its archive jobs recorded. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from hivedruid.actions.tiering.decisions import is_read
from hivedruid.catalog.archives import Batch
from hivedruid.engine.segments import Segment
from hivedruid.lazy_dataclass import dataclass

OK = "ok"
UNFINISHED = "not completed"
"""The job runs, or was interrupted: SHOW ARCHIVES tells."""
OF_OTHERS = "rows of no batch"
"""Other tools have added them, which is no error."""


@dataclass(frozen=True)
class Counted:
    """The rows of a batch in the cold part, or those without one; `first` and `last` are their times in milliseconds,
    None if they have none. `sums` are those of the integer columns by name."""

    batch: str | None
    rows: int
    first: int | None
    last: int | None
    sums: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """The state of a batch in a part of a table; `recorded` are the rows that its job has recorded."""

    part: str
    batch: str | None
    recorded: int | None
    rows: int | None
    state: str


def findings(
    before: Sequence[Batch], counted: Sequence[Counted], after: Sequence[Batch], segments: Sequence[Segment]
) -> Iterator[Finding]:
    """The batches, oldest first, and what else is in the cold part, then the batches that queries of Druid still read.

    `before` and `after` are the recorded batches when the rows were counted: a batch that has changed meanwhile cannot
    be compared. `segments` are those that queries of Druid read, in order of time.
    """
    found = {each.batch: each for each in counted}
    unchanged = {*before} & {*after}
    removing = {id_ for b in after if b.removal is not None and not b.is_decided for id_, _ in b.removal.counts}
    for batch in after:
        if batch.effect != "removed":
            yield _cold(batch, found.pop(batch.id, None), batch in unchanged and batch.id not in removing)
    for other in sorted(found.values(), key=lambda each: each.batch or ""):
        state = OF_OTHERS if other.batch is None else "unknown batch"
        yield Finding("cold", other.batch, None, other.rows, state)
    for batch in after:
        if batch in unchanged and batch.state == "done" and is_read(batch, segments):
            yield Finding("hot", batch.id, batch.rows, None, "archived segments are read")


def _cold(batch: Batch, counted: Counted | None, is_unchanged: bool) -> Finding:
    rows = counted.rows if counted is not None else 0
    if not is_unchanged or not batch.is_decided:
        return Finding("cold", batch.id, batch.rows, rows, UNFINISHED)
    recorded = batch.rows if batch.state == "done" else 0
    if rows != recorded:
        state = "rows differ" if batch.state == "done" else "rows of a cancelled batch"
    elif counted is not None and not _is_inside(batch, counted):
        state = "times differ"
    else:
        state = OK if counted is None or _has_sums(batch, counted) else "values differ"
    return Finding("cold", batch.id, recorded, rows, state)


def _has_sums(batch: Batch, counted: Counted) -> bool:
    """Whether the sums are those that were recorded, of the columns that the table still has."""
    return all(counted.sums[name] == value for name, value in batch.sums if name in counted.sums)


def _is_inside(batch: Batch, counted: Counted) -> bool:
    """Whether the times are between the first start and the last end of the batch's intervals."""
    if counted.first is None or counted.last is None or not batch.intervals:
        return False
    start = min(each.start for each in batch.intervals)
    return start <= counted.first and counted.last < max(each.end for each in batch.intervals)
