"""Druid's `index_parallel` tasks over JSON files: rows in, Parquet segments out, as Druid would store them."""

from __future__ import annotations

import fnmatch
import json
import os
from base64 import b64encode
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from hivedruid import instants
from hivedruid.druid.ingestion import Replaces
from hivedruid.druid.interval_sets import merged
from hivedruid.druid.sketch_columns import Sketching, sketching
from hivedruid.druid.sketch_folds import sketch_fold
from hivedruid.embedded import coercion, joda, periods
from hivedruid.embedded.duck import Duck, failures
from hivedruid.embedded.granularity import Granularity
from hivedruid.embedded.intervals import MAX_INSTANT, MIN_INSTANT, condition, parse_intervals
from hivedruid.embedded.manifest import Manifest
from hivedruid.embedded.relations import TIME
from hivedruid.embedded.remainders import cut_segments, remainders
from hivedruid.embedded.sql import DUCKDB_TYPES, SKETCH_TYPES, identifier, plain_identifier, string_literal
from hivedruid.embedded.storage import Storage
from hivedruid.engine.segments import Segment
from hivedruid.errors import DruidError
from hivedruid.jobs.load import Journal, Load, LoadReport
from hivedruid.jobs.staged import Interval

TYPES = {"string": "STRING", "long": "LONG", "float": "FLOAT", "double": "DOUBLE"}
METRIC_TYPES = {"long": "LONG", "double": "DOUBLE", "float": "FLOAT"}


