"""Rows and staging: the exact results of a job."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.connect.client import SparkConnectClient

from hivedruid.catalog.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    HiveType,
    array_of,
)
from hivedruid.cells import YearMonthInterval
from hivedruid.errors import SemanticError, SparkError
from hivedruid.plan.physical import CteInput, DruidInput, DruidRead, Field, SparkJob
from hivedruid.results import ResultColumn
from hivedruid.session import Session
from hivedruid.spark import job_inputs, relations, session, status
from hivedruid.spark import rows as rows_module
from tests.unit.spark.conftest import Home, columns, eventually, files_table, iceberg_table, job

pytestmark = pytest.mark.spark


def druid(view: str, names: str, types: list[HiveType], *rows: list[str], any: bool = True) -> DruidInput:  # noqa: A002
    fields = tuple(Field(f"f{number}", hive) for number, hive in enumerate(types))
    return DruidInput(view, DruidRead({"rows": list(rows), "any": any}, fields), tuple(names.split()))


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("NULL", None),
        ("TRUE", True),
        ("CAST(1 AS TINYINT)", 1),
        ("9223372036854775807", 2**63 - 1),
        ("CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE)", True),
        ("1.5D", 1.5),
        ("CAST(1.50 AS DECIMAL(10, 3))", Decimal("1.500")),
        ("'çÅ\\n'", "çÅ\n"),
        ("X'00ff'", b"\x00\xff"),
        ("DATE '0001-01-01'", date(1, 1, 1)),
        ("TIMESTAMP_NTZ '2021-11-07 01:30:00.123456'", datetime(2021, 11, 7, 1, 30, 0, 123456)),
        ("TIMESTAMP_NTZ '1500-02-28 23:59:59.999999'", datetime(1500, 2, 28, 23, 59, 59, 999999)),
        ("TIMESTAMP '2021-11-07 08:30:00.123456'", datetime(2021, 11, 7, 8, 30, 0, 123456, tzinfo=UTC)),
        ("TIMESTAMP '2021-11-07 09:30:00 UTC'", datetime(2021, 11, 7, 9, 30, tzinfo=UTC)),
        ("array(1, NULL)", [1, None]),
        ("array(TIMESTAMP '2021-11-07 08:30:00', NULL)", [datetime(2021, 11, 7, 8, 30, tzinfo=UTC), None]),
        ("map('a', X'01', 'b', NULL)", {"a": b"\x01", "b": None}),
        ("map('a', TIMESTAMP '1970-01-01 00:00:00')", {"a": datetime(1970, 1, 1, tzinfo=UTC)}),
        ("named_struct('a', 1, 'B', array(named_struct('c', 'x')))", {"a": 1, "B": [{"c": "x"}]}),
        (
            "named_struct('t', TIMESTAMP '1970-01-01 00:00:00', 'n', NULL)",
            {"t": datetime(1970, 1, 1, tzinfo=UTC), "n": None},
        ),
        ("array(map(1, array(map('x', NULL))))", [{1: [{"x": None}]}]),
        ("INTERVAL '1-2' YEAR TO MONTH", YearMonthInterval(months=14)),
        ("INTERVAL '-1 02:03:04.5' DAY TO SECOND", -timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=500)),
    ],
)
def test_value(home: Home, sql: str, value: object) -> None:
    assert home.query(f"SELECT {sql}, {sql} AS again") == [(value, value)]


def test_machine_zone_does_not_matter(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        rows = home.query("SELECT TIMESTAMP '2021-11-07 08:30:00', TIMESTAMP '2021-11-07 09:30:00'")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert rows == [(datetime(2021, 11, 7, 8, 30, tzinfo=UTC), datetime(2021, 11, 7, 9, 30, tzinfo=UTC))]


def test_order_is_kept(home: Home) -> None:
    rows = home.query("SELECT id % 1000, id FROM range(0, 5000, 1, 7) ORDER BY id % 1000 DESC, id")
    assert rows == sorted(((number % 1000, number) for number in range(5000)), key=lambda row: (-row[0], row[1]))


ENDLESS = "SELECT id, repeat('x', 1000) FROM range(0, 100000000, 1, 20000)"


def test_rows_stream(home: Home) -> None:
    """The first rows are returned long before the last ones are computed; a reader that stops early ends the job."""
    rows = home.runner.rows(job(ENDLESS))
    assert next(rows)[0] == 0
    rows.close()
    assert home.unfinished() == []


def test_rows_before_a_failure_do_not_hide_it(home: Home) -> None:
    with pytest.raises(SparkError, match="the last part"):
        home.query("SELECT IF(id < 90, id, raise_error('the last part')) FROM range(0, 100, 1, 10)")


def test_rows_that_nobody_takes_wait_in_a_file(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job ends without its reader; rows from memory and from the file are returned in order."""
    monkeypatch.setattr(rows_module, "HELD", 100_000)
    rows = home.runner.rows(job("SELECT id, repeat('x', 100), array(id) FROM range(0, 50000, 1, 40)"))
    first = next(rows)
    eventually(lambda: not any(thread.name == "spark-rows" for thread in threading.enumerate()))
    assert [first, *rows] == [(number, "x" * 100, [number]) for number in range(50000)]


