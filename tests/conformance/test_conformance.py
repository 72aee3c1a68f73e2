"""The parts of the conformance command: reading, translating, judging and excluding cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, TIMESTAMP, TIMESTAMP_LTZ
from tests.conformance.answerable import unanswerable
from tests.conformance.answers import Truth
from tests.conformance.cases import Case, Expected, Peer
from tests.conformance.constants import constants_of
from tests.conformance.dialect import TranslationError, hive_sql
from tests.conformance.expectations import worse
from tests.conformance.ours import OURS
from tests.conformance.outcomes import outcomes
from tests.conformance.planned import intervals_of, planned
from tests.conformance.schemas import dataset_table, declared_tables
from tests.conformance.verdicts import verdict
from tests.support.planning import plan


@pytest.mark.parametrize(
    ("calcite", "hive"),
    [
        ('select "a" from "t" offset 2 rows fetch next 3 rows only', "SELECT `a` FROM `t` LIMIT 3 OFFSET 2"),
        ('select floor("timestamp" to DAY) from "t"', "SELECT FLOOR(`__time` TO DAY) FROM `t`"),
        ('select year("t"."timestamp") from "t"', "SELECT YEAR(`t`.`__time`) FROM `t`"),
        ('select count(*) / 3, avg("unit_sales") from "t"', "SELECT COUNT(*) DIV 3, CAST(AVG(`unit_sales`) AS BIGINT) FROM `t`"),
        ('select "store_sales" / 3 from "t"', "SELECT `store_sales` / 3 FROM `t`"),
        ('select "a" from (select "a" from "t")', "SELECT `a` FROM (SELECT `a` FROM `t`) AS `q0`"),
        ('select cast("a" as varchar), cast("b" as float) from "t"', "SELECT CAST(`a` AS STRING), CAST(`b` AS DOUBLE) FROM `t`"),
        ("select TIMESTAMPADD(MONTH, 1, \"a\") from \"t\"", "SELECT `a` + INTERVAL 1 MONTH FROM `t`"),
        ('select approx_count_distinct("a") from "t"', "SELECT COUNT(DISTINCT `a`) FROM `t`"),
        ('select substring("a" from 2 for 3), char_length("a") from "t"', "SELECT SUBSTRING(`a`, 2, 3), LENGTH(`a`) FROM `t`"),
        ("values 1", "VALUES (1)"),
    ],
)  # fmt: skip
def test_calcites_sql_in_hives_dialect(calcite: str, hive: str) -> None:
    assert hive_sql(calcite) == hive


@pytest.mark.parametrize("sql", ['select extract(CENTURY from "timestamp") from "t"', None, "select from from"])
def test_what_has_no_form_in_hives_dialect(sql: str | None) -> None:
    with pytest.raises(TranslationError):
        hive_sql(sql)


def test_the_tables_of_a_model() -> None:
    columns = [
        {"name": "timestamp", "druid": "__time", "druid_type": "LONG", "sql_type": "TIMESTAMP"},
        {"name": "SKU", "druid": "SKU", "druid_type": "STRING", "sql_type": "VARCHAR"},
        {"name": "user_id", "druid": "user_unique", "druid_type": "COMPLEX<hyperUnique>", "sql_type": "VARBINARY"},
    ]
    table = dataset_table([{"table": "t", "datasource": "d", "columns": columns}], "TIMESTAMP")
    assert [(c.name, c.field_name, c.type) for c in table.columns] == [
        ("__time", "__time", TIMESTAMP), ("sku", "SKU", STRING), ("user_id", "user", STRING),
    ]  # fmt: skip


def test_the_tables_of_hives_statements() -> None:
    made = declared_tables(
        (
            "CREATE EXTERNAL TABLE b STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler' AS SELECT cast(t AS timestamp with local time zone) AS `__time`, n FROM a",
            "CREATE TABLE a (t timestamp, n bigint) STORED AS ORC",
            'CREATE EXTERNAL TABLE c STORED BY \'org.apache.hadoop.hive.druid.QTestDruidStorageHandler\' TBLPROPERTIES ("druid.datasource" = "w")',
        ),
        {"c": [("__time", "timestamp with local time zone"), ("x", "double")]},
    )
    assert {t.name: (t.kind, [str(c.type) for c in t.columns]) for t in made} == {
        "a": ("iceberg", ["timestamp", "bigint"]),
        "b": ("druid", ["timestamp with local time zone", "bigint"]),
        "c": ("druid", ["timestamp with local time zone", "double"]),
    }
    assert next(t for t in made if t.name == "c").data_source == "w"


@pytest.mark.parametrize(
    ("sql", "beyond"),
    [
        ("SELECT city FROM ev ORDER BY clicks LIMIT 3", True),
        ("SELECT city FROM ev ORDER BY floor_day(`__time`) LIMIT 3", False),
        ("SELECT * FROM (SELECT `__time` t, city FROM ev) x ORDER BY t DESC", False),
        ("SELECT city, count(*) c FROM ev GROUP BY city ORDER BY c", False),
        ("SELECT city, rank() OVER (ORDER BY clicks) FROM ev", True),
        ("SELECT city FROM ev JOIN dim ON ev.country = dim.country", True),
        ("SELECT city FROM ev WHERE country NOT IN (SELECT country FROM dim)", True),
        ("SELECT count(*) FROM (SELECT city FROM ev LIMIT 3) x", False),
    ],
)
def test_what_is_beyond_one_native_query(sql: str, beyond: bool) -> None:
    assert (unanswerable(plan(sql, rules=())) is not None) is beyond


def test_intervals_are_compared_by_what_they_mean() -> None:
    always = {"intervals": ["1900-01-09T00:00:00.000Z/2992-01-10T00:00:00.000Z"]}
    ours = {"intervals": ["-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"]}
    parts = {"intervals": ["2020-02-01/2020-03-01T00:00:00Z", "2020-01-01/2020-02-01"]}
    nested = {"dataSource": {"type": "query", "query": {**parts, "dataSource": "t"}}, "intervals": ours["intervals"]}
    assert intervals_of(always) == intervals_of(ours)
    assert intervals_of(nested) == intervals_of({"intervals": ["2020-01-01/2020-03-01"]}) != intervals_of(ours)


CASE = replace(OURS[0], peer=Peer("calcite", is_full=True), zone="US/Pacific")


def _verdict(rows: list, types: list, expected: Expected, true: Truth) -> str:  # type: ignore[type-arg]
    return verdict(replace(CASE, expected=expected), types, rows, asserted=True, truth=lambda: true)


def test_verdicts() -> None:
    rows = [("a", 1), ("b", 2)]
    texts = (("a", "1"), ("b", "2"))
    true = Truth(rows, None, ())
    types = [STRING, BIGINT]
    assert _verdict(rows, types, Expected(texts, "ordered"), true) == "equal"
    assert _verdict(rows[::-1], types, Expected(texts, "unordered"), true) == "equal"
    assert _verdict(rows[::-1], types, Expected(texts, "ordered"), true) == "open"
    assert _verdict(rows, types, Expected((("a", "1"), ("c", "2")), "ordered"), true) == "other"
    assert _verdict([("a", 1), ("b", 3)], types, Expected(texts, "ordered"), true) == "wrong"
    assert _verdict(rows[:1], types, Expected(texts, "unordered"), true) == "wrong"
    assert _verdict(rows, types, Expected(texts[:1], "ordered-prefix"), true) == "equal"
    assert _verdict(rows, types, Expected(count=2), true) == "equal"


def test_verdicts_on_what_order_and_limit_leave_open() -> None:
    every = [(1, "a"), (2, "b"), (2, "c")]
    true = Truth(every[:2], every, (0,))
    types = [BIGINT, STRING]
    assert _verdict([(1, "a"), (2, "c")], types, Expected(), true) == "equal"
    assert _verdict([(2, "c"), (1, "a")], types, Expected(), true) == "wrong"
    assert _verdict([(2, "b"), (2, "b")], types, Expected(), Truth(every[1:], every, (0,))) == "wrong"


def test_verdicts_on_numbers_and_times() -> None:
    moment = datetime(2020, 1, 1, 8, tzinfo=UTC)
    types = [DOUBLE, TIMESTAMP_LTZ]
    expected = Expected((("0.30000000000000004", "2020-01-01 00:00:00"),), "ordered")
    assert _verdict([(0.3, moment)], types, expected, Truth([], None, ())) == "equal"
    assert _verdict([(0.3000001, moment)], types, expected, Truth([(0.3, moment)], None, ())) == "wrong"


def test_a_case_that_is_planned_worse_is_told() -> None:
    made = planned(
        Case("x", "ours", "SELECT city FROM ev ORDER BY clicks", "UTC", OURS[0].tables, Peer("hive", is_full=True))
    )
    assert list(worse([made], {made.case.key: "partly"})) == []
    (line,) = worse([made], {made.case.key: "full scan"})
    assert line.startswith("x: full scan -> partly")


def test_errors_that_are_meant_and_others() -> None:
    bad = replace(CASE, sql="SELECT nothing FROM ev")
    assert planned(bad).pushed == "crashed"
    assert planned(replace(bad, refusal="no such column")).pushed == "invalid"


def test_constants_for_rows_that_are_made_up() -> None:
    found = constants_of(
        [replace(CASE, sql="SELECT 1 FROM ev WHERE a = 'x' AND b > 2.5 AND `__time` < '2020-01-01 00:00:00'")]
    )
    assert ("x" in found.texts, 2.5 in found.numbers, found.times) == (True, True, ("2020-01-01 00:00:00",))


def test_cases_are_planned() -> None:
    assert {o.planned.pushed for o in outcomes(OURS, None)} >= {"full", "partly"}
