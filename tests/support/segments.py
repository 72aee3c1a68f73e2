"""Rows with every kind of column, and Druid's index specs: segments that Druid makes of them, and what they contain."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.loads import ingest
from tests.support.publish import answer
from tests.support.staged import NEW_YEAR, stage, task

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

ROWS = 20_000
"""More than two blocks of 8,192 longs, and more than one of 16,384 ids of four bytes."""

INDEX_SPECS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "auto longs, front-coded": {
        "longEncoding": "auto",
        "stringDictionaryEncoding": {"type": "frontCoded", "bucketSize": 4, "formatVersion": 0},
    },
    "not compressed": {
        "dimensionCompression": "uncompressed",
        "metricCompression": "none",
        "longEncoding": "auto",
        "stringDictionaryEncoding": {"type": "frontCoded", "bucketSize": 16, "formatVersion": 1},
    },
    "zstd, CONCISE": {
        "bitmap": {"type": "concise"},
        "dimensionCompression": "zstd",
        "metricCompression": "zstd",
        "complexMetricCompression": "zstd",
    },
    "LZF": {"dimensionCompression": "lzf", "metricCompression": "lzf", "longEncoding": "auto"},
    "uncompressed blocks": {
        "dimensionCompression": "uncompressed",
        "metricCompression": "uncompressed",
        "complexMetricCompression": "lz4",
        "jsonCompression": "zstd",
    },
}

TYPES: Mapping[str, str] = {
    "id": "long", "few": "string", "many": "string", "some": "string", "odd": "string", "none": "string",
    "list": "array", "sorted_list": "string", "table": "long", "big": "long", "small": "long", "wide": "long",
    "null_long": "long", "d": "double", "null_double": "double", "f": "float", "auto_s": "auto", "auto_l": "auto",
    "auto_d": "auto", "auto_strings": "auto", "auto_longs": "auto", "auto_doubles": "auto", "document": "json",
}  # fmt: skip
METRICS = [
    {"type": "hyperUnique", "name": "unique", "fieldName": "many"},
    {"type": "longSum", "name": "sum", "fieldName": "small"},
]
COLUMNS = ("__time", *TYPES, "unique", "sum")

_ODD = ["é", "😀", "\ue000", "\uffff", "a,b", 'q"', "line\nbreak", "\u2028", " ", "A" * 300]


def rows(count: int = ROWS) -> list[dict[str, Any]]:
    """The same rows at each call."""
    rng = random.Random(7)
    return [_row(rng, number) for number in range(count)]


def _row(rng: random.Random, number: int) -> dict[str, Any]:
    words = [rng.choice("abcdefgh") for _ in range(rng.randrange(4))]
    row = {
        "__time": NEW_YEAR + number * 3 + rng.randrange(3), "id": number, "few": rng.choice(["x", "y", "z"]),
        "many": f"value {rng.randrange(10**6):06d}", "some": rng.choice([None, "", "p", "pq", "pqr"]),
        "odd": rng.choice(_ODD), "none": None, "list": words, "sorted_list": words,
        "table": rng.choice([-5, 0, 10**15]), "big": rng.randrange(-(2**63), 2**63), "small": rng.randrange(1000),
        "wide": rng.randrange(2**40), "null_long": rng.choice([None, rng.randrange(100)]), "d": rng.random() * 1e9,
        "null_double": rng.choice([None, rng.random()]), "f": rng.randrange(1 << 20) / 8,
        "auto_s": rng.choice([None, "", "u", "v"]), "auto_l": rng.choice([None, rng.randrange(10**12)]),
        "auto_d": rng.random(), "auto_strings": rng.choice([None, [], ["a", None], ["b", "a", "b"]]),
        "auto_longs": rng.choice([None, [rng.randrange(5), rng.randrange(5)]]),
        "auto_doubles": [rng.randrange(8) / 4, 0.5],
        "document": {"a": rng.randrange(3), "b": [1, "é😀" * rng.randrange(20), None, True, {"c": rng.random()}]},
    }  # fmt: skip
    return {key: value for key, value in row.items() if value is not None}


def ingest_rows(druid: DruidCluster, name: str, folder: Path, index_spec: Mapping[str, Any], count: int = ROWS) -> None:
    """Let Druid write a segment of the rows."""
    spec = task(name, stage(folder, rows(count)), columns=TYPES, metrics=METRICS)
    spec["spec"]["tuningConfig"]["indexSpec"] = index_spec
    ingest(druid, spec)


def stored(druid: DruidCluster, name: str) -> list[Path]:
    """The folders of the segments of a data source in deep storage."""
    path = f"/druid/coordinator/v1/metadata/datasources/{name}/segments?full"
    found = druid.client.get("coordinator", path, list[dict[str, Any]])
    return [Path(item["loadSpec"]["path"]) for item in found]


def scanned(druid: DruidCluster, name: str, columns: Sequence[str] = COLUMNS) -> list[tuple[Any, ...]]:
    """The rows that Druid returns, by id."""
    query = {
        "queryType": "scan", "dataSource": name, "intervals": ["1000/3000"], "columns": list(columns),
        "resultFormat": "compactedList",
    }  # fmt: skip
    found = [tuple(event) for block in answer(druid, query) for event in block["events"]]
    at = list(columns).index("id")
    return sorted(found, key=lambda row: row[at])


def as_scanned(values: Iterator[Any] | Sequence[Any], type_: str) -> list[Any]:
    """Values of Arrow as a scan returns them."""
    import base64

    if type_.startswith("COMPLEX<json>"):
        return [None if value is None else json.loads(value) for value in values]
    if type_.startswith("COMPLEX"):
        return [None if value is None else base64.b64encode(value).decode() for value in values]
    if type_ == "STRING":
        return list(map(scalar, values))
    return list(values)


def scalar(value: Any) -> Any:
    """A value of a multi-value column: Druid returns null for no values, and a value that is alone without its list."""
    if not isinstance(value, list):
        return value
    return value[0] if len(value) == 1 else value or None
