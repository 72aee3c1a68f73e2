"""Rows that are evaluated and committed to a managed table in this process are those of Spark, with the same schema,
metadata and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from pyarrow import orc
from pyiceberg.table import StaticTable

from hivedruid.actions.writing.local import SETTING
from hivedruid.errors import SparkError
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.files import TableFile, read_files
from hivedruid.iceberg.metadata import document, local_path
from hivedruid.session import Session
from tests.support.job_homes import run
from tests.support.write_ways import WAYS, values

pytestmark = pytest.mark.spark


class Managed:
    """Two managed tables; each statement is run into one without Spark, and into the other with it."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def create(self, columns: str) -> None:
        for table in WAYS:
            run(self.session, f"DROP TABLE IF EXISTS {table}")
            run(self.session, f"CREATE TABLE {table} ({columns})")

    def write(self, statement: str, *, is_read_by_arrow: bool = True) -> None:
        """Run it for both tables, named TARGET in it, and compare their schemas, files, metrics and rows."""
        for table, most in WAYS.items():
            run(self.session, f"SET {SETTING}={most}")
            run(self.session, statement.replace("TARGET", table))
        assert self.is_local("here")
        assert not self.is_local("spark")
        self.compare(is_read_by_arrow=is_read_by_arrow)

    def compare(self, *, is_read_by_arrow: bool) -> None:
        here, spark = (self.metadata(table) for table in WAYS)
        for name in ("schemas", "partition-specs", "sort-orders", "last-column-id", "last-sequence-number"):
            assert here[name] == spark[name]
        own, other = (each["snapshots"][-1]["summary"] for each in (here, spark))
        for name in ("operation", "added-records", "total-records", "total-delete-files", "changed-partition-count"):
            assert own[name] == other[name]
        assert len({orc_schema(file) for table in WAYS for file in self.files(table)}) == 1
        assert facts_of(self.files("here")) == facts_of(self.files("spark"))
        assert self.rows("here") == self.rows("spark")
        if is_read_by_arrow:
            assert self.rows_of_pyiceberg("here") == self.rows_of_pyiceberg("spark")

    def rows(self, table: str) -> list[str]:
        run(self.session, "SET hivedruid.local.evaluation.max.rows=0")
        return sorted(map(str, run(self.session, f"SELECT * FROM {table}")))

    def rows_of_pyiceberg(self, table: str) -> list[str]:
        scan = StaticTable.from_metadata(str(self.path(table))).scan().to_arrow()
        return sorted(map(str, scan.to_pylist()))

    def path(self, table: str) -> Path:
        path = home_catalog.current_metadata(self.session.home, self.session.catalog.get("default", table).table_id)
        assert path is not None
        return path

    def metadata(self, table: str) -> dict[str, Any]:
        return document(self.path(table))

    def files(self, table: str) -> tuple[TableFile, ...]:
        return read_files(self.path(table)).data

    def is_local(self, table: str) -> bool:
        return bool(self.metadata(table)["snapshots"][-1]["summary"]["engine-name"] == "hivedruid")


def orc_schema(file: TableFile) -> str:
    """The columns with their attributes, but for the one that says that a query of Spark has no NULLs."""
    schema = orc.ORCFile(str(local_path(file.path))).schema
    return str(
        [(field.name, field.type, sorted({**field.metadata, b"iceberg.required": b""}.items())) for field in schema]
    )


def facts_of(files: Sequence[TableFile]) -> dict[str, Any]:
    """What the metrics of files say of all rows of a table. There are fewer bounds without Spark."""
    return {
        "rows": sum(file.rows for file in files),
        "values": sum((Counter(file.values) for file in files), Counter()),
        "nulls": sum((Counter(file.nulls) for file in files), Counter()),
    }


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(tmp_path_factory.mktemp("home") / "home", hiveconf={"hive.local.time.zone": "Asia/Tokyo"}) as opened:
        yield opened


@pytest.fixture
def managed(session: Session) -> Managed:
    return Managed(session)


