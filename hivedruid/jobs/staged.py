"""The rows staged for one ingestion task, with the totals that the rows in Druid are verified against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field, fields
from typing import Any, Literal

from hivedruid.lazy_dataclass import dataclass
from hivedruid.tables.druid_tables import GRANULARITY_KEY

Interval = tuple[int, int]
"""Milliseconds since the epoch, half open."""
NumberType = Literal["LONG", "DOUBLE", "FLOAT"]

_SUMS: Mapping[str, NumberType] = {"longSum": "LONG", "doubleSum": "DOUBLE", "floatSum": "FLOAT"}


@dataclass(frozen=True)
class Sum:
    """The sum of a field over all rows, nulls left out: an int (of 64 bits, wrapping) for LONG, else a float.

    `magnitude` is the sum of the absolute values, which bounds the difference between sums of the same doubles in
    another order; 0 for LONG.
    """

    total: int | float
    magnitude: float = 0.0


@dataclass(frozen=True)
class BuiltSegment:
    """A segment in deep storage that is not published yet: its bucket of the segment granularity, its folder below that
    of the job, its number of rows after rollup, and its size in bytes.

    `first` and `until`: bounds of the values of the columns by whose ranges rows are divided. No value is below
    `first`, and all are below `until`; None is unbounded."""

    start: int
    end: int
    path: str
    rows: int
    size: int
    first: tuple[str, ...] | None = None
    until: tuple[str, ...] | None = None


@dataclass(frozen=True)
class StagedRows:
    """`folder`: a path, or the URI of remote storage; `size`: bytes of its files, compressed.

    `intervals`: the buckets of the segment granularity that rows are in, merged and sorted. `sums` by field; `skipped`:
    the number of rows that were skipped because they have no time. `segments`: the rows are staged as these segments,
    ordered by time, instead of files for a task.
    """

    folder: str
    rows: int
    size: int = 0
    intervals: tuple[Interval, ...] = ()
    sums: Mapping[str, Sum] = field(default_factory=dict)
    skipped: int = 0
    segments: tuple[BuiltSegment, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> StagedRows:
        """The inverse of `to_json`."""
        sums = {name: Sum(item["total"], item["magnitude"]) for name, item in value["sums"].items()}
        intervals = tuple((start, end) for start, end in value["intervals"])
        segments = tuple(BuiltSegment(**known_fields(BuiltSegment, item)) for item in value.get("segments") or ())
        return cls(**{**known_fields(cls, value), "sums": sums, "intervals": intervals, "segments": segments})


def known_fields(kind: type, value: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a JSON object that are fields of the dataclass."""
    names = {item.name for item in fields(kind)}
    return {name: item for name, item in value.items() if name in names}


def summed_fields(schema: Mapping[str, Any]) -> dict[str, NumberType]:
    """The fields of a dataSchema whose sums are the same before and after ingestion, and their types.

    Those are sum metrics and, without rollup, numeric dimensions. With rollup, floatSum is excluded: it adds the merged
    rows in single precision (FloatSumAggregator), so that the result depends on their order.
    """
    metrics = schema.get("metricsSpec") or ()
    found = {m["name"]: _SUMS[m["type"]] for m in metrics if m["type"] in _SUMS and m.get("fieldName") == m["name"]}
    if (schema.get("granularitySpec") or {}).get("rollup"):
        return {name: kind for name, kind in found.items() if kind != "FLOAT"}
    types: Mapping[str, NumberType] = {"long": "LONG", "double": "DOUBLE", "float": "FLOAT"}
    for item in (schema.get("dimensionsSpec") or {}).get("dimensions") or ():
        if isinstance(item, Mapping) and item.get("type") in types:
            found[item["name"]] = types[item["type"]]
    return found


@dataclass(frozen=True)
class Layout:
    """How rows are divided into files: by Spark's tasks, or `clustered` by segment interval."""

    granularity: str
    clustered: bool = False

    def __str__(self) -> str:
        return f"by {GRANULARITY_KEY} ({self.granularity})" if self.clustered else "by Spark's tasks"


def layout(spec: Mapping[str, Any]) -> Layout:
    """How the rows for a task are divided into files.

    A single task reads all files in any order. Subtasks divide the files among them: if all files contain rows of one
    interval, each subtask creates its own segments for every interval, however small. With hashed partitions the
    subtasks shuffle the rows themselves.
    """
    inner = spec["spec"]
    tuning = inner.get("tuningConfig") or {}
    dynamic = (tuning.get("partitionsSpec") or {}).get("type", "dynamic") == "dynamic"
    subtasks = int(tuning.get("maxNumConcurrentSubTasks") or 1)
    return Layout(granularity_of(inner["dataSchema"]), dynamic and subtasks > 1)


def granularity_of(schema: Mapping[str, Any]) -> str:
    """The segment granularity of a dataSchema."""
    return str((schema.get("granularitySpec") or {}).get("segmentGranularity") or "DAY").upper()