def test_druid_input(home: Home) -> None:
    item = druid(
        "d", "t z day flag n m f s tags",
        [TIMESTAMP, TIMESTAMP_LTZ, DATE, BOOLEAN, INT, BIGINT, FLOAT, STRING, array_of(STRING)],
        ["1442018818771::BIGINT", "-1::BIGINT", "86400000::BIGINT", "1::BIGINT", "7::BIGINT", "9007199254740993::BIGINT",
         "1.1::FLOAT", "'é'", "['a', NULL]"],
        ["NULL", "NULL", "NULL", "0", "NULL", "NULL", "NULL", "''", "NULL"],
    )  # fmt: skip
    rows = home.query("SELECT t, z, day, flag, n, m, f, s, tags FROM d ORDER BY s DESC", item)
    assert rows == [
        (datetime(2015, 9, 12, 0, 46, 58, 771000), datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC), date(1970, 1, 2),
         True, 7, 9007199254740993, pytest.approx(1.1), "é", ["a", None]),
        (None, None, None, False, None, None, None, "", None),
    ]  # fmt: skip
    assert not list((home.path / "scratch").glob("*/*.parquet"))


def test_empty_druid_input(home: Home) -> None:
    item = druid("d", "a b", [STRING, BIGINT], ["'x'", "1::BIGINT"], any=False)
    assert home.query("SELECT count(*), sum(b) FROM d", item) == [(0, None)]


def test_join_of_two_inputs(home: Home, lines: Callable[..., Path]) -> None:
    names = files_table(lines('{"code": "#en", "name": "English"}').parent, columns(code=STRING, name=STRING))
    item = druid("d", "channel s", [STRING, BIGINT], ["'#en'", "5::BIGINT"], ["'#fr'", "6::BIGINT"])
    assert home.query("SELECT name, s FROM d JOIN t ON channel = code", item, names) == [("English", 5)]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT nothing FROM VALUES (1) t(a)", "nothing"),
        ("SELEC 1", "syntax error"),
        ("SELECT raise_error('the disk of\nmy heart')", "the disk of"),
        ("SELECT element_at(array(1), 0)", "index"),
    ],
)
def test_error_is_one_line(home: Home, sql: str, words: str) -> None:
    with pytest.raises(SparkError) as caught:
        home.query(sql)
    assert words.lower() in caught.value.message.lower()
    assert "\n" not in caught.value.message
    assert "java." not in caught.value.message
    log = home.path / "logs" / "spark.log"
    assert str(log) in (caught.value.hint or "")
    assert words.lower() in log.read_text().lower()


