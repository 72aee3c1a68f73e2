"""EXPLAIN of the actions of tiered tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.operators import Explainer, Fields, document_of, lines_of
from hivedruid.actions.plan_text import indent, job_document, spark_lines
from hivedruid.actions.tiering.model import (
    ArchiveRows,
    CancelArchive,
    ListArchives,
    ResumeArchive,
    TieringAction,
    UnarchiveNothing,
    VerifyArchive,
)
from hivedruid.druid.interval_sets import ALL, iso
from hivedruid.operations.archives import ArchiveJob
from hivedruid.plan.physical import SparkJob


def _describe(action: Action) -> tuple[str, Fields]:
    assert isinstance(action, TieringAction)
    match action:
        case ArchiveRows():
            return "Archive Table Operator", _archive_fields(action)
        case ResumeArchive():
            effect = "it is completed if its rows have left Druid; otherwise they are moved again"
            return "Resume Job Operator", _job_fields(action.job, effect)
        case CancelArchive():
            effect = "its rows are deleted from the cold part if they are still in Druid; otherwise it is completed"
            return "Cancel Job Operator", _job_fields(action.job, effect)
        case ListArchives():
            name = action.table.full_name if action.table is not None else None
            return "Show Archives Operator", [("table", name)]
        case VerifyArchive():
            return "Verify Table Operator", _verify_fields(action)
        case UnarchiveNothing():
            return "Unarchive Table Operator", [("name", action.table.full_name), ("rows", 0)]
        case _:
            assert_never(action)


def _archive_fields(action: ArchiveRows) -> Fields:
    rows = [segment.rows for segment in action.segments]
    known = sum(count for count in rows if count is not None) if None not in rows else None
    return [
        ("name", action.table.full_name),
        ("data source", action.table.data_source),
        ("up to", iso(action.edge)),
        ("intervals", [f"{iso(start)}/{iso(end)}" for start, end in action.intervals]),
        ("segments", len(action.segments)),
        ("rows", known if action.segments else None),
        ("bytes", sum(segment.size for segment in action.segments) or None),
        ("partitions", action.partitions or None),
        ("resumes", [job.id for job in action.unfinished]),
    ]


def _verify_fields(action: VerifyArchive) -> Fields:
    from hivedruid.clients.segments import candidates_path

    return [
        ("name", action.table.full_name),
        ("data source", action.table.data_source),
        ("times", [f"{iso(start)}/{iso(end)}" for start, end in action.times] if action.times != ALL else []),
        ("requests", {f"GET {candidates_path('SOURCE')}": "segments that queries read"} if action.asks else {}),
    ]


def _job_fields(job: ArchiveJob, effect: str) -> Fields:
    return [("job", job.id), ("table", job.full_name), ("state", job.state), ("effect", effect)]


def _lines(action: Action, settings: Mapping[str, str]) -> list[str]:
    del settings
    lines = lines_of(*_describe(action))
    job = _job(action)
    return lines if job is None else [*lines, "    Stage-1", *indent(spark_lines(job), 6)]


def _document(action: Action, settings: Mapping[str, str]) -> dict[str, Any]:
    del settings
    document = document_of(*_describe(action))
    job = _job(action)
    return document if job is None else {**document, "job": job_document(job)}


def _job(action: Action) -> SparkJob | None:
    if isinstance(action, ArchiveRows):
        return action.write.job if action.write is not None else None
    return action.job if isinstance(action, VerifyArchive) else None


EXPLAINER = Explainer(_lines, _document)
