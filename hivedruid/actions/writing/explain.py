"""EXPLAIN of writes, and of earlier jobs that are resumed or rolled back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.operators import Explainer, Fields, document_of, lines_of
from hivedruid.actions.plan_text import indent, job_document, json_lines, local_document, local_lines, spark_lines
from hivedruid.actions.writing.model import (
    CancelTopicWrite,
    ChangeTableRows,
    IngestDruid,
    LoadFiles,
    MergeStep,
    MergeTableRows,
    ResumeLoad,
    ResumeTopicWrite,
    RollBackLoad,
    SkipTarget,
    WriteTable,
    WritingAction,
)
from hivedruid.secrets import masked_all

_NEXT = {
    "planned": "its staged rows are deleted",
    "staged": "its staged rows are submitted to Druid",
    "submitted": "its submitted task is awaited",
    "published": "its rows are verified",
    "verified": "its staged rows are deleted",
}

_COPIED = "copied by Spark's Python workers, if all values in the files have their types"
"""How the columns of a write arrive whose values do not become rows of Spark."""
_COPIED_LINE = f"    columns: {_COPIED}"


def _lines(action: Action, settings: Mapping[str, str]) -> list[str]:
    del settings
    assert isinstance(action, WritingAction)
    match action:
        case IngestDruid():
            return _ingest_lines(action)
        case WriteTable():
            kind = "Replace" if action.overwrite else "Append"
            head = ["Stage-2", f"  Move Operator ({kind})", *_target(action)]
            head += ["    transaction: one for all staged records"] if action.once is not None else []
            head += [_COPIED_LINE] if action.copied is not None else []
            head += _partitions(action)
            return [*head, "    Stage-1", *indent(_rows(action), 6)]
        case LoadFiles():
            return lines_of(*_loaded(action))
        case ChangeTableRows():
            return [*lines_of(*_changes(action)), *_subqueries(action)]
        case MergeTableRows():
            return [*lines_of(*_merge(action)), "    Stage-1", *indent(spark_lines(action.job), 6)]
        case ResumeLoad() | RollBackLoad() | SkipTarget() | ResumeTopicWrite() | CancelTopicWrite():
            return lines_of(*_job(action))
        case _:
            assert_never(action)


def _target(action: WriteTable) -> list[str]:
    if not action.is_directory:
        return [f"    table:{action.table.full_name}"]
    return lines_of(
        "",
        [
            ("directory", action.table.location),
            ("format", (action.table.format or "").upper()),
            ("serde properties", masked_all(dict(sorted(action.table.serde.items())))),
        ],
    )[2:]


def _partitions(action: WriteTable) -> list[str]:
    """The partitions that are written."""
    columns = action.table.partition_columns
    if not columns and action.replaced is None:
        return [f"    partitions: by {', '.join(map(str, action.table.partition_spec))}"]
    if not columns:
        return []
    if action.partition is not None:
        return [f"    partition: {action.partition.name(columns)}"]
    return [f"    partitions: by the values of {', '.join(column.name for column in columns)}"]


def _document(action: Action, settings: Mapping[str, str]) -> dict[str, Any]:
    del settings
    assert isinstance(action, WritingAction)
    match action:
        case IngestDruid():
            spec = {"table": action.table.full_name, "replaces": action.replaces, "spec": action.spec}
            way = {"segments": action.segments.root} if action.segments is not None else {}
            way |= {"columns": _COPIED} if action.segments is not None and action.segments.columns is not None else {}
            way |= {"cold": _cold(action)[0].strip()} if action.cold is not None else {}
            return {**spec, **way, **_rows_document(action)}
        case WriteTable():
            table: dict[str, Any] = {"table": action.table.full_name, "overwrite": action.overwrite}
            if action.is_directory:
                table = {"directory": action.table.location, "format": action.table.format}
            table |= {"once": True} if action.once is not None else {}
            table |= {"columns": _COPIED} if action.copied is not None else {}
            if action.partition is not None:
                table |= {"partition": action.partition.name(action.table.partition_columns)}
            return {**table, **_rows_document(action)}
        case LoadFiles():
            return document_of(*_loaded(action))
        case ChangeTableRows():
            jobs = {view: job_document(job) for view, job in action.subqueries.items()}
            return {**document_of(*_changes(action)), **({"subqueries": jobs} if jobs else {})}
        case MergeTableRows():
            return {**document_of(*_merge(action)), **job_document(action.job)}
        case ResumeLoad() | RollBackLoad() | SkipTarget() | ResumeTopicWrite() | CancelTopicWrite():
            return document_of(*_job(action))
        case _:
            assert_never(action)


def _loaded(action: LoadFiles) -> tuple[str, Fields]:
    partition = action.partition.name(action.table.partition_columns) if action.partition is not None else None
    return f"Move Operator ({'Replace' if action.overwrite else 'Append'})", [
        ("table", action.table.full_name),
        ("partition", partition),
        ("copied" if action.copies else "moved", action.files),
    ]


def _changes(action: ChangeTableRows) -> tuple[str, Fields]:
    operator = "Update Rows Operator" if action.assignments else "Delete Rows Operator"
    named, files = action.tiered or action.table, action.files
    return operator, [
        ("table", named.full_name),
        ("part", "cold" if action.tiered is not None else None),
        ("rows", 0 if action.changes_nothing else None),
        ("set", {f"{column} =": value for column, value in action.assignments if not action.changes_nothing}),
        ("where", action.condition),
        ("iceberg.files", f"at most {files.read:,} of {files.total:,}" if files is not None else None),
    ]


def _subqueries(action: ChangeTableRows) -> list[str]:
    """The jobs whose rows the change reads."""
    lines = []
    for number, (view, job) in enumerate(action.subqueries.items(), 1):
        lines += [f"    <-{view}", f"      Stage-{number}", *indent(spark_lines(job), 8)]
    return lines


def _merge(action: MergeTableRows) -> tuple[str, Fields]:
    return "Merge Rows Operator", [
        ("table", action.table.full_name),
        ("rows", 0 if action.changes_nothing else None),
        ("on", action.on),
        ("steps", {_head(step): _effect(step) for step in action.steps}),
    ]


def _head(step: MergeStep) -> str:
    matched = "when not matched" if step.kind == "insert" else "when matched"
    return f"{matched} and {step.condition}:" if step.condition is not None else f"{matched}:"


def _effect(step: MergeStep) -> str:
    values = ", ".join(f"{column} = {value}" for column, value in step.assignments)
    return f"{step.kind} {values}".rstrip()


def _ingest_lines(action: IngestDruid) -> list[str]:
    kind = {"nothing": "Append", "all": "Replace", "intervals": "Replace intervals"}[action.replaces]
    head = ["Stage-2", f"  Druid Ingest Operator ({kind})", f"    table:{action.table.full_name}", *_staging(action)]
    spec = json_lines("index_parallel: ", action.spec)
    return [*head, *_cold(action), *_way(action), *indent(spec, 4), "    Stage-1", *indent(_rows(action), 6)]


def _rows(action: IngestDruid | WriteTable) -> list[str]:
    """How the rows are computed."""
    if action.local is None:
        return spark_lines(action.job)
    return local_lines(action.local, "written in this process")


def _rows_document(action: IngestDruid | WriteTable) -> dict[str, Any]:
    return job_document(action.job) if action.local is None else local_document(action.local)


def _cold(action: IngestDruid) -> list[str]:
    """What changes in the cold part of a tiered table."""
    cold = action.cold
    if cold is None:
        return []
    from hivedruid.druid.interval_sets import ALL, iso

    if cold.edge is not None:
        return [f"    cold part: receives the rows before {iso(cold.edge)}"]
    if cold.times is None:
        return ["    cold part: loses the rows of the replaced intervals"]
    if cold.times == ALL:
        return ["    cold part: loses all rows"]
    return [f"    cold part: loses the rows of {', '.join(f'{iso(a)}/{iso(b)}' for a, b in cold.times)}"]


def _way(action: IngestDruid) -> list[str]:
    """Who builds the segments, if that needs an explanation."""
    if action.segments is not None:
        built = [f"    segments: built by Spark in {action.segments.root} ({action.segments.because})"]
        if action.segments.columns is None:
            return built
        return [*built, _COPIED_LINE]
    return [f"    segments: built by the task ({action.native_because})"] if action.native_because else []


def _staging(action: IngestDruid) -> list[str]:
    """How rows are divided into files, unless Spark decides."""
    from hivedruid.jobs.staged import layout

    found = layout(action.spec)
    return [f"    staged {found}"] if found.clustered else []


def _job(
    action: ResumeLoad | RollBackLoad | SkipTarget | ResumeTopicWrite | CancelTopicWrite,
) -> tuple[str, Fields]:
    match action:
        case ResumeLoad():
            operator, effect = "Resume Job Operator", _NEXT.get(action.job.state, "")
        case RollBackLoad():
            operator = "Cancel Job Operator"
            effect = "its rows in Druid are rolled back, and its staged rows are deleted"
        case SkipTarget():
            operator, effect = "Skip Target Operator", "it has already ended"
        case ResumeTopicWrite():
            operator, effect = "Resume Job Operator", "its staged records are written, unless they were committed"
        case CancelTopicWrite():
            operator, effect = "Cancel Job Operator", "its transaction is aborted, and its staged records are deleted"
        case _:
            assert_never(action)
    job = action.job
    return operator, [("job", job.id), ("table", job.full_name), ("state", job.state), ("effect", effect)]


EXPLAINER = Explainer(_lines, _document)
