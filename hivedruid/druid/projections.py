"""Projections of a table's segments: aggregated copies of their rows, from which Druid answers native queries itself.

druid.projections contains Druid's own specs. `answering` finds the projection that has everything that a query needs,
by the rules of org.apache.druid.segment.projections.Projections: None for anything that EXPLAIN cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.druid.interval_sets import MAX, MIN, iso
from hivedruid.tables.kafka_feed import json_value

Json = Mapping[str, Any]
PROJECTIONS = "druid.projections"


def projections_of(table: Table) -> list[dict[str, Any]]:
    """The specs of a table's projections."""
    return json_value(table.properties, PROJECTIONS) or []


def answering(query: Json, projections: Sequence[Json]) -> str | None:
    """The name of the first projection that can answer a native query; None if none can, or if it is not known."""
    needed = _needed(query)
    if needed is None:
        return None
    columns, aggregators = needed
    for projection in projections:
        grouped = {str(item.get("name")) for item in projection.get("groupingColumns") or ()}
        stored = [_shape(item) for item in projection.get("aggregators") or ()]
        if columns <= grouped and all(_shape(item) in stored for item in aggregators) and not projection.get("filter"):
            return str(projection.get("name"))
    return None


def _needed(query: Json) -> tuple[set[str], Sequence[Json]] | None:
    """The columns and aggregators of a query over all of time; None if it needs more than a projection may have."""
    kind, granularity = query.get("queryType"), query.get("granularity", "all")
    if kind not in _AGGREGATES or query.get("virtualColumns") or granularity not in _ALL:
        return None
    if not isinstance(query.get("dataSource"), str) or not _is_all_time(query.get("intervals")):
        return None
    dimensions = query.get("dimensions") or ([query["dimension"]] if "dimension" in query else [])
    try:
        columns = {*map(_dimension, dimensions), *_columns(query.get("filter"))}
    except _UnknownError:
        return None
    return None if TIME_COLUMN in columns else (columns, query.get("aggregations") or ())


def without_projections(query: Json) -> dict[str, Any]:
    """The query, such that no projection answers a part of it that reads some of the time alone.

    Druid 33 answers such a query from a projection without a time column, over all rows of each segment.
    """
    changed = _over_query(query["dataSource"]) if "dataSource" in query else None
    found = {**query, **({"dataSource": changed} if changed is not None else {})}
    if query.get("queryType") in _AGGREGATES and "intervals" in query and not _is_all_time(query["intervals"]):
        found["context"] = {NO_PROJECTIONS: True, **(query.get("context") or {})}
    return found


def _over_query(source: Any) -> Any:
    """A data source with the same change of the queries in it."""
    if not isinstance(source, Mapping):
        return source
    if source.get("type") == "query":
        return {**source, "query": without_projections(source["query"])}
    return {**source, **{key: _over_query(source[key]) for key in ("left", "right", "base") if key in source}}


NO_PROJECTIONS = "noProjections"
_AGGREGATES = ("groupBy", "timeseries", "topN")
_ALL = ("all", "ALL", {"type": "all"})


class _UnknownError(Exception):
    """A part of a query whose columns are not known here."""


def _is_all_time(intervals: Any) -> bool:
    """Without a time column, a projection only answers queries of whole segments."""
    return isinstance(intervals, list) and f"{iso(MIN)}/{iso(MAX)}" in intervals


def _dimension(item: Any) -> str:
    if isinstance(item, str):
        return item
    if item.get("type", "default") != "default":
        raise _UnknownError
    return str(item["dimension"])


def _columns(condition: Any) -> Iterator[str]:
    """The columns of a filter."""
    if condition is None:
        return
    kind = condition.get("type")
    if kind in ("and", "or"):
        for field in condition["fields"]:
            yield from _columns(field)
    elif kind == "not":
        yield from _columns(condition["field"])
    elif kind in ("selector", "in", "bound", "like"):
        yield str(condition["dimension"])
    elif kind in ("equals", "null", "range", "inType"):
        yield str(condition["column"])
    elif kind not in ("true", "false"):
        raise _UnknownError


def _shape(aggregator: Json) -> dict[str, Any]:
    """An aggregator without its name."""
    return {key: value for key, value in aggregator.items() if key != "name"}
