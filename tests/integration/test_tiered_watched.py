"""Watching tiered tables on the embedded store: VERIFY TABLE, SHOW DATA SOURCES, SHOW PROBLEMS, archiving by the manager."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hivedruid.catalog.archives import Batches
from hivedruid.catalog.tiers import cold_part
from hivedruid.manager.manager import Manager
from hivedruid.plan.physical import SparkJob
from hivedruid.session import Session
from tests.support.job_homes import run
from tests.support.streams import until

pytestmark = pytest.mark.spark

CONF = {"druid.url": "embedded:", "hive.local.time.zone": "UTC"}
NOTHING = SparkJob("", (), ())


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path / "home", hiveconf=CONF, confirm=lambda _: True) as made:
        run(made, "CREATE TABLE t (`__time` TIMESTAMP, n BIGINT) STORED AS TIERED TBLPROPERTIES"
            " ('druid.rollup' = 'false', 'druid.datasource' = 'events')")  # fmt: skip
        run(made, "INSERT INTO t VALUES ('2026-01-01 00:00:00', 1), ('2026-01-01 12:00:00', 2),"
            " ('2026-01-02 00:00:00', 3)")  # fmt: skip
        yield made


def in_spark(session: Session, statement: str) -> None:
    """A statement of Spark on the cold part {t}, as another tool may run it."""
    table = cold_part(session.catalog.get("default", "t"))
    with session._get_spark().running(NOTHING, target=table) as spark:
        spark.sql(statement.format(t=f"hivedruid.tables.`{table.table_id}`")).collect()


def verified(session: Session, times: str = "") -> list[tuple[Any, ...]]:
    return [(r["part"], r["recorded"], r["rows"], r["state"]) for r in run(session, f"VERIFY TABLE t {times}")]


def test_verify(session: Session) -> None:
    assert verified(session) == []
    run(session, "ARCHIVE TABLE t UP TO '2026-01-02'")
    run(session, "ARCHIVE TABLE t UP TO '2026-01-03'")
    (first, second) = run(session, "VERIFY TABLE t")
    jobs = [row["job"] for row in run(session, "SHOW ARCHIVES")]
    assert sorted([first["batch"], second["batch"]]) == sorted(jobs)
    assert verified(session) == [("cold", 2, 2, "ok"), ("cold", 1, 1, "ok")]

    in_spark(session, "INSERT INTO {t} VALUES (TIMESTAMP_NTZ '2026-01-05 00:00:00', 9, NULL)")
    in_spark(session, f"INSERT INTO {{t}} VALUES (TIMESTAMP_NTZ '2026-01-05 00:00:00', 9, '{first['batch']}')")
    in_spark(session, "INSERT INTO {t} VALUES (TIMESTAMP_NTZ '2026-01-05 00:00:00', 9, 'x')")
    in_spark(
        session, f"UPDATE {{t}} SET `__time` = TIMESTAMP_NTZ '2026-01-06 00:00:00' WHERE __batch = '{second['batch']}'"
    )
    assert verified(session) == [
        ("cold", 2, 3, "rows differ"), ("cold", 1, 1, "times differ"), ("cold", None, 1, "rows of no batch"),
        ("cold", None, 1, "unknown batch"),
    ]  # fmt: skip
    batch = Batches(session.catalog).of(session.catalog.get("default", "t").table_id)[0]
    assert batch.id == first["batch"]


def test_verify_values(session: Session) -> None:
    """Sums of integers are compared, also after columns were added and dropped, and archives of other times."""
    run(session, "ARCHIVE TABLE t UP TO '2026-01-02'")
    run(session, "ALTER TABLE t ADD COLUMNS (m INT)")
    run(session, "ARCHIVE TABLE t UP TO '2026-01-03'")
    first, second = Batches(session.catalog).of(session.catalog.get("default", "t").table_id)
    assert (first.sums, second.sums) == ((("n", 3),), (("n", 3), ("m", None)))
    assert verified(session) == [("cold", 2, 2, "ok"), ("cold", 1, 1, "ok")]
    in_spark(session, "UPDATE {t} SET n = 3 - n WHERE n < 3")  # the rows differ, and the sum does not
    assert verified(session) == [("cold", 2, 2, "ok"), ("cold", 1, 1, "ok")]
    in_spark(session, "UPDATE {t} SET n = 7 WHERE n = 2")
    assert verified(session) == [("cold", 2, 2, "values differ"), ("cold", 1, 1, "ok")]
    in_spark(session, "UPDATE {t} SET m = 0 WHERE n = 3")
    assert verified(session) == [("cold", 2, 2, "values differ"), ("cold", 1, 1, "values differ")]


def test_verify_sums_that_overflow(session: Session) -> None:
    run(
        session,
        f"INSERT INTO t VALUES ('2026-01-01 00:00:00', {(1 << 63) - 1}), ('2026-01-01 00:00:00', {(1 << 63) - 1})",
    )
    run(session, "ARCHIVE TABLE t UP TO '2026-01-02'")
    (batch,) = Batches(session.catalog).of(session.catalog.get("default", "t").table_id)
    assert batch.sums == (("n", 1),)
    assert verified(session) == [("cold", 4, 4, "ok")]


def test_verify_times(session: Session) -> None:
    assert verified(session, "FROM '2026-01-01'") == []
    run(session, "ARCHIVE TABLE t UP TO '2026-01-02'")
    run(session, "ARCHIVE TABLE t UP TO '2026-01-03'")
    in_spark(session, "INSERT INTO {t} VALUES (TIMESTAMP_NTZ '2026-01-02 00:00:00', 9, NULL)")
    in_spark(session, "INSERT INTO {t} VALUES (TIMESTAMP_NTZ '2026-01-01 00:00:00', 9, 'x')")
    early, late, other, unknown = verified(session)
    assert verified(session, "FROM '2026-01-01 06:00:00' TO '2026-01-01 07:00:00'") == [early]
    assert verified(session, "TO '2026-01-02'") == [early, unknown]
    assert verified(session, "FROM '2026-01-02'") == [late, other]
    assert verified(session, "FROM '2026-01-03'") == []
    lines = "\n".join(row["Explain"] for row in run(session, "EXPLAIN VERIFY TABLE t FROM '2026-01-02'"))
    assert "times: 2026-01-02T00:00:00.000Z/" in lines


def test_data_sources(session: Session) -> None:
    run(session, "ARCHIVE TABLE t UP TO '2026-01-02'")
    run(session, "CREATE EXTERNAL TABLE also STORED BY 'druid' TBLPROPERTIES('druid.datasource' = 'events')")
    run(session, "CREATE TABLE other (`__time` TIMESTAMP, n BIGINT) STORED BY 'druid'")
    run(session, "INSERT INTO other VALUES ('2026-03-01 00:00:00', 1)")
    other, events = map(dict, run(session, "SHOW DATA SOURCES"))
    assert (other["data_source"], other["tables"], other["archived"]) == ("default.other", "default.other", None)
    assert events.pop("bytes") > 0
    assert events == {
        "data_source": "events", "tables": "default.also, default.t", "segments": 1, "rows": 1,
        "start": "2026-01-02T00:00:00.000Z", "end": "2026-01-03T00:00:00.000Z", "retention": None,
        "archived": "up to 2026-01-02T00:00:00.000Z",
    }  # fmt: skip
    assert [row["data_source"] for row in run(session, "SHOW DATA SOURCES LIKE 'ev*'")] == ["events"]
    run(session, "DROP TABLE also")


def test_problems_and_their_repairs(session: Session) -> None:
    (row,) = run(session, "SHOW PROBLEMS")
    assert (row["subject"], row["problem"], row["repair"]) == (
        "default.t",
        "archive behind",
        "ARCHIVE TABLE default.t;",
    )
    run(session, row["repair"])
    assert run(session, "SHOW PROBLEMS") == []
    in_spark(session, "INSERT INTO {t} VALUES (TIMESTAMP_NTZ '2026-01-01 00:00:00', 9, NULL)")
    (row,) = run(session, "SHOW PROBLEMS")
    assert (row["problem"], row["repair"]) == ("cold part changed", "VERIFY TABLE default.t;")
    assert {row["state"] for row in run(session, row["repair"])} == {"ok", "rows of no batch"}


def test_the_manager_archives(session: Session) -> None:
    run(session, "ALTER TABLE t SET TBLPROPERTIES ('tiered.archive.auto' = 'true')")
    lines: list[str] = []
    manager = Manager(session.home, lines.append)
    thread = Thread(target=manager.run)
    thread.start()
    try:
        until(lambda: "default.t: ARCHIVE TABLE default.t" in lines, "the archive job")
    finally:
        manager.stop()
        thread.join()
    assert [(row["state"], row["rows"]) for row in run(session, "SHOW ARCHIVES")] == [("done", 3)]
