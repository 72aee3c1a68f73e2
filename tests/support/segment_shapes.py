"""Data sources whose segments differ in what queries must not see: granularities, times, encodings, projections,
tombstones, overshadowed parts, and names of columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]
Row = tuple[Any, ...]
FIELDS: Mapping[str, str] = {
    "a": "string", "A": "string", "a.b": "string", "a b": "long", " c": "double", "count": "string", "select": "long",
    "sum(x)": "double", "Ü": "string", 'q"uote': "string", "$1": "long", "__x": "string",
}  # fmt: skip
"""Names with dots, blanks and case variants, and of functions and keywords, with their types in Druid."""
MAPPING = "a:small,A:large"
"""The columns of the fields that differ only in case."""
COLUMNS = tuple({"a": "small", "A": "large"}.get(name, name.lower()) for name in FIELDS)


def values(number: int, rows: int = 6) -> list[Row]:
    """Rows of the fields: repeated, missing and empty values, and common prefixes."""
    words = [f"prefix {number}", f"prefix {number} and more", "", None, "ä", f"prefix {number}"]
    of_type: Mapping[str, Sequence[Any]] = {
        "string": words,
        "long": [number, 0, None, -(2**53) - 1, 2**62, number],
        "double": [number / 4, 0.0, None, -1.5, 1e300, 0.1],
    }
    columns = [[of_type[kind][(row + at) % 6] for row in range(rows)] for at, kind in enumerate(FIELDS.values())]
    return list(zip(*columns, strict=True))


def spec(
    data_source: str, times: Sequence[str], rows: Sequence[Row], segments: Any, index: Json | None = None, *,
    dimension: str = "string", projections: Sequence[Json] = (), replaces: str = "", rollup: bool = False,
) -> Json:  # fmt: skip
    """A task that writes rows at these times, with the segment granularity `segments` and the indexSpec `index`.
    `replaces`: an interval whose segments it replaces, also where it has no rows."""
    names = list(FIELDS)
    records = [{"t": time, **dict(zip(names, row, strict=True))} for time, row in zip(times, rows, strict=True)]
    granularity: Json = {"segmentGranularity": segments, "queryGranularity": "NONE", "rollup": rollup}
    dimensions = [{"type": dimension if kind == "string" else kind, "name": name} for name, kind in FIELDS.items()]
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": {
                "dataSource": data_source, "timestampSpec": {"column": "t", "format": "iso"},
                "dimensionsSpec": {"dimensions": dimensions}, "metricsSpec": [],
                "granularitySpec": granularity | ({"intervals": [replaces]} if replaces else {}),
                **({"projections": list(projections)} if projections else {}),
            },
            "ioConfig": {
                "type": "index_parallel", "inputFormat": {"type": "json"}, "appendToExisting": False,
                "dropExisting": bool(replaces),
                "inputSource": {"type": "inline", "data": "\n".join(map(json.dumps, records))},
            },
            "tuningConfig": {"type": "index_parallel", **({"indexSpec": index} if index else {})},
        },
    }  # fmt: skip


FRONT_CODED_0 = {
    "stringDictionaryEncoding": {"type": "frontCoded", "bucketSize": 4, "formatVersion": 0}, "longEncoding": "auto",
    "bitmap": {"type": "concise"}, "dimensionCompression": "lzf", "metricCompression": "lzf",
}  # fmt: skip
FRONT_CODED_1 = {
    "stringDictionaryEncoding": {"type": "frontCoded", "bucketSize": 2, "formatVersion": 1}, "longEncoding": "longs",
    "bitmap": {"type": "roaring"}, "dimensionCompression": "zstd", "metricCompression": "zstd",
}  # fmt: skip
UNCOMPRESSED = {
    "longEncoding": "auto", "dimensionCompression": "uncompressed", "metricCompression": "none",
    "bitmap": {"type": "roaring", "compressRunOnSerialization": False},
}  # fmt: skip
PROJECTION = {
    "type": "aggregate", "name": "by_count", "virtualColumns": [], "groupingColumns": [{"type": "string", "name": "count"}],
    "aggregators": [{"type": "longSum", "name": "n", "fieldName": "select"}],
}  # fmt: skip
REPLACED = "2026-04-01/2026-04-06"
EDGES = ("0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "2026-05-01T12:00:00Z", "9999-12-31T23:59:59.999Z")


def _days(month: int, *days: int) -> list[str]:
    return [f"2026-{month:02}-{day:02}T{day % 24:02}:00:00.{day:03}Z" for day in days]


def parts(data_source: str) -> tuple[list[Json], list[Json], list[tuple[str, Row]]]:
    """The tasks of a data source, those that replace segments of them afterwards, and the rows that remain."""
    by_two_days = {"type": "period", "period": "P2D", "origin": "2026-01-01T00:00:00Z"}
    shapes: list[tuple[list[str], Any, Json | None, Json]] = [
        (_days(1, 5, 6, 11, 12, 18, 25), {"type": "period", "period": "P1W"}, FRONT_CODED_0, {}),
        (_days(2, 4, 5, 6, 7, 8, 9), by_two_days, FRONT_CODED_1, {}),
        (_days(3, 1, 1, 1, 1, 1, 1), "DAY", UNCOMPRESSED, {"projections": [PROJECTION]}),
        (_days(4, 1, 2, 5, 5, 9, 9), "DAY", None, {}),
        (_days(6, 1, 2, 3, 4, 5, 6), "MONTH", FRONT_CODED_1, {"dimension": "auto"}),
        ([EDGES[0], EDGES[3]], "YEAR", None, {}),
    ]
    tasks = [
        spec(data_source, times, values(number, len(times)), granularity, index, **more)
        for number, (times, granularity, index, more) in enumerate(shapes)
    ]
    rows = [pair for number, (times, *_) in enumerate(shapes) for pair in zip(times, values(number), strict=False)]
    late = _days(4, 5)
    changes = [spec(data_source, late, values(9, 1), "DAY", replaces=REPLACED)]
    start, end = REPLACED.split("/")
    kept = [pair for pair in rows if not start <= pair[0] < end]
    return tasks, changes, [*kept, *zip(late, values(9, 1), strict=True)]


def everywhere(data_source: str) -> tuple[Json, list[tuple[str, Row]]]:
    """The task of a data source with one segment of all times, and its rows."""
    return spec(data_source, EDGES, values(7, 4), "ALL", FRONT_CODED_1), list(zip(EDGES, values(7, 4), strict=True))
