"""A home of the version before durable operations: every job is there, and can be resumed or cancelled as before.

home_of_version_6.sql was dumped from a home that commit 9ccbe01 made: tables by statements, the jobs and ingestions by its
own classes.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hivedruid.catalog.database import FILE_NAME, MIGRATIONS
from hivedruid.jobs.load import LoadReport
from hivedruid.jobs.staged import StagedRows
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
    jobs = [row for row in run(session, "SHOW JOBS") if "INGESTION" not in row["statement"]]
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


def test_the_tables_are_as_before(session: Session) -> None:
    tables = ["altered", "plain", "purged", "quiet", "reset", "rolled", "started", "t", "v"]
    assert [row["tab_name"] for row in run(session, "SHOW TABLES")] == tables
    assert session.catalog.databases() == ("d", "default")
    assert len(MIGRATIONS) > 6
