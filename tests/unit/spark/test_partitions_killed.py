"""Statements that change several partitions are killed -9 at their effects: the partitions have all of their old rows, or
all new ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import run, unfinished

STATEMENT = "INSERT OVERWRITE TABLE t PARTITION (k) SELECT 10 * x.a, x.a FROM (SELECT explode(array(1, 2, 3)) AS a) x"
OLD = {"1": ["1"], "2": ["2"]}
NEW = {"1": ["10"], "2": ["20"], "3": ["30"]}


def rows(session: Session, data: Path) -> dict[str, list[str]]:
    """The lines of each partition of the catalog, which the statement may complete before."""
    names = [row["partition"] for row in run(session, "SHOW PARTITIONS t")]
    files = {name: sorted((data / name).glob("[!._]*")) for name in names}
    return {name.removeprefix("k="): [f.read_text().strip() for f in found] for name, found in files.items()}


@pytest.mark.parametrize(("moment", "expected"), [("stage", OLD), ("begin", NEW), ("move_files", NEW)])
def test_a_killed_insert_leaves_old_or_new(tmp_path: Path, moment: str, expected: dict[str, list[str]]) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    for k in OLD:
        (data / f"k={k}").mkdir(parents=True)
        (data / f"k={k}" / "f").write_text(f"{k}\n")
    with Session(home) as session:
        run(session, f"CREATE EXTERNAL TABLE t (a INT) PARTITIONED BY (k INT) LOCATION '{data}'")
        run(session, "MSCK REPAIR TABLE t")
    outcome = killed.run(home, {}, STATEMENT, moment)
    assert (outcome.killed, outcome.error) == (True, ""), outcome
    with Session(home) as session:
        assert rows(session, data) == expected
        assert unfinished(session) == []
    if expected is OLD:
        again = killed.run(home, {}, STATEMENT)
        assert (again.killed, again.error) == (False, "")
        with Session(home) as session:
            assert rows(session, data) == NEW
    assert list(data.glob(".*")) == []


def test_a_killed_insert_into_a_managed_table_leaves_old_or_new(tmp_path: Path) -> None:
    """At every moment; the partition that has no new row stays."""
    old, new = {1: 1, 2: 2, 9: 9}, {1: 10, 2: 20, 3: 30, 9: 9}
    statement = STATEMENT.replace("TABLE t", "TABLE m")

    def rows(session: Session) -> dict[int, int]:
        return {row["k"]: row["a"] for row in run(session, "SELECT a, k FROM m")}

    with Session(tmp_path) as session:
        run(session, "CREATE TABLE m (a INT) PARTITIONED BY (k INT)")
    found = []
    for moment in range(1, 10):
        with Session(tmp_path) as session:
            run(session, "TRUNCATE TABLE m")
            run(session, "INSERT INTO m VALUES (1, 1), (2, 2), (9, 9)")
        outcome = killed.run(tmp_path, {}, statement, moment)
        assert not outcome.error, outcome
        with Session(tmp_path) as session:
            found.append(rows(session))
            run(session, statement if found[-1] == old else "SHOW JOBS")
            assert rows(session) == new
            assert unfinished(session) == []
        if not outcome.killed:
            break
    assert found == [old, new, new]


EXCHANGE = "ALTER TABLE t EXCHANGE PARTITION (d = 'a') WITH TABLE s"


@pytest.mark.parametrize(
    ("moment", "is_new"), [(1, False), ("begin", True), ("move_folder", True), ("move done", True)]
)
def test_a_killed_exchange_leaves_old_or_new(tmp_path: Path, moment: int | str, is_new: bool) -> None:
    home = tmp_path / "home"
    for k in OLD:
        (tmp_path / "s" / "d=a" / f"k={k}").mkdir(parents=True)
        (tmp_path / "s" / "d=a" / f"k={k}" / "f").write_text(f"{k}\n")
    with Session(home) as session:
        for name in ("s", "t"):
            run(
                session,
                f"CREATE EXTERNAL TABLE {name} (a INT) PARTITIONED BY (d STRING, k INT) LOCATION '{tmp_path / name}'",
            )
        run(session, "MSCK REPAIR TABLE s")
    outcome = killed.run(home, {}, EXCHANGE, moment)
    assert (outcome.killed, outcome.error) == (True, ""), outcome
    with Session(home) as session:
        names = {name: [row["partition"] for row in run(session, f"SHOW PARTITIONS {name}")] for name in ("s", "t")}
        there = ["d=a/k=1", "d=a/k=2"]
        assert names == {"s": [] if is_new else there, "t": there if is_new else []}
        assert unfinished(session) == []
    files = sorted(str(path.relative_to(tmp_path)) for name in ("s", "t") for path in (tmp_path / name).rglob("f"))
    table = "t" if is_new else "s"
    assert files == [f"{table}/d=a/k=1/f", f"{table}/d=a/k=2/f"]
    if not is_new:
        again = killed.run(home, {}, EXCHANGE)
        assert (again.killed, again.error) == (False, "")


@pytest.mark.parametrize(
    ("moment", "is_dropped"), [(1, False), ("begin", True), ("delete_folders", True), ("move done", True)]
)
def test_a_killed_drop_leaves_no_files(tmp_path: Path, moment: int | str, is_dropped: bool) -> None:
    """MSCK finds no folder of a partition that the catalog does not have any more."""
    home, data = tmp_path / "home", tmp_path / "data"
    for k in OLD:
        (data / f"k={k}").mkdir(parents=True)
        (data / f"k={k}" / "f").write_text(f"{k}\n")
    with Session(home) as session:
        run(session, f"CREATE EXTERNAL TABLE t (a INT) PARTITIONED BY (k INT) LOCATION '{data}'")
        run(session, "ALTER TABLE t SET TBLPROPERTIES ('external.table.purge' = 'true')")
        run(session, "MSCK REPAIR TABLE t")
    outcome = killed.run(home, {}, "ALTER TABLE t DROP PARTITION (k = 1)", moment)
    assert (outcome.killed, outcome.error) == (True, ""), outcome
    assert (data / "k=1").exists() == (moment in (1, "begin"))
    with Session(home) as session:
        run(session, "MSCK REPAIR TABLE t")
        names = [row["partition"] for row in run(session, "SHOW PARTITIONS t")]
        assert names == (["k=2"] if is_dropped else ["k=1", "k=2"])
        assert unfinished(session) == []
    assert (data / "k=1").exists() != is_dropped