MANAGED = (
    "b BOOLEAN, t TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(10,2), big DECIMAL(38,10), text STRING,"
    " v VARCHAR(3), c CHAR(3), bytes BINARY, `day` DATE, moment TIMESTAMP, zoned TIMESTAMP WITH LOCAL TIME ZONE"
)
NAMES = "b, t, s, i, l, f, d, n, big, text, v, c, `day`, moment, zoned"
ROWS = (
    ("true", "127", "32767", "2147483647", "9223372036854775807", "3.4028234663852886E38D", "1.7976931348623157E308D",
     "99999999.99", "9999999999999999999999999999.9999999999", "''", "''", "''", "DATE '9999-12-31'",
     "'9999-12-31 23:59:59.999999'", "'9999-12-31 10:00:00'"),
    ("false", "-128", "-32768", "-2147483648", "-9223372036854775808", "1.17549435E-38D", "-2.5E-300D", "-99999999.99",
     "-0.0000000001", "' '", "'   '", "'   '", "DATE '1582-10-15'", "'1700-01-01 00:00:00'", "'1969-12-31 12:00:00'"),
    ("true", "300", "70000", "3000000000", "'x'", "-0.0D", "-0.0D", "1.005", "1", "'äöü 漢字 😀'", "'äöü漢'", "'ä  '",
     "DATE '1969-12-31'", "'1969-12-31 23:59:59'", "'2024-03-31T02:30:00Z'"),
    ("NULL",) * 15,
    ("false", "12.99", "-12.99", "' 7 '", "1", "16777217D", "1E7D", "12345678901", "0.1",
     "'a text that is longer than the bounds of Iceberg 😀'", "'12345'", "12345", "'2024-02-29'",
     "'1970-01-01 00:00:00'", "'1970-01-01 00:00:00Z'"),
)  # fmt: skip


def test_managed_values_of_all_types(managed: Managed) -> None:
    managed.create(MANAGED)
    managed.write(f"INSERT INTO TARGET ({NAMES}) VALUES {values(ROWS[1], ROWS[3])}")
    for row in ROWS[2:]:
        managed.write(f"INSERT INTO TARGET ({NAMES}) VALUES {values(row)}")
    numbers = " UNION ALL ".join(f"SELECT CAST('{x}' AS DOUBLE)" for x in ("1", "0", "-0.0", "1e30", "-1e-30"))
    managed.write(f"INSERT INTO TARGET (d, f) SELECT x, x FROM ({numbers}) AS _ (x)")
    managed.write("INSERT INTO TARGET (bytes, c) SELECT unbase64('AP8='), 'x' UNION ALL SELECT unbase64(''), 'abcd'")
    managed.write(f"INSERT INTO TARGET ({NAMES}) VALUES {values(ROWS[0])}", is_read_by_arrow=False)  # in nanoseconds


def test_managed_tables_have_the_same_bounds(managed: Managed) -> None:
    """Bounds above long texts are not stored, and those of real numbers include both zeros."""
    managed.create(MANAGED)
    one = values(ROWS[2])
    managed.write(f"INSERT INTO TARGET ({NAMES}) VALUES {one}")
    ((here,), (spark,)) = (managed.files(table) for table in WAYS)
    reals = {managed_ids(managed)[name]: form for name, form in (("f", "<f"), ("d", "<d"))}
    for name, zero in (("lower", -0.0), ("upper", 0.0)):
        own, other = getattr(here, name), getattr(spark, name)
        assert own == {field: pack(reals[field], zero) if field in reals else bound for field, bound in other.items()}


def managed_ids(managed: Managed) -> dict[str, int]:
    return {each["name"]: each["id"] for each in managed.metadata("here")["schemas"][-1]["fields"]}


