"""Native segmentMetadata queries: the columns, types and number of rows of a data source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hivedruid.catalog.statistics import SEGMENTS, ColumnStatistics, TableStatistics
from hivedruid.embedded.intervals import format_instant, parse_intervals
from hivedruid.embedded.manifest import Manifest
from hivedruid.embedded.relations import Relation
from hivedruid.embedded.sql import identifier
from hivedruid.engine.segments import Segment
from hivedruid.errors import DruidError

MakeRelation = Callable[[list[Segment], dict[str, str]], Relation]
Run = Callable[[str], list[tuple[Any, ...]]]


def segment_metadata(
    query: Mapping[str, Any], manifest: Manifest, relation: MakeRelation, run: Run
) -> list[dict[str, Any]]:
    """One analysis for each segment, or with `merge` one for all of them."""
    spec = query["dataSource"]
    name = spec if isinstance(spec, str) else spec.get("name")
    if name is None:
        raise DruidError("segmentMetadata needs a table data source")
    segments = manifest.segments(name, parse_intervals(query.get("intervals")))
    wanted = query.get("analysisTypes")
    types = {kind.lower() for kind in (["cardinality", "interval", "minmax"] if wanted is None else wanted)}
    if query.get("merge"):
        groups = [("merged", segments)] if segments else []
    else:
        groups = [(segment.id, [segment]) for segment in segments]
    schema = manifest.newest_schema(name)
    return [_analysis(label, part, schema, relation(part, schema), types, run) for label, part in groups]


def _analysis(
    label: str, segments: list[Segment], schema: Mapping[str, str], rows: Relation, types: set[str], run: Run
) -> dict[str, Any]:
    items = []
    for name, type_ in schema.items():
        column = identifier(name)
        items.append(f"count(*) > count({column})")
        if type_ == "STRING":
            items += [
                f"count(DISTINCT {column}) + max(CASE WHEN {column} IS NULL THEN 1 ELSE 0 END)",
                f"min({column})",
                f"max({column})",
            ]
    figures = iter(run(f"SELECT {', '.join(items)} FROM ({rows.sql}) AS t")[0])
    columns = {}
    for name, type_ in schema.items():
        has_nulls = next(figures)
        cardinality, low, high = (next(figures), next(figures), next(figures)) if type_ == "STRING" else (None,) * 3
        multiple = type_ == "ARRAY<STRING>"
        columns[name] = {
            "typeSignature": "STRING" if multiple else type_,
            "type": "STRING" if multiple else type_,
            "hasMultipleValues": multiple,
            "hasNulls": has_nulls,
            "size": 0,
            "cardinality": cardinality if "cardinality" in types else None,
            "minValue": low if "minmax" in types else None,
            "maxValue": high if "minmax" in types else None,
            "errorMessage": None,
        }
    return {
        "id": label,
        "intervals": _intervals(segments) if "interval" in types else None,
        "columns": columns,
        "size": sum(segment.size for segment in segments) if "size" in types else 0,
        "numRows": sum(segment.rows or 0 for segment in segments),
        "aggregators": None,
        "projections": None,
        "timestampSpec": None,
        "queryGranularity": None,
        "rollup": None,
    }


def _intervals(segments: list[Segment]) -> list[str]:
    """The intervals of the segments; adjacent or overlapping ones are merged."""
    merged: list[list[int]] = []
    for start, end in sorted((segment.start, segment.end) for segment in segments):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return [f"{format_instant(start)}/{format_instant(end)}" for start, end in merged]


def statistics(segments: list[Segment]) -> TableStatistics | None:
    """Statistics from the manifest, without reading segments; None without segments."""
    if not segments:
        return None
    from zlib import crc32

    paths = crc32("\n".join(s.path for s in segments).encode())  # a path is never reused
    return TableStatistics(
        sum(s.rows or 0 for s in segments),
        sum(s.size for s in segments),
        min(s.start for s in segments),
        max(s.end for s in segments),
        of=f"{len(segments)} segments {paths:08x}",
        rows_from=SEGMENTS,
    )


def analysed(segments: list[Segment], rows: Relation, columns: Mapping[str, str], run: Run) -> TableStatistics:
    """Statistics with the exact number of values of these columns; `columns` gives Druid types by name."""
    found = statistics(segments)
    if found is None:
        return TableStatistics(0)
    looked_at = {}
    for name, type_ in columns.items():
        column = identifier(name)
        several = type_ == "ARRAY<STRING>"
        source = (
            f"SELECT unnest({column}) AS v FROM ({rows.sql}) AS t"
            if several
            else f"SELECT {column} AS v FROM ({rows.sql}) AS t"
        )
        distinct, filled, all_rows, low, high = run(
            f"SELECT count(DISTINCT v), count(v), count(*), min(v), max(v) FROM ({source}) AS s"
        )[0]
        nulls = several or filled < all_rows
        looked_at[name] = ColumnStatistics(distinct + nulls, nulls, several, _text(low), _text(high))
    return replace(found, columns=looked_at)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
