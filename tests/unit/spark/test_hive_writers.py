"""Files of Hive in other time zones and calendars, as Hive 4.0.1 reads them (`tests/hive/writers`)."""

from __future__ import annotations

import json
import shutil
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import DATE, INT, TIMESTAMP, HiveType, array_of
from hivedruid.session import Session
from tests.unit.spark.conftest import Home, columns, files_table

pytestmark = pytest.mark.spark

FOLDER = Path(__file__).parents[2] / "hive" / "writers"
VALUES: dict[str, list[list[Any]]] = json.loads((FOLDER / "values.json").read_text())
SHAPE = columns(
    id=INT, ts=TIMESTAMP, d=DATE, s=HiveType("struct", children=(TIMESTAMP, DATE), fields=("t", "d")),
    a=array_of(TIMESTAMP),
)  # fmt: skip
UNLIKE = {("avro_pacific_legacy.avro", 10): "Hive reads the year 1 as the year 2"}


def texts(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    return [[str(v).removesuffix("00000") if isinstance(v, datetime) else v and str(v) for v in row] for row in rows]


def table_of(folder: Path, *names: str) -> Table:
    folder.mkdir(exist_ok=True)
    for name in names:
        shutil.copy(FOLDER / name, folder / name)
    return files_table(folder, SHAPE, names[0].rpartition(".")[2])


@pytest.mark.parametrize("name", VALUES)
def test_hive_reads_the_same(home: Home, tmp_path: Path, name: str) -> None:
    found = home.query("SELECT ts, d, s.t, s.d, a[0] FROM t ORDER BY id", table_of(tmp_path / "t", name))
    wanted = [values for _, *values in VALUES[name]]
    differing = [(n, a, b) for n, (a, b) in enumerate(zip(texts(found), wanted, strict=True)) if a != b]
    assert not [each for each in differing if (name, each[0]) not in UNLIKE]


@pytest.mark.parametrize("form", ["parquet", "avro"])
def test_files_of_several_zones_in_one_folder(home: Home, tmp_path: Path, form: str) -> None:
    names = [f"{form}_{zone}.{form}" for zone in ("pacific", "kolkata", "berlin", "utc")]
    table = table_of(tmp_path / "t", *names)
    if form == "parquet":  # of another writer, which notes no zone
        rows = pa.table(
            {"id": pa.array([0], pa.int32()), "ts": pa.array([datetime(2024, 7, 1, 12)], pa.timestamp("us"))}
        )
        parquet.write_table(rows, tmp_path / "t" / "other")
    noon = "TIMESTAMP_NTZ '2024-07-01 12:00:00'"
    count = len(names) + (form == "parquet")
    assert home.query(f"SELECT count(*), min(ts), max(ts) FROM t WHERE ts = {noon}", table) == [
        (count, datetime(2024, 7, 1, 12), datetime(2024, 7, 1, 12))
    ]
    assert home.query("SELECT count(*) FROM t WHERE d = DATE '1500-03-01'", table) == [(len(names),)]
    assert home.query("SELECT count(*) FROM t WHERE ts < TIMESTAMP_NTZ '0001-01-02 00:00:00'", table) == [(len(names),)]


def test_partitions_and_rows_that_local_evaluation_may_read(tmp_path: Path) -> None:
    """Each partition may have files of another zone; a query also sees where a row is from."""
    for zone in ("pacific", "kolkata"):
        table_of(tmp_path / f"z={zone}", f"parquet_{zone}.parquet", "parquet_utc.parquet")
    with Session(tmp_path / "home") as session:
        run(session, "CREATE EXTERNAL TABLE p (id INT, ts TIMESTAMP, d DATE) PARTITIONED BY (z STRING) STORED AS PARQUET"
            f" LOCATION '{tmp_path}'")  # fmt: skip
        for zone in ("pacific", "kolkata"):
            run(session, f"ALTER TABLE p ADD PARTITION (z = '{zone}')")
        found = run(session, "SELECT z, count(*), min(INPUT__FILE__NAME) LIKE '%/z=%' FROM p"
                    " WHERE ts = '2024-07-01 12:00:00' GROUP BY z ORDER BY z")  # fmt: skip
        assert found == [("kolkata", 2, True), ("pacific", 2, True)]
        run(
            session,
            f"CREATE EXTERNAL TABLE t (id INT, ts TIMESTAMP, d DATE) STORED AS PARQUET LOCATION '{tmp_path}/z=pacific'",
        )
        assert run(session, "SELECT count(*) FROM t WHERE d = '1500-03-01'") == [(2,)]
        assert run(session, "SELECT min(d), max(ts) FROM t") == [(date(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59))]


def test_times_that_are_copied_into_segments(tmp_path: Path) -> None:
    table_of(tmp_path / "t", "parquet_pacific.parquet")
    with Session(tmp_path / "home", hiveconf={"hivedruid.druid.write": "segments"}) as session:
        run(session, f"CREATE EXTERNAL TABLE t (id INT, ts TIMESTAMP) STORED AS PARQUET LOCATION '{tmp_path}/t'")
        run(session, "CREATE TABLE s STORED BY 'druid' AS SELECT ts AS `__time`, id FROM t WHERE id = 0")
        assert run(session, "SELECT `__time` FROM s") == [(datetime(2024, 7, 1, 12),)]


def run(session: Session, text: str) -> list[tuple[Any, ...]]:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]
