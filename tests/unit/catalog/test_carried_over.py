"""A home of the version before durable operations: every job and change is there,
and can be completed as before.

home_of_version_6.sql was dumped from a home that commit 9ccbe01 made: tables by statements, the jobs and ingestions by
its own classes.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hivedruid.catalog.database import FILE_NAME
from hivedruid.catalog.ingestions import Ingestions
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.errors import SemanticError
from hivedruid.jobs.load import LoadReport
from hivedruid.jobs.staged import StagedRows
from hivedruid.operations.change_store import Changes
from hivedruid.operations.changes import ChangeNotes
from hivedruid.operations.loads import LoadJob, ViewJob
from hivedruid.operations.store import Operations
from hivedruid.session import Session
from tests.support.job_homes import run

DUMP = Path(__file__).with_name("home_of_version_6.sql")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.executescript(DUMP.read_text(encoding="utf-8"))
    with Session(tmp_path) as opened:
        yield opened


def loads(session: Session) -> dict[str, LoadJob]:
    return {job.id: job for job in Operations(session.catalog).all() if isinstance(job, LoadJob)}


def test_every_job_is_listed(session: Session) -> None:
    jobs = [row for row in run(session, "SHOW JOBS") if row["id"] in loads(session)]
    assert [(row["id"], row["statement"], row["table"], row["state"], row["running"], row["rows"]) for row in jobs] == [
        ("view", "MATERIALIZED VIEW", "default.t", "staged", "interrupted", 3),
        ("cancelled", "INSERT INTO", "default.t", "cancelled", "no", None),
        ("cleaned", "INSERT INTO", "default.t", "cleaned", "no", 3),
        ("verified", "CREATE TABLE AS", "default.made", "verified", "interrupted", 3),
        ("withdrawing", "INSERT INTO", "default.t", "published", "interrupted", 3),
        ("submitted", "INSERT INTO", "default.t", "submitted", "interrupted", 3),
        ("failed", "INSERT OVERWRITE", "default.t", "staged", "no", 3),
        ("staged", "INSERT INTO", "default.t", "staged", "interrupted", 3),
        ("planned", "INSERT INTO", "default.t", "planned", "interrupted", None),
    ]
    assert [row["error"] for row in jobs if row["error"]] == ["interrupted", "the task failed"]


def test_a_job_has_all_that_it_needs_to_be_resumed(session: Session) -> None:
    jobs = loads(session)
    failed, submitted = jobs["failed"], jobs["submitted"]
    assert isinstance(failed.staged, StagedRows)
    assert (failed.replaces, failed.attempt, failed.fingerprint, failed.data_source) == ("all", 1, "f", "default.t")
    assert (failed.staged.sums["n"].total, failed.staged.intervals) == (2**62, ((0, 86_400_000),))
    assert math.isnan(failed.staged.sums["x"].total)
    assert math.isinf(failed.staged.sums["x"].magnitude)
    assert (submitted.task, submitted.journal) == ("hivedruid_submitted_2", {"used": [], "seen": []})
    assert submitted.druid == "http://druid:8888"
    assert jobs["withdrawing"].journal == {"rolls_back": "cancelled"}
    assert jobs["verified"].report == LoadReport("hivedruid_verified_1", 3, 1, 500)
    assert jobs["verified"].definition.startswith("{")
    assert isinstance(jobs["view"], ViewJob)


def test_jobs_end_as_before(session: Session) -> None:
    for job in ("planned", "staged", "failed", "view"):
        run(session, f"CANCEL JOB '{job}'")
    run(session, "RESUME JOB 'verified'")
    assert {job.id for job in loads(session).values() if not job.has_ended} == {"submitted", "withdrawing"}


def test_every_change_of_an_ingestion_is_listed(session: Session) -> None:
    changes = [row for row in run(session, "SHOW JOBS") if row["id"] not in loads(session)]
    assert [(row["statement"], row["table"], row["state"], row["running"]) for row in reversed(changes)] == [
        ("ALTER TABLE", "default.altered", "begun", "interrupted"),
        ("DROP TABLE", "default.purged", "begun", "interrupted"),
        ("RESET INGESTION", "default.reset", "moved", "interrupted"),
        ("ALTER TABLE", "default.rolled", "begun", "interrupted"),
        ("START INGESTION", "default.started", "begun", "interrupted"),
    ]
    found = {job.table: job for job in Changes(session.catalog).unfinished().values()}
    assert found["reset"].change == ChangeNotes(
        "RESET INGESTION default.reset TO EARLIEST", was="RUNNING", target="TO EARLIEST", offsets={"0": 1, "1": 2}
    )
    assert found["rolled"].change == ChangeNotes(rolls_back=True)
    assert found["altered"].change == ChangeNotes("START INGESTION default.altered", runs=True)
    assert found["purged"].rerun == "DROP TABLE default.purged PURGE"
    records = Ingestions(session.catalog).all()
    assert sorted(found) == ["altered", "purged", "reset", "rolled", "started"]
    assert [records[found[name].table_id].started for name in sorted(found)] == [True, True, True, True, False]
    assert all(record.last is not None for record in records.values())


def test_a_change_of_an_ingestion_is_completed_by_its_statement(session: Session) -> None:
    (started,) = run(session, "SHOW JOBS FOR started")
    for verb in ("RESUME", "CANCEL"):
        with pytest.raises(SemanticError, match="it changes an ingestion") as refused:
            run(session, f"{verb} JOB '{started['id']}'")
        assert str(refused.value.hint).startswith("rerun START INGESTION default.started")
    told = {row["name"]: row["value"] for row in run(session, f"DESCRIBE JOB '{started['id']}'")}
    assert (told["statement"], told["next"]) == ("START INGESTION", "rerun START INGESTION default.started")


def test_the_tables_are_as_before(session: Session) -> None:
    tables = ["altered", "plain", "purged", "quiet", "reset", "rolled", "started", "t", "v"]
    assert [row["tab_name"] for row in run(session, "SHOW TABLES")] == tables
    assert session.catalog.databases() == ("d", "default")
    assert len(MIGRATIONS) > 6
