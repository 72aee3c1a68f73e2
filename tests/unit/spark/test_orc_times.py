"""Times in the last second before 1970, which ORC files have a second later."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from hivedruid.errors import SparkError
from hivedruid.session import Session
from tests.support.pruned_tables import run

pytestmark = pytest.mark.spark


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path / "home") as opened:
        yield opened


def test_they_are_refused_wherever_they_are_written(session: Session, tmp_path: Path) -> None:
    """ORC files have such times a second later: they are refused, wherever they are written."""
    late = "TIMESTAMP '1969-12-31 23:59:59.5'"
    run(session, "CREATE TABLE t (a INT, ts TIMESTAMP); CREATE TABLE n (a ARRAY<STRUCT<m: MAP<STRING, TIMESTAMP>>>)")
    run(
        session,
        "INSERT INTO t VALUES (1, '1969-12-31 23:59:59'), (2, '1969-12-31 23:59:58.5'), (3, '1970-01-01'), (4, NULL)",
    )
    for statement in (
        f"INSERT INTO t VALUES (5, {late})",
        "INSERT INTO t VALUES (5, TIMESTAMP '1969-12-31 23:59:59.999999')",
        f"UPDATE t SET ts = {late} WHERE a = 1",
        f"MERGE INTO t USING (SELECT 1 AS k) s ON a = k WHEN MATCHED THEN UPDATE SET ts = {late}",
        f"INSERT INTO n SELECT array(named_struct('m', map('k', {late})))",
        f"CREATE TABLE c AS SELECT {late} AS ts",
    ):
        with pytest.raises(SparkError, match="in the last second before 1970") as refused:
            run(session, statement)
        assert "STORED AS PARQUET" in str(refused.value.hint)
    stored = [
        datetime(1969, 12, 31, 23, 59, 59),
        datetime(1969, 12, 31, 23, 59, 58, 500000),
        datetime(1970, 1, 1),
        None,
    ]
    assert run(session, "SELECT ts FROM t ORDER BY a") == [(each,) for each in stored]
    run(
        session,
        f"CREATE EXTERNAL TABLE o (at TIMESTAMP WITH LOCAL TIME ZONE) STORED AS ORC LOCATION '{tmp_path / 'o'}'",
    )
    with pytest.raises(SparkError, match="in the last second before 1970"):
        run(session, "INSERT INTO o VALUES (TIMESTAMPLOCALTZ '1969-12-31 23:59:59.5 UTC')")
    for form in ("ORC", "PARQUET"):
        run(session, f"CREATE EXTERNAL TABLE in_{form} (ts TIMESTAMP) STORED AS {form} LOCATION '{tmp_path / form}'")
        run(session, f"INSERT INTO in_{form} VALUES ({late})")
        assert run(session, f"SELECT ts FROM in_{form}") == [(datetime(1969, 12, 31, 23, 59, 59, 500000),)]
