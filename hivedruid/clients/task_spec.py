"""The `index_parallel` task as a cluster gets it: what it replaces, and a mark on every segment that it publishes. Pure.

Of a segment nothing tells which task it is from (Druid 33 answers `/task/ID/segments` with an apology), but the state
that compaction would leave in it may be asked for, and holds the task's filter: so that is where the mark is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hivedruid.clients.wire import StoredSegment
from hivedruid.druid import granularities
from hivedruid.druid.ingestion import CONCURRENT_LOCKS
from hivedruid.druid.interval_sets import merged, to_json
from hivedruid.jobs.load import Load
from hivedruid.jobs.staged import Interval

MOST_TOMBSTONES = 500
"""Empty buckets that get a tombstone each: Druid needs 1 ms to publish one, and 15 ms on one historical to load it."""

_MARK = "__hivedruid_task"
_ROWS_OF_A_TASK = 1 << 62
"""More than any: a task publishes once. And no spec of compaction's says so: for automatic compaction, these segments are
not as it wants them, however they are divided (CompactionStatus compares partitionsSpecs)."""


def completed(load: Load, there: Sequence[Interval]) -> dict[str, Any]:
    """The task that is sent; `there` are the intervals of the segments that are there, tombstones only where it appends."""
    task = dict(load.spec)
    spec = {**task["spec"]}
    schema, io = dict(spec["dataSchema"]), dict(spec["ioConfig"])
    granularity = dict(schema.get("granularitySpec") or {})
    context = {**(task.get("context") or {}), "storeCompactionState": True}
    if load.replaces == "nothing" and _are_wider(there, load.staged.intervals):
        context[CONCURRENT_LOCKS] = True
    if not granularity.get("intervals"):
        replaces = load.replaces != "nothing" and bool(there or load.replaces == "intervals")
        granularity |= _replaced(load, granularity, there) if replaces else _written(load, context)
        io["dropExisting"] = replaces  # where nothing is to drop, a task over no readable file does no harm
    if granularity.get("type") == "arbitrary":
        del granularity["segmentGranularity"]
    schema["granularitySpec"] = granularity
    schema["transformSpec"] = {**(schema.get("transformSpec") or {}), "filter": _mark(load.task)}
    spec |= {"dataSchema": schema, "ioConfig": io, "tuningConfig": _tuning(spec.get("tuningConfig") or {})}
    return {**task, "id": load.task, "spec": spec, "context": context}


def task_of(segment: StoredSegment) -> str:
    """The id of the task that a segment of the coordinator is marked with; "" where it is from elsewhere."""
    state = segment.last_compaction_state
    transform = state.transform_spec if state is not None else None
    mark = transform.filter if transform is not None else None
    fields = (mark.fields if mark is not None else None) or ()
    return next((str(f.value or "") for f in fields if f.dimension == _MARK), "")


def _mark(task: str) -> dict[str, Any]:
    """A filter that every row passes, by its first half."""
    return {"type": "or", "fields": [{"type": "true"}, {"type": "selector", "dimension": _MARK, "value": task}]}


def _tuning(given: Mapping[str, Any]) -> dict[str, Any]:
    tuning: dict[str, Any] = {"type": "index_parallel", "maxSavedParseExceptions": 1, **given}
    partitions = tuning.get("partitionsSpec") or {"type": "dynamic"}
    if partitions["type"] == "dynamic":
        tuning["partitionsSpec"] = {**partitions, "maxTotalRows": _ROWS_OF_A_TASK}
    return tuning


# --- what is replaced --------------------------------------------------------------------------------------------


def _are_wider(there: Sequence[Interval], staged: Sequence[Interval]) -> bool:
    """Whether rows are to join segments that reach beyond the intervals of the rows.

    With locks of those intervals the task fails then ("Failed to add a row"): it cannot widen them. Concurrent ones it can.
    """
    return bool(staged) and next(without(merged(there), staged), None) is not None


def _written(load: Load, context: Mapping[str, Any]) -> dict[str, Any]:
    """The intervals of the new rows, which spare Druid a first look through all of them.

    Not with concurrent locks, where rows may go into segments that are wider, whose locks the task could not get then.
    """
    staged = load.staged.intervals
    is_shared = load.replaces == "nothing" and bool(context.get(CONCURRENT_LOCKS))
    return {"intervals": to_json(staged)} if staged and not is_shared else {}


def _replaced(load: Load, granularity: Mapping[str, Any], data: Sequence[Interval]) -> dict[str, Any]:
    """The intervals that are replaced: those of the new rows, for "all" those of the old ones, too.

    Buckets of the granularity that would be empty get a tombstone each. Where these are too many, as under old segments that
    are far wider, the buckets are given one by one (ArbitraryGranularitySpec), and what lies between them is one bucket.
    """
    staged = load.staged.intervals
    if load.replaces == "intervals":
        return {"intervals": to_json(staged)}
    segment = str(granularity.get("segmentGranularity") or "DAY").upper()
    empty = list(without(merged(data), staged))
    if sum(_count(span, segment) for span in empty) <= MOST_TOMBSTONES:
        return {"intervals": to_json(merged([*staged, *data]))}
    buckets = [bucket for span in staged for bucket in _buckets(span, segment)]
    return {"type": "arbitrary", "intervals": to_json(tuple(sorted([*buckets, *joined(empty, staged)])))}


def without(spans: Iterable[Interval], taken: Sequence[Interval]) -> Iterator[Interval]:
    """What is left of spans; both are sorted and disjoint."""
    place = 0
    for start, end in spans:
        while place < len(taken) and taken[place][1] <= start:
            place += 1
        left, at = start, place
        while left < end and at < len(taken) and taken[at][0] < end:
            if left < taken[at][0]:
                yield left, taken[at][0]
            left = max(left, taken[at][1])
            at += 1
        if left < end:
            yield left, end


def joined(spans: Sequence[Interval], barriers: Sequence[Interval]) -> list[Interval]:
    """Spans with what is between them, as far as there is no barrier; both are sorted, and apart from each other."""
    found: list[Interval] = []
    place = 0
    for start, end in spans:
        before = place
        while place < len(barriers) and barriers[place][1] <= start:
            place += 1
        if found and before == place:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _count(span: Interval, segment: str) -> int:
    return granularities.number(span[1] - 1, segment) - granularities.number(span[0], segment) + 1


def _buckets(span: Interval, segment: str) -> Iterator[Interval]:
    first = granularities.number(span[0], segment)
    return (granularities.interval(n, segment) for n in range(first, first + _count(span, segment)))
