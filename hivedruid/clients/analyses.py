"""The segmentMetadata of data sources, kept for each segment: a session asks Druid once about a segment that does not
change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.stored_types import Schema, schema_of
from hivedruid.clients.segments import ETERNITY, Segments, interval
from hivedruid.clients.wire import ColumnAnalysis, SegmentAnalysis
from hivedruid.errors import DruidError
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.catalog.statistics import TableStatistics
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.engine.segments import Segment

MOST = 20_000
"""Segments of a data source that are kept: some 20 MB. Larger data sources are read as a whole each time."""


@dataclass(frozen=True)
class Analyses:
    """The analyses of all segments of a data source, or one of all of them.

    `kept` are those of published segments, by id. `timeline` is the broker's timeline if `found` are the analyses of
    exactly its segments, and none of these is growing.
    """

    found: Sequence[SegmentAnalysis]
    kept: Mapping[str, SegmentAnalysis] = field(default_factory=dict)
    timeline: str | None = None

    @cached_property
    def schema(self) -> Schema:
        return schema_of({name: _type(column) for name, column in each.columns.items()} for each in self.found)

    @property
    def types(self) -> Mapping[str, str]:
        return self.schema.types

    @property
    def countable(self) -> frozenset[str]:
        """The columns whose type in each segment is one whose values Druid counts."""
        from hivedruid.clients.statistics import COUNTABLE

        columns = [(name, column.druid_type) for analysis in self.found for name, column in analysis.columns.items()]
        return frozenset({name for name, _ in columns} - {name for name, type_ in columns if type_ not in COUNTABLE})

    @cached_property
    def statistics(self) -> TableStatistics | None:
        """None without segments."""
        from hivedruid.clients.statistics import of_analyses

        return of_analyses(self.found)


def read(cluster: DruidCluster, data_source: str, last: Analyses | None) -> Analyses:
    """The analyses as of now. `last` are those that this session read before.

    The first time Druid returns one for the whole data source. From the second time on, it is asked only about segments
    that the broker's timeline has in addition, and about those that are growing.
    """
    if last is None:
        return Analyses(_whole(cluster, data_source))
    segments = Segments(cluster.client, data_source)
    try:
        timeline = segments.timeline()
        if timeline == last.timeline:
            return last
        visible = segments.of_timeline(timeline)
    except DruidError:  # some proxies forward queries only
        return Analyses(_whole(cluster, data_source), last.kept)
    if not 0 < len(visible) <= MOST:
        return Analyses(_whole(cluster, data_source))
    by_id = {segment.id: segment for segment in visible}
    growing = {id_ for id_, segment in by_id.items() if segment.is_growing}
    known = {id_: last.kept[id_] for id_ in by_id if id_ in last.kept and id_ not in growing}
    new = [segment for id_, segment in by_id.items() if id_ not in known]
    found = _of_segments(cluster, data_source, new) if new else []
    if len({analysis.id for analysis in found}) < len(new):  # some were dropped or replaced in the meantime
        return Analyses(_whole(cluster, data_source), last.kept)
    added = {a.id: a for a in found if a.id in by_id and a.id not in growing}
    return Analyses([*known.values(), *found], known | added, None if growing else timeline)


def _whole(cluster: DruidCluster, data_source: str) -> list[SegmentAnalysis]:
    """One analysis of all segments, or one for each if their types differ."""
    merged = _analyses(cluster, data_source, [interval(ETERNITY)], merge=True)
    if any(column.error_message for analysis in merged for column in analysis.columns.values()):
        return _analyses(cluster, data_source, [interval(ETERNITY)], merge=False)
    return merged


def _of_segments(cluster: DruidCluster, data_source: str, segments: Sequence[Segment]) -> list[SegmentAnalysis]:
    """At least one analysis for each segment that is still there."""
    descriptors = {"type": "segments", "segments": [segment.descriptor for segment in segments]}
    return _analyses(cluster, data_source, descriptors, merge=False)


def _type(column: ColumnAnalysis) -> str:
    is_multiple = column.has_multiple_values and column.druid_type == "STRING"
    return "ARRAY<STRING>" if is_multiple else column.druid_type


def _analyses(cluster: DruidCluster, data_source: str, intervals: Any, *, merge: bool) -> list[SegmentAnalysis]:
    query = {"queryType": "segmentMetadata", "dataSource": data_source, "intervals": intervals, "merge": merge}
    query |= {"analysisTypes": ["cardinality", "interval"], "lenientAggregatorMerge": True}
    return cluster.answer(query, SegmentAnalysis)