def test_managed_tables_are_changed_by_both_ways(managed: Managed) -> None:
    """One after the other: appends, changes of rows, changes of columns, and an older snapshot."""
    managed.create("n INT, text STRING")
    session = managed.session
    for table in WAYS:
        for most, number in (("50000", 1), ("0", 2), ("50000", 3), ("50000", 4)):
            run(session, f"SET {SETTING}={most}")
            run(session, f"INSERT INTO {table} VALUES ({number}, 'a'), ({number * 10}, NULL)")
            assert managed.is_local(table) == (most != "0")
        run(session, f"DELETE FROM {table} WHERE n = 1 OR n = 20")
        run(session, f"UPDATE {table} SET text = 'b' WHERE n = 30")
        run(session, f"INSERT INTO {table} VALUES (5, 'c')")
        assert managed.is_local(table)
        run(session, f"ALTER TABLE {table} COMPACT 'major'")
        run(session, f"INSERT INTO {table} VALUES (6, 'd')")
        assert managed.is_local(table)
        first = managed.metadata(table)["snapshots"][0]["snapshot-id"]
        assert len(run(session, f"SELECT * FROM {table} FOR SYSTEM_VERSION AS OF {first}")) == 2
        run(session, f"ALTER TABLE {table} ADD COLUMNS (more BIGINT)")
        run(session, f"INSERT INTO {table} VALUES (7, 'e', 8)")
        assert not managed.is_local(table)  # Spark adds the column
        run(session, f"INSERT INTO {table} VALUES (8, 'f', 9)")
        assert managed.is_local(table)
    assert managed.rows("here") == managed.rows("spark")
    assert managed.rows_of_pyiceberg("here") == managed.rows_of_pyiceberg("spark")


def test_managed_tables_from_queries(managed: Managed) -> None:
    for table in (*WAYS, "source"):
        run(managed.session, f"DROP TABLE IF EXISTS {table}")
    managed.write(
        "CREATE TABLE TARGET AS SELECT stack(2, 1, 'a', 2, 'b') AS (n, x), CAST('2024-01-01' AS DATE) AS `from`"
    )
    managed.write(
        "INSERT INTO TARGET SELECT n, concat(x, n), NULL FROM (SELECT explode(array(7, 8)) AS n, 'c' AS x) AS t"
    )
    source = "CREATE EXTERNAL TABLE source (`__time` TIMESTAMP, n INT) STORED BY 'druid'"
    run(managed.session, f"{source} TBLPROPERTIES ('druid.rollup' = 'false')")
    run(managed.session, "INSERT INTO source VALUES ('2024-01-01 10:00:00', 5), ('2024-01-02 10:00:00', 6)")
    managed.write("INSERT INTO TARGET SELECT sum(n), 'total', to_date(max(`__time`)) FROM source")


@pytest.mark.parametrize(
    ("create", "insert"),
    [
        ("(n INT) PARTITIONED BY (k INT)", "VALUES (1, 2)"),
        ("(n INT, words ARRAY<STRING>)", "SELECT 1, array('a')"),
        ("(n INT NOT NULL ENABLE)", "VALUES (1)"),
        ("(at TIMESTAMP)", "VALUES ('1582-12-31 00:00:00')"),
        ("(at TIMESTAMP)", "VALUES ('1960-01-01 00:00:00.5')"),
        ("(z TIMESTAMP WITH LOCAL TIME ZONE)", "VALUES ('9999-12-31 20:00:00Z')"),
        ("(`day` DATE)", "VALUES (DATE '1582-10-04')"),
        ("(n INT)", "SELECT 1 WHERE 1 = 2"),
        ("(n INT)", "SELECT explode(array(1, 2, 3))"),
    ],
    ids=[
        "partitions",
        "nested",
        "constraint",
        "old time",
        "fraction before 1970",
        "year 10000 in Tokyo",
        "old date",
        "no rows",
        "too many rows",
    ],
)
def test_other_managed_tables_are_written_by_spark(managed: Managed, create: str, insert: str) -> None:
    run(managed.session, "DROP TABLE IF EXISTS here")
    run(managed.session, f"CREATE TABLE here {create}")
    run(managed.session, f"SET {SETTING}=2")
    run(managed.session, f"INSERT INTO here {insert}")
    assert not managed.is_local("here")


def test_times_that_orc_files_cannot_store(managed: Managed) -> None:
    managed.create("at TIMESTAMP")
    for table, most in WAYS.items():
        run(managed.session, f"SET {SETTING}={most}")
        with pytest.raises(SparkError, match="cannot store a time in the last second before 1970"):
            run(managed.session, f"INSERT INTO {table} VALUES ('1969-12-31 23:59:59.5')")
