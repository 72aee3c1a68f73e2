"""ALTER TABLE … EXECUTE: which snapshots and files go, and that no row changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from time import time
from zoneinfo import ZoneInfo

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


def test_time_travel(session: Opened) -> None:
    """Former rows, beside the current ones, with columns that were added later, in views and in changes of rows."""
    first, second, third, _ = ids(session)
    run(session, "ALTER TABLE t ADD COLUMNS (s string); UPDATE t SET s = 'new', a = a + 10 WHERE a < 2")
    run(
        session,
        "ANALYZE TABLE t COMPUTE STATISTICS; CREATE MATERIALIZED VIEW mv AS SELECT a, count(*) AS c FROM t GROUP BY a",
    )
    assert rows(session) == [2, 3, 10, 11]
    assert run(session, f"SELECT * FROM t FOR SYSTEM_VERSION AS OF {second} ORDER BY a") == [(0, None), (1, None)]
    query = f"SELECT t.a, x.a FROM t JOIN t FOR SYSTEM_VERSION AS OF {third} AS x ON t.a = x.a + 10 ORDER BY 1"
    assert run(session, query) == [(10, 0), (11, 1)]
    assert run(session, f"SELECT a, count(*) FROM t FOR SYSTEM_VERSION AS OF {first} GROUP BY a") == [(0, 1)]
    run(session, f"CREATE VIEW v AS SELECT a FROM default.t FOR SYSTEM_VERSION AS OF {first} x")
    assert run(session, "SELECT a FROM v") == [(0,)]
    run(session, f"DELETE FROM t WHERE a IN (SELECT a + 10 FROM t FOR SYSTEM_VERSION AS OF {first})")
    run(session, f"INSERT INTO t (a) SELECT a FROM t FOR SYSTEM_VERSION AS OF {second}")
    assert rows(session) == [0, 1, 2, 3, 11]
    run(session, f"ALTER TABLE t EXECUTE SET_CURRENT_SNAPSHOT({second})")
    assert len(run(session, f"SELECT * FROM t FOR SYSTEM_VERSION AS OF {third}")) == 3


def test_travel_to_a_time(session: Opened) -> None:
    """A time means the snapshot that was current then, also after a rollback; it is in hive.local.time.zone."""
    _, second, third, _ = (history(session).snapshots[id_] for id_ in ids(session))
    moment = datetime.fromtimestamp(third.at / 1000, ZoneInfo("Asia/Kolkata"))
    run(session, f"ALTER TABLE t EXECUTE ROLLBACK({second.id}); SET hive.local.time.zone=Asia/Kolkata")
    at = f"FOR SYSTEM_TIME AS OF '{moment:%Y-%m-%d %H:%M:%S.%f}'"
    assert len(run(session, f"SELECT * FROM t {at}")) == 3
    assert len(run(session, "SELECT * FROM t FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP")) == 2
    assert (
        len(run(session, "SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2100-01-01 00:00:00' x WHERE x.a >= 0")) == 2
    )
    tag = "ALTER TABLE {t} CREATE TAG `a tag` AS OF VERSION " + str(third.id)
    spark(session, tag)
    assert len(run(session, "SELECT * FROM t FOR SYSTEM_VERSION AS OF 'a tag'")) == 3
    assert f"default.t@{third.id} (orc)" in str(run(session, f"EXPLAIN SELECT a FROM t {at}"))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT * FROM t FOR SYSTEM_VERSION AS OF 17", "default.t has no snapshot 17"),
        ("SELECT * FROM t FOR SYSTEM_VERSION AS OF 'no'", "default.t has no snapshot of a tag or branch 'no'"),
        ("SELECT * FROM t FOR SYSTEM_VERSION AS OF a", "needs the id of a snapshot"),
        ("SELECT * FROM t FOR SYSTEM_TIME AS OF '1999-01-01'", "default.t has no snapshot at 1999-01-01 00:00:00 UTC"),
        ("SELECT * FROM t FOR SYSTEM_TIME AS OF 'x'", "needs a constant time"),
        ("SELECT * FROM t FOR SYSTEM_TIME AS OF rand()", "needs a constant time"),
        ("WITH c AS (SELECT 1) SELECT * FROM c FOR SYSTEM_VERSION AS OF 1", "not allowed for the CTE c"),
        (
            "CREATE MATERIALIZED VIEW m AS SELECT a FROM t FOR SYSTEM_VERSION AS OF {id}",
            "cannot read a former snapshot",
        ),
    ],
)
def test_unknown_snapshots(session: Opened, statement: str, message: str) -> None:
    with pytest.raises(HiveDruidError, match=message) as error:
        run(session, statement.format(id=ids(session)[0]))
    assert error.value.span is not None
    if "no snapshot" in message:
        assert all(str(id_) in (error.value.hint or "") for id_ in ids(session))


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
