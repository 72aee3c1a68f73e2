"""Conditions as native filters: typed ones if Druid has an index, otherwise expressions."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.plan.split import constant_rows
from tests.support.planning import ETERNITY, native, plan, residual, where


def equals(column: str, value: Any, kind: str = "LONG") -> dict[str, Any]:
    return {"type": "equals", "column": column, "matchValueType": kind, "matchValue": value}


def bounds(column: str, kind: str = "LONG", **edges: Any) -> dict[str, Any]:
    return {"type": "range", "column": column, "matchValueType": kind, **edges}


def one_of(column: str, *values: Any, kind: str = "LONG") -> dict[str, Any]:
    return {"type": "inType", "column": column, "matchValueType": kind, "values": list(values)}


def negated(field: dict[str, Any]) -> dict[str, Any]:
    return {"type": "not", "field": field}


def expression(text: str) -> dict[str, Any]:
    return {"type": "expression", "expression": text}


def null(column: str) -> dict[str, Any]:
    return {"type": "null", "column": column}


def like(column: str, pattern: str, **escape: str) -> dict[str, Any]:
    return {"type": "like", "dimension": column, "pattern": pattern, **escape}


TYPED = [
    ("country = 'US'", equals("country", "US", "STRING")),
    ("'US' = country", equals("country", "US", "STRING")),
    ("country <> ''", negated(equals("country", "", "STRING"))),
    ("country != 'US'", negated(equals("country", "US", "STRING"))),
    ("NOT country = 'US'", negated(equals("country", "US", "STRING"))),
    ("country < 'b'", bounds("country", "STRING", upper="b", upperOpen=True)),
    ("country >= 'b'", bounds("country", "STRING", lower="b")),
    ("'b' >= country", bounds("country", "STRING", upper="b")),
    ("country BETWEEN 'a' AND 'c'", bounds("country", "STRING", lower="a", upper="c")),
    ("country NOT BETWEEN 'a' AND 'c'", negated(bounds("country", "STRING", lower="a", upper="c"))),
    ("country IN ('b', 'a', 'b')", one_of("country", "a", "b", kind="STRING")),
    ("country IN ('a')", equals("country", "a", "STRING")),
    ("revenue IN (1, 0)", one_of("revenue", -0.0, 0.0, 1.0, kind="DOUBLE")),
    ("revenue NOT IN (0, 1)", negated(one_of("revenue", -0.0, 0.0, 1.0, kind="DOUBLE"))),
    ("revenue IN (0, 1) OR revenue = 2", one_of("revenue", -0.0, 0.0, 1.0, 2.0, kind="DOUBLE")),
    ("country NOT IN ('a', 'b')", negated(one_of("country", "a", "b", kind="STRING"))),
    ("country IS NULL", null("country")),
    ("country IS NOT NULL", negated(null("country"))),
    ("country LIKE 'a%'", like("country", "a%")),
    ("country NOT LIKE 'a%'", negated(like("country", "a%"))),
    (r"country LIKE 'a\\_b'", like("country", r"a\_b", escape="\\")),
    ("clicks = 5", equals("clicks", 5)),
    ("clicks = 5.0", equals("clicks", 5)),
    ("clicks = -5", equals("clicks", -5)),
    ("clicks > 2.5", bounds("clicks", lower=3)),
    ("clicks >= 2.5", bounds("clicks", lower=3)),
    ("clicks < 2.5", bounds("clicks", upper=2)),
    ("clicks < -2.5", bounds("clicks", upper=-3)),
    ("clicks > 2 AND clicks <= 7", bounds("clicks", lower=2, lowerOpen=True, upper=7)),
    ("clicks < 2 OR clicks > 7", {"type": "or", "fields": [bounds("clicks", upper=2, upperOpen=True), bounds("clicks", lower=7, lowerOpen=True)]}),
    ("clicks > 9007199254740992", bounds("clicks", lower=2**53, lowerOpen=True)),
    ("clicks > 9007199254740993", expression('("clicks" > 9007199254740993)')),
    ("clicks = 9007199254740993", equals("clicks", 2**53 + 1)),
    ("clicks IN (1, 2)", one_of("clicks", 1, 2)),
    ("imps = '5'", equals("imps", 5)),
    ("revenue < 3", bounds("revenue", "DOUBLE", upper=3.0, upperOpen=True)),
    ("revenue > 0", bounds("revenue", "DOUBLE", lower=0.0, lowerOpen=True)),
    ("revenue <= 0", bounds("revenue", "DOUBLE", upper=0.0)),
    ("revenue IN (1, 2.5)", one_of("revenue", 1.0, 2.5, kind="DOUBLE")),
    ("is_mobile", equals("is_mobile", 1)),
    ("NOT is_mobile", negated(equals("is_mobile", 1))),
    ("is_mobile = false", equals("is_mobile", 0)),
    ("is_mobile <> false", negated(equals("is_mobile", 0))),
    ("is_mobile = true", equals("is_mobile", 1)),
    ("is_mobile IS TRUE", {"type": "istrue", "field": equals("is_mobile", 1)}),
    ("is_mobile IS FALSE", {"type": "isfalse", "field": equals("is_mobile", 1)}),
    ("is_mobile IS NOT TRUE", negated({"type": "istrue", "field": equals("is_mobile", 1)})),
    ("is_mobile IS NOT FALSE", negated({"type": "isfalse", "field": equals("is_mobile", 1)})),
    ("is_mobile > false", bounds("is_mobile", lower=0, lowerOpen=True)),
    ("country RLIKE '^a+'", {"type": "regex", "dimension": "country", "pattern": "^a+"}),
    ("country <=> 'x'", {"type": "istrue", "field": equals("country", "x", "STRING")}),
    ("country <=> NULL", null("country")),
    ("country = 'a' OR country = 'c' OR country IN ('b', 'a')", one_of("country", "a", "b", "c", kind="STRING")),
    ("clicks <> 1 AND clicks NOT IN (3, 2)", negated(one_of("clicks", 1, 2, 3))),
    ("clicks = 1 OR clicks = 2 OR imps = 1", {"type": "or", "fields": [one_of("clicks", 1, 2), equals("imps", 1)]}),
    ("clicks = 1 AND clicks <> 2", equals("clicks", 1)),
    ("(clicks > 5) IS NOT TRUE", negated({"type": "istrue", "field": bounds("clicks", lower=5, lowerOpen=True)})),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "expected"), TYPED)
def test_typed_filter(condition: str, expected: dict[str, Any]) -> None:
    assert where(condition) == ([ETERNITY], expected)


EXPRESSIONS = [
    ("imps = 2.5", '("imps" != "imps")'),  # false, but null for null
    ("imps <> 2.5", '("imps" == "imps")'),
    ("clicks = 1e0", "(CAST(\"clicks\",'DOUBLE') == 1.0)"),  # a bigint and a double are compared as doubles
    # Druid's filters and its order distinguish -0.0 from 0.0, Hive does not
    ("revenue = 0", '("revenue" == 0)'),
    ("revenue <> 0.0", '("revenue" != 0.0)'),
    ("revenue >= 0", '("revenue" >= -0.0)'),
    ("revenue < 0", '("revenue" < -0.0)'),
    ("score > 0", '("score" > 0.0)'),
    ("revenue * 2 >= 0", '(("revenue" * 2) >= -0.0)'),
    ("revenue >= score", '(("revenue" + 0.0) >= ("score" + 0.0))'),
    ("revenue >= clicks", "((\"revenue\" + 0.0) >= CAST(\"clicks\",'DOUBLE'))"),
    ("score = 1.5", '("score" == 1.5)'),  # an `equals` filter would round 1.5 to single precision
    ("country = city", '("country" == "city")'),
    ("country <=> city", 'notdistinctfrom("country","city")'),
    ("clicks = imps", '("clicks" == "imps")'),
    ("clicks > 9223372036854775808", '("clicks" != "clicks")'),
    ("clicks < 9223372036854775808", '("clicks" == "clicks")'),
    ("clicks > -99999999999999999999", '("clicks" == "clicks")'),
    ("clicks = 99999999999999999999", '("clicks" != "clicks")'),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "expected"), EXPRESSIONS)
def test_expression_filter(condition: str, expected: str) -> None:
    assert where(condition) == ([ETERNITY], expression(expected))


VIRTUAL = [
    ("clicks + imps > 5", ("(\"clicks\" + \"imps\")", "LONG"), bounds("vc0", lower=5, lowerOpen=True)),
    ("upper(country) = 'A'", ('upper("country")', "STRING"), equals("vc0", "A", "STRING")),
    ("upper(country) IN ('A', 'B')", ('upper("country")', "STRING"), one_of("vc0", "A", "B", kind="STRING")),
    ("upper(country) LIKE 'A%'", ('upper("country")', "STRING"), like("vc0", "A%")),
    ("upper(country) RLIKE 'A$'", ('upper("country")', "STRING"), {"type": "regex", "dimension": "vc0", "pattern": "A$"}),
    ("upper(country) IS NULL", ('upper("country")', "STRING"), null("vc0")),
    ("coalesce(clicks, 0) = 3", ('coalesce("clicks",0)', "LONG"), equals("vc0", 3)),
    ("upper(country) = 'A' OR upper(country) = 'B'", ('upper("country")', "STRING"), one_of("vc0", "A", "B", kind="STRING")),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "column", "expected"), VIRTUAL)
def test_an_expression_is_compared_as_a_virtual_column(
    condition: str, column: tuple[str, str], expected: dict[str, Any]
) -> None:
    query = native(f"SELECT clicks FROM ev WHERE {condition}")
    assert [(v["expression"], v["outputType"]) for v in query["virtualColumns"]] == [column]
    assert query["filter"] == expected


def test_a_text_beside_a_number_is_read_as_hive_reads_it() -> None:
    """Druid's CAST alone converts 'true' to 1, and ' 5' to null."""
    query = native("SELECT clicks FROM ev WHERE country = 5")
    assert query["filter"] == equals("vc0", 5.0, "DOUBLE")
    (column,) = query["virtualColumns"]
    assert column["expression"].startswith('CAST(regexp_extract("country",\'^')


