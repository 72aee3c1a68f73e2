"""Rows that are evaluated and staged in this process are those of Spark, value by value, with the same measures."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from hivedruid.actions.select.delimited_rows import parser_of
from hivedruid.actions.writing.local import SETTING
from hivedruid.actions.writing.local_staging import FILE
from hivedruid.errors import ExecutionError
from hivedruid.evaluation.exactness import Unsure
from hivedruid.jobs.staged import StagedRows
from hivedruid.operations.loads import LoadJob
from hivedruid.operations.store import Operations
from hivedruid.session import Session
from tests.support.job_homes import run
from tests.support.odd_cells import cells
from tests.support.write_ways import WAYS, values

pytestmark = pytest.mark.spark

COLUMNS = (
    "`__time` TIMESTAMP, b BOOLEAN, t TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, text STRING,"
    " v VARCHAR(3), c CHAR(3), words ARRAY<STRING>"
)


class Tables:
    """Two tables in Druid, and a third as their source; each statement is run into one without Spark, and into the other
    with it."""

    def __init__(self, home: Path) -> None:
        self.session = Session(home, hiveconf={"hivedruid.staging.keep": "true", "hive.local.time.zone": "Asia/Tokyo"})

    def create(self, columns: str, **properties: str) -> None:
        given = {"druid.segment.granularity": "DAY", "druid.rollup": "false", **properties}
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        for table in (*WAYS, "source"):
            run(self.session, f"DROP TABLE IF EXISTS {table}")
            run(self.session, f"CREATE EXTERNAL TABLE {table} ({columns}) STORED BY 'druid' TBLPROPERTIES ({listed})")

    def write(self, statement: str) -> None:
        """Run it for both tables, named TARGET in it, and compare what they stage, measure and contain."""
        jobs = {}
        for table, most in WAYS.items():
            run(self.session, f"SET {SETTING}={most}")
            run(self.session, statement.replace("TARGET", table))
            jobs[table] = self.last_job()
        assert is_local(jobs["here"])
        assert not is_local(jobs["spark"])
        assert records(jobs["here"]) == records(jobs["spark"])
        assert_same_measures(*(job.staged for job in jobs.values()))
        assert self.rows("here") == self.rows("spark")

    def rows(self, table: str) -> list[str]:
        return sorted(map(str, run(self.session, f"SELECT * FROM {table}")))

    def last_job(self) -> LoadJob:
        job = max(Operations(self.session.catalog).all(), key=lambda each: each.created)
        assert isinstance(job, LoadJob)
        return job


def files_of(job: LoadJob) -> list[Path]:
    assert job.staged is not None
    return list(Path(job.staged.folder).glob("*.json.gz"))


def is_local(job: LoadJob) -> bool:
    return [file.name for file in files_of(job)] == [FILE]


def records(job: LoadJob) -> list[list[tuple[str, Any]]]:
    """The staged objects, with floats in single precision: Java 17 may write more digits than needed."""
    lines = [line for file in files_of(job) for line in gzip.decompress(file.read_bytes()).splitlines()]
    objects = [json.loads(line) for line in lines]
    return sorted((sorted(map(_single, each.items())) for each in objects), key=str)


def _single(item: tuple[str, Any]) -> tuple[str, Any]:
    name, value = item
    return (name, struct.unpack("f", struct.pack("f", value))[0]) if name == "f" else item


def assert_same_measures(here: StagedRows | None, spark: StagedRows | None) -> None:
    assert here is not None
    assert spark is not None
    assert (here.rows, here.intervals, here.skipped) == (spark.rows, spark.intervals, spark.skipped)
    assert here.sums.keys() == spark.sums.keys()
    for name, total in here.sums.items():
        assert type(total.total) is type(spark.sums[name].total)
        assert total.total == pytest.approx(spark.sums[name].total, rel=1e-12, nan_ok=True)
        assert total.magnitude == pytest.approx(spark.sums[name].magnitude, rel=1e-12, nan_ok=True)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    made = Tables(tmp_path_factory.mktemp("home") / "home")
    with made.session:
        yield made


NULLS = ["NULL"] * 10
EXTREMES = (
    ("'2024-01-01 10:00:00'", *NULLS),
    ("'1969-12-31 23:59:59.999999'", "true", "127", "32767", "2147483647", "9223372036854775807", "3.4028234663852886E38D",
     "1.7976931348623157E308D", "''", "''", "''"),
    ("'9999-12-31 23:59:59.999'", "false", "-128", "-32768", "-2147483648", "-9223372036854775807", "1.17549435E-38D",
     "-2.5E-300D", "' '", "'   '", "'   '"),
    ("'1583-01-01 00:00:00'", "true", "1", "2", "3", "4", "0.1D", "0.1D", "'äöü 漢字 😀'", "'äöü漢'", "'ä  '"),
    ("'2024-02-29 00:00:00.123456'", "false", "0", "0", "0", "0", "-0.0D", "-0.0D", "'\"\\\\ \\t\\n\\r / \\u0001\\u007f'",
     "'abc'", "'a b'"),
    ("'2024-01-01'", "true", "5", "5", "5", "9223372036854775807", "16777217D", "1E7D", "'null'", "'nul'", "'nul'"),
    ("'2024-01-01 10:00:00'", "false", "7", "7", "7", "1", "1E-3D", "123456789.125D", "'NaN'", "'1'", "'2'"),
)  # fmt: skip


def test_values_of_all_types(tables: Tables) -> None:
    tables.create(COLUMNS)
    names = "`__time`, b, t, s, i, l, f, d, text, v, c"
    tables.write(f"INSERT INTO TARGET ({names}) VALUES {values(*EXTREMES)}")
    run(tables.session, "INSERT INTO source SELECT * FROM here")
    tables.write(
        "INSERT INTO TARGET SELECT `__time`, NOT b, t, s, i, l, f, d, concat(text, '!'), v, c,"
        " array(text, CAST(NULL AS STRING), CAST(v AS STRING)) FROM source WHERE b OR l IS NULL"
    )


def test_numbers_that_are_not_finite(tables: Tables) -> None:
    """They are in Druid, and sums of finite numbers may be infinite."""
    tables.create("`__time` TIMESTAMP, d DOUBLE, words ARRAY<STRING>")
    row = "SELECT '2024-01-01 10:00:00', CAST('{}' AS DOUBLE), NULL"
    numbers = " UNION ALL ".join(map(row.format, ("NaN", "Infinity", "-Infinity", "1e308", "1e308")))
    run(tables.session, f"INSERT INTO source {numbers}")
    tables.write("INSERT INTO TARGET SELECT * FROM source")
    tables.write("INSERT INTO TARGET SELECT max(`__time`), sum(d), NULL FROM source WHERE d = 1e308D")


def test_conversions_to_the_types_of_columns(tables: Tables) -> None:
    """Numbers out of range wrap around or are NULL, as in Hive; texts are parsed, and cut."""
    tables.create(COLUMNS)
    names = "`__time`, b, t, s, i, l, f, d, text, v, c"
    rows = (
        ("DATE '2024-01-01'", "1", "300", "70000", "3000000000", "12.99", "1", "2", "true", "12345", "12345"),
        ("DATE '1600-02-29'", "0", "-300", "-70000", "-3000000000", "-12.99", "3", "4", "false", "-7", "-7"),
    )
    tables.write(f"INSERT INTO TARGET ({names}) VALUES {values(*rows)}")
    run(tables.session, "INSERT INTO source SELECT * FROM here")
    texts = (
        ("'2024-01-01 10:00:00'", "'no'", "'12'", "'40000'", "' 7 '", "'12.99'", "'1.5'", "'1e3'", "'x'", "'ab  '", "'ab  '"),
        ("'2024-01-01 11:00:00'", "'yes'", "'x'", "''", "'1e3'", "'-9223372036854775809'", "'x'", "''", "''", "''", "''"),
    )  # fmt: skip
    tables.write(f"INSERT INTO TARGET ({names}) VALUES {values(*texts)}")
    decimals = (
        ("'2024-01-01 10:00:00'", "true", "1.5", "-1.5", "99999999999.9", "99999999999999999999", "0.1", "0.30", "1.10", "1.10",
         "-1.25"),
        ("'2024-01-01 11:00:00'", "true", "-0.9", "0.0", "2147483648.0", "1", "123.456", "12345678901234567890.5", "0.00",
         "100.0", "0.001"),
    )  # fmt: skip
    tables.write(f"INSERT INTO TARGET ({names}) VALUES {values(*decimals)}")
    moments = "CAST('2024-01-01 10:00:00.5 Europe/Berlin' AS TIMESTAMP WITH LOCAL TIME ZONE)"
    tables.write(f"INSERT INTO TARGET ({names}) SELECT {moments}, b, l, l, l, d, d, f, d, `__time`, i FROM source")


TIMES = (
    "2024-01-01", "2024-01-01 10:00:00", "2024-01-01T10:00:00", "2024-01-01T10:00:00Z", "2024-01-01 10:00:00Z",
    "2024-03-31T02:30:00.123456Z", "1969-12-31T23:59:59.999Z", "9999-12-31 23:59:59.999999", "1583-01-01T00:00:00.1",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP WITH LOCAL TIME ZONE"])
def test_texts_of_times(tables: Tables, kind: str) -> None:
    tables.create(f"`__time` {kind}, text STRING, d STRING")
    run(tables.session, "SET hivedruid.null.time=skip")
    rows = [
        (f"'{text}'", f"'{text}'", f"CAST('{text}' AS DATE)") for text in (*TIMES, "2023-02-29", "2024-01-01T24:00:00Z")
    ]
    tables.write(f"INSERT INTO TARGET VALUES {values(*rows)}")
    run(tables.session, "SET hivedruid.null.time=fail")


def test_create_table_as_and_overwrite(tables: Tables) -> None:
    tables.create("`__time` TIMESTAMP WITH LOCAL TIME ZONE, n BIGINT", **{"druid.segment.granularity": "MONTH"})
    tables.write(
        "INSERT INTO TARGET SELECT CAST('2024-01-31 23:00:00' AS TIMESTAMP), 1"
        " UNION ALL SELECT CAST('2024-03-01 00:00:00' AS TIMESTAMP), 2"
    )
    tables.write("INSERT OVERWRITE TABLE TARGET SELECT `__time`, n * 10 FROM TARGET WHERE n = 1")
    for table in WAYS:
        run(tables.session, f"DROP TABLE {table}")
    tables.write(
        "CREATE EXTERNAL TABLE TARGET STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'true',"
        " 'druid.query.granularity' = 'HOUR') AS SELECT CAST('2024-01-01 10:00:00' AS TIMESTAMP) AS `__time`,"
        " stack(2, 'a', 1.5D, 'b', 2.5D) AS (k, x)"
    )
    for table, most in WAYS.items():
        run(tables.session, f"SET {SETTING}={most}")
        run(tables.session, f"INSERT OVERWRITE TABLE {table} SELECT `__time`, k, x FROM {table} WHERE k = 'c'")
        assert tables.rows(table) == []


JSON = """
{"moment": "2015-09-12T00:46:58.771Z", "day": "1600-02-29", "at": "1969-12-31 23:59:59.9999", "N": 127, "text": "ä\\n😀", "other": 1}