class _Task:
    """The task of an `index_parallel` spec. Raises DruidError if the store does not support it exactly."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        if spec.get("type") != "index_parallel":
            raise DruidError(f"tasks of type '{spec.get('type')}' are not supported by the embedded store")
        inner = spec.get("spec", spec)
        schema, io = inner["dataSchema"], inner["ioConfig"]
        tuning = inner.get("tuningConfig") or {}
        self.data_source: str = schema["dataSource"]
        stamp = schema.get("timestampSpec") or {}
        self.time_column: str = stamp.get("column") or "timestamp"
        self.time_format: str = stamp.get("format") or "auto"
        dimensions = (schema.get("dimensionsSpec") or {}).get("dimensions") or ()
        self.dimensions = [_dimension(item) for item in dimensions]
        self.handlings = {
            item["name"]: str(item.get("multiValueHandling")) for item in dimensions if isinstance(item, Mapping)
        }
        self.metrics = sorted(schema.get("metricsSpec") or (), key=lambda metric: str(metric["name"]))
        granularity = schema.get("granularitySpec") or {}
        self.segment_granularity = Granularity(granularity.get("segmentGranularity") or "DAY")
        self.query_granularity = Granularity(granularity.get("queryGranularity") or "NONE")
        self.rollup: bool = granularity.get("rollup", True)
        wanted = granularity.get("intervals")
        self.intervals = parse_intervals(wanted) if wanted else None
        self.files = _files(io["inputSource"])
        if (io.get("inputFormat") or {}).get("type") != "json":
            raise DruidError("the embedded store reads newline-delimited JSON only (inputFormat json)")
        transforms = schema.get("transformSpec") or {}
        if transforms.get("filter") or transforms.get("transforms"):
            raise DruidError("transformSpec is not supported by the embedded store")
        self.append: bool = io.get("appendToExisting", False)
        partitions = tuning.get("partitionsSpec") or {}
        self.shards = _shards(partitions)
        most = partitions.get("maxRowsPerSegment") or partitions.get("targetRowsPerSegment")
        self.rows_per_segment = int(most or 5_000_000)

    @property
    def schema(self) -> dict[str, str]:
        columns = {TIME: "LONG", **dict(self.dimensions)}
        return columns | {metric["name"]: _metric_type(metric) for metric in self.metrics}


def _dimension(item: Any) -> tuple[str, str]:
    if isinstance(item, str):
        return item, "STRING"
    type_ = TYPES.get(str(item.get("type", "string")).lower())
    if type_ is None:
        raise DruidError(
            f"dimension '{item['name']}' has type '{item['type']}'; the embedded store supports {', '.join(TYPES)}"
        )
    return item["name"], type_


def _shards(partitions: Mapping[str, Any]) -> int:
    """The number of hash partitions of an interval; 0: partitioned by the number of rows."""
    kind = partitions.get("type", "dynamic")
    if kind in ("dynamic", "range"):
        return 0
    if kind == "hashed" and partitions.get("numShards"):
        return int(partitions["numShards"])
    raise DruidError(f"partitionsSpec {dict(partitions)} is not supported by the embedded store")


def _metric_type(metric: Mapping[str, Any]) -> str:
    kind = metric["type"]
    for prefix, type_ in METRIC_TYPES.items():
        if kind.startswith(prefix) and kind[len(prefix) :] in ("Sum", "Min", "Max"):
            return type_
    if kind == "count":
        return "LONG"
    if (found := sketching(metric)) is not None:
        return found.kind.druid_types[0]
    raise DruidError(f"metric '{metric['name']}' has type '{kind}': not supported by the embedded store")


def _files(source: Mapping[str, Any]) -> list[str]:
    """The input files, in order of name. Raises DruidError for a source that is not local."""
    if source.get("type") != "local":
        raise DruidError(f"input sources of type '{source.get('type')}' are not supported by the embedded store")
    files = [str(path) for path in source.get("files") or ()]
    base = source.get("baseDir")
    if base is not None:
        for folder, _, names in os.walk(base):
            matching = (name for name in names if fnmatch.fnmatchcase(name, source.get("filter") or "*"))
            files += [f"{folder}/{name}" for name in matching]
    for path in files:
        if not os.access(path, os.R_OK):
            raise DruidError(f"cannot read the input file {path}")
    return sorted(path for path in files if Path(path).stat().st_size)


def ingest(load: Load, storage: Storage, manifest: Manifest, journal: Journal) -> LoadReport:
    """Run a task and commit it together with the journal. Raises DruidError, without changes, if a row cannot be
    stored."""
    try:
        task = _Task(load.spec)
    except KeyError as error:
        raise DruidError(f"the task spec is missing {error}") from error
    with failures(), storage.writing(task.data_source) as folder:
        written = _Rows(task, storage).write(folder) if task.files else _Written([], 0)
        replaced = _replaced(task, load.replaces, written.segments)
        cut = cut_segments(manifest.segments(task.data_source, replaced or ()), replaced or ())
        added = [*written.segments, *remainders(cut, replaced or (), folder, storage)]
        if not added:
            folder.rmdir()
        else:
            storage.make_durable(folder)
        size = sum(segment.size for segment in written.segments)
        report = LoadReport(load.task, written.processed, len(written.segments), size)
        manifest.commit(task.data_source, added, replaced, cut, also=lambda: _journalled(journal, report))
    storage.clean()
    return report


def _journalled(journal: Journal, report: LoadReport) -> None:
    """Record all states of the journal in one transaction: a submitted load is also published and verified."""
    journal.submitted({})
    journal.published({})
    journal.verified(report)


class _Written:
    def __init__(self, segments: list[Segment], processed: int) -> None:
        self.segments = segments
        self.processed = processed


def _replaced(task: _Task, replaces: Replaces, segments: list[Segment]) -> tuple[Interval, ...] | None:
    """The intervals whose segments are replaced: those of the spec, all, or those with new rows; none when
    appending."""
    if task.append or replaces == "nothing":
        return None
    if task.intervals:
        return merged(task.intervals)
    if replaces == "all":
        return ((MIN_INSTANT, MAX_INSTANT),)
    return merged((segment.start, segment.end) for segment in segments)


def _json_rows(files: list[str], names: list[str]) -> str:
    """The rows of newline-JSON files, each named field as a JSON column."""
    paths = ", ".join(map(string_literal, files))
    options = "format = 'newline_delimited', maximum_object_size = 67108864"
    if len({name.lower() for name in names}) < len(names):  # DuckDB's reader is case-insensitive, JSON paths are not
        pointers = {name: "/" + name.replace("~", "~0").replace("/", "~1") for name in names}
        items = [f"json_extract(json, {string_literal(pointers[name])}) AS {identifier(name)}" for name in names]
        return f"(SELECT {', '.join(items)} FROM read_json_objects([{paths}], {options}))"
    columns = ", ".join(f"{string_literal(name)}: 'JSON'" for name in names)
    items = [f"{plain_identifier(name)} AS {identifier(name)}" for name in names]
    return f"(SELECT {', '.join(items)} FROM read_json([{paths}], columns = {{{columns}}}, {options}))"


class _Part(NamedTuple):
    """The rows of one segment: its interval, its number within it, and the FROM clause of a SELECT."""

    start: int
    end: int
    number: int
    rows: str
    size: int


class _Rows:
    """The rows of one task in a separate DuckDB database, from JSON to segment files."""

    def __init__(self, task: _Task, storage: Storage) -> None:
        self._task = task
        self._home = storage.home
        self._duck = Duck(storage.temporary, threads=os.cpu_count() or 1)
        self._folds: set[str] = set()

    def write(self, folder: Path) -> _Written:

        try:
            processed = self._load()
            schema = self._roll_up()
            version = instants.now()
            segments = [self._write_segment(part, schema, version, folder) for part in self._parts()]
        finally:
            self._duck.close()
        return _Written(segments, processed)

    def _load(self) -> int:
        """Table `loaded`: time, dimensions and metric inputs in their types, of rows in the task's intervals; how
        many."""
        task = self._task
        inputs = {name: type_ for name, type_ in task.dimensions if name != TIME}
        for metric in task.metrics:
            if metric.get("fieldName"):
                inputs[f"$metric {metric['name']}"] = _metric_type(metric)
        sources = {name: name for name, _ in task.dimensions if name != TIME}
        sources |= {f"$metric {m['name']}": m["fieldName"] for m in task.metrics if m.get("fieldName")}
        read = dict.fromkeys([task.time_column, *sources.values()])
        rows = _json_rows(task.files, list(read))
        items = [f"{_time(task)} AS {identifier(TIME)}", f'{identifier(task.time_column)} AS "$time"']
        bad = []
        for name, type_ in inputs.items():
            source = identifier(sources[name])
            if type_ in SKETCH_TYPES:
                items.append(f"{source} AS {identifier(name)}")
                continue
            value = coercion.from_json(source, type_, task.handlings.get(name))
            items.append(f"{value} AS {identifier(name)}")
            if type_ != "STRING":
                bad.append(f"count(*) FILTER (WHERE {coercion.is_unreadable(source, type_)})")
        self._duck.run(f"CREATE TABLE loaded AS SELECT {', '.join(items)} FROM {rows}")
        self._check_times()
        if bad:
            self._check_numbers(rows, bad)
        if task.intervals is not None:
            kept = condition(identifier(TIME), task.intervals) or "TRUE"
            self._duck.run(f"DELETE FROM loaded WHERE NOT {kept}")
        return self._count("TRUE")

    def _count(self, condition_: str) -> int:
        return int(self._duck.all(f"SELECT count(*) FROM loaded WHERE {condition_}")[0][0])

    def _check_times(self) -> None:
        bad = self._count(f"{identifier(TIME)} IS NULL")
        if bad:
            example = self._duck.all(
                f'SELECT CAST("$time" AS VARCHAR) FROM loaded WHERE {identifier(TIME)} IS NULL LIMIT 1'
            )
            shown = "null" if example[0][0] is None else example[0][0]
            raise DruidError(
                f"{bad} of {self._count('TRUE')} rows have no valid time in column '{self._task.time_column}'"
                f" (for example {shown})",
                hint="filter such rows out before writing them; nothing was changed",
            )

    def _check_numbers(self, rows: str, bad: list[str]) -> None:
        total = sum(self._duck.all(f"SELECT {', '.join(bad)} FROM {rows}")[0])
        if total:
            raise DruidError(f"{total} values in numeric columns are not numbers", hint="nothing was changed")

    def _roll_up(self) -> dict[str, str]:
        """Table `stored`, in segment order; returns its columns' types (multi-value strings are ARRAY<STRING>)."""
        task = self._task
        schema = task.schema
        duck_types = {}
        strings = [name for name, type_ in task.dimensions if type_ == "STRING" and name != TIME]
        several = [f"coalesce(max(len({identifier(name)})), 0) > 1" for name in strings]
        if several:
            for name, found in zip(strings, self._duck.all(f"SELECT {', '.join(several)} FROM loaded")[0], strict=True):
                schema[name] = "ARRAY<STRING>" if found else "STRING"
        for name, _ in task.dimensions:
            duck_types[name] = DUCKDB_TYPES[schema[name]]
        keys = [
            f"{task.query_granularity.floor(identifier(TIME)) if not task.query_granularity.is_all else 0}"
            f" AS {identifier(TIME)}"
        ]
        for name in duck_types:
            if name == TIME:
                continue
            value = identifier(name)
            if schema[name] == "STRING":
                value += "[1]"
            elif schema[name] == "ARRAY<STRING>" and task.rollup:  # rollup treats an empty multi-value as null
                value = f"CASE WHEN len({value}) > 0 THEN {value} END"
            keys.append(f"{value} AS {identifier(name)}")
        metrics = [f"{self._metric(metric)} AS {identifier(metric['name'])}" for metric in task.metrics]
        ordered = ", ".join(
            f"{place} NULLS FIRST" for place in range(1, len(keys) + 1 + (0 if task.rollup else len(metrics)))
        )
        group = f" GROUP BY {', '.join(str(place) for place in range(1, len(keys) + 1))}" if task.rollup else ""
        self._duck.run(
            f"CREATE TABLE stored AS SELECT {', '.join(keys + metrics)} FROM loaded{group} ORDER BY {ordered}"
        )
        return schema

    def _metric(self, metric: Mapping[str, Any]) -> str:
        column = f"$metric {metric['name']}"
        if (found := sketching(metric)) is not None:
            return self._sketch(identifier(column), found)
        if not self._task.rollup:
            return identifier(column) if metric.get("fieldName") else "CAST(1 AS BIGINT)"
        if metric["type"] == "count":
            return "count(*)"
        value = identifier(column)
        if not metric["type"].endswith("Sum"):
            return f"{metric['type'][-3:].lower()}({value})"
        # Fractions are added in the order of the input: the same sum in every run.
        if metric["type"] == "longSum":
            return f"druid_wrap(sum({value}))"
        if metric["type"] == "doubleSum":
            return f"sum({value} ORDER BY loaded.rowid)"
        # floatSum adds in single precision, which DuckDB's sum does not.
        return (
            f"list_reduce(list({value} ORDER BY loaded.rowid) FILTER (WHERE {value} IS NOT NULL), lambda a, b: a + b)"
        )

    def _sketch(self, column: str, sketched: Sketching) -> str:
        """The sketch, in base64, of the JSON values of a group, or of each row."""
        name = f"sketches_{'merged' if sketched.merges else 'built'}_{sketched.kind.name}"
        if name not in self._folds:
            fold = sketch_fold(sketched.kind.name, merges=sketched.merges)

            def text(values: list[str] | None) -> str | None:
                sketch = fold([json.loads(value) for value in values or () if value is not None])
                return None if sketch is None else b64encode(sketch).decode()

            self._duck.define(name, text, "VARCHAR[]", "VARCHAR")
            self._folds.add(name)
        values = f"list(CAST({column} AS VARCHAR) ORDER BY loaded.rowid)" if self._task.rollup else f"[{column}]"
        return f"{name}(CAST({values} AS VARCHAR[]))"

    def _parts(self) -> Iterator[_Part]:
        """The rows of each segment. One statement counts them; those of an interval are adjacent in `stored`."""
        task, granularity = self._task, self._task.segment_granularity
        start = str(MIN_INSTANT) if granularity.is_all else granularity.floor(identifier(TIME))
        end = str(MAX_INSTANT) if granularity.is_all else granularity.end("s")
        keys = ", ".join(identifier(name) for name in dict.fromkeys([TIME, *(n for n, _ in task.dimensions)]))
        shard = f"hash({keys}) % {task.shards}" if task.shards else "0"
        counts = self._duck.all(
            f"SELECT s, {end}, shard, count(*) FROM (SELECT {start} AS s, {shard} AS shard FROM stored) AS r"
            " GROUP BY s, shard ORDER BY s, shard"
        )
        first = 0
        for (low, high), group in groupby(counts, key=lambda row: (row[0], row[1])):
            shards = {number: size for _, _, number, size in group}
            last = first + sum(shards.values())
            if task.shards:
                rows = f"FROM stored WHERE rowid >= {first} AND rowid < {last}"
                for place, (number, size) in enumerate(shards.items()):
                    yield _Part(low, high, place, f"{rows} AND {shard} = {number}", size)
            else:
                for place, begin in enumerate(range(first, last, task.rows_per_segment)):
                    until = min(begin + task.rows_per_segment, last)
                    rows = f"FROM stored WHERE rowid >= {begin} AND rowid < {until}"
                    yield _Part(low, high, place, rows, until - begin)
            first = last

    def _write_segment(self, part: _Part, schema: dict[str, str], version: str, folder: Path) -> Segment:
        path = folder / f"{part.start}_{part.end}_{part.number}.parquet"
        segment_schema = self._segment_schema(part.rows, schema)
        items = ", ".join(
            f"{identifier(name)}[1] AS {identifier(name)}" if type_ != schema[name] else identifier(name)
            for name, type_ in segment_schema.items()
        )
        self._duck.run(f"COPY (SELECT {items} {part.rows}) TO {string_literal(str(path))} (FORMAT parquet)")
        return Segment(
            self._task.data_source, part.start, part.end, version, part.number, rows=part.size,
            size=path.stat().st_size, path=path.relative_to(self._home).as_posix(), schema=segment_schema,
        )  # fmt: skip

    def _segment_schema(self, rows: str, schema: dict[str, str]) -> dict[str, str]:
        """The types in one segment: a column is multi-value only in segments that have several values in some row."""
        multiple = [name for name, type_ in schema.items() if type_ == "ARRAY<STRING>"]
        if not multiple:
            return schema
        items = ", ".join(f"coalesce(max(len({identifier(name)})), 0) > 1" for name in multiple)
        columns = ", ".join(map(identifier, multiple))
        found = self._duck.all(f"SELECT {items} FROM (SELECT {columns} {rows}) AS s")[0]
        return schema | {
            name: "ARRAY<STRING>" if several else "STRING" for name, several in zip(multiple, found, strict=True)
        }


def _time(task: _Task) -> str:
    """SQL for the time of a row in milliseconds; null if it is invalid."""
    column = identifier(task.time_column)
    number = coercion.from_json(column, "LONG")
    text = f"({column} ->> '$')"
    iso = joda.parse_sql(text, None, periods.Zone(None))
    match task.time_format:
        case "millis":
            return number
        case "posix":
            return f"({number} * 1000)"
        case "iso":
            return iso
        case "auto":
            digits = f"TRY_CAST({text} AS BIGINT)"
            return (
                f"(CASE WHEN json_type({column}) IN ('BIGINT', 'UBIGINT') THEN {number} ELSE coalesce({iso}, {digits})"
                " END)"
            )
    raise DruidError(f"timestamp format '{task.time_format}' is not supported by the embedded store")
