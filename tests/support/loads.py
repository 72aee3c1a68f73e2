"""Loads for tests that write their rows themselves: the staged files are counted as Spark would have counted them."""

from __future__ import annotations

import fnmatch
import gzip
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.druid import granularities
from hivedruid.druid.ingestion import Replaces, index_parallel_spec
from hivedruid.druid.interval_sets import merged
from hivedruid.jobs.load import Load, LoadReport, NoJournal
from hivedruid.jobs.staged import Interval, NumberType, StagedRows, Sum, summed_fields

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table
    from hivedruid.engine.capabilities import Loading

MakeLoad = Callable[..., Load]
"""The fixture `load_of`: returns a load for the name of a data source and rows."""


def ingest(druid: Loading, spec: Mapping[str, Any]) -> LoadReport:
    """Run a task over its local files, without a record of it."""
    return druid.ingest(load(spec), NoJournal())


def index_task(table: Table, folder: Path) -> dict[str, Any]:
    """The task that adds the JSON files of a folder to a table, as INSERT would submit it."""
    task: dict[str, Any] = index_parallel_spec(table, {}, "nothing")
    task["spec"]["ioConfig"]["inputSource"] = {"type": "local", "baseDir": str(folder), "filter": "*.json"}
    return task


def load(spec: Mapping[str, Any], task: str = "") -> Load:
    """The rows that a task would write, counted from its files."""
    io, schema = spec["spec"]["ioConfig"], spec["spec"]["dataSchema"]
    granularity = schema.get("granularitySpec") or {}
    replaces: Replaces = "nothing" if io.get("appendToExisting") else "intervals"
    if io.get("dropExisting") and not granularity.get("intervals"):
        replaces = "all"
    staged = look_through(schema, io["inputSource"])
    return Load(task or f"hivedruid_test_{uuid4().hex}", spec, staged, replaces)


def look_through(schema: Mapping[str, Any], source: Mapping[str, Any]) -> StagedRows:
    """The rows in the files of a local input source, including those that are not valid JSON."""
    files = list(_files(source))
    segment = str((schema.get("granularitySpec") or {}).get("segmentGranularity") or "DAY").upper()
    time = (schema.get("timestampSpec") or {}).get("column") or "timestamp"
    rows, buckets = 0, set[Interval]()
    sums = {name: _Sum(type_) for name, type_ in summed_fields(schema).items()}
    for path in files:
        for line in _lines(path):
            rows += 1
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row.get(time), int):
                buckets.add(granularities.interval(granularities.number(row[time], segment), segment))
            for name, total in sums.items():
                total.add(row.get(name))
    return StagedRows(
        str(source.get("baseDir") or ""), rows, sum(path.stat().st_size for path in files), merged(buckets),
        {name: s.total for name, s in sums.items() if s.is_known},
    )  # fmt: skip


class _Sum:
    """The sums of numeric fields; unknown for a field with other values."""

    def __init__(self, type_: NumberType) -> None:
        self._type = type_
        self._values: list[float] = []
        self.is_known = True

    def add(self, value: Any) -> None:
        if value is None:
            return
        if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity") and self._type != "LONG":
            value = float(value)
        kind = int if self._type == "LONG" else (int, float)
        if isinstance(value, bool) or not isinstance(value, kind):
            self.is_known = False
        else:
            self._values.append(value)

    @property
    def total(self) -> Sum:
        if self._type == "LONG":
            return Sum((int(sum(self._values)) + 2**63) % 2**64 - 2**63)
        finite = all(map(math.isfinite, self._values))
        add = math.fsum if finite else sum
        return Sum(float(add(self._values)), float(add(map(abs, self._values))))


def _files(source: Mapping[str, Any]) -> Iterator[Path]:
    """The files, as Druid's LocalInputSource finds them."""
    yield from (Path(path) for path in source.get("files") or ())
    for folder, _, names in os.walk(source.get("baseDir") or ""):
        yield from (Path(folder, name) for name in names if fnmatch.fnmatchcase(name, source.get("filter") or "*"))


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        yield from (line for line in file if line.strip())
