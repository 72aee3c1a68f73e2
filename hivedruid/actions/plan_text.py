"""Native queries and Spark jobs as EXPLAIN shows them, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hivedruid.plan.physical import (
    CteInput,
    DruidInput,
    DruidRead,
    FileKeys,
    KeyFilter,
    KeySource,
    ScriptInput,
    SparkJob,
)
from hivedruid.plan.segment_files import FileScan, pieces
from hivedruid.plan.segment_queries import QueryScan
from hivedruid.plan.topic_scans import TopicScan
from hivedruid.tables.rejects import rejects_name

if TYPE_CHECKING:
    from hivedruid.evaluation.local import LocalPlan


def table_scan(read: DruidRead, name: str, decoded: Container[int] = ()) -> list[str]:
    """`decoded` are the positions of the fields whose base64 becomes bytes."""
    fields = ",".join(json.dumps(f.name) for f in read.fields)
    types = ",".join("binary" if number in decoded else str(f.type) for number, f in enumerate(read.fields))
    return [
        f"TableScan [{name}]",
        f"  Output:[{fields}]",
        f"  druid.fieldNames: {','.join(f.name for f in read.fields)}",
        f"  druid.fieldTypes: {types}",
        *indent(json_lines("druid.query.json: ", read.query), 2),
        f"  druid.query.type: {read.query['queryType']}",
        *indent(_over_nothing(read), 2),
    ]


def _over_nothing(read: DruidRead) -> list[str]:
    """The query that is sent if the first one returns no rows."""
    if read.over_nothing is None:
        return []
    label = "druid.query.json (sent if the query above returns no rows, for the total over an empty input): "
    return json_lines(label, read.over_nothing.query)


def spark_lines(job: SparkJob) -> list[str]:
    lines = ["Spark Operator", f"  sql: {job.sql}"]
    for number, source in enumerate(job.inputs):
        lines.append(f"  <-{source.view}")
        if isinstance(source, DruidInput):
            decoded = {place for place, column in enumerate(source.columns) if column in source.binaries}
            lines += indent(table_scan(source.read, f"TS_{number}", decoded), 4)
            lines += indent(scan_lines(source), 6)
            lines += indent(reducer_lines(source.reducers), 6)
        else:
            columns = ",".join(json.dumps(c) for c in source.columns)
            lines += [
                f"    TableScan [TS_{number}]",
                f"      {source.table.full_name} ({source.table.format or source.table.kind})",
            ]
            lines.append(f"      Output:[{columns}]")
            if source.files is not None:
                lines.append(f"      iceberg.files: at most {source.files.read:,} of {source.files.total:,}")
            if (chosen := source.partitions) is not None:
                found = f"{chosen.total:,}" + (
                    f" that the metastore has for {chosen.condition}" if chosen.condition else ""
                )
                known = "not known yet" if chosen.is_pending else f"{len(chosen.read):,} of {found}"
                lines.append(f"      partitions: {known}")
            if source.topic is not None:
                lines += indent(_records(source.topic), 6)
                if (rejects := rejects_name(source.table)) is not None:
                    lines.append(f"      malformed records: added to {'.'.join(rejects)}")
    for item in job.computed:
        lines.append(f"  <-{item.view}")
        if isinstance(item, CteInput):
            lines += [f"    {item.name}, computed once", f"      sql: {item.sql}"]
        else:
            types = ", ".join(f"{column.name} {column.type}" for column in item.columns)
            lines += [
                f"    Script Operator: {item.script.command}",
                f"      sql: {item.sql}",
                f"      Output:[{types}]",
            ]
    return lines


def local_lines(plan: LocalPlan, then: str = "") -> list[str]:
    """The operators that are evaluated locally, and the native queries that provide their rows; `then`: what
    becomes of the result."""
    from hivedruid.plan.show import show, tree

    inputs = "each input" if plan.inputs or plan.files or not then else "the result"
    lines = ["Local Evaluation", f"  at most {plan.most} rows of {inputs}, else Spark"]
    lines += [f"  rows: {then}"] if then else []
    lines += indent(tree(plan.node, names=plan.views), 2)
    for number, item in enumerate(plan.inputs):
        lines += [f"  <-{item.view}", *indent(table_scan(item.read, f"TS_{number}"), 4)]
        lines += indent(reducer_lines(item.reducers), 6)
    for number, files in enumerate(plan.files, start=len(plan.inputs)):
        columns = ",".join(map(json.dumps, files.rows.columns))
        lines += [
            f"  <-{files.view}",
            f"    TableScan [TS_{number}]",
            f"      {files.rows.table.full_name} ({files.rows.table.format}, read by this process)",
            f"      Output:[{columns}]",
        ]
        lines += [f"      filter: {show(condition)}" for condition in files.rows.conditions]
    return lines


def local_document(plan: LocalPlan) -> dict[str, Any]:
    from hivedruid.plan.show import show, tree

    inputs: list[dict[str, Any]] = [
        {"view": i.view, **read_document(i.read), **reducer_document(i.reducers)} for i in plan.inputs
    ]
    for files in plan.files:
        conditions = [show(condition) for condition in files.rows.conditions]
        columns = list(files.rows.columns)
        inputs.append(
            {"view": files.view, "table": files.rows.table.full_name, "columns": columns, "conditions": conditions}
        )
    return {"max_rows": plan.most, "operators": tree(plan.node, names=plan.views), "inputs": inputs}


def _records(scan: TopicScan) -> list[str]:
    """The records that are read of a topic: at most one for each offset."""
    state = scan.state
    if state is None or state.problem:
        return [f"kafka.offsets: unknown: {state.problem if state is not None else 'Kafka was not asked'}"]
    ranges = ", ".join(f"{each.partition}: {each.start}..{each.end - 1}" for each in scan.ranges)
    read = f"at most {scan.records:,} of {sum(state.latest[p] - state.earliest[p] for p in state.latest):,} records"
    partitions = f"{len(scan.ranges)} of {len(state.latest)} partitions"
    return [f"kafka.offsets: {read} in {partitions}{f' ({ranges})' if ranges else ''}"]


def scan_lines(source: DruidInput) -> list[str]:
    """What is read in place of the query, or why a large one is sent as one."""
    scan = source.scan
    if isinstance(scan, FileScan):
        return [files_line(source.read, scan)]
    if isinstance(scan, QueryScan):
        return [_queries(scan)]
    return [f"druid.queries: one, through this process: {source.undivided}"] if source.undivided else []


def files_line(read: DruidRead, scan: FileScan) -> str:
    """The files that are read in place of a query."""
    partitions = "in " + _number(len(pieces(read.spans, scan.files)), "partition")
    reader = "by this process" if scan.is_in_process else partitions
    growing = len(scan.growing)
    queried = f"; a query of {_number(growing, 'segment')} that only tasks have" if growing else ""
    files = f"{_number(len(scan.files), 'file')}, {scan.bytes:,} bytes"
    return f"druid.segments: read from {files}, {reader}{queried}; the query above is not sent"


def _queries(scan: QueryScan) -> str:
    count = sum(len(piece) for piece in scan.pieces)
    sent = f"{count:,} {'query' if count == 1 else 'queries'} to {_number(len(scan.servers), 'server')}"
    segments = f"{_number(scan.segments, 'segment')}, about {scan.rows:,} rows, {scan.bytes:,} bytes"
    partitions = _number(len(scan.pieces), "partition")
    return f"druid.queries: Spark sends {sent}, of {segments}, in {partitions}; the query above is not sent"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def reducer_lines(reducers: tuple[KeyFilter, ...]) -> list[str]:
    """The keys that become filters when the query runs."""
    lines = []
    for reducer in reducers:
        days = ", on the days of these keys," if reducer.has_dates else ""
        lines.append(f"only rows{days} whose {reducer.column} is among at most {reducer.most} keys of:")
        for keys in reducer.keys:
            lines += indent(_key_source(keys), 2)
    return lines


def _key_source(keys: KeySource) -> list[str]:
    if isinstance(keys, DruidRead):
        return json_lines("druid.query.json: ", keys.query)
    if isinstance(keys, FileKeys):
        first = (
            f"the Parquet files of {keys.rows.table.full_name}, read in this process where that is exact, otherwise:"
        )
        return [first, *spark_lines(keys.job)]
    return spark_lines(keys)


def json_lines(label: str, value: Mapping[str, Any]) -> list[str]:
    """Pretty-printed, so that a changed value is one changed line."""
    lines: list[str] = []
    _add_json(lines, label, "", value)
    return lines


_encode = json.JSONEncoder(ensure_ascii=False).encode
MOST_MARGIN = 80
"""Columns by which JSON is indented at most."""


def _add_json(lines: list[str], before: str, margin: str, value: Any) -> None:
    """Add the lines of json.dumps(value, indent=2), the first one after `before`. json's own encoder passes each part
    through all the levels above it. The margin ends at `MOST_MARGIN`: that of hundreds of nested joins would be most of
    the text.
    """
    inner = margin + "  " if len(margin) < MOST_MARGIN else margin
    if isinstance(value, Mapping) and value:
        items = [(f"{inner}{_encode(key)}: ", item) for key, item in value.items()]
        brackets = "{}"
    elif isinstance(value, list | tuple) and value:
        items = [(inner, item) for item in value]
        brackets = "[]"
    else:
        lines.append(before + _encode(value))
        return
    lines.append(before + brackets[0])
    for label, item in items:
        _add_json(lines, label, inner, item)
        lines[-1] += ","
    lines[-1] = lines[-1][:-1]
    lines.append(margin + brackets[1])


def indent(lines: Iterable[str], width: int) -> list[str]:
    return [" " * width + line for line in lines]


def read_document(read: DruidRead) -> dict[str, Any]:
    """`query` and `fields`; `over_nothing` is the query that is sent if it returns no rows."""
    document = {"query": read.query, "fields": [{"name": f.name, "type": str(f.type)} for f in read.fields]}
    return document if read.over_nothing is None else {**document, "over_nothing": read.over_nothing.query}


def job_document(job: SparkJob) -> dict[str, Any]:
    inputs = []
    for source in job.inputs:
        if isinstance(source, DruidInput):
            item = {"view": source.view, **read_document(source.read)}
            item |= _scan_document(source) | reducer_document(source.reducers)
            inputs.append(item)
        else:
            item = {"view": source.view, "table": source.table.full_name, "columns": list(source.columns)}
            if source.files is not None:
                item["files"] = {"at_most": source.files.read, "of": source.files.total}
            if (chosen := source.partitions) is not None:
                names = [each.name(source.table.partition_columns) for each in chosen.read]
                item["partitions"] = {"read": names, "of": chosen.total}
            if source.topic is not None:
                item["offsets"] = {str(each.partition): [each.start, each.end] for each in source.topic.ranges}
                if (rejects := rejects_name(source.table)) is not None:
                    item["rejects"] = ".".join(rejects)
            inputs.append(item)
    document: dict[str, Any] = {"sql": job.sql, "inputs": inputs}
    scripts = [item for item in job.computed if isinstance(item, ScriptInput)]
    ctes = [item for item in job.computed if isinstance(item, CteInput)]
    if scripts:
        document["scripts"] = [{"view": s.view, "command": s.script.command, "sql": s.sql} for s in scripts]
    if ctes:
        document["ctes"] = [{"view": cte.view, "name": cte.name, "sql": cte.sql} for cte in ctes]
    return document


def _scan_document(source: DruidInput) -> dict[str, Any]:
    scan = source.scan
    if isinstance(scan, FileScan):
        return files_document(source.read, scan)
    if isinstance(scan, QueryScan):
        queries = [query.interval for piece in scan.pieces for query in piece]
        found = {"intervals": queries, "segments": scan.segments, "rows": scan.rows, "bytes": scan.bytes}
        return {"queries": {**found, "partitions": len(scan.pieces), "servers": sorted(scan.servers)}}
    return {"undivided": source.undivided} if source.undivided else {}


def files_document(read: DruidRead, scan: FileScan) -> dict[str, Any]:
    """`segments`: the files that are read in place of a query."""
    found = {
        "files": [file.location for file in scan.files],
        "bytes": scan.bytes,
        "partitions": len(pieces(read.spans, scan.files)),
        "queried": len(scan.growing),
        **({"is_in_process": True} if scan.is_in_process else {}),
    }
    return {"segments": found}


def reducer_document(reducers: tuple[KeyFilter, ...]) -> dict[str, Any]:
    """`reducers`: the keys that become filters when the query runs; nothing if there are none."""
    return {"reducers": [_reducer(reducer) for reducer in reducers]} if reducers else {}


def _reducer(reducer: KeyFilter) -> dict[str, Any]:
    queries = [_key_document(keys) for keys in reducer.keys]
    keys = queries[0] if len(queries) == 1 else queries
    dates = {"has_dates": True} if reducer.has_dates else {}
    return {"column": reducer.column, "most": reducer.most, **dates, "keys": keys}


def _key_document(keys: KeySource) -> Mapping[str, Any]:
    if isinstance(keys, DruidRead):
        return keys.query
    if isinstance(keys, FileKeys):
        return {"files_of": keys.rows.table.full_name, **job_document(keys.job)}
    return job_document(keys)
