"""Partitions of external tables: which are found, which are read, and what becomes of an interrupted INSERT."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.catalog.partitions import Partitions
from hivedruid.errors import SemanticError
from hivedruid.operations.partitions import PartitionJob
from hivedruid.operations.store import Operations
from hivedruid.session import Session

NULL = "__HIVE_DEFAULT_PARTITION__"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path / "home") as opened:
        yield opened


def run(session: Session, text: str) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for statement in session.statements(text):
        rows = list(session.execute(statement).rows)
    return rows


def created(session: Session, folder: Path, columns: str = "k INT, s STRING", properties: str = "") -> None:
    more = f" TBLPROPERTIES ({properties})" if properties else ""
    run(session, f"CREATE EXTERNAL TABLE t (a INT) PARTITIONED BY ({columns}) LOCATION '{folder}'{more}")


def names(session: Session) -> list[str]:
    return [row[0] for row in run(session, "SHOW PARTITIONS t")]


def folders(base: Path, *paths: str) -> None:
    for path in paths:
        (base / path).mkdir(parents=True)


def test_msck_adds_what_hive_adds(session: Session, tmp_path: Path) -> None:
    data = tmp_path / "data"
    folders(data, "k=01/s=a", "k=2/s=%41b", "K=3/S=up", "_k=7/s=h", f"k=5/s={NULL}", "k=4/s=%2Fx", ".staged/k=9/s=x")
    created(session, data)
    expected = ["k=1/s=a", "k=2/s=Ab", "k=3/s=up", "k=4/s=%2Fx", f"k=5/s={NULL}"]
    listed = "\t".join(f"t:{name}" for name in expected)
    assert run(session, "MSCK TABLE t") == [(f"Partitions not in metastore:\t{listed}",)]
    assert names(session) == []
    assert run(session, "MSCK REPAIR TABLE t")[1:] == [
        (f"Repair: Added partition to metastore t:{name}",) for name in expected
    ]
    assert names(session) == expected
    table = session.catalog.get("default", "t")
    places = {p.values: p.location for p in Partitions(session.catalog).of(table)}
    assert places[("1", "a")] == f"{data}/k=01/s=a"
    assert places[("4", "/x")] is None
    assert run(session, "MSCK REPAIR TABLE t") == []


def test_msck_drops_partitions_without_a_folder(session: Session, tmp_path: Path) -> None:
    data = tmp_path / "data"
    folders(data, "k=1/s=a", "k=2/s=b")
    created(session, data)
    run(session, f"MSCK REPAIR TABLE t; ALTER TABLE t ADD PARTITION (k=3, s='c') LOCATION '{tmp_path}/c'")
    (tmp_path / "c").rmdir()
    (data / "k=2" / "s=b").rmdir()
    folders(data, "k=4/s=d")
    assert run(session, "MSCK REPAIR TABLE t DROP PARTITIONS")[-2:] == [
        ("Repair: Dropped partition from metastore t:k=2/s=b",),
        ("Repair: Dropped partition from metastore t:k=3/s=c",),
    ]
    assert names(session) == ["k=1/s=a"]
    run(session, "MSCK REPAIR TABLE t SYNC PARTITIONS")
    assert names(session) == ["k=1/s=a", "k=4/s=d"]


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["k=1/s=a", "other/x"], "Invalid partition name"),
        (["k=abc/s=a"], "Invalid partition name"),
        (["k=1/s=a", "k=01/s=a"], "Found two paths for same partition 't:k=1/s=a'"),
    ],
)
def test_msck_refuses_other_folders(session: Session, tmp_path: Path, paths: list[str], message: str) -> None:
    folders(tmp_path / "data", *paths)
    created(session, tmp_path / "data")
    with pytest.raises(SemanticError, match=message):
        run(session, "MSCK REPAIR TABLE t")
    assert names(session) == []


def test_other_folders_can_be_left_out(session: Session, tmp_path: Path) -> None:
    folders(tmp_path / "data", "k=1/s=a", "other/x", "k=abc/s=a")
    created(session, tmp_path / "data")
    run(session, "SET hive.msck.path.validation=skip; MSCK REPAIR TABLE t")
    assert names(session) == ["k=1/s=a"]


def test_partitions_are_discovered(session: Session, tmp_path: Path) -> None:
    folders(tmp_path / "data", "k=1/s=a", "k=abc/s=a")
    created(session, tmp_path / "data", properties="'discover.partitions'='true'")
    run(session, f"ALTER TABLE t ADD PARTITION (k=9, s='e') LOCATION '{tmp_path}/e'")
    assert names(session) == ["k=1/s=a", "k=9/s=e"]
    folders(tmp_path / "data", "k=2/s=b")
    assert names(session) == ["k=1/s=a", "k=2/s=b", "k=9/s=e"]
    run(session, "ALTER TABLE t UNSET TBLPROPERTIES ('discover.partitions')")
    assert names(session) == ["k=9/s=e"]
    run(session, "SET hivedruid.discover.partitions=true")
    assert names(session) == ["k=1/s=a", "k=2/s=b", "k=9/s=e"]


def chosen(session: Session, condition: str) -> str:
    lines = [row[0].strip() for row in run(session, f"EXPLAIN SELECT a FROM t WHERE {condition}")]
    return next(line for line in lines if line.startswith("partitions: "))


def test_two_folders_of_a_partition_are_not_discovered(session: Session, tmp_path: Path) -> None:
    folders(tmp_path / "data", "k=1/s=a", "k=01/s=a")
    created(session, tmp_path / "data", properties="'discover.partitions'='true'")
    with pytest.raises(SemanticError, match="Found two paths for same partition 't:k=1/s=a'"):
        names(session)


def test_a_dry_run_makes_no_folders(tmp_path: Path) -> None:
    with Session(tmp_path / "home", dry_run=True) as session:
        created(session, tmp_path / "data")
        run(session, "ALTER TABLE t ADD PARTITION (k=1, s='a')")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("condition", "read"),
    [
        ("k = 1", 2),
        ("k = '1'", 2),
        ("k > 1", 2),
        ("k IS NULL", 1),
        ("k + 1 = 2 AND a > 5", 2),
        ("k = 1 OR a = 1", 5),
        ("s LIKE 'x%'", 2),
        ("upper(s) IN ('XY', 'ZZ')", 1),
        (f"s = '{NULL}'", 1),
        ("s IS NULL", 0),
        ("k BETWEEN 1 AND 2 AND s <> 'a'", 2),
        ("rand() < 2", 5),
        ("k = (SELECT max(a) FROM t)", 5),
        ("FALSE OR k IN (1, 10)", 3),
    ],
)
def test_conditions_leave_partitions(session: Session, tmp_path: Path, condition: str, read: int) -> None:
    created(session, tmp_path / "data")
    run(
        session,
        "ALTER TABLE t ADD PARTITION (k=1, s='a') PARTITION (k=1, s='xy') PARTITION (k=2, s='x') PARTITION (k=10, s='b')"
        f" PARTITION (k='{NULL}', s='{NULL}')",
    )
    assert chosen(session, condition) == f"partitions: {read} of 5"


def test_a_folder_of_another_form_is_always_read(session: Session, tmp_path: Path) -> None:
    folders(tmp_path / "data", "d=2024-1-5", "d=2024-01-06", "d=someday")
    created(session, tmp_path / "data", "d DATE")
    run(session, "MSCK REPAIR TABLE t")
    assert chosen(session, "d = '2024-01-05'") == "partitions: 2 of 3"
    assert chosen(session, "d = '2030-01-05'") == "partitions: 2 of 3"
    assert chosen(session, "d = '2024-01-06'") == "partitions: 3 of 3"


def interrupted(session: Session, data: Path, *, overwrites: bool) -> PartitionJob:
    """An INSERT of two partitions whose process was killed after the first of them was moved."""
    table = session.catalog.get("default", "t")
    staged = data / ".staged-s1"
    folders(staged, "k=2/s=b")
    (staged / "k=2/s=b/new").write_text("2\n")
    moves = tuple((values, f"k={values[0]}/s=b", f"{data}/k={values[0]}/s=b") for values in (("1", "b"), ("2", "b")))
    job = PartitionJob(
        id="t_1", statement_id="s1", statement="INSERT OVERWRITE", database="default", table="t",
        table_id=table.table_id, druid=session.settings["druid.url"], text="", state="moving", staged=str(staged),
        moves=moves, overwrites=overwrites,
    )  # fmt: skip
    Operations(session.catalog).begin([job])
    return job


@pytest.mark.parametrize("overwrites", [False, True])
def test_an_interrupted_insert_is_completed_by_the_next_statement(
    session: Session, tmp_path: Path, overwrites: bool
) -> None:
    data = tmp_path / "data"
    created(session, data)
    run(session, "ALTER TABLE t ADD PARTITION (k=2, s='b')")
    folders(data, "k=1/s=b")
    (data / "k=1/s=b/new").write_text("1\n")
    (data / "k=2/s=b/old").write_text("0\n")
    job = interrupted(session, data, overwrites=overwrites)
    assert names(session) == ["k=1/s=b", "k=2/s=b"]
    assert sorted(path.name for path in (data / "k=2/s=b").iterdir()) == (["new"] if overwrites else ["new", "old"])
    assert [path.name for path in (data / "k=1/s=b").iterdir()] == ["new"]
    assert not list(data.glob(".staged-*"))
    assert Operations(session.catalog).current(job).state == "done"


def test_an_interrupted_insert_is_completed_by_resume_job(session: Session, tmp_path: Path) -> None:
    created(session, tmp_path / "data")
    interrupted(session, tmp_path / "data", overwrites=False)
    run(session, "RESUME JOB 't_1'")
    assert (tmp_path / "data/k=2/s=b/new").exists()
    assert names(session) == ["k=1/s=b", "k=2/s=b"]


def test_an_interrupted_insert_cannot_be_cancelled(session: Session, tmp_path: Path) -> None:
    created(session, tmp_path / "data")
    interrupted(session, tmp_path / "data", overwrites=False)
    with pytest.raises(Exception, match="cannot be cancelled") as raised:
        run(session, "CANCEL JOB 't_1'")
    assert raised.value.hint == "RESUME JOB 't_1'"  # type: ignore[attr-defined]
