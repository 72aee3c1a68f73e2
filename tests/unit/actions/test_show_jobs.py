"""SHOW JOBS, DESCRIBE JOB, CANCEL JOB and RESUME JOB: what they show, refuse and come down to."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hivedruid.actions import build as b
from hivedruid.actions.families import explainer, family_of
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.utility.model import Show
from hivedruid.actions.writing.model import ResumeLoad, RollBackLoad
from hivedruid.actions.writing.show import problems
from hivedruid.errors import SemanticError
from hivedruid.jobs.load import LoadReport
from hivedruid.jobs.staged import StagedRows, Sum
from hivedruid.operations.loads import LoadJob, ViewJob
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.parser import parse
from hivedruid.script import SourceStatement
from hivedruid.settings import Settings

Known = KnownOperation[Operation]
DAY = 86_400_000
SPEC = {
    "type": "index_parallel",
    "spec": {
        "dataSchema": {"dataSource": "default.t"},
        "ioConfig": {"inputSource": {"type": "s3", "properties": {"secretAccessKey": "canary"}}},
    },
}
STAGED = StagedRows(
    "/staging/t_1", 300, 4000, ((0, DAY), (2 * DAY, 3 * DAY)),
    {"added": Sum(55), "delta": Sum(0.5, 10.0)}, skipped=3,
)  # fmt: skip
PLANNED = LoadJob(
    id="t_1", statement_id="query_1", statement="INSERT INTO", database="default", table="t", table_id="id",
    druid="http://me:canary@druid:8888", fingerprint="f", text="INSERT INTO t SELECT 1", spec=SPEC, created="2026-01-01T00:00:00.000Z", changed="2026-01-01T00:01:00.250Z",
)  # fmt: skip
IN_DRUID = replace(PLANNED, id="t_2", state="submitted", staged=STAGED, attempt=2)
FAILED = replace(
    IN_DRUID, id="t_3", state="staged", error="the task failed", replaces="all", statement="INSERT OVERWRITE"
)
VIEW = ViewJob(**vars(FAILED))
DONE = replace(
    IN_DRUID, id="u_4", database="d", table="u", state="cleaned", report=LoadReport("hivedruid_u_4_2", 300, 2, 5000)
)
JOBS = (
    KnownOperation(DONE, is_running=False),
    KnownOperation(FAILED, is_running=False),
    KnownOperation(IN_DRUID, is_running=True),
    KnownOperation(PLANNED, is_running=False),
)


def snapshot(jobs: tuple[Known, ...] = JOBS, zone: str = "UTC") -> Snapshot:
    settings = Settings({"hive.local.time.zone": zone})
    return Snapshot(settings, datetime(2026, 1, 1, tzinfo=UTC), "default", ("default", "d"), {}, jobs=jobs)


def action(text: str, jobs: tuple[Known, ...] = JOBS, zone: str = "UTC") -> Any:
    (built,) = b.build(parse(SourceStatement(text)), snapshot(jobs, zone)).actions
    return built


def refusal(text: str, jobs: tuple[Known, ...] = JOBS) -> tuple[str, str]:
    """What is said, and what to do; the place is what stands in quotes last."""
    with pytest.raises(SemanticError) as error:
        action(text, jobs)
    span = error.value.span
    assert span is not None
    assert text.endswith(span.source_line[span.column - 1 : span.column - 1 + span.length])
    return error.value.message, error.value.hint or ""


def shown(text: str, jobs: tuple[Known, ...] = JOBS, zone: str = "UTC") -> list[dict[str, Any]]:
    show = action(text, jobs, zone)
    assert isinstance(show, Show)
    return [dict(zip((c.name for c in show.columns), row, strict=True)) for row in show.rows]


def test_all_jobs() -> None:
    done, failed, submitted, planned = shown("SHOW JOBS", zone="Asia/Kolkata")
    assert list(done) == [
        "id", "statement", "table", "state", "running", "rows", "bytes", "segments", "created", "changed", "error",
    ]  # fmt: skip
    assert [row["running"] for row in (done, failed, submitted, planned)] == ["no", "no", "yes", "interrupted"]
    assert [done[name] for name in ("table", "state", "rows", "bytes", "segments")] == ["d.u", "cleaned", 300, 5000, 2]
    assert [planned[name] for name in ("rows", "bytes", "segments", "error")] == [None] * 4
    assert (failed["rows"], failed["bytes"], failed["error"]) == (300, None, "the task failed")
    assert planned["changed"] == datetime(2026, 1, 1, 0, 1, 0, 250_000, UTC)
    assert planned["changed"].isoformat().endswith("+05:30")
    assert shown("SHOW JOBS", ()) == []


@pytest.mark.parametrize(
    ("chosen", "ids"),
    [
        ("FOR t", ["t_3", "t_2", "t_1"]),
        ("FOR d.u", ["u_4"]),
        ("WHERE STATE = 'Staged'", ["t_3"]),
        ("WHERE STATE = 'published'", []),
        ("FOR t WHERE STATE = 'planned'", ["t_1"]),
        ("FOR t WHERE STATE = 'cleaned'", []),
    ],
)
def test_some_jobs(chosen: str, ids: list[str]) -> None:
    assert [row["id"] for row in shown(f"SHOW JOBS {chosen}")] == ids


def test_a_job_in_detail() -> None:
    rows = action("DESCRIBE JOB 't_3'").rows
    told = dict(rows)
    assert told["text"] == "INSERT INTO t SELECT 1"
    assert (told["target"], told["replaces"], told["druid.url"]) == ("1 of 4", "all rows", "http://******@druid:8888")
    assert (told["staging folder"], told["rows staged"], told["bytes staged"]) == ("/staging/t_1", "300", "4000")
    assert told["rows without a time skipped"] == "3"
    assert (told["sum of added"], told["sum of delta"]) == ("55", "0.5")
    assert [value for name, value in rows if name == "interval"] == [
        "1970-01-01T00:00:00.000Z/1970-01-02T00:00:00.000Z",
        "1970-01-03T00:00:00.000Z/1970-01-04T00:00:00.000Z",
    ]
    assert [value for name, value in rows if name == "task"] == ["hivedruid_t_3_1", "hivedruid_t_3_2"]
    spec = json.loads("\n".join(value for name, value in rows if name == "spec"))
    assert spec["spec"]["dataSchema"] == {"dataSource": "default.t"}
    assert "canary" not in str(rows)
    assert told["next"] == "RESUME JOB 't_3', or CANCEL JOB 't_3'"
    assert told["created"] == "2026-01-01 00:00:00.0 UTC"
    assert "segments" not in told


def test_many_intervals_are_counted() -> None:
    many = replace(STAGED, intervals=tuple((day * 2 * DAY, (day * 2 + 1) * DAY) for day in range(25)))
    rows = action("DESCRIBE JOB 't_3'", (KnownOperation(replace(FAILED, staged=many), is_running=False),)).rows
    assert [value for name, value in rows if name == "interval"][10:] == ["and 15 more"]
    assert "target" not in dict(rows)


@pytest.mark.parametrize(
    ("job", "is_running", "told"),
    [
        (PLANNED, False, "rerun the statement, or CANCEL JOB 't_1'"),
        (replace(VIEW, state="verified"), False, "RESUME JOB 't_3' deletes its staged rows"),
        (VIEW, False, "rerun the statement, or CANCEL JOB 't_3'"),
        (IN_DRUID, True, "wait for it to finish, or CANCEL JOB 't_2'"),
        (IN_DRUID, False, "RESUME JOB 't_2', or CANCEL JOB 't_2'"),
        (replace(IN_DRUID, state="verified"), False, "RESUME JOB 't_2' deletes its staged rows"),
        (DONE, False, None),
    ],
)
def test_what_to_do_next(job: LoadJob, is_running: bool, told: str | None) -> None:
    rows = action(f"DESCRIBE JOB '{job.id}'", (KnownOperation(job, is_running=is_running),)).rows
    assert dict(rows).get("next") == told


def test_a_job_that_there_is_not() -> None:
    assert refusal("DESCRIBE JOB 't_9'") == ("job 't_9' does not exist", "did you mean 't_3'?")
    assert refusal("CANCEL JOB 'nothing like it'") == (
        "job 'nothing like it' does not exist",
        "SHOW JOBS lists the ids",
    )
    assert refusal("RESUME JOB 'T_1'", ())[1] == "SHOW JOBS lists the ids"
    assert refusal("SHOW JOBS FOR v") == ("Table not found v", "run SHOW TABLES to list the tables")
    message, hint = refusal("SHOW JOBS WHERE STATE = 'stagd'")
    assert (message, hint) == ("'stagd' is not a valid job state", "did you mean 'staged'?")
    assert "planned, staged, submitted" in refusal("SHOW JOBS WHERE STATE = 'x'")[1]


def test_cancel() -> None:
    assert action("CANCEL JOB 't_2'") == RollBackLoad(IN_DRUID, asked=True)
    assert refusal("CANCEL JOB 'u_4'") == ("job u_4 is cleaned: its rows are in d.u", "nothing to cancel")
    verified = (KnownOperation(replace(IN_DRUID, state="verified"), is_running=False),)
    assert refusal("CANCEL JOB 't_2'", verified) == (
        "job t_2 is verified: its rows are in default.t",
        "RESUME JOB 't_2' deletes its staged rows",
    )
    cancelled = (KnownOperation(replace(IN_DRUID, state="cancelled"), is_running=False),)
    assert refusal("CANCEL JOB 't_2'", cancelled)[0] == "job t_2 is cancelled"


def test_resume() -> None:
    assert action("RESUME JOB 't_3'") == ResumeLoad(FAILED)
    assert refusal("RESUME JOB 't_2'")[0] == "job t_2 is running in another session"
    assert refusal("RESUME JOB 'u_4'") == ("job u_4 is cleaned", "it has ended; see DESCRIBE JOB 'u_4'")
    message, hint = refusal("RESUME JOB 't_1'")
    assert message == "job t_1 cannot be resumed: not all of its rows were staged"
    assert hint == "rerun the statement, or CANCEL JOB 't_1'"
    view = (KnownOperation(VIEW, is_running=False),)
    assert "builds a materialized view" in refusal("RESUME JOB 't_3'", view)[0]


@pytest.mark.parametrize("text", ["SHOW JOBS", "DESCRIBE JOB 't_3'", "CANCEL JOB 't_2'", "RESUME JOB 't_3'"])
def test_explained(text: str) -> None:
    made = action(f"EXPLAIN {text}")
    operator = explainer(family_of(made)).document(made, {})["operator"]
    assert operator == {"CANCEL": "Cancel Job Operator", "RESUME": "Resume Job Operator"}.get(
        text.partition(" ")[0], "Fetch Operator"
    )


def test_problems() -> None:
    failed, planned = problems(JOBS)
    assert (failed.subject, failed.problem, failed.cause) == ("default.t", "job failed", "the task failed")
    assert failed.repair == "RESUME JOB 't_3'"
    assert (planned.problem, planned.repair) == ("job interrupted", "CANCEL JOB 't_1'")
    assert planned.cause == "its process has ended; the job is planned"
    assert planned.evidence == "INSERT INTO, job t_1"