{"moment": "2015-09-12 00:46:58Z", "day": null, "v": "äöü漢😀", "c": "a    b", "x": -2.5E-300, "b": false}
{"moment": "1583-01-01T00:00:00Z", "n": -128, "text": "", "v": "  ", "c": "  ", "x": 12345678901234.5, "b": true}
"""


def test_json_files(tables: Tables, tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text(JSON)
    run(
        tables.session,
        "CREATE EXTERNAL TABLE files (moment TIMESTAMP WITH LOCAL TIME ZONE, `day` DATE, `at` TIMESTAMP, n TINYINT, text STRING,"
        f" v VARCHAR(4), c CHAR(4), x DOUBLE, b BOOLEAN) STORED AS JSONFILE LOCATION '{file}'",
    )
    tables.create(
        "`__time` TIMESTAMP WITH LOCAL TIME ZONE, d STRING, t STRING, n INT, text STRING, v STRING, c CHAR(4), x DOUBLE, b BOOLEAN"
    )
    select = "SELECT moment, `day`, `at`, n, text, v, c, x, b FROM files"
    tables.write(f"INSERT INTO TARGET {select}")
    tables.write(f"INSERT INTO TARGET {select} WHERE n > 0 OR v = '  '")
    file.write_text(JSON.replace("127", '"127"').replace("00:46:58Z", "00:46:58 Europe/Berlin"))
    run(tables.session, f"SET {SETTING}=50000")
    run(tables.session, f"INSERT OVERWRITE TABLE here {select}")
    assert not is_local(tables.last_job())
    assert len(tables.rows("here")) == 3


DELIMITED = (
    "2015-09-12 00:46:58.771,1600-02-29,127,ä 😀,ab  cd,-2.5E-300,true,-12.345\n"
    "\n"
    "2015-09-12 00:46:59,,x,,äöü漢😀,,maybe,0.005,more\n"
    "2015-09-12 00:47:00,\\N,-128,\\N,  ,12345678901234.5,FALSE\n"
)


def test_delimited_files(tables: Tables, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("a header\n" + DELIMITED)
    run(
        tables.session,
        "CREATE EXTERNAL TABLE lines (moment TIMESTAMP, `day` DATE, n TINYINT, text STRING, v VARCHAR(4), x DOUBLE, b BOOLEAN,"
        " m DECIMAL(9, 2)) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION"
        f" '{file}' TBLPROPERTIES ('skip.header.line.count' = '1')",
    )
    tables.create("`__time` TIMESTAMP, d STRING, n INT, text STRING, v STRING, x DOUBLE, b BOOLEAN, m STRING")
    select = "SELECT coalesce(moment, CAST('2000-01-01' AS TIMESTAMP)), `day`, n, text, v, x, b, CAST(m AS STRING) FROM lines"
    tables.write(f"INSERT INTO TARGET {select}")
    tables.write(f"INSERT INTO TARGET {select} WHERE v LIKE '%äöü%' OR n IS NULL")
    file.write_text("a header\n" + DELIMITED.replace("127", "127.5"))
    run(tables.session, f"SET {SETTING}=50000")
    run(tables.session, f"INSERT OVERWRITE TABLE here {select}")
    assert not is_local(tables.last_job())
    assert len(tables.rows("here")) == 4


TYPES_OF_CELLS = (
    "TINYINT", "INT", "BIGINT", "DOUBLE", "BOOLEAN", "DECIMAL(9, 2)", "DECIMAL(38, 10)", "DATE", "TIMESTAMP",
    "TIMESTAMP WITH LOCAL TIME ZONE",
)  # fmt: skip


def test_odd_cells_of_delimited_files(tables: Tables, tmp_path: Path) -> None:
    """Each value that is read here is the one that Spark reads."""
    texts = cells(Random(51), 2_000)
    lines = [",".join([str(number), *[text] * len(TYPES_OF_CELLS)]) for number, text in enumerate(texts)]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    columns = ", ".join(f"c{place} {type_}" for place, type_ in enumerate(TYPES_OF_CELLS))
    run(
        tables.session,
        f"CREATE EXTERNAL TABLE odd (number INT, {columns}) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','"
        f" LOCATION '{tmp_path}'",
    )
    spark = {row["number"]: row for row in run(tables.session, "SELECT * FROM odd")}
    for column in tables.session.catalog.get("default", "odd").columns[1:]:
        parse, certain = parser_of(column.type, is_quoted=False), 0
        assert parse is not None
        for number, text in enumerate(texts):
            if text != "\\N":
                with suppress(Unsure, ArithmeticError):
                    assert (parse(text), text) == (spark[number][column.name], text)
                    certain += 1
        assert certain > len(texts) // 50


def test_csv_files(tables: Tables, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(
        '2024-01-01 10:00:00,"a ""b"", c",1\n"2024-01-02 10:00:00","x\\"y",\n\n2024-01-03 10:00:00, "z",3,4\n2024-01-04 10:00:00,"open,5\n'
    )
    run(
        tables.session,
        "CREATE EXTERNAL TABLE quoted (moment STRING, text STRING, n STRING)"
        f" ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' LOCATION '{tmp_path}'",
    )
    tables.create("`__time` TIMESTAMP, text STRING, n INT")
    time = "coalesce(CAST(moment AS TIMESTAMP), CAST('2000-01-01' AS TIMESTAMP))"
    tables.write(f"INSERT INTO TARGET SELECT {time}, text, CAST(n AS INT) FROM quoted")


def test_parquet_files(tables: Tables, tmp_path: Path) -> None:
    rows = pa.table({"n": [1, None, 3], "text": ["a", "ä", None], "x": [0.5, -0.0, None], "ok": [True, None, False]})
    parquet.write_table(rows, tmp_path / "rows.parquet")
    run(
        tables.session,
        "CREATE EXTERNAL TABLE stored (n BIGINT, text STRING, x DOUBLE, ok BOOLEAN)"
        f" STORED AS PARQUET LOCATION '{tmp_path}'",
    )
    tables.create("`__time` TIMESTAMP, n BIGINT, text STRING, x DOUBLE, ok BOOLEAN")
    tables.write("INSERT INTO TARGET SELECT CAST('2024-01-01' AS TIMESTAMP), n, text, x, ok FROM stored")


def test_nulls_without_a_type(tables: Tables) -> None:
    """A native query has them as a column, which is converted where it is written."""
    tables.create("`__time` TIMESTAMP, text STRING, d DOUBLE, b BOOLEAN")
    run(tables.session, "INSERT INTO source VALUES ('2024-01-01 10:00:00', 'a', 1, true)")
    tables.write("INSERT INTO TARGET SELECT `__time`, NULL, NULL, NULL FROM source")


def test_rows_without_a_time(tables: Tables) -> None:
    tables.create("`__time` TIMESTAMP, n BIGINT")
    statement = "INSERT INTO TARGET VALUES ('2024-01-01 00:00:00', 1), (NULL, 2)"
    messages = []
    for table, most in WAYS.items():
        run(tables.session, f"SET {SETTING}={most}")
        with pytest.raises(ExecutionError) as error:
            run(tables.session, statement.replace("TARGET", table))
        messages.append((error.value.message, error.value.hint))
        assert tables.last_job().state == "cancelled"
    assert messages[0] == messages[1]
    run(tables.session, "SET hivedruid.null.time=skip")
    tables.write(statement)
    run(tables.session, "SET hivedruid.null.time=fail")


def test_more_rows_than_the_setting_are_those_of_spark(tables: Tables) -> None:
    tables.create("`__time` TIMESTAMP, n BIGINT")
    run(tables.session, f"SET {SETTING}=2")
    run(tables.session, "INSERT INTO here VALUES ('2024-01-01 00:00:00', 1), ('2024-01-02 00:00:00', 2)")
    assert is_local(tables.last_job())
    run(tables.session, "INSERT INTO here SELECT `__time`, n FROM here UNION ALL SELECT `__time`, 3 FROM here")
    assert not is_local(tables.last_job())
    assert len(tables.rows("here")) == 6


def test_times_after_the_year_9999_are_those_of_spark(tables: Tables) -> None:
    """They are the results of a native query, which Python's times do not represent."""
    tables.create("`__time` TIMESTAMP, n BIGINT")
    run(tables.session, "INSERT INTO source VALUES ('9999-12-31 00:00:00', 1)")
    run(tables.session, f"SET {SETTING}=50000")
    run(tables.session, "INSERT INTO here SELECT `__time` + INTERVAL '1' MONTH, n FROM source")
    assert not is_local(tables.last_job())
    assert run(tables.session, "SELECT n FROM here") == [{"n": 1}]
