"""EXPLAIN of the actions that compact and list segments."""

from __future__ import annotations

from typing import Any, assert_never

from hivedruid.actions.compacting.build import MERGED_HERE, NOT_HERE
from hivedruid.actions.compacting.model import (
    CancelCompaction,
    CompactFiles,
    CompactingAction,
    CompactSegments,
    ConfigureCompaction,
    ForgetRewrite,
    ListCompactions,
    ListSegments,
    ResumeCompaction,
    ResumeRewrite,
)
from hivedruid.actions.model import Action
from hivedruid.actions.operators import Fields, operator_explainer
from hivedruid.druid import compaction as specs
from hivedruid.iceberg.compaction import MAJOR, MINOR
from hivedruid.operations.compactions import CompactionJob
from hivedruid.operations.rewrites import RewriteJob


def _describe(action: Action) -> tuple[str, Fields]:
    assert isinstance(action, CompactingAction)
    match action:
        case CompactSegments():
            return "Compact Table Operator", _compact_fields(action)
        case CompactFiles():
            return "Compact Files Operator", _files_fields(action)
        case ResumeRewrite():
            return "Resume Job Operator", _job_fields(action.job, "the files are rewritten again")
        case ForgetRewrite():
            return "Cancel Job Operator", _job_fields(action.job, "its record is closed; no row was changed")
        case ResumeCompaction():
            return "Resume Job Operator", _job_fields(action.job, "its tasks are awaited")
        case CancelCompaction():
            return "Cancel Job Operator", _job_fields(action.job, "its tasks are stopped")
        case ConfigureCompaction():
            return "Automatic Compaction Operator", _configure_fields(action)
        case ListCompactions():
            return "Show Compactions Operator", _compactions_fields(action)
        case ListSegments():
            return "Show Segments Operator", _segments_fields(action)
        case _:
            assert_never(action)


def _compact_fields(action: CompactSegments) -> list[tuple[str, Any]]:
    table = action.table
    fields: list[tuple[str, Any]] = [("name", table.full_name), ("data source", table.data_source)]
    if action.task is None:
        return [*fields, ("effect", MERGED_HERE)]
    requests = {f"POST {specs.TASK}": "over the intervals of its segments, determined at run time"}
    if action.wait:
        requests["POST /druid/v2 timeseries"] = "rows and sums of the segments, before and after"
    return [*fields, ("wait", action.wait), ("requests", requests), ("task", action.task)]


def _files_fields(action: CompactFiles) -> list[tuple[str, Any]]:
    fields: list[tuple[str, Any]] = [("name", action.table.full_name), ("type", action.type)]
    if action.files is not None:
        chosen = sum(file.size for file in action.chosen)
        fields += [
            ("files", f"{len(action.files.data)} ({action.files.size} bytes)"),
            ("delete files", len(action.files.deletes) or None),
            ("files to rewrite", f"{len(action.chosen)} ({chosen} bytes)"),
        ]
    procedures = MAJOR if action.type == "major" else MINOR
    return [*fields, ("target size", f"{action.target} bytes"), ("procedures", list(procedures))]


def _job_fields(job: CompactionJob | RewriteJob, effect: str) -> list[tuple[str, Any]]:
    return [("job", job.id), ("table", job.full_name), ("state", job.state), ("effect", effect)]


def _configure_fields(action: ConfigureCompaction) -> list[tuple[str, Any]]:
    table = action.table
    fields: list[tuple[str, Any]] = [("name", table.full_name), ("data source", table.data_source)]
    if not action.is_possible:
        return [*fields, ("effect", NOT_HERE)]
    if action.config is None:
        return [*fields, ("request", f"DELETE {specs.config_path(table.data_source)}")]
    return [*fields, ("request", f"POST {specs.config_path(table.data_source)}"), ("config", action.config)]


def _compactions_fields(action: ListCompactions) -> Fields:
    name = action.table.full_name if action.table is not None else None
    asked = {
        f"GET {specs.CONFIGS}": "automatic compaction configurations",
        f"GET {specs.STATUS}": "its progress",
        "GET /druid/indexer/v1/tasks": "compaction tasks",
    }
    return [("table", name), ("requests", asked if action.is_possible else {})]


def _segments_fields(action: ListSegments) -> Fields:
    from hivedruid.clients.segment_list import REQUESTS

    name = action.table.full_name if action.table is not None else None
    return [
        ("table", name),
        ("database", action.database if name is None else None),
        ("requests", REQUESTS if action.asks else {}),
    ]


EXPLAINER = operator_explainer(_describe)