TIMES = [
    ("year(`__time`) = 2020 OR clicks = 1", [bounds("__time", lower=1577836800000, upper=1609459200000, upperOpen=True), equals("clicks", 1)]),
    ("`__time` >= '2020-01-01' OR clicks = 1", [bounds("__time", lower=1577836800000), equals("clicks", 1)]),
    ("to_date(`__time`) < '2020-01-01' OR clicks = 1", [bounds("__time", upper=1577836800000, upperOpen=True), equals("clicks", 1)]),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "fields"), TIMES)
def test_time_beside_other_columns_is_a_range_of_milliseconds(condition: str, fields: list[dict[str, Any]]) -> None:
    assert where(condition) == ([ETERNITY], {"type": "or", "fields": fields})


@pytest.mark.parametrize(
    "condition",
    [
        "CAST(country AS decimal(10,2)) = 5",
        "CAST(country AS timestamp) = '2020-01-01 00:00:00'",  # which may have microseconds
        "country LIKE city",
        "country RLIKE '(?i)a'",
        r"country LIKE 'a\\b'",  # escapes an ordinary character: engines differ
        "rand() < 0.5",
    ],
)
def test_condition_that_stays_on_spark(condition: str) -> None:
    job = residual(f"SELECT clicks FROM ev WHERE {condition}")
    assert "WHERE" in job.sql


