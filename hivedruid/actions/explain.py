"""EXPLAIN: the same actions that `execute` runs, as text in Hive's user-level shape, or as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivedruid.actions.build import Built, Note, build
from hivedruid.actions.model import Action, AnswerRows, IngestDruid, RunDruidQuery, RunSparkJob, WriteTable
from hivedruid.plan.physical import DruidInput, DruidRead, KeyFilter, SparkJob
from hivedruid.plan.split import left_outside
from hivedruid.results import Result, text_result

if TYPE_CHECKING:
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.parser.statements import Explain


def explain(statement: Explain, snapshot: Snapshot, note: Note | None = None) -> Result:
    """The plan of a statement; nothing is executed."""
    built = build(statement.statement, replace(snapshot, plan_only=True), note)
    settings = snapshot.settings
    if statement.mode == "formatted":
        return text_result("Explain", json.dumps(document(built, settings), indent=2, ensure_ascii=False))
    if statement.mode == "cbo":
        return text_result("Explain", "\n".join(_cbo(built)))
    extended = _extended(built, settings) if statement.mode == "extended" else []
    return text_result("Explain", "\n".join([*user_level(built, settings), *extended]))


# --- user level ------------------------------------------------------------------------------------------------


def user_level(built: Built, settings: Mapping[str, str]) -> list[str]:
    """The actions as Hive's user-level EXPLAIN shows a plan; `settings` are the session's."""
    lines = [line for action in built.actions for line in _action(action, settings)] or ["nothing to do"]
    return ["Plan optimized by CBO.", "", *lines] if built.plans else lines


def _action(action: Action, settings: Mapping[str, str]) -> list[str]:
    if type(action).__name__ == "BuildView":
        from hivedruid.actions.materialize import explained

        return [*explained(action), *_action(action.write, settings)]  # type: ignore[arg-type,attr-defined]
    if isinstance(action, RunDruidQuery):
        return ["Stage-0", "  Fetch Operator", "    limit:-1", *_indent(_select(action.read, len(action.columns)), 4)]
    if isinstance(action, RunSparkJob):
        return ["Stage-0", "  Fetch Operator", "    limit:-1", "    Stage-1", *_indent(_spark(action.job), 6)]
    if isinstance(action, AnswerRows):
        values = [f"      {json.dumps(row, default=str, ensure_ascii=False)}" for row in action.rows]
        return ["Stage-0", "  Fetch Operator", "    limit:-1", "    Values Operator", *values]
    if isinstance(action, IngestDruid):
        kind = {"nothing": "Append", "all": "Replace", "intervals": "Replace intervals"}[action.replaces]
        spec = _json_lines("index_parallel: ", action.spec)
        head = ["Stage-2", f"  Druid Ingest Operator ({kind})", f"    table:{action.table.full_name}"]
        head += _staging(action)
        return [*head, *_indent(spec, 4), "    Stage-1", *_indent(_spark(action.job), 6)]
    if isinstance(action, WriteTable):
        kind = "Replace" if action.overwrite else "Append"
        head = ["Stage-2", f"  Move Operator ({kind})", f"    table:{action.table.full_name}"]
        return [*head, "    Stage-1", *_indent(_spark(action.job), 6)]
    if type(action).__name__ == "ChangeIngestion":
        from hivedruid.actions import explain_ingestion

        return explain_ingestion.lines(action)  # type: ignore[arg-type]
    from hivedruid.actions import explain_ddl

    return [*explain_ddl.lines(action), *_supervisor(action, settings)]


def _staging(action: IngestDruid) -> list[str]:
    """How rows are divided into files, where that is not left to Spark."""
    from hivedruid.jobs.staged import layout

    found = layout(action.spec)
    return [f"    staged {found}"] if found.clustered else []


def _select(read: DruidRead, width: int) -> list[str]:
    """The Select over the TableScan that a native query answers for."""
    output = ",".join(f'"_col{i}"' for i in range(width))
    return ["Select Operator [SEL_1]", f"  Output:[{output}]", *_indent(_table_scan(read, "TS_0"), 2)]


def _table_scan(read: DruidRead, name: str) -> list[str]:
    fields = ",".join(json.dumps(f.name) for f in read.fields)
    types = ",".join(str(f.type) for f in read.fields)
    return [
        f"TableScan [{name}]",
        f"  Output:[{fields}]",
        f"  druid.fieldNames: {','.join(f.name for f in read.fields)}",
        f"  druid.fieldTypes: {types}",
        *_indent(_json_lines("druid.query.json: ", read.query), 2),
        f"  druid.query.type: {read.query['queryType']}",
    ]


def _spark(job: SparkJob) -> list[str]:
    lines = ["Spark Operator", f"  sql: {job.sql}"]
    for number, source in enumerate(job.inputs):
        lines.append(f"  <-{source.view}")
        if isinstance(source, DruidInput):
            lines += _indent(_table_scan(source.read, f"TS_{number}"), 4)
            for reducer in source.reducers:
                lines += _indent(_reducer(reducer), 6)
        else:
            columns = ",".join(json.dumps(c) for c in source.columns)
            lines += [
                f"    TableScan [TS_{number}]",
                f"      {source.table.full_name} ({source.table.format or source.table.kind})",
            ]
            lines.append(f"      Output:[{columns}]")
    return lines


def _reducer(reducer: KeyFilter) -> list[str]:
    """The keys that become a filter when the job runs."""
    first = f"only rows whose {reducer.column} is among at most {reducer.most} keys of:"
    if isinstance(reducer.keys, DruidRead):
        return [first, *_indent(_json_lines("druid.query.json: ", reducer.keys.query), 2)]
    return [first, *_indent(_spark(reducer.keys), 2)]


def _supervisor(action: Action, settings: Mapping[str, str]) -> list[str]:
    """The Kafka supervisor spec that a Druid table with a topic stands for."""
    spec = _supervisor_spec(action, settings)
    if spec is None:
        return []
    from hivedruid.druid.supervisor import extensions

    needed = f"extensions of Druid: {', '.join(extensions(spec))}"
    return _indent([needed, *_json_lines("kafka supervisor (submitted by START): ", spec)], 4)


def _supervisor_spec(action: Action, settings: Mapping[str, str]) -> dict[str, Any] | None:
    from hivedruid.actions.changes import AddTable, ReplaceTable
    from hivedruid.catalog.properties import is_fed
    from hivedruid.druid.supervisor import supervisor_spec

    table = action.table if isinstance(action, AddTable) else action.after if isinstance(action, ReplaceTable) else None
    if table is None or table.kind != "druid" or not is_fed(table.properties):
        return None
    return supervisor_spec(table, settings)


def _json_lines(label: str, value: Mapping[str, Any]) -> list[str]:
    """Pretty-printed, so that one change of the query is one changed line."""
    return (label + json.dumps(value, indent=2, ensure_ascii=False)).splitlines()


def _indent(lines: Iterable[str], width: int) -> list[str]:
    return [" " * width + line for line in lines]


# --- EXTENDED and CBO ------------------------------------------------------------------------------------------


def _extended(built: Built, settings: Mapping[str, str]) -> list[str]:
    from hivedruid.actions.explain_figures import figures

    lines: list[str] = []
    for plan in built.plans:
        lines += ["", "Rules:", *(f"  {name}" for name in _counted(plan.fired))]
        left = left_outside(plan)
        lines += (
            ["", "Outside Druid:", *(f"  {item.operator}: {item.reason}" for item in left)]
            if left
            else ["", "Outside Druid: nothing"]
        )
        if plan.views:
            lines += ["", "Materialized views:", *(f"  {sentence}" for sentence in plan.views)]
        lines += figures(plan)
    if _reads(built):
        from hivedruid.druid.context import shown_context

        context = json.dumps(shown_context(settings), ensure_ascii=False)
        lines += ["", f"Context of native queries: {context}"]
    return lines


def _counted(names: Iterable[str]) -> list[str]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return [name if count == 1 else f"{name} ({count})" for name, count in counts.items()]


def _cbo(built: Built) -> list[str]:
    from hivedruid.plan.show import tree

    if not built.plans:
        return ["CBO PLAN:", "no query"]
    return [line for plan in built.plans for line in ["CBO PLAN:", *tree(plan.node)]]


# --- FORMATTED -------------------------------------------------------------------------------------------------


def document(built: Built, settings: Mapping[str, str]) -> dict[str, Any]:
    """`druid_queries` (native queries), `residual` (null, or Spark SQL and why), `actions`."""
    jobs = [a.job for a in built.actions if isinstance(a, RunSparkJob | IngestDruid | WriteTable)]
    residual = None
    if jobs:
        reasons = [{"operator": x.operator, "reason": x.reason} for plan in built.plans for x in left_outside(plan)]
        residual = {"sql": jobs[0].sql if len(jobs) == 1 else [job.sql for job in jobs], "operators": reasons}
    return {
        "druid_queries": [read.query for read in _reads(built)],
        "residual": residual,
        "rules": [name for plan in built.plans for name in _counted(plan.fired)],
        "actions": [_action_document(action, settings) for action in built.actions],
    }


def _reads(built: Built) -> list[DruidRead]:
    """The native queries of all actions."""
    jobs = [a.job for a in built.actions if isinstance(a, RunSparkJob | IngestDruid | WriteTable)]
    reads = [a.read for a in built.actions if isinstance(a, RunDruidQuery)]
    return reads + [i.read for job in jobs for i in job.inputs if isinstance(i, DruidInput)]


def _action_document(action: Action, settings: Mapping[str, str]) -> dict[str, Any]:
    if type(action).__name__ == "BuildView":
        write: Action = action.write  # type: ignore[attr-defined]
        return {"action": "BuildView", "rows": action.why, "write": _action_document(write, settings)}  # type: ignore[attr-defined]
    if isinstance(action, RunDruidQuery):
        return {"action": "RunDruidQuery", "query": action.read.query, "fields": _fields(action.read)}
    if isinstance(action, AnswerRows):
        return {"action": "AnswerRows", "rows": [[_plain(v) for v in row] for row in action.rows]}
    if isinstance(action, RunSparkJob):
        return {"action": "RunSparkJob", **_job_document(action.job)}
    if isinstance(action, IngestDruid):
        spec = {"table": action.table.full_name, "replaces": action.replaces, "spec": action.spec}
        return {"action": "IngestDruid", **spec, **_job_document(action.job)}
    if isinstance(action, WriteTable):
        return {
            "action": "WriteTable",
            "table": action.table.full_name,
            "overwrite": action.overwrite,
            **_job_document(action.job),
        }
    if type(action).__name__ == "ChangeIngestion":
        from hivedruid.actions import explain_ingestion

        return {"action": "ChangeIngestion", **explain_ingestion.document(action)}  # type: ignore[arg-type]
    from hivedruid.actions import explain_ddl

    supervisor = _supervisor_spec(action, settings)
    extra: dict[str, Any] = {}
    if supervisor is not None:
        from hivedruid.druid.supervisor import extensions

        extra = {"extensions": list(extensions(supervisor)), "supervisor": supervisor}
    return {"action": type(action).__name__, **explain_ddl.document(action), **extra}


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _fields(read: DruidRead) -> list[dict[str, str]]:
    return [{"name": f.name, "type": str(f.type)} for f in read.fields]


def _job_document(job: SparkJob) -> dict[str, Any]:
    inputs = []
    for source in job.inputs:
        if isinstance(source, DruidInput):
            item = {"view": source.view, "query": source.read.query, "fields": _fields(source.read)}
            if source.reducers:
                item["reducers"] = [_reducer_document(r) for r in source.reducers]
            inputs.append(item)
        else:
            inputs.append({"view": source.view, "table": source.table.full_name, "columns": list(source.columns)})
    return {"sql": job.sql, "inputs": inputs}


def _reducer_document(reducer: KeyFilter) -> dict[str, Any]:
    keys = reducer.keys.query if isinstance(reducer.keys, DruidRead) else _job_document(reducer.keys)
    return {"column": reducer.column, "most": reducer.most, "keys": keys}


__all__ = ["document", "explain", "user_level"]
