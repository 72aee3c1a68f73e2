"""UPDATE, DELETE and MERGE of managed tables beside other writers, and killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivedruid.iceberg import home_catalog
from hivedruid.session import Session
from tests.support import killed

pytestmark = pytest.mark.spark


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path) as opened:
        yield opened


def run(session: Session, text: str) -> list[tuple[Any, ...]]:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]


WRITER = """
import sys
from pathlib import Path
from hivedruid.session import Session
from tests.unit.spark.test_row_changes import run

with Session(Path(sys.argv[1])) as session:
    for n in range(1, 7):
        run(session, f"INSERT INTO t VALUES ({n}, 'new')")
        run(session, f"UPDATE t SET s = concat(s, '!') WHERE a = {n}")
        print(n, flush=True)
        sys.stdin.readline()
"""


def rounds_of_a_writer(session: Session) -> Iterator[int]:
    """The numbers of the rounds of WRITER in another process, which begins each when the caller does."""
    command = [sys.executable, "-c", WRITER, str(session.home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        for done in map(int, writer.stdout):
            writer.stdin.write("next\n")
            writer.stdin.flush()
            yield done
    assert writer.returncode == 0


def test_beside_another_writer(session: Session) -> None:
    """Rows that another process adds and changes meanwhile are changed by both statements, and none is lost.

    Both writers begin each round at the same time: the other one's commits are fewer than the attempts of a statement.
    """
    run(session, "CREATE TABLE t (a INT, s STRING); INSERT INTO t VALUES (0, 'old')")
    for done in rounds_of_a_writer(session):
        run(session, "UPDATE t SET a = a + 100 WHERE s LIKE '%!'")
        run(session, f"INSERT INTO t VALUES ({-done}, 'own'); DELETE FROM t WHERE a = {-done}")
    run(session, "UPDATE t SET a = a + 100 WHERE s LIKE '%!'")
    found = run(session, "SELECT a % 100, s FROM t ORDER BY 1")
    assert found == [(0, "old"), *((n, "new!") for n in range(1, 7))]


def test_one_commit_each_and_none_without_rows(session: Session) -> None:
    run(session, "CREATE TABLE t (a INT, s STRING); INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, 'y')")

    def commits() -> int:
        history = home_catalog.history(session.home, session.catalog.get("default", "t").table_id)
        assert history is not None
        return len(history.snapshots)

    before = commits()
    run(session, "DELETE FROM t WHERE 1 = 2")
    run(session, "DELETE FROM t WHERE a = 7; DELETE FROM t WHERE a % 7 = 6; UPDATE t SET s = 'z' WHERE a % 7 = 6")
    run(session, "MERGE INTO t USING (SELECT 6 AS a) n ON t.a % 7 = n.a WHEN MATCHED THEN UPDATE SET s = 'z'")
    assert commits() == before
    assert run(session, "SELECT count(*) FROM t") == [(3,)]
    run(session, "UPDATE t SET s = 'z' WHERE a = 2")
    run(session, "DELETE FROM t WHERE s <> 'z'")
    assert commits() == before + 2
    assert run(session, "SELECT a, s FROM t") == [(2, "z")]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE t SET s = 'z' WHERE a = 1",
        "UPDATE t SET s = 'z' WHERE a IN (SELECT min(a) FROM t)",
        "DELETE FROM t WHERE a = 1; INSERT INTO t VALUES (1, 'z')",
        "MERGE INTO t USING (SELECT 1 AS a) n ON t.a = n.a WHEN MATCHED THEN UPDATE SET s = 'z'",
    ],
)
def test_after_the_first_write_was_killed(session: Session, change: str) -> None:
    """Between the commit of the rows and the record in the catalog that the table has been written."""
    run(session, "CREATE TABLE t (a INT, s STRING); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    session.catalog.mark_written(session.catalog.get("default", "t"), written=False)
    run(session, change)
    assert run(session, "SELECT a, s FROM t ORDER BY a") == [(1, "z"), (2, "y")]


OLD, NEW = [(1, "x"), (2, "y")], [(2, "new"), (3, "z")]
MERGE = (
    "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.s IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET s = u.s"
    " WHEN NOT MATCHED THEN INSERT VALUES (u.a, u.s)"
)


def test_merge_is_killed_at_every_moment(tmp_path: Path) -> None:
    """The table is old or new, the next statement finds nothing unfinished, and a rerun changes nothing more."""
    with Session(tmp_path) as session:
        run(session, "CREATE TABLE u (a INT, s STRING); INSERT INTO u VALUES (1, NULL), (2, 'new'), (3, 'z')")
        run(session, "CREATE TABLE t (a INT, s STRING)")
    found = []
    for moment in range(1, 10):
        with Session(tmp_path) as session:
            run(session, "INSERT OVERWRITE TABLE t VALUES (1, 'x'), (2, 'y')")
        outcome = killed.run(tmp_path, {}, MERGE, moment)
        assert not outcome.error, outcome
        with Session(tmp_path) as session:
            found.append(run(session, "SELECT * FROM t ORDER BY a"))
            run(session, MERGE if found[-1] == OLD else "SHOW JOBS")
            assert run(session, "SELECT * FROM t ORDER BY a") == NEW
        if not outcome.killed:
            break
    assert found == [OLD, OLD, NEW, NEW]


def test_changes_by_the_table_itself_beside_another_writer(session: Session) -> None:
    """What a statement reads of its own table does not change before it is committed: no increment is lost."""
    run(session, "CREATE TABLE t (a INT, s STRING); INSERT INTO t VALUES (0, '')")
    for _ in rounds_of_a_writer(session):
        longer = "SELECT a, concat(s, '+') AS s FROM t WHERE a = 0"
        run(session, f"MERGE INTO t USING ({longer}) u ON t.a = u.a WHEN MATCHED THEN UPDATE SET s = u.s")
        run(session, "DELETE FROM t WHERE a > 0 AND a < (SELECT max(a) FROM t WHERE s = 'new!')")
    run(session, "DELETE FROM t WHERE a > 0 AND a < (SELECT max(a) FROM t WHERE s = 'new!')")
    assert run(session, "SELECT a, s FROM t ORDER BY a") == [(0, "++++++"), (6, "new!")]


def test_merge_beside_another_writer(session: Session) -> None:
    """Rows that another process adds and changes while MERGE runs are neither lost nor inserted twice."""
    run(session, "CREATE TABLE t (a INT, s STRING); INSERT INTO t VALUES (0, 'old')")
    for done in rounds_of_a_writer(session):
        merge = f"MERGE INTO t USING (SELECT {done} AS a UNION ALL SELECT {-done}) u ON t.a = u.a"
        matched = "WHEN MATCHED THEN UPDATE SET s = concat(t.s, '?')"
        run(session, f"{merge} {matched} WHEN NOT MATCHED AND u.a < 0 THEN INSERT VALUES (u.a, 'own')")
    found = run(session, "SELECT a, s FROM t ORDER BY 1")
    assert [a for a, _ in found] == [*range(-6, 0), *range(7)]
    assert all(s in ("new!?", "new?!") for a, s in found if a > 0)
