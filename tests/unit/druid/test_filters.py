"""Conditions as native filters: typed ones where Druid has an index, expressions elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.planning import ETERNITY, residual, where


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
    ("(clicks > 5) IS NOT TRUE", negated({"type": "istrue", "field": bounds("clicks", lower=5, lowerOpen=True)})),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "expected"), TYPED)
def test_typed_filter(condition: str, expected: dict[str, Any]) -> None:
    assert where(condition) == ([ETERNITY], expected)


EXPRESSIONS = [
    ("imps = 2.5", '("imps" != "imps")'),  # false, but null for null
    ("imps <> 2.5", '("imps" == "imps")'),
    ("clicks = 1e0", "(CAST(\"clicks\",'DOUBLE') == 1.0)"),  # a bigint beside a double is compared as a double
    # Druid's filters and its order tell -0.0 from 0.0, Hive does not
    ("revenue = 0", '("revenue" == 0)'),
    ("revenue <> 0.0", '("revenue" != 0.0)'),
    ("revenue >= 0", '("revenue" >= -0.0)'),
    ("revenue < 0", '("revenue" < -0.0)'),
    ("revenue IN (0, 1)", '(("revenue" == 0) || ("revenue" == 1))'),
    ("score > 0", '("score" > 0.0)'),
    ("revenue * 2 >= 0", '(("revenue" * 2) >= -0.0)'),
    ("revenue >= score", '(("revenue" + 0.0) >= ("score" + 0.0))'),
    ("revenue >= clicks", "((\"revenue\" + 0.0) >= CAST(\"clicks\",'DOUBLE'))"),
    ("score = 1.5", '("score" == 1.5)'),  # an `equals` filter would round 1.5 to single precision
    ("country = city", '("country" == "city")'),
    ("country <=> 'x'", "notdistinctfrom(\"country\",'x')"),
    ("country <=> city", 'notdistinctfrom("country","city")'),
    ("clicks + imps > 5", '(("clicks" + "imps") > 5)'),
    ("clicks = imps", '("clicks" == "imps")'),
    ("upper(country) = 'A'", "(upper(\"country\") == 'A')"),
    ("upper(country) IN ('A', 'B')", "((upper(\"country\") == 'A') || (upper(\"country\") == 'B'))"),
    ("upper(country) LIKE 'A%'", "like(upper(\"country\"),'A%')"),
    ("country RLIKE '^a+'", "if(notnull(\"country\"),regexp_like(\"country\",'^a+'),null)"),
    ("coalesce(clicks, 0) = 3", '(coalesce("clicks",0) == 3)'),
    ("is_mobile > false", '("is_mobile" > 0)'),
    ("clicks > 9223372036854775808", '("clicks" != "clicks")'),
    ("clicks < 9223372036854775808", '("clicks" == "clicks")'),
    ("clicks > -99999999999999999999", '("clicks" == "clicks")'),
    ("clicks = 99999999999999999999", '("clicks" != "clicks")'),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "expected"), EXPRESSIONS)
def test_expression_filter(condition: str, expected: str) -> None:
    assert where(condition) == ([ETERNITY], expression(expected))


@pytest.mark.parametrize(
    "condition",
    [
        "CAST(country AS int) = 5",  # Druid reads '12.7' as 12, and blanks otherwise than Hive
        "country = 5",
        "country LIKE city",
        "country RLIKE '(?i)a'",
        r"country LIKE 'a\\b'",  # escapes an ordinary character: engines differ
        "country IN ('a', 5)",
        "rand() < 0.5",
    ],
)
def test_condition_that_stays_on_spark(condition: str) -> None:
    job = residual(f"SELECT clicks FROM ev WHERE {condition}")
    assert "WHERE" in job.sql


def test_a_conjunct_that_druid_cannot_check_leaves_the_others_there() -> None:
    job = residual("SELECT clicks FROM ev WHERE country = 5 AND clicks > 3 AND `__time` >= '2020-01-01'")
    (view,) = job.inputs
    assert view.read.query["filter"] == bounds("clicks", lower=3, lowerOpen=True)
    assert view.read.query["intervals"][0].startswith("2020-01-01T00:00:00.000Z/")


def test_null_among_in_items_never_makes_not_in_true() -> None:
    """`x NOT IN (1, NULL)` holds for no row, `x IN (1, NULL)` for x = 1."""
    assert where("clicks NOT IN (1, NULL)")[1] == {"type": "false"}
    assert where("clicks IN (1, NULL)")[1] == equals("clicks", 1)
    assert where("clicks IN (1, NULL) AND country = 'a'")[1] == {
        "type": "and", "fields": [equals("clicks", 1), equals("country", "a", "STRING")],
    }  # fmt: skip