def test_full_disk(home: Home) -> None:
    with pytest.raises(SparkError, match="the disk is full"):
        home.query("SELECT raise_error('java.io.IOException: No space left on device')")


def test_missing_location(home: Home, tmp_path: Path) -> None:
    with pytest.raises(SemanticError) as caught:
        home.query("SELECT * FROM t", files_table(tmp_path / "nowhere.json", columns(a=STRING)))
    assert caught.value.message == f"table default.t: file or folder {tmp_path / 'nowhere.json'} does not exist"


def test_failed_job_leaves_no_view(home: Home, lines: Callable[..., Path]) -> None:
    table = files_table(lines('{"a": 1}'), columns(a=INT))
    with pytest.raises(SparkError):
        home.query("SELECT b FROM t", table)
    with pytest.raises(SparkError, match="cannot be found"):
        home.query("SELECT a FROM t")


def test_a_cte_is_computed_once_and_released(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[str] = []

    def release(frame: Any) -> None:
        released.append(str(frame.columns))
        relations.release(frame)

    monkeypatch.setattr(job_inputs, "release", release)
    computed = (
        CteInput("cte_0", "c", "SELECT uuid() AS a FROM range(3)"),
        CteInput("cte_1", "d", "SELECT x.a FROM `cte_0` x JOIN `cte_0` y ON x.a = y.a"),
    )
    made = replace(job("SELECT count(*) FROM `cte_1` x JOIN `cte_0` y ON x.a = y.a"), computed=computed)
    assert list(home.runner.rows(made)) == [(3,)]
    assert released == ["['a']", "['a']"]


def test_levels_of_ctes_with_two_references(tmp_path: Path) -> None:
    """As one query the ten levels would be a join of a thousand tables."""
    (tmp_path / "ev").mkdir()
    (tmp_path / "ev" / "a.csv").write_text("a,1\nb,2\n")
    step = "c{0} AS (SELECT a.x, b.s + {0} AS s FROM c{1} a JOIN c{1} b ON a.x = b.x)"
    levels = ", ".join(step.format(n, n - 1) for n in range(1, 11))
    with Session(tmp_path / "home") as opened:
        *_, last = (
            list(opened.execute(statement).rows)
            for statement in opened.statements(
                "CREATE EXTERNAL TABLE ev (x string, s bigint) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','"
                f" LOCATION '{tmp_path}/ev';"
                f" WITH c0 AS (SELECT x, sum(s) AS s FROM ev GROUP BY x), {levels} SELECT x, s FROM c10 ORDER BY x"
            )
        )
    assert last == [("a", 56), ("b", 57)]


def test_a_query_is_one_request(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its inputs are sent with it, and leave no view. The schemas of tables are kept from the queries before."""
    files = replace(files_table(tmp_path / "data", columns(a=INT, b=STRING), "parquet"), name="f")
    managed = iceberg_table(columns(a=INT))
    home.write("SELECT * FROM VALUES (1, 'x'), (2, 'y')", files)
    home.write("SELECT 2", managed)
    sql = "SELECT f.a, f.b FROM f JOIN t ON f.a = t.a JOIN f AS g ON g.a = f.a, druid_0 WHERE one = 1"
    read = job(sql, files, managed, druid("druid_0", "one", [BIGINT], ["1"]))
    read = replace(read, columns=(ResultColumn("a", INT), ResultColumn("b", STRING)))
    assert list(home.runner.rows(read)) == [(2, "y")]
    sent: list[str] = []
    for method in ("_analyze", "_execute", "_execute_and_fetch_as_iterator", "config"):
        monkeypatch.setattr(SparkConnectClient, method, counted(method, sent))
    rows = home.runner.rows(read)
    assert next(rows) == (2, "y")
    assert sent == ["_execute_and_fetch_as_iterator"]
    assert session._clients[home.path, ""].spark.catalog.listTables() == []
    assert list(rows) == []


def counted(method: str, sent: list[str]) -> Callable[..., Any]:
    original = getattr(SparkConnectClient, method)

    def call(*args: Any, **kwargs: Any) -> Any:
        sent.append(method)
        return original(*args, **kwargs)

    return call


@pytest.mark.parametrize("unexpected", ["TIMESTAMP '2021-11-07 08:30:00'", "INTERVAL '1-2' YEAR TO MONTH"])
def test_types_other_than_the_expected_ones(home: Home, unexpected: str) -> None:
    sql = f"SELECT {unexpected} AS a"
    expected = SparkJob(sql, (), (ResultColumn("a", STRING),))
    assert list(home.runner.rows(expected)) == home.query(sql)


def test_homes_do_not_see_each_other(home: Home, tmp_path: Path) -> None:
    """One server, two homes: each has its own view `t`, its own Iceberg table of the same id, its own settings."""
    other = Home(tmp_path / "other", {"spark.sql.shuffle.partitions": "3"})
    table = iceberg_table(columns(a=INT))
    home.write("SELECT 1", table)
    other.write("SELECT 2", table)
    mine, theirs = (each.runner.rows(job("SELECT a FROM t", table)) for each in (home, other))
    assert (next(mine), next(theirs)) == ((1,), (2,))
    assert (list(mine), list(theirs)) == ([], [])
    setting = "SET spark.sql.shuffle.partitions"
    assert [each.query(setting)[0][1] for each in (home, other)] == ["8", "3"]


def test_meaning_cannot_be_changed(home: Home) -> None:
    home.settings |= {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "Asia/Kolkata"}
    assert home.query("SELECT CAST('x' AS INT), current_timezone()") == [(None, "UTC")]


def test_settings_reach_spark(home: Home) -> None:
    home.settings["spark.sql.shuffle.partitions"] = "3"
    assert home.query("SET spark.sql.shuffle.partitions") == [("spark.sql.shuffle.partitions", "3")]
    del home.settings["spark.sql.shuffle.partitions"]
    assert home.query("SET spark.sql.shuffle.partitions") == [("spark.sql.shuffle.partitions", "8")]


def test_static_settings_do_no_harm(home: Home) -> None:
    home.settings |= {"spark.sql.warehouse.dir": "/nowhere", "spark.sql.shuffle.partitions": "5"}
    assert home.query("SET spark.sql.shuffle.partitions") == [("spark.sql.shuffle.partitions", "5")]


def test_setting_with_a_value_that_is_none(home: Home) -> None:
    home.settings["spark.sql.shuffle.partitions"] = "many"
    with pytest.raises(SparkError, match=r"^a Spark job failed: The value .many. in the config"):
        home.query("SELECT 1")


def test_progress(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "PROGRESS_AFTER", 0.0)
    home.query("SELECT count(*) FROM range(0, 60000, 1, 60) WHERE reflect('java.lang.Thread', 'sleep', 0L) IS NULL")
    home.query("SELECT sum(hash(sha2(CAST(id AS STRING), 512))) FROM range(0, 6000000, 1, 60)")
    assert "Spark: planning the job" in home.statuses
    assert any(line.startswith("Spark: stage ") and line.endswith(" s)") for line in home.statuses)
    assert home.statuses[-1] == ""


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        (" + ".join(["b"] * 500), 1500),
        ("length(" + " || ".join(["CAST(b AS STRING)"] * 500) + ")", 500),
        ("abs(" * 500 + "b" + ")" * 500, 3),
        ("CASE WHEN b = 1 THEN 2 ELSE " * 500 + "7" + " END" * 500, 7),
    ],
)
def test_expressions_with_500_levels(home: Home, sql: str, value: int) -> None:
    assert home.query(f"SELECT {sql} FROM (SELECT id + 3 AS b FROM range(1))") == [(value,)]
