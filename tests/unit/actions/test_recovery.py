"""What RESUME JOB and CANCEL JOB do with each kind of operation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivedruid.actions.compacting.model import CancelCompaction, ResumeCompaction
from hivedruid.actions.materialized.model import ForgetBuild
from hivedruid.actions.recovery import Refusal, handler, recovery
from hivedruid.operations.compactions import CompactionJob
from hivedruid.operations.kinds import KINDS
from hivedruid.operations.operation import KnownOperation
from hivedruid.operations.views import ManagedViewJob
from tests.support.jobs import a_change

COMPACTION = CompactionJob(
    id="k", statement_id="s", statement="COMPACT", database="default", table="t", table_id="id_of_t", druid="local",
    text="ALTER TABLE default.t COMPACT 'major'", state="submitted", data_source="default.t", tasks=("a", "b"),
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_handler(kind: str) -> None:
    assert callable(handler(kind).recovery)
    assert callable(handler(kind).details)


def test_a_compaction_that_was_interrupted_is_awaited_or_stopped() -> None:
    found = recovery(KnownOperation(COMPACTION, is_running=False))
    assert (found.resume, found.cancel) == (ResumeCompaction(COMPACTION), CancelCompaction(COMPACTION))
    assert (found.repair, found.next) == ("RESUME JOB 'k'", "RESUME JOB 'k', or CANCEL JOB 'k'")


def test_a_compaction_without_tasks_cannot_be_resumed() -> None:
    planned = replace(COMPACTION, state="planned", tasks=())
    found = recovery(KnownOperation(planned, is_running=False))
    assert isinstance(found.resume, Refusal)
    assert found.resume.message == "job k cannot be resumed: no task was submitted"
    assert (found.cancel, found.repair) == (CancelCompaction(planned), "CANCEL JOB 'k'")


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_a_compaction_that_has_ended(state: str) -> None:
    ended = CompactionJob(**{**vars(COMPACTION), "state": state})
    found = recovery(KnownOperation(ended, is_running=False))
    assert found.cancel == Refusal(f"job k is {state}", "nothing to cancel")
    assert (found.repair, found.next) == ("", "")


def test_a_change_of_an_ingestion_is_rerun() -> None:
    found = recovery(KnownOperation(a_change("STOP"), is_running=False))
    assert isinstance(found.resume, Refusal)
    assert isinstance(found.cancel, Refusal)
    assert found.resume.hint == "rerun STOP INGESTION default.t, which completes it"
    assert found.cancel.hint == "rerun STOP INGESTION default.t to complete it"
    running = recovery(KnownOperation(a_change("STOP"), is_running=True))
    assert running.next == "wait for it to finish"


def test_a_build_of_a_view_is_run_again_or_forgotten() -> None:
    job = ManagedViewJob(
        id="b", statement_id="s", statement="MATERIALIZED VIEW", database="default", table="v", table_id="id_of_v",
        druid="embedded:", text="ALTER MATERIALIZED VIEW default.v REBUILD",
    )  # fmt: skip
    found = recovery(KnownOperation(job, is_running=False))
    assert isinstance(found.resume, Refusal)
    assert found.resume.message == "job b cannot be resumed: it builds a materialized view"
    assert (found.cancel, found.repair) == (ForgetBuild(job), "ALTER MATERIALIZED VIEW default.v REBUILD")
    creating = recovery(KnownOperation(replace(job, creates=True), is_running=False))
    assert (creating.repair, creating.next) == ("CANCEL JOB 'b'", "rerun the statement, or CANCEL JOB 'b'")
    assert isinstance(recovery(KnownOperation(job, is_running=True)).cancel, Refusal)
