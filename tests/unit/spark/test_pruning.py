"""Conditions on doubles and the smallest integers, for which the bounds of files have another order than comparisons."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.session import Session
from tests.support import pruned_tables
from tests.support.pruned_tables import run

pytestmark = pytest.mark.spark


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path / "home") as opened:
        yield opened


def test_random_conditions(session: Session, tmp_path: Path) -> None:
    assert pruned_tables.differences(session, random.Random(1), tmp_path / "files", 8, 1) == []


def test_both_zeros_in_every_statement(session: Session) -> None:
    """Each INSERT makes a file of one zero, and so does each partition."""
    zeros = [("a", "-0.0D"), ("b", "0.0D"), ("c", "2.0D")]
    for name, spec in (("t", ""), ("p", "PARTITIONED BY SPEC (x)")):
        run(session, f"CREATE TABLE {name} (s STRING, x DOUBLE) {spec}")
        for s, x in zeros if name == "t" else ():
            run(session, f"INSERT INTO {name} VALUES ('{s}', {x})")
    run(session, "INSERT INTO p SELECT * FROM t; CREATE TABLE d AS SELECT 'one' AS n, 0.0D AS y")
    for name in ("t", "p"):
        for condition in ("x = 0", "x BETWEEN 0 AND 1", "x IN (0, 7)", "x <=> 0", "x >= 0 AND x < 1", "x <= -0.0D"):
            assert sorted(run(session, f"SELECT s FROM {name} WHERE {condition}")) == [("a",), ("b",)], condition
        joined = f"SELECT s FROM {name} JOIN d ON x = y AND y = 0"
        assert sorted(run(session, joined)) == [("a",), ("b",)]
        assert sorted(run(session, f"SELECT s FROM {name} WHERE x IN (SELECT y FROM d)")) == [("a",), ("b",)]
        run(session, f"UPDATE {name} SET s = concat(s, '!') WHERE x >= 0")
        assert sorted(run(session, f"SELECT s FROM {name}")) == [("a!",), ("b!",), ("c!",)]
        run(session, f"MERGE INTO {name} USING d ON x = y AND x <= 0 WHEN MATCHED THEN UPDATE SET s = n")
        assert sorted(run(session, f"SELECT s FROM {name}")) == [("c!",), ("one",), ("one",)]
        run(session, f"DELETE FROM {name} WHERE x <= -0.0D")
        assert run(session, f"SELECT s FROM {name}") == [("c!",)]


def test_the_smallest_integers(session: Session) -> None:
    """Their partition has the largest value; neither it nor the bounds of its file decide alone."""
    run(session, "CREATE TABLE t (i INT, b BIGINT) PARTITIONED BY SPEC (truncate(10, i), truncate(1000, b))")
    first = [(-2147483645, -9223372036854775001), (-2147483642, -9223372036854775805)]
    values = ", ".join(f"({i}, {b}L)" for i, b in [*first, (5, 5), (2147483647, 9223372036854775807)])
    run(session, f"INSERT INTO t VALUES {values}")
    for condition in ("i < 0", "b < 0", "i <= 5 AND b < 5", "NOT i >= 5", "b BETWEEN -9223372036854775806L AND -1"):
        assert sorted(run(session, f"SELECT * FROM t WHERE {condition}")) == first, condition
    assert len(run(session, "SELECT * FROM t WHERE i > -2147483646")) == 4
    run(session, "DELETE FROM t WHERE i >= 2147483640")
    assert sorted(run(session, "SELECT * FROM t")) == [*first, (5, 5)]
    run(session, "DELETE FROM t WHERE b < 0")
    assert run(session, "SELECT * FROM t") == [(5, 5)]
