"""Staged rows, the task that ingests them, and the rows that are read back: for tests that write without Spark."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.types import BIGINT, HiveType
from hivedruid.plan.physical import DruidRead, Field

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

NewDataSource = Callable[[str], str]
ETERNITY = ["-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"]
DAY = 86_400_000
NEW_YEAR = 1_704_067_200_000  # 2024-01-01, a Monday
COLUMNS = {"s": "string", "m": "string", "l": "long", "d": "double", "f": "float"}
ROWS: list[dict[str, Any]] = [
    {"__time": NEW_YEAR, "s": "a", "m": ["x", "y"], "l": 1, "d": 1.5, "f": 0.1},
    {"__time": NEW_YEAR + 1, "s": "", "m": "z", "l": 9007199254740993, "d": "NaN", "f": 16777217},
    {"__time": NEW_YEAR + 3 * DAY, "m": [], "d": "-Infinity"},
    {"__time": NEW_YEAR - 40 * DAY, "s": 'q"é\n😀', "l": -7, "d": 1e22, "f": "Infinity"},
    {"__time": NEW_YEAR - 40 * DAY, "s": "a", "m": ["y", "x", "x"], "l": 0, "d": 0.0, "f": -3.25},
]


def stage(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / "part.json.gz", "wt", encoding="utf-8") as file:
        file.write("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    return folder


def dimension(name: str, type_: str) -> dict[str, str]:
    """`array`: a multi-value string, with its order."""
    if type_ == "array":
        return {"type": "string", "name": name, "multiValueHandling": "ARRAY"}
    return {"type": type_, "name": name}


def task(
    name: str,
    folder: Path,
    *,
    overwrite: bool = False,
    segment: str = "DAY",
    columns: Mapping[str, str] = COLUMNS,
    metrics: Sequence[Mapping[str, Any]] = (),
    rollup: bool = False,
) -> dict[str, Any]:
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": {
                "dataSource": name,
                "timestampSpec": {"column": "__time", "format": "millis"},
                "dimensionsSpec": {"dimensions": [dimension(*column) for column in columns.items()]},
                "metricsSpec": [*metrics],
                "granularitySpec": {
                    "type": "uniform", "segmentGranularity": segment, "queryGranularity": "NONE", "rollup": rollup,
                },
            },
            "ioConfig": {
                "type": "index_parallel",
                "inputSource": {"type": "local", "baseDir": str(folder), "filter": "*.json.gz"},
                "inputFormat": {"type": "json"},
                "appendToExisting": not overwrite,
                "dropExisting": overwrite,
            },
            "tuningConfig": {"type": "index_parallel", "maxParseExceptions": 0, "logParseExceptions": True},
        },
    }  # fmt: skip


def scan(name: str, *fields: tuple[str, HiveType]) -> DruidRead:
    columns = list(dict.fromkeys([field for field, _ in fields] or ["__time"]))
    query = {"queryType": "scan", "dataSource": name, "intervals": ETERNITY, "columns": columns}
    return DruidRead(query, tuple(Field(field, type_) for field, type_ in fields))


def values(druid: DruidCluster, name: str) -> list[Any]:
    """The values of column x, sorted."""
    return sorted(x for (x,) in druid.rows(scan(name, ("x", BIGINT))))
