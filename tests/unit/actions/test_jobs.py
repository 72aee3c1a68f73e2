"""What a statement does about the jobs that another process has left behind."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from hivedruid.actions.ddl.model import AddTable, EmptyTable, RemoveTable
from hivedruid.actions.materialized.model import BuildView
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.writing.jobs import Origin, origin, resumed_table, with_earlier, without_unfinished
from hivedruid.actions.writing.model import IngestDruid, ResumeLoad, RollBackLoad, SkipTarget
from hivedruid.catalog.materialized_views import Built
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import TIMESTAMP
from hivedruid.errors import ExecutionError
from hivedruid.operations.loads import LoadJob, ViewJob
from hivedruid.operations.operation import KnownOperation
from hivedruid.plan.physical import SparkJob
from hivedruid.script import SourceStatement
from tests.support.jobs import SPEC, a_job

SAID = Origin("INSERT INTO t SELECT 1", "f", "embedded:")


def table(name: str) -> Table:
    properties = {"druid.datasource": f"default.{name}"}
    return Table("default", name, "druid", (Column("__time", TIMESTAMP),), True, properties=properties)


def ingest(name: str = "t") -> IngestDruid:
    return IngestDruid(SparkJob("SELECT 1", (), ()), table(name), SPEC)


def a_view(state: str) -> ViewJob:
    return ViewJob(**vars(a_job("a", state=state)))


def snapshot(*jobs: LoadJob, running: bool = False, recent: bool = True) -> Snapshot:
    known = tuple(KnownOperation(job, running, recent) for job in jobs)
    return Snapshot({"druid.url": "embedded:"}, datetime(2024, 1, 1), jobs=known)


def after(*jobs: LoadJob, actions: tuple[Action, ...] = (ingest(),), said: Origin = SAID, **how: Any) -> list[str]:
    found = with_earlier(actions, said, snapshot(*jobs, **how))
    return [type(action).__name__ for action in found]


@pytest.mark.parametrize("state", ["planned", "staged"])
def test_what_druid_was_not_given_is_computed_anew(state: str) -> None:
    assert after(a_job("a", state=state)) == ["RollBackLoad", "IngestDruid"]


@pytest.mark.parametrize("state", ["submitted", "published", "verified"])
def test_what_druid_was_given_goes_on(state: str) -> None:
    assert after(a_job("a", state=state)) == ["ResumeLoad"]


@pytest.mark.parametrize("state", ["cleaned", "cancelled"])
def test_what_has_ended_is_no_matter(state: str) -> None:
    assert after(a_job("a", state=state)) == ["IngestDruid"]


def test_a_job_of_another_statement_is_ended_first() -> None:
    assert after(a_job("a", state="submitted", fingerprint="g")) == ["ResumeLoad", "IngestDruid"]
    assert after(a_job("a", state="staged", fingerprint="g")) == ["RollBackLoad", "IngestDruid"]


def test_a_job_that_was_interrupted_long_ago_is_ended_and_the_statement_is_new() -> None:
    assert after(a_job("a", state="submitted"), recent=False) == ["ResumeLoad", "IngestDruid"]


def test_a_job_that_another_process_is_at_is_left_to_it() -> None:
    assert after(a_job("a", state="submitted"), running=True) == ["IngestDruid"]


def test_jobs_of_other_tables_and_druids_are_left() -> None:
    elsewhere = {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.u"}}}
    assert after(a_job("a", state="submitted", fingerprint="g", spec=elsewhere)) == ["IngestDruid"]
    assert after(a_job("a", state="submitted", fingerprint="g", druid="http://x")) == ["IngestDruid"]


def three_jobs(*states: str) -> tuple[LoadJob, ...]:
    return tuple(
        a_job(f"j{number}", statement_id="s", number=number, state=state) for number, state in enumerate(states)
    )


def test_a_multi_insert_goes_on_where_it_stopped() -> None:
    """All of its targets were staged before Druid was given the first: what one has changed the others may have
    read."""
    first, second, third = three_jobs("cleaned", "submitted", "staged")
    actions = (ingest(), ingest("u"), ingest("v"))
    found = with_earlier(actions, SAID, snapshot(third, second, first))
    assert found == (SkipTarget(first), ResumeLoad(second, is_rerun=True), ResumeLoad(third, is_rerun=True))


def test_a_multi_insert_of_which_druid_was_given_nothing_is_computed_anew() -> None:
    first, second, third = three_jobs("staged", "staged", "planned")
    actions = (ingest(), ingest("u"), ingest("v"))
    found = with_earlier(actions, SAID, snapshot(third, second, first))
    assert found == (RollBackLoad(first), actions[0], RollBackLoad(second), actions[1], RollBackLoad(third), actions[2])


def test_what_was_cancelled_of_a_multi_insert_that_goes_on_is_left() -> None:
    first, second, third = three_jobs("cleaned", "cancelled", "staged")
    actions = (ingest(), ingest("u"), ingest("v"))
    found = with_earlier(actions, SAID, snapshot(third, second, first))
    assert found == (SkipTarget(first), SkipTarget(second), ResumeLoad(third, is_rerun=True))


def test_only_the_last_time_that_a_statement_was_said_counts() -> None:
    """An older one of the same text is another one, and is ended first."""
    assert after(a_job("new", state="cleaned"), a_job("old", state="submitted")) == ["ResumeLoad", "IngestDruid"]


@pytest.mark.parametrize("state", ["staged", "submitted", "published"])
def test_a_materialized_view_is_built_anew(state: str) -> None:
    """What it was computed from is known to its own statement alone."""
    build = BuildView(ingest(), Built((), None, None, {}, ""), creates=False, why="")
    assert after(a_view(state), actions=(build,)) == ["RollBackLoad", "BuildView"]
    assert after(a_view(state)) == ["RollBackLoad", "IngestDruid"]


def test_two_that_replace_all_rows_at_once_are_refused() -> None:
    """Each would leave the rows of the other. On the embedded store one commit is after the other."""
    said = replace(SAID, druid="local")
    overwrite = replace(ingest(), replaces="all")
    running = a_job("a", state="submitted", druid="local", replaces="all")
    with pytest.raises(ExecutionError, match=r"another session is writing to default\.t"):
        after(running, actions=(overwrite,), said=said, running=True)
    assert after(running, said=said, running=True) == ["IngestDruid"]
    assert after(replace(running, druid="embedded:"), actions=(overwrite,), running=True) == ["IngestDruid"]


def test_create_table_as_goes_on_although_its_table_is_there() -> None:
    job = a_job("a", state="verified", definition="{}")
    assert resumed_table(SAID, snapshot(job)) == ResumeLoad(job, is_rerun=True)
    assert resumed_table(SAID, snapshot(a_job("a", state="staged", definition="{}"))) is None
    assert resumed_table(SAID, snapshot(a_job("a", state="submitted"))) is None
    added = (ingest(), AddTable(table("t")))
    assert after(a_job("a", state="staged", definition="{}"), actions=added) == [
        "RollBackLoad",
        "IngestDruid",
        "AddTable",
    ]


@pytest.mark.parametrize("state", ["submitted", "published", "verified"])
def test_create_table_as_goes_on_however_long_ago_it_was_interrupted(state: str) -> None:
    job = a_job("a", state=state, definition="{}")
    assert resumed_table(SAID, snapshot(job, recent=False)) == ResumeLoad(job, is_rerun=True)
    assert resumed_table(SAID, snapshot(job, recent=False, running=True)) is None


@pytest.mark.parametrize("state", ["staged", "submitted", "published"])
def test_another_create_table_as_of_the_table_cancels_the_unfinished_one(state: str) -> None:
    """Both would create the table: the second one would end with "already exists"."""
    job = a_job("a", state=state, fingerprint="g", definition="{}")
    added = (ingest(), AddTable(table("t")))
    assert after(job, actions=added) == ["RollBackLoad", "IngestDruid", "AddTable"]
    with pytest.raises(ExecutionError, match=r"another session is writing to default\.t"):
        after(job, actions=added, running=True)


def test_the_data_source_of_an_unfinished_create_table_as_does_not_count_as_existing() -> None:
    job = a_job("a", state="published", definition="{}")
    found = {"default.t": {"n": "LONG"}, "default.u": {"n": "LONG"}}
    assert set(without_unfinished(replace(snapshot(job), discovered=found)).discovered) == {"default.u"}
    for other in (replace(job, state="cleaned"), replace(job, definition=""), replace(job, druid="local")):
        assert set(without_unfinished(replace(snapshot(other), discovered=found)).discovered) == set(found)


@pytest.mark.parametrize("remove", [EmptyTable(table("t")), RemoveTable(table("t"), delete_data=True)])
def test_what_is_emptied_or_dropped_has_no_jobs(remove: Action) -> None:
    job = a_job("a", state="submitted")
    assert after(job, actions=(remove,)) == ["RollBackLoad", type(remove).__name__]
    with pytest.raises(ExecutionError, match=r"another session is writing to default\.t") as refused:
        after(job, actions=(remove,), running=True)
    assert refused.value.hint == "wait for it to finish, or run CANCEL JOB 'a'"


def test_dropping_the_name_alone_leaves_jobs() -> None:
    assert after(a_job("a", state="submitted"), actions=(RemoveTable(table("t"), delete_data=False),)) == [
        "RemoveTable"
    ]


def test_statements_are_the_same_where_they_mean_the_same() -> None:
    def of(text: str, database: str = "default", **settings: str) -> str:
        return origin(SourceStatement(text), {"druid.url": "embedded:", **settings}, database).fingerprint

    assert of("INSERT INTO t SELECT 1") == of("  INSERT INTO t SELECT 1\n") == of("EXPLAIN CBO INSERT INTO t SELECT 1")
    others = [of("INSERT INTO t SELECT 2"), of("INSERT INTO t SELECT 1", "other")]
    others += [of("INSERT INTO t SELECT 1", **{"druid.url": "local"})]
    others += [of("INSERT INTO t SELECT 1", **{"hive.local.time.zone": "Asia/Kolkata"})]
    assert len({of("INSERT INTO t SELECT 1"), *others}) == 5
