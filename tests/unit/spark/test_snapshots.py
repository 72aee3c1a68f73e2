"""ALTER TABLE … EXECUTE: which snapshots and files go, and that no row changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import time

import pytest

from hivedruid.errors import HiveDruidError, SemanticError
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.history import TableHistory
from tests.unit.spark.test_table_files import Opened, run, spark

pytestmark = pytest.mark.spark


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Opened]:
    """With a table t of four rows, each of its own snapshot."""
    with Opened(tmp_path) as opened:
        run(opened, "CREATE TABLE t (a int)")
        for number in range(4):
            run(opened, f"INSERT INTO t VALUES ({number})")
        yield opened


def history(session: Opened) -> TableHistory:
    found = home_catalog.history(session.home, session.catalog.get("default", "t").table_id)
    assert found is not None
    return found


def rows(session: Opened) -> list[int]:
    return sorted(row[0] for row in run(session, "SELECT a FROM t"))


def ids(session: Opened) -> list[int]:
    """Oldest first."""
    return [each.id for each in reversed(list(history(session).ancestors()))]


def test_expiry_keeps_the_rows(session: Opened) -> None:
    first, second, third, last = ids(session)
    run(session, f"ALTER TABLE t EXECUTE EXPIRE_SNAPSHOTS('{first}')")
    assert ids(session) == [second, third, last]
    run(session, "ALTER TABLE t EXECUTE EXPIRE_SNAPSHOTS")
    assert ids(session) == [second, third, last]
    run(session, "ALTER TABLE t EXECUTE EXPIRE_SNAPSHOTS RETAIN LAST 2")
    assert ids(session) == [third, last]
    run(session, "ALTER TABLE t EXECUTE EXPIRE_SNAPSHOTS('2100-01-01')")
    assert ids(session) == [last]
    assert rows(session) == [0, 1, 2, 3]
    assert "default.t: 1 snapshot expired" in session.lines[-1]


def test_a_tag_keeps_its_snapshot(session: Opened) -> None:
    tagged = ids(session)[1]
    spark(session, f"ALTER TABLE {{t}} CREATE TAG kept AS OF VERSION {tagged}")
    run(session, "ALTER TABLE t EXECUTE EXPIRE_SNAPSHOTS('2100-01-01')")
    assert set(history(session).snapshots) == {tagged, history(session).current}


def test_an_earlier_snapshot(session: Opened) -> None:
    first, second, *_ = ids(session)
    run(session, f"ALTER TABLE t EXECUTE ROLLBACK({second})")
    assert rows(session) == [0, 1]
    late = max(history(session).snapshots, key=lambda each: history(session).snapshots[each].at)
    with pytest.raises(SemanticError, match="not an earlier one of the current rows"):
        run(session, f"ALTER TABLE t EXECUTE ROLLBACK({late})")
    run(session, f"ALTER TABLE t EXECUTE SET_CURRENT_SNAPSHOT({late})")
    assert rows(session) == [0, 1, 2, 3]
    run(session, f"ALTER TABLE t EXECUTE ROLLBACK({first})")
    assert rows(session) == [0]


def test_orphans_go_and_files_of_the_table_stay(session: Opened) -> None:
    folder = home_catalog.folder(session.home, session.catalog.get("default", "t").table_id)
    old, new = (folder / "data" / f"{name}.orc" for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"rows of a job that failed")
    aged = time() - 4 * 86_400
    os.utime(old, (aged, aged))
    run(session, "ALTER TABLE t EXECUTE DELETE ORPHAN-FILES")
    assert (old.exists(), new.exists()) == (False, True)
    assert rows(session) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("EXPIRE_SNAPSHOTS('never')", "not a valid timestamp"),
        ("EXPIRE_SNAPSHOTS('17')", "has no snapshot 17"),
        ("EXPIRE_SNAPSHOTS RETAIN LAST 0", "must be at least 1"),
        ("DELETE ORPHAN-FILES OLDER THAN ('2100-01-01')", "at least a day ago"),
        ("ROLLBACK('1999-01-01')", "has no snapshot before"),
        ("FAST-FORWARD 'a' 'b'", "not supported"),
        ("VACUUM", "EXPIRE_SNAPSHOTS"),
    ],
)
def test_what_is_refused(session: Opened, statement: str, message: str) -> None:
    with pytest.raises(HiveDruidError, match=message) as error:
        run(session, f"ALTER TABLE t EXECUTE {statement}")
    assert error.value.span is not None
