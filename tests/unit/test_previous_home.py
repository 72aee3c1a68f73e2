"""A home folder that an earlier version left behind (tests/homes) opens with all its contents: what needs no Spark."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from hivedruid.catalog.database import FILE_NAME, copy_database
from hivedruid.catalog.ingestions import Ingestions
from hivedruid.catalog.migrations import MIGRATIONS
from hivedruid.catalog.store import Catalog
from hivedruid.operations.change_store import Changes
from hivedruid.session import Session
from tests.support.previous_home import Rows, answers, expected_rows, run, unpacked

DRUID_TABLES = (
    "days", "mapped", "shop.sums", "shop.copied", "shop.renamed", "per_day", "shop.old_sums", "shop.rebuilding",
    "shop.planned", "shop.staged", "shop.given_up", "shop.first", "shop.second",
)  # fmt: skip
SCHEMA = 4


@pytest.fixture
def home() -> Iterator[Path]:
    with unpacked() as folder:
        yield folder


@pytest.fixture
def session(home: Path) -> Iterator[Session]:
    with Session(home) as opened:
        yield opened


def version(home: Path) -> int:
    with closing(sqlite3.connect(home / FILE_NAME)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_quick(text: str) -> bool:
    """Whether a statement is run without Spark: a statement about tables, or a SELECT that Druid computes."""
    return not text.startswith("SELECT") or text.split("FROM ")[1].split(maxsplit=1)[0] in DRUID_TABLES


@pytest.mark.parametrize("text", [text for text in answers() if is_quick(text)])
def test_a_statement_returns_what_it_returned(session: Session, text: str) -> None:
    rows = run(session, text)
    if text == "SHOW JOBS":
        rows = [row for row in rows if row in answers()[text]]  # other operations may be listed, too
    assert rows == expected_rows(text)


def test_every_table_can_be_described(session: Session) -> None:
    described = 0
    for database in ("default", "shop"):
        for name in session.catalog.table_names(database):
            assert run(session, f"DESCRIBE FORMATTED {database}.{name}")
            assert run(session, f"SHOW CREATE TABLE {database}.{name}")
            described += 1
    assert described == len(answers()["SHOW TABLES"]) + len(answers()["SHOW TABLES IN shop"])


def test_every_job_can_be_described(session: Session) -> None:
    for id_, statement, table, state, *_ in answers()["SHOW JOBS"]:
        described = {row[0]: row[1] for row in run(session, f"DESCRIBE JOB '{id_}'")}
        assert (statement, table, state) == tuple(described[key] for key in ("statement", "table", "state"))


def test_materialized_views_and_statistics_are_used(session: Session) -> None:
    assert "  default.per_day is used instead of default.days" in explained(session, "SELECT sum(n) FROM days")
    off = "SET hive.materializedview.rewriting=false; "
    analysed = explained(session, "SELECT k FROM days", off)
    assert any("analysed" in line for line in analysed), analysed


def explained(session: Session, query: str, before: str = "") -> list[str]:
    return [row[0] for row in run(session, f"{before}EXPLAIN EXTENDED {query}")]


# --- ingestions ------------------------------------------------------------------------------------------------------

STARTED = {
    "running": True, "stopped": False, "suspended": True, "starting": False, "stopping": True, "resetting": True,
    "altered": True, "rolling_back": True, "never": False,
}  # fmt: skip
INTERRUPTED = {"starting": "START", "stopping": "STOP", "resetting": "RESET", "rolling_back": "ALTER"}


def test_ingestions(session: Session) -> None:
    """What was started, what was interrupted, and the submitted specs."""
    ingestions = Ingestions(session.catalog)
    ids = {name: session.catalog.get("default", name).table_id for name in STARTED}
    records = {name: ingestions.find(table_id) for name, table_id in ids.items()}
    assert {name: record.started for name, record in records.items()} == STARTED
    unfinished = Changes(session.catalog).unfinished()
    assert {name: unfinished[ids[name]].verb for name in STARTED if ids[name] in unfinished} == INTERRUPTED
    specs = {name: ingestions.specs(table_id) for name, table_id in ids.items()}
    assert {name: [spec.version for spec in sent] for name, sent in specs.items()} == {
        **{name: [1] for name in STARTED}, "altered": [2, 1], "never": [],
    }  # fmt: skip
    durations = [spec.spec["spec"]["ioConfig"].get("taskDuration") for spec in specs["altered"]]
    assert durations == ["PT20M", None]
    assert records["never"].last is None
    accepted = records["running"].last
    assert accepted is not None
    assert accepted.accepted["dataSchema"]["dataSource"] == specs["running"][0].table.data_source


# --- the migration ---------------------------------------------------------------------------------------------------


def test_a_copy_leaves_the_home_untouched(home: Path) -> None:
    with closing(copy_database(home)) as connection:
        assert len(Catalog(connection).tables("default")) == len(answers()["SHOW TABLES"])
    assert version(home) == SCHEMA < len(MIGRATIONS)


def test_sessions_that_open_it_at_once(home: Path) -> None:
    def jobs(_: int) -> Rows:
        with Session(home) as opened:
            return run(opened, "SHOW JOBS")

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(jobs, range(4))
    assert all(other == first for other in others)
    assert version(home) == len(MIGRATIONS)


def test_a_migration_that_is_interrupted_changes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hivedruid.catalog import database

    with monkeypatch.context() as patched:
        patched.setattr(database, "MIGRATIONS", (*MIGRATIONS, ("DELETE FROM tables", "no statement")))
        with pytest.raises(Exception, match="cannot open the catalog"), Session(home):
            pass
    assert version(home) == SCHEMA
    with Session(home) as opened:
        assert run(opened, "SHOW TABLES") == answers()["SHOW TABLES"]
