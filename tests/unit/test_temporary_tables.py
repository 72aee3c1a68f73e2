"""Temporary tables: names, other sessions, and what is left when a session ends. Their rows are in the goldens."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.errors import HiveDruidError
from hivedruid.scratch import make_room
from hivedruid.session import Session

SESSION = """
import sys
from pathlib import Path
from hivedruid.scratch import make_room
from hivedruid.session import Session
session = Session(Path(sys.argv[1]))
for statement in session.statements("CREATE TEMPORARY TABLE t (a INT)"):
    session.execute(statement)
rows = Path(session.catalog.resolve("default", "t").location)
make_room(rows)
(rows.parent / "part").write_text("1")
print("ready", flush=True)
input()
session.close()
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path) as made:
        yield made


def run(session: Session, script: str) -> list[tuple[object, ...]]:
    """The rows of the last statement."""
    rows: list[tuple[object, ...]] = []
    for statement in session.statements(script):
        rows = [tuple(row) for row in session.execute(statement).rows]
    return rows


def columns(session: Session, name: str) -> list[object]:
    return [row[0] for row in run(session, f"DESCRIBE {name}")]


def refused(session: Session, text: str) -> str:
    with pytest.raises(HiveDruidError) as error:
        run(session, text)
    return error.value.message


def test_a_temporary_table_hides_another_one_of_its_name(session: Session) -> None:
    run(session, "CREATE TABLE t (permanent INT); CREATE TEMPORARY TABLE t (brief INT)")
    assert columns(session, "t") == columns(session, "default.t") == ["brief"]
    assert run(session, "SHOW TABLES") == [("t",)]
    run(session, "ALTER TABLE t ADD COLUMNS (more INT); ALTER TABLE t RENAME TO u")
    assert (columns(session, "t"), columns(session, "u")) == (["permanent"], ["brief", "more"])
    run(session, "ALTER TABLE u RENAME TO t; DROP TABLE t")
    assert columns(session, "t") == ["permanent"]
    run(session, "DROP TABLE t")
    assert run(session, "SHOW TABLES") == []


def test_names_that_exist(session: Session) -> None:
    run(session, "CREATE TABLE p (a INT); CREATE TEMPORARY TABLE t (b INT)")
    assert refused(session, "CREATE TEMPORARY TABLE t (a INT)") == "Temporary table default.t already exists"
    run(session, "CREATE TEMPORARY TABLE IF NOT EXISTS p (other INT); CREATE TABLE IF NOT EXISTS t (other INT)")
    assert (columns(session, "p"), columns(session, "t")) == (["a"], ["b"])
    run(session, "CREATE TABLE t (a INT)")
    assert refused(session, "CREATE TABLE t (a INT)") == "Table default.t already exists"
    assert columns(session, "t") == ["b"]
    run(session, "ALTER TABLE t RENAME TO p")  # hides it
    assert columns(session, "p") == ["b"]
    assert refused(session, "ALTER TABLE t RENAME TO p") == "Table default.p already exists"


def test_other_sessions_do_not_see_it(session: Session, tmp_path: Path) -> None:
    run(session, "CREATE TABLE t (permanent INT); CREATE TEMPORARY TABLE t (a INT); CREATE TEMPORARY TABLE u (a INT)")
    with Session(tmp_path) as other:
        assert columns(other, "t") == ["permanent"]
        assert run(other, "SHOW TABLES") == [("t",)]
        assert refused(other, "DESCRIBE u") == "Table not found u"
    assert session.table_names() == ("t", "u")


def test_definitions_that_outlive_the_session_cannot_read_it(session: Session) -> None:
    run(session, "CREATE TABLE p (a INT); CREATE TEMPORARY TABLE t (a INT); CREATE VIEW v AS SELECT a FROM p")
    message = "View definition references temporary table default.t"
    assert refused(session, "CREATE VIEW w AS SELECT * FROM t") == message
    assert refused(session, "CREATE MATERIALIZED VIEW w AS SELECT * FROM t") == message
    run(session, "CREATE TEMPORARY TABLE p (b INT)")
    assert refused(session, "CREATE VIEW w AS SELECT * FROM v") == message.replace("default.t", "default.p")
    run(session, "DROP TABLE p; ALTER TABLE t RENAME TO k")
    stream = "CREATE STREAM s FROM v INTO target AS SELECT v.a FROM v JOIN k ON k.a = v.a"
    assert refused(session, stream) == "stream references temporary table default.k"


def test_databases_do_not_contain_it(session: Session) -> None:
    run(session, "CREATE DATABASE d; CREATE TEMPORARY TABLE d.t (a INT); DROP DATABASE d")
    assert columns(session, "d.t") == ["a"]


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("(a INT) STORED BY druid", "a temporary table cannot be stored in Druid or Kafka"),
        ("(a INT) STORED AS TIERED", "a temporary table cannot be stored in Druid or Kafka"),
        ("(a INT) PARTITIONED BY SPEC (a)", "PARTITIONED BY SPEC is not supported for file tables"),
        ("(a INT) WRITE LOCALLY ORDERED BY a", "WRITE LOCALLY ORDERED BY is not supported for file tables"),
        ("(a INT) LOCATION '/x'", "LOCATION is not supported for temporary tables"),
        ("LIKE p LOCATION '/x'", "LOCATION is not supported for temporary tables"),
    ],
)
def test_what_it_cannot_be(session: Session, clauses: str, message: str) -> None:
    run(session, "CREATE TABLE p (a INT)")
    assert refused(session, f"CREATE TEMPORARY TABLE t {clauses}").startswith(message)


def test_like(session: Session) -> None:
    run(session, "CREATE EXTERNAL TABLE d (`__time` TIMESTAMP, a INT) STORED BY druid")
    run(session, "CREATE TEMPORARY TABLE t LIKE d; CREATE TEMPORARY TABLE u LIKE t STORED AS PARQUET")
    run(session, "CREATE TABLE p LIKE t; CREATE VIEW w (b COMMENT 'c') AS SELECT 1; CREATE TEMPORARY TABLE v LIKE w")
    assert columns(session, "v") == ["b"]
    found = [session.catalog.resolve("default", name) for name in "tup"]
    assert [(table.kind, table.format) for table in found if table] == [
        ("temporary", "orc"),
        ("temporary", "parquet"),
        ("iceberg", "orc"),
    ]
    assert columns(session, "u") == ["__time", "a"]


def test_its_rows_are_removed_with_it(session: Session, tmp_path: Path) -> None:
    run(session, "CREATE TEMPORARY TABLE t (a INT); CREATE TEMPORARY TABLE u (a INT)")
    folders = []
    for table in session.catalog.temporary_tables():
        rows = Path(table.location or "")
        make_room(rows)
        rows.mkdir()
        folders.append(rows.parent)
        assert rows.parent.stat().st_mode & 0o077 == 0
    run(session, "DROP TABLE t")
    assert [folder.exists() for folder in folders] == [False, True]
    session.close()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_next_session_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SESSION, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    with Session(tmp_path) as session:
        assert len(list((tmp_path / "scratch").iterdir())) == 1
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert refused(session, "DESCRIBE t") == "Table not found t"
    with Session(tmp_path):
        assert list((tmp_path / "scratch").iterdir()) == []
