"""The translation to Spark SQL: the text of clauses and expressions. tests/equivalence and tests/q test the results."""

from __future__ import annotations

import re

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
        ("printf('%5.1f', 2.25)", "format_string('%5.1f', CAST('2.25' AS DOUBLE))"),
        ("printf('%s %d', CAST(pop AS decimal(10,4)), pop)", "format_string('%s %d', CAST(CAST(`pop` AS DECIMAL(10,4)) AS DOUBLE), `pop`)"),
        ("region LIKE 'a|_b||' ESCAPE '|'", "(`region` LIKE 'a|_b||' ESCAPE '|')"),
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
            "SELECT `region` AS `region_1`, `$f2` FROM (SELECT `region`, `country`, count(*) AS `$f2`, "
            "grouping_id() AS `_grouping_id` FROM `dim_0` GROUP BY `region`, `country` "
            "GROUPING SETS ((`region`, `country`), (`region`))) WHERE ((`region` IS NULL) OR (`$f2` = 1))",
        ),
        ("SELECT region FROM dim ORDER BY region LIMIT 3 OFFSET 1", "SELECT `region` FROM `dim_0` ORDER BY `region` ASC NULLS LAST LIMIT 3 OFFSET 1"),
        ("SELECT region FROM dim ORDER BY region DESC NULLS LAST", "SELECT `region` FROM `dim_0` ORDER BY `region` DESC NULLS LAST"),
        (
            # after HAVING, Spark's ORDER BY resolves only output columns
            "SELECT region FROM dim GROUP BY region, country HAVING count(*) > 1 ORDER BY country",
            "SELECT `region` AS `region_1` FROM (SELECT `region`, `country` FROM `dim_0` GROUP BY `region`, `country` "
            "HAVING (count(*) > 1)) ORDER BY `country` ASC NULLS LAST",
        ),
    ],
)  # fmt: skip
def test_clauses(sql: str, expected: str) -> None:
    assert residual(sql).sql == expected


def test_copies_of_a_query_have_the_same_text() -> None:
    """Spark then runs what they have in common once: a renamed column would be a difference."""
    copy = "SELECT d.region, max(md5(d.country)) m FROM dim d JOIN dim e ON md5(d.region) = md5(e.country) GROUP BY d.region"
    text = residual(f"SELECT a.region, b.m FROM ({copy}) a JOIN ({copy}) b ON md5(a.region) = md5(b.m)").sql
    _, *copies = re.sub(r"`dim_\d+`", "`dim`", text).split("(SELECT `region`, max(")
    assert len(copies) == 2
    assert copies[0].partition(" GROUP BY ")[0] == copies[1].partition(" GROUP BY ")[0]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT md5(region) AS country FROM dim ORDER BY dim.country",
            "SELECT md5(`region`) AS `country_1` FROM `dim_0` ORDER BY `country` ASC NULLS LAST",
        ),
        ("SELECT region AS country, country AS region FROM dim", "SELECT `region`, `country` FROM `dim_0`"),
        (
            "SELECT a.pop + b.pop AS pop FROM dim a JOIN dim b ON a.pop + 1 = b.pop ORDER BY a.pop",
            "SELECT (_left.`pop` + _right.`pop`) AS `pop_2` FROM `dim_0` AS _left JOIN `dim_0` AS _right "
            "ON ((_left.`pop` + 1) = _right.`pop`) ORDER BY _left.`pop` ASC NULLS LAST",
        ),
        (
            "SELECT a.pop FROM dim a LATERAL VIEW explode(array(a.pop, a.pop)) t AS pop WHERE t.pop > 3",
            "SELECT `pop` FROM `dim_0` LATERAL VIEW explode(array(`pop`, `pop`)) _l AS `pop_1` WHERE (`pop_1` > 3)",
        ),
        (
            # a subquery that reads columns of the query around it
            "SELECT pop FROM dim a WHERE pop IN (SELECT b.pop FROM dim b WHERE b.region = a.region) OR pop = 1",
            "SELECT `pop` FROM `dim_0` WHERE ((`pop` IN (SELECT `pop_1` FROM (SELECT `region` AS `region_1`, `pop` AS `pop_1` "
            "FROM `dim_0`) WHERE (`region_1` = `region`))) OR (`pop` = 1))",
        ),
    ],
)
def test_no_name_hides_another(sql: str, expected: str) -> None:
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


@pytest.mark.parametrize(
    ("call", "short"),
    [
        ("substr(region, 1, 2)", "substring(`region`, 1, 2)"),
        ("substr(region, -3)", "(CASE WHEN -3 < -length(`region`) THEN '' ELSE substring(`region`, -3) END)"),
        ("lpad(region, 5, '-')", "lpad(`region`, 5, '-')"),
        ("instr(region, 'x')", "instr(`region`, 'x')"),
        ("locate('x', region, 2)", "locate('x', `region`, 2)"),
    ],
)
def test_positions_in_ascii_texts_take_the_short_way(call: str, short: str) -> None:
    """The exact form replaces characters by regular expressions, which took most of the time of a query."""
    text = lowered(call)
    assert text.startswith(f"if(octet_length(`region`) = char_length(`region`), {short}, ")
    assert "regexp_replace(" in text.removeprefix(short)


def test_the_short_way_is_not_repeated_in_nested_calls() -> None:
    nested = "region"
    for _ in range(8):
        nested = f"substr({nested}, 1, 9)"
    assert len(lowered(nested)) < 10_000


def test_alternatives_of_an_expression_are_one_list() -> None:
    text = lowered("substr(region, 1, 2) = 'a' OR pop = 1 OR substr(region, 1, 2) = 'b' OR pop = 2")
    assert text.endswith(" IN ('a', 'b')) OR (`pop` = 1) OR (`pop` = 2))")
    assert text.count("octet_length") == 1


def test_alternatives_with_random_values_stay() -> None:
    text = lowered("concat(region, uuid()) = 'a' OR concat(region, uuid()) = 'b'")
    assert text.count("uuid()") == 2


@pytest.mark.parametrize("function", ["hash()", "murmur_hash()", "hash(NULL)", "field(NULL, region)"])
def test_a_function_without_a_column_is_not_a_position(function: str) -> None:
    """Spark takes a number in ORDER BY and GROUP BY for the position of a column."""
    assert not re.search(r"BY \d", residual(f"SELECT region FROM dim ORDER BY {function} LIMIT 3").sql)
    assert not re.search(r"BY \d", residual(f"SELECT {function}, count(*) FROM dim GROUP BY {function}").sql)


@pytest.mark.parametrize("key", ["1 + count(*)", "max(pop)", "if(true, 2, count(*))"])
def test_a_total_that_only_sorts_is_computed_below_the_items(key: str) -> None:
    """Spark takes SELECT 1 … ORDER BY count(*) for one row for each input row."""
    sql = residual(f"SELECT 1 AS x FROM dim ORDER BY {key}").sql
    assert re.search(r"FROM \(SELECT .*\b(count|max)\(", sql), sql
