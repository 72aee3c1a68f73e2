"""Partition specs and sort orders of managed tables, and the files that a condition leaves: EXPLAIN's number is that of
Iceberg's scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.layout import PartitionField, SortField
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.layout import Layout, read_layout
from hivedruid.plan.physical import SparkJob
from hivedruid.spark import layout
from hivedruid.spark.inputs import iceberg_name
from hivedruid.spark.jobs import NOTHING
from tests.support import scans
from tests.unit.spark.test_table_files import Opened, run

pytestmark = pytest.mark.spark

ROWS = """
    SELECT CAST(i AS BIGINT) AS id, i % 7 AS n,
        CAST(concat('2024-01-0', CAST(i % 5 + 1 AS STRING), ' ', lpad(i % 24, 2, '0'), ':30:00') AS TIMESTAMP) AS ts,
        CAST(concat('2024-0', CAST(i % 3 + 1 AS STRING), '-10') AS DATE) AS d,
        CASE WHEN i % 11 <> 0 THEN concat('key', i % 4) END AS s, CAST(i AS DECIMAL(10, 2)) AS dec
    FROM (SELECT posexplode(split(space(119), ' ')) AS (i, x)) q
"""
COLUMNS = "id BIGINT, n INT, ts TIMESTAMP, d DATE, s STRING, dec DECIMAL(10, 2)"
CONDITIONS = (
    "ts >= '2024-01-04'", "ts = '2024-01-01 00:30:00'", "ts BETWEEN '2024-01-02' AND '2024-01-03 12:00:00'",
    "ts IN ('2024-01-01 00:30:00', '2024-01-02 01:30:00')", "ts < '2024-01-01'", "to_date(ts) = '2024-01-02'",
    "CAST(ts AS DATE) > DATE '2024-01-03'", "CAST(ts AS DATE) <= DATE '2024-01-01'", "ts IS NULL", "ts IS NOT NULL",
    "d = '2024-02-10'", "d IN ('2024-02-10', '2024-03-10')", "d > DATE '2024-02-11'",
    "id = 5", "id IN (1, 2)", "id > 100.5", "id BETWEEN 3 AND 7", "id <=> 8", "id = 500000", "id = '5'", "id >= '118'", "n = 3", "n > 5", "n = 3L",
    "s = 'key1'", "s LIKE 'key2%'", "s LIKE 'kez%'", "s IN ('key0', 'other')", "s IS NULL", "s >= 'key3'",
    "dec = 7", "dec > 118.5", "id = 5 OR ts >= '2024-01-05'", "id = 5 OR length(s) > 3",
    "ts >= '2024-01-04' AND id IN (3, 4)",
)  # fmt: skip


def explained(session: Opened, condition: str) -> tuple[int, int]:
    return scans.explained(session, f"SELECT id, s FROM t WHERE {condition}")


def scanned(session: Opened, condition: str) -> int:
    return scans.scanned(session, f"SELECT id, s FROM t WHERE {condition}")


@contextmanager
def in_spark(session: Opened, job: SparkJob = NOTHING) -> Iterator[Any]:
    table = session.catalog.get("default", "t")
    with session._get_spark().running(job, target=table) as spark:
        yield spark


def partitions(session: Opened) -> Mapping[str, int]:
    """The number of files by partition."""
    with in_spark(session) as spark:
        rows = spark.sql(f"SELECT partition FROM {name(session)}.files").collect()
    found: dict[str, int] = {}
    for row in rows:
        key = " ".join(str(value) for value in row.partition if value is not None)
        found[key] = found.get(key, 0) + 1
    return found


def name(session: Opened) -> str:
    return iceberg_name(session.catalog.get("default", "t"))


def in_iceberg(session: Opened) -> Layout:
    path = home_catalog.current_metadata(session.home, session.catalog.get("default", "t").table_id)
    assert path is not None
    return read_layout(path)


@pytest.mark.parametrize(
    "spec",
    [
        "day(ts), bucket(4, id)",
        "hour(ts)",
        "truncate(4, s), month(d)",
        "s, bucket(3, s)",
        "bucket(2, ts), bucket(3, d), year(ts)",
        "truncate(40, id), truncate(5000, dec)",
    ],
)
def test_explain_counts_the_files_that_iceberg_reads(tmp_path: Path, spec: str) -> None:
    with Opened(tmp_path) as session:
        run(session, f"CREATE TABLE t PARTITIONED BY SPEC ({spec}) AS {ROWS}")
        wrong = {}
        for condition in CONDITIONS:
            read, total = explained(session, condition)
            if (real := scanned(session, condition)) != read:
                wrong[condition] = read, real, total
        assert wrong == {}
        # Spark concludes that s is not null
        assert scanned(session, "length(s) > 3") <= explained(session, "length(s) > 3 AND id >= 0")[0]
        assert run(session, "SELECT count(*) AS a, sum(id) AS b FROM t") == [(120, 7140)]


def test_a_spec_changes_for_new_files_and_with_compaction_for_all(tmp_path: Path) -> None:
    with Opened(tmp_path) as session:
        run(session, f"CREATE TABLE t ({COLUMNS}) PARTITIONED BY SPEC (bucket(2, id), day(ts))")
        run(session, f"INSERT INTO t {ROWS} WHERE i < 60")
        run(session, "ALTER TABLE t SET PARTITION SPEC (bucket(2, id), month(ts), s)")
        assert explained(session, "ts >= '2024-01-04'") == (4, 10)
        run(session, "ALTER TABLE t ADD COLUMNS (more STRING)")
        run(session, f"INSERT INTO t SELECT *, 'x' FROM ({ROWS} WHERE i >= 60) r")
        fields = PartitionField("id", "bucket", 2), PartitionField("ts", "month"), PartitionField("s")
        assert in_iceberg(session).spec == fields
        assert explained(session, "s = 'key1'")[0] == scanned(session, "s = 'key1'")
        run(session, "ALTER TABLE t CHANGE n n BIGINT; ALTER TABLE t CHANGE more rest STRING")
        run(session, "ALTER TABLE t CHANGE dec dec DECIMAL(12, 2)")
        for condition in ("n = 3", "n > 5000000000", "rest = 'x'", "rest IS NULL", "dec > 100.00", "dec = 61.00"):
            assert explained(session, condition)[0] >= scanned(session, condition), condition
        run(session, "ALTER TABLE t SET PARTITION SPEC (day(ts))")
        run(session, "ALTER TABLE t COMPACT 'major'")
        assert in_iceberg(session).spec == (PartitionField("ts", "day"),)
        assert explained(session, "to_date(ts) = '2024-01-02'") == (1, 5)
        assert scanned(session, "to_date(ts) = '2024-01-02'") == 1
        run(session, f"INSERT OVERWRITE TABLE t SELECT *, 'y' FROM ({ROWS}) r WHERE ts >= '2024-01-04'")
        assert sorted(partitions(session)) == [f"2024-01-0{day}" for day in range(1, 6)]
        counts = "count(*), sum(if(rest = 'y', 1, 0)), sum(if(ts >= '2024-01-04', 1, 0))"
        assert run(session, f"SELECT {counts} FROM t") == [(120, 48, 48)], "the partitions of the new rows are replaced"


def test_rows_are_ordered_in_their_files(tmp_path: Path) -> None:
    with Opened(tmp_path) as session:
        run(session, f"CREATE TABLE t PARTITIONED BY SPEC (d) WRITE LOCALLY ORDERED BY s DESC NULLS LAST, id AS {ROWS}")
        order = SortField("s", descending=True, nulls_first=False), SortField("id")
        assert in_iceberg(session) == Layout((PartitionField("d"),), order)
        for after in ("", "ALTER TABLE t COMPACT 'major'"):
            if after:
                run(session, f"INSERT INTO t {ROWS}")
                run(session, after)
            with in_spark(session) as spark:
                files = [row.file_path for row in spark.sql(f"SELECT file_path FROM {name(session)}.files").collect()]
                read = [spark.read.orc(file).select("s", "id").collect() for file in files]
            assert len(read) == 3
            for rows in map(list, read):
                assert [tuple(row) for row in rows] == sorted(
                    (tuple(row) for row in rows), key=lambda r: (r[0] is None, [-ord(c) for c in r[0] or ""], r[1])
                )


def test_partition_columns_are_the_last_ones(tmp_path: Path) -> None:
    with Opened(tmp_path) as session:
        run(session, "CREATE TABLE t (a INT) PARTITIONED BY (p STRING)")
        run(session, "INSERT INTO t VALUES (1, 'x'), (2, 'y')")
        assert partitions(session) == {"x": 1, "y": 1}
        run(session, "CREATE TABLE u PARTITIONED BY (a) AS SELECT a, p FROM t")
        assert run(session, "SELECT * FROM u ORDER BY a") == [("x", 1), ("y", 2)]
        run(session, "CREATE TABLE v LIKE t")
        assert session.catalog.get("default", "v").partition_spec == (PartitionField("p"),)
        run(session, "CREATE MATERIALIZED VIEW m STORED AS ORC AS SELECT p, count(*) AS c FROM t GROUP BY p")
        assert run(session, "SELECT p, count(*) AS c FROM t GROUP BY p ORDER BY p") == [("x", 1), ("y", 1)]


def test_the_layout_in_another_catalog(tmp_path: Path) -> None:
    conf = {"hivedruid.iceberg.catalog.type": "hadoop", "hivedruid.iceberg.catalog.warehouse": str(tmp_path / "w")}
    with Opened(tmp_path, conf) as session:
        run(session, f"CREATE TABLE t PARTITIONED BY SPEC (s, n) WRITE LOCALLY ORDERED BY id DESC AS {ROWS}")
        table = session.catalog.get("default", "t")
        with in_spark(session) as spark:
            assert layout.present(spark, table) == Layout(table.partition_spec, table.sort_order)
        run(session, "ALTER TABLE t SET PARTITION SPEC (s, bucket(4, id), hours(ts), truncate(3, dec))")
        run(session, f"INSERT INTO t {ROWS}")
        table = session.catalog.get("default", "t")
        with in_spark(session) as spark:
            assert layout.present(spark, table) == Layout(table.partition_spec, table.sort_order)
