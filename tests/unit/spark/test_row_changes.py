"""UPDATE and DELETE of managed tables beside other writers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivedruid.iceberg import home_catalog
from hivedruid.session import Session

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
"""


def test_beside_another_writer(session: Session) -> None:
    """Rows that another process adds and changes meanwhile are changed by both statements, and none is lost."""
    run(session, "CREATE TABLE t (a INT, s STRING); INSERT INTO t VALUES (0, 'old')")
    done = 0
    with subprocess.Popen([sys.executable, "-c", WRITER, str(session.home)], stdout=subprocess.PIPE) as writer:
        while writer.poll() is None:
            done += 1
            run(session, "UPDATE t SET a = a + 100 WHERE s LIKE '%!'")
            run(session, f"INSERT INTO t VALUES ({-done}, 'own'); DELETE FROM t WHERE a = {-done}")
    assert writer.returncode == 0
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
    assert commits() == before
    run(session, "UPDATE t SET s = 'z' WHERE a = 2")
    run(session, "DELETE FROM t WHERE s <> 'z'")
    assert commits() == before + 2
    assert run(session, "SELECT a, s FROM t") == [(2, "z")]
