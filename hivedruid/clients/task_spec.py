"""The `index_parallel` task as submitted: the intervals it replaces, and a mark on every segment that it publishes.
Pure.

A segment does not record the task that created it (Druid 33 does not support `/task/ID/segments`), but it can store the
compaction state, which contains the task's filter: that is where the mark is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hivedruid.clients.wire import DataSegment
from hivedruid.druid import granularities
from hivedruid.druid.ingestion import CONCURRENT_LOCKS
from hivedruid.druid.interval_sets import merged, to_json
from hivedruid.engine.segments import Segment
from hivedruid.jobs.load import Load
from hivedruid.jobs.staged import Interval, granularity_of

MOST_TOMBSTONES = 500
"""The maximum number of tombstones for empty buckets: publishing one takes 1 ms, and loading it 15 ms per historical.
"""

_MARK = "__hivedruid_task"
_ROWS_OF_A_TASK = 1 << 62
"""Higher than any number of rows, so that a task publishes once. It also differs from every compaction configuration,
so that automatic compaction does not skip these segments (CompactionStatus compares partitionsSpecs)."""


def completed(load: Load, there: Sequence[Interval]) -> dict[str, Any]:
    """The task to submit; `there` are the intervals of existing segments, with tombstones only if it appends."""
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
        io["dropExisting"] = replaces  # if nothing is dropped, a task without readable files is harmless
    if granularity.get("type") == "arbitrary":
        del granularity["segmentGranularity"]
    schema["granularitySpec"] = granularity
    schema["transformSpec"] = {**(schema.get("transformSpec") or {}), "filter": _mark(load.task)}
    spec |= {"dataSchema": schema, "ioConfig": io, "tuningConfig": _tuning(spec.get("tuningConfig") or {})}
    return {**task, "id": load.task, "spec": spec, "context": context}


def task_of(segment: DataSegment) -> str:
    """The id of the task that a segment is marked with; "" for segments of other origin."""
    state = segment.last_compaction_state
    transform = state.transform_spec if state is not None else None
    mark = transform.filter if transform is not None else None
    fields = (mark.fields if mark is not None else None) or ()
    return next((str(f.value or "") for f in fields if f.dimension == _MARK), "")


def _mark(task: str) -> dict[str, Any]:
    """A filter that is always true, with the task's id in its second field."""
    return {"type": "or", "fields": [{"type": "true"}, {"type": "selector", "dimension": _MARK, "value": task}]}


def state_of(load: Load) -> dict[str, Any]:
    """The compaction state of a segment that hivedruid built itself, as Druid's task would store it."""
    return marked(load.task, load.spec["spec"]["dataSchema"], load.spec["spec"].get("tuningConfig") or {})


TOMBSTONE = {"type": "tombstone", "path": None}
"""The loadSpec of a segment without rows."""


def data_segment(
    segment: Segment,
    place: Mapping[str, Any],
    shard: Mapping[str, Any],
    state: Mapping[str, Any],
    *,
    dimensions: Sequence[str] = (),
    metrics: Sequence[str] = (),
    size: int = 1,
) -> dict[str, Any]:
    """A DataSegment to publish; `place` is its loadSpec, `state` its compaction state."""
    return {
        "dataSource": segment.data_source, "interval": segment.interval, "version": segment.version,
        "loadSpec": place, "dimensions": ",".join(dimensions), "metrics": ",".join(metrics), "shardSpec": shard,
        "lastCompactionState": state, "binaryVersion": 9, "size": size, "identifier": segment.id,
    }  # fmt: skip


def marked(task: str, schema: Mapping[str, Any], tuning: Mapping[str, Any]) -> dict[str, Any]:
    """The compaction state with the mark of a task."""
    return {
        "partitionsSpec": _tuning(tuning)["partitionsSpec"], "dimensionsSpec": schema.get("dimensionsSpec") or {},
        "metricsSpec": schema.get("metricsSpec") or [], "transformSpec": {"filter": _mark(task)},
        "indexSpec": {}, "granularitySpec": schema.get("granularitySpec") or {},
    }  # fmt: skip


def empty_buckets(load: Load, spans: Sequence[Interval]) -> list[Interval]:
    """The intervals of tombstones: the spans without the buckets of new rows, divided by the segment granularity, or
    undivided if there would be too many."""
    segment = granularity_of(load.spec["spec"]["dataSchema"])
    staged = load.staged.intervals
    empty = list(without(merged(spans), staged))
    if sum(_count(span, segment) for span in empty) > MOST_TOMBSTONES:
        return joined(empty, staged)
    return [(max(start, span[0]), min(end, span[1])) for span in empty for start, end in _buckets(span, segment)]


def _tuning(given: Mapping[str, Any]) -> dict[str, Any]:
    tuning: dict[str, Any] = {"type": "index_parallel", "maxSavedParseExceptions": 1, **given}
    partitions = tuning.get("partitionsSpec") or {"type": "dynamic"}
    if partitions["type"] == "dynamic":
        tuning["partitionsSpec"] = {**partitions, "maxTotalRows": _ROWS_OF_A_TASK}
    return tuning


# --- what is replaced --------------------------------------------------------------------------------------------


def _are_wider(there: Sequence[Interval], staged: Sequence[Interval]) -> bool:
    """Whether rows are appended to segments that are wider than the intervals of the rows.

    With locks on the intervals of the rows the task would fail ("Failed to add a row"), because it cannot widen them;
    concurrent locks can be widened.
    """
    return bool(staged) and next(without(merged(there), staged), None) is not None


def _written(load: Load, context: Mapping[str, Any]) -> dict[str, Any]:
    """The intervals of the new rows, which save Druid a first pass over them.

    Not with concurrent locks, because rows may go to wider segments, whose locks the task could not get then.
    """
    staged = load.staged.intervals
    is_shared = load.replaces == "nothing" and bool(context.get(CONCURRENT_LOCKS))
    return {"intervals": to_json(staged)} if staged and not is_shared else {}


def _replaced(load: Load, granularity: Mapping[str, Any], data: Sequence[Interval]) -> dict[str, Any]:
    """The intervals that are replaced: those of the new rows, and for "all" those of the old ones, too.

    Each empty bucket of the granularity gets a tombstone. If there would be too many, for example below much wider old
    segments, the buckets are listed explicitly (ArbitraryGranularitySpec), with one bucket for each gap between them.
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
    """The spans without the taken ones; both are sorted and disjoint."""
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
    """Merge adjacent spans unless a barrier lies between them; both are sorted and disjoint."""
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