def test_a_conjunct_that_druid_cannot_check_leaves_the_others_there() -> None:
    job = residual("SELECT clicks FROM ev WHERE md5(country) = 'a' AND clicks > 3 AND `__time` >= '2020-01-01'")
    (read,) = job.reads
    assert read.query["filter"] == bounds("clicks", lower=3, lowerOpen=True)
    assert read.query["intervals"][0].startswith("2020-01-01T00:00:00.000Z/")


def test_null_among_in_items_never_makes_not_in_true() -> None:
    """`x NOT IN (1, NULL)` is true for no row, `x IN (1, NULL)` for x = 1."""
    assert constant_rows(plan("SELECT clicks FROM ev WHERE clicks NOT IN (1, NULL)")) == ()
    assert where("clicks NOT IN (1, NULL) OR country = 'a'")[1] == equals("country", "a", "STRING")
    assert where("clicks IN (1, NULL)")[1] == equals("clicks", 1)
    assert where("clicks IN (1, NULL) AND country = 'a'")[1] == {
        "type": "and", "fields": [equals("clicks", 1), equals("country", "a", "STRING")],
    }  # fmt: skip


def test_both_zeros_are_in_a_list() -> None:
    """They are equal in Python, where only their signs tell them apart."""
    _, filter_ = where("revenue IN (1, 0) OR revenue = 2")
    assert filter_ is not None
    assert list(map(str, filter_["values"])) == ["-0.0", "0.0", "1.0", "2.0"]


def test_a_long_list_with_zero_is_one_filter() -> None:
    _, filter_ = where(f"country IN ({', '.join(map(str, range(3000)))})")
    assert filter_ is not None
    assert (filter_["type"], len(filter_["values"])) == ("inType", 3001)
