"""The Python API and DB-API where Spark computes the rows."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

import hivedruid
from hivedruid import dbapi
from hivedruid.errors import SparkError
from tests.support.cancelling import cancelled

NESTED = """
SELECT array(1, CAST(NULL AS int)) AS a, map('k', 1.50BD) AS m, named_struct('x', 1, 'y', array('s')) AS s, unhex(?) AS b,
  sort_array(split(?, ',')) AS parts
"""
ENDLESS = "SELECT count(*) FROM (SELECT explode(split(repeat('a,', 100000), ',')) AS x) a CROSS JOIN (SELECT explode(split(repeat('a,', 100000), ',')) AS y) b WHERE crc32(concat(x, y)) = 1"


def test_values_that_spark_computes(tmp_path: Path) -> None:
    """Literals of all kinds, nested values, rows of an INSERT with parameters, and the cancellation of a job."""
    with dbapi.connect(tmp_path / "home", "embedded:", hive_local_time_zone="UTC") as opened:
        connection = opened.api
        expected = ([1, None], {"k": Decimal("1.50")}, {"x": 1, "y": ["s"]}, b"\0\xff", ["a", "b"])
        assert connection.sql(NESTED, ["00ff", "b,a"]).fetchone() == expected
        (row,) = connection.sql(NESTED, ["00ff", "b,a"]).to_arrow().to_pylist()
        assert (row["a"], dict(row["m"]), row["s"], row["b"], row["parts"]) == expected
        values = (-(2**63), b"'\0", [1, 2], {"k": "v"}, float("-inf"))
        assert connection.sql("SELECT ?, ?, ?, ?, ?", values).fetchone() == values

        cursor = opened.cursor()
        cursor.execute("CREATE EXTERNAL TABLE t (`__time` timestamp, page string, n bigint) STORED BY 'druid'")
        cursor.executemany(
            "INSERT INTO t VALUES (?, ?, ?)", [(datetime(2020, 1, 1), "it's", 1), (date(2020, 1, 2), None, 2)]
        )
        assert cursor.execute("SELECT * FROM t ORDER BY `__time`").fetchall() == [
            (datetime(2020, 1, 1), "it's", 1), (datetime(2020, 1, 2), None, 2),
        ]  # fmt: skip
        assert len(cursor.execute("SHOW JOBS").fetchall()) == 1

        assert isinstance(cancelled(connection, ENDLESS).__cause__, SparkError)


def test_connections_to_a_home_have_their_own_spark_sessions(tmp_path: Path) -> None:
    query = "SELECT size(split(?, ','))"
    with hivedruid.connect(tmp_path / "home") as one, hivedruid.connect(tmp_path / "home") as other:
        assert one.sql(query, ["a,b"]).fetchall() == other.sql(query, ["a,b"]).fetchall() == [(2,)]
        other.close()
        assert one.sql(query, ["a"]).fetchall() == [(1,)]
        with pytest.raises(hivedruid.UsageError):
            other.sql(query, ["a"])
