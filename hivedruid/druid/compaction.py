"""Manual and automatic compaction of a data source: tasks and the coordinator's configuration, from a table's
properties.

Compaction changes the layout of rows, never query results. So `__time` is unchanged: the query granularity is NONE,
whatever the table's. Rows are summed only if the table has rollup, and Druid itself does so only if all segments were
written with rollup. Druid reads the columns and aggregators from the segments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hivedruid.catalog.properties import AUTO_COMPACTION, COMPACTION_OFFSET, PROPERTIES
from hivedruid.catalog.table import Table
from hivedruid.druid import granularities
from hivedruid.druid.ingestion import CONCURRENT_LOCKS, Json, partitions_spec, rolls_up
from hivedruid.druid.interval_sets import MAX, MIN, IntervalSet, iso, union
from hivedruid.druid.paths import path_of

TASK = "/druid/indexer/v1/task"
CONFIGS = "/druid/indexer/v1/compaction/config/datasources"
"""The configurations of automatic compaction, on the overlord. It stores them as compaction supervisors if these are
enabled, as by default in Druid 37, and otherwise for the coordinator."""
STATUS = "/druid/indexer/v1/compaction/status/datasources"
OLD_CONFIGS, OLD_STATUS = "/druid/coordinator/v1/config/compaction", "/druid/coordinator/v1/compaction/status"
"""The same before Druid 33."""


def config_path(data_source: str, configs: str = CONFIGS) -> str:
    """The path of a data source's automatic compaction configuration."""
    return path_of(f"{configs}/{{}}", data_source)


def compact_task(table: Table, settings: Mapping[str, str]) -> Json:
    """The task that COMPACT is, complete but for its id and its interval, which is known when it runs."""
    return {
        "type": "compact",
        "dataSource": table.data_source,
        "ioConfig": {"type": "compact", "inputSpec": {"type": "interval"}},
        **_layout(table, settings),
        "context": {CONCURRENT_LOCKS: True, "storeCompactionState": True},
    }


def automatic(table: Table, settings: Mapping[str, str]) -> Json | None:
    """The coordinator's configuration for a table's data source; None if automatic compaction is off."""
    if not table.has_data_source or table.properties.get(AUTO_COMPACTION, "false").lower() != "true":
        return None
    offset = table.properties.get(COMPACTION_OFFSET) or PROPERTIES[COMPACTION_OFFSET].default
    return {
        "dataSource": table.data_source,
        "skipOffsetFromLatest": offset,
        **_layout(table, settings),
        "taskContext": {CONCURRENT_LOCKS: True},
    }


def _layout(table: Table, settings: Mapping[str, str]) -> Json:
    """The target layout, shared by both kinds of compaction, so that neither redoes the work of the other.

    Without a query granularity Druid uses the finest one in the segments (CompactionTask), which need not nest: WEEK
    moves times that were written at MONTH.
    """
    granularity: Json = {"queryGranularity": "NONE"}
    if "druid.segment.granularity" in table.properties:
        granularity["segmentGranularity"] = table.properties["druid.segment.granularity"].upper()
    if not rolls_up(table, settings):
        granularity["rollup"] = False
    partitions = partitions_spec(table, settings, "all")
    tuning: Json = {"type": "index_parallel", "partitionsSpec": partitions}
    if partitions["type"] != "dynamic":
        tuning["forceGuaranteedRollup"] = True
    return {"granularitySpec": granularity, "tuningConfig": tuning}


def over(task: Json, spans: Sequence[tuple[int, int]]) -> tuple[Json, ...]:
    """The task over segments of these intervals: one task, or with a coarser granularity one per run of intervals.
    Without a granularity, segments keep their intervals; time chunks are merged and never split. With one, Druid 33
    requires aligned intervals, and conflicts with its own locks on gaps between segments (CompactionTask). Eternity
    has no period, so it is specified by name.
    """
    given = dict(task["granularitySpec"])
    wanted = given.pop("segmentGranularity", None)
    if any(span == (MIN, MAX) for span in spans):
        wanted, runs = "ALL", [(MIN, MAX)]
    elif wanted is not None and _is_coarser(wanted, spans):
        runs = list(_runs(wanted, spans))
    else:
        wanted, runs = None, [(min(start for start, _ in spans), max(end for _, end in spans))]
    if wanted is not None:
        given["segmentGranularity"] = wanted
    return tuple({**task, "granularitySpec": given, "ioConfig": _io_config(task, run)} for run in runs)


def _io_config(task: Json, run: tuple[int, int]) -> Json:
    spec = {**task["ioConfig"]["inputSpec"], "interval": f"{iso(run[0])}/{iso(run[1])}"}
    return {**task["ioConfig"], "inputSpec": spec}


def _is_coarser(granularity: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether each interval is in one bucket, and one of them is shorter than its bucket."""
    buckets = [granularities.interval(granularities.number(start, granularity), granularity) for start, _ in spans]
    pairs = list(zip(spans, buckets, strict=True))
    return all(end <= bucket[1] for (_, end), bucket in pairs) and any(span != bucket for span, bucket in pairs)


def _runs(granularity: str, spans: Sequence[tuple[int, int]]) -> IntervalSet:
    return union(
        [((granularities.floor(start, granularity), granularities.ceiling(end, granularity)),) for start, end in spans]
    )
