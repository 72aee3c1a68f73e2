"""The translation to Spark SQL: the text of clauses and expressions. tests/equivalence and tests/q test the results."""

from __future__ import annotations

import pytest

from tests.support.planning import residual


def lowered(expression: str, zone: str = "UTC") -> str:
    """An expression over the table `dim` in Spark SQL."""
    sql = residual(f"SELECT {expression} AS x FROM dim", zone).sql
    return sql.removeprefix("SELECT ").removesuffix(" AS `x` FROM `dim_0`")


@pytest.mark.parametrize(
    ("hive", "spark"),
    [
        ("pop + 1", "(`pop` + 1)"),
        ("pop = 2147483648", "(`pop` = CAST('2147483648' AS BIGINT))"),
        ("region = 5", None),  # Hive compares a string with a number as doubles
        ("pop > 1.5", "(`pop` > CAST('1.5' AS DECIMAL(2,1)))"),
        ("region LIKE 'it\\'s%'", "(`region` LIKE 'it\\'s%')"),
        ("region RLIKE '\\\\d+'", "(`region` RLIKE '\\\\d+')"),
        ("CASE WHEN pop > 1 THEN 'a' END", "CASE WHEN (`pop` > 1) THEN 'a' END"),
        ("pop IN (1, 2)", "(`pop` IN (1, 2))"),
        ("greatest(pop, 1)", None),
        ("sqrt(pop)", "(CASE WHEN `pop` >= 0 THEN sqrt(`pop`) END)"),
        ("region || 'x'", "concat(`region`, 'x')"),
        ("CAST(region AS int)", None),
        ("abs(CAST(pop AS tinyint))", "abs(CAST(CAST(`pop` AS TINYINT) AS INT))"),
        ("abs(pop)", "abs(`pop`)"),
    ],
)  # fmt: skip
def test_expression(hive: str, spark: str | None) -> None:
    text = lowered(hive)
    if spark is None:
        assert "CASE WHEN" in text  # Hive's result where Spark's own differs
    else:
        assert text == spark


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT region FROM dim WHERE pop > 3", "SELECT `region` FROM `dim_0` WHERE (`pop` > 3)"),
        (
            "SELECT region, sum(pop) FROM dim GROUP BY region HAVING sum(pop) > 3",
            "SELECT `region` AS `region_1`, sum(`pop`) AS `$f1` FROM `dim_0` GROUP BY `region` HAVING (sum(`pop`) > 3)",
        ),
        (
            # over grouping sets Spark does not always resolve the keys in HAVING
            "SELECT region, count(*) FROM dim GROUP BY region, country GROUPING SETS ((region, country), region) HAVING region IS NULL OR count(*) = 1",
            "SELECT `region_1`, `$f2` FROM (SELECT `region` AS `region_1`, `country` AS `country_1`, count(*) AS `$f2`, "
            "grouping_id() AS `_grouping_id` FROM `dim_0` GROUP BY `region`, `country` "
            "GROUPING SETS ((`region`, `country`), (`region`))) WHERE ((`region_1` IS NULL) OR (`$f2` = 1))",
        ),
        ("SELECT region FROM dim ORDER BY region LIMIT 3 OFFSET 1", "SELECT `region` FROM `dim_0` ORDER BY `region` ASC NULLS LAST LIMIT 3 OFFSET 1"),
        ("SELECT region FROM dim ORDER BY region DESC NULLS LAST", "SELECT `region` FROM `dim_0` ORDER BY `region` DESC NULLS LAST"),
        (
            # after HAVING, Spark's ORDER BY resolves only output columns
            "SELECT region FROM dim GROUP BY region, country HAVING count(*) > 1 ORDER BY country",
            "SELECT `region_1` FROM (SELECT `region` AS `region_1`, `country` AS `country_1` FROM `dim_0` GROUP BY `region`, `country` "
            "HAVING (count(*) > 1)) ORDER BY `country_1` ASC NULLS LAST",
        ),
    ],
)  # fmt: skip
def test_clauses(sql: str, expected: str) -> None:
    assert residual(sql).sql == expected


def test_a_grand_total_of_which_nothing_is_selected_keeps_its_one_row() -> None:
    text = residual("SELECT 0 AS x FROM (SELECT min(region) m FROM dim) y").sql
    assert text == "SELECT 0 AS `x` FROM (SELECT min(`region`) AS `$f0` FROM `dim_0`)"


def test_branches_of_a_union_get_the_first_ones_names() -> None:
    text = residual("SELECT region FROM dim UNION ALL SELECT country FROM dim").sql
    assert ") UNION ALL (" in text
    assert "AS `region_2`" in text


def test_names_are_quoted_and_backquotes_doubled() -> None:
    assert residual("SELECT pop AS `a``b` FROM dim").sql.startswith("SELECT `pop`")
    assert "AS `a``b`" in residual("SELECT pop + 1 AS `a``b` FROM dim").sql


def test_zone_arithmetic_is_written_out() -> None:
    """Spark's own session is in UTC."""
    sql = "SELECT md5(CAST(hour(`__time`) AS string)), floor_day(`__time`) FROM {} WHERE rand() < 2"
    assert "from_utc_timestamp" not in residual(sql.format("evt"), "US/Pacific").sql
    text = residual("SELECT md5(trunc(`__time`, 'MM')) FROM ev WHERE rand() < 2", "US/Pacific").sql
    assert "'US/Pacific'" in text
