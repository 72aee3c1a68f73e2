"""Rewriting with materialized views: the queries that a view can answer, and those that it must not."""

from __future__ import annotations

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, TIMESTAMP
from hivedruid.plan.nodes import DruidQuery
from tests.support.planning import DIM, TABLES
from tests.support.views import rewritten, view

DAILY = (
    "SELECT floor_day(`__time`) AS `__time`, country, city, count(*) AS n, sum(clicks) AS s, sum(imps) AS si, "
    "count(imps) AS ci, min(revenue) AS mn, max(clicks) AS mx FROM ev GROUP BY floor_day(`__time`), country, city"
)
ROWS = "SELECT `__time`, country, city, clicks, imps, revenue FROM ev"


def answered(views: str, query: str, **options: object) -> str:
    found = rewritten(views, query, **options)  # type: ignore[arg-type]
    assert found.is_answered, found.said
    assert "default.mv" in found.text
    return found.text


def refused(views: str, query: str, **options: object) -> str:
    found = rewritten(views, query, **options)  # type: ignore[arg-type]
    assert not found.is_answered, found.text
    assert "default.mv" not in found.text
    return found.reason


# --- rolling up ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("SELECT country, sum(clicks) FROM ev GROUP BY country", ["groups=[country", "sum(s)"]),
        ("SELECT country, count(*) FROM ev GROUP BY country", ["sum(n)"]),
        ("SELECT country, min(revenue), max(clicks) FROM ev GROUP BY country", ["min(mn)", "max(mx)"]),
        ("SELECT country, avg(imps) FROM ev GROUP BY country", ["sum(si)", "sum(ci)", " / "]),
        ("SELECT country, sum(1) FROM ev GROUP BY country", ["sum(n)"]),
        ("SELECT country, sum(2) FROM ev GROUP BY country", ["sum((", "* n)"]),
        ("SELECT count(city) FROM ev", ["sum(n) FILTER (is_not_null(city"]),
        ("SELECT country, max(city) FROM ev GROUP BY country", ["max(city"]),
        ("SELECT count(DISTINCT city) FROM ev", ["count(DISTINCT city"]),
        ("SELECT DISTINCT country FROM ev", ["groups=[country"]),
        ("SELECT country, sum(clicks) FILTER (WHERE city = 'a') FROM ev GROUP BY country", ["sum(s) FILTER"]),
        ("SELECT country, city, sum(clicks) FROM ev GROUP BY country, city WITH ROLLUP", ["sum(s)"]),
        ("SELECT upper(country), sum(clicks) FROM ev GROUP BY upper(country)", ["groups=[upper(country"]),
        ("SELECT country, sum(clicks) FROM ev GROUP BY country HAVING count(*) > 3", ["sum(s)", "sum(n)"]),
    ],
)
def test_groups_are_rolled_up(query: str, parts: list[str]) -> None:
    text = answered(DAILY, query)
    for part in parts:
        assert part in text


def test_a_count_over_no_rows_is_zero() -> None:
    assert "coalesce(" in answered(DAILY, "SELECT count(*) FROM ev")
    assert "coalesce(" in answered(DAILY, "SELECT country, count(*) FROM ev GROUP BY country WITH CUBE")
    assert "coalesce(" not in answered(DAILY, "SELECT country, count(*) FROM ev GROUP BY country")


def test_equal_groups_are_read_as_they_are() -> None:
    query = "SELECT city, country, floor_day(`__time`), sum(clicks) FROM ev GROUP BY country, city, floor_day(`__time`)"
    assert "Aggregate" not in answered(DAILY, query)
    fixed = "SELECT country, floor_day(`__time`), sum(clicks) FROM ev WHERE city = 'x' GROUP BY country, floor_day(`__time`)"
    assert "Aggregate" not in answered(DAILY, fixed)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT country, sum(revenue) FROM ev GROUP BY country", "it does not contain sum(revenue), and does not contain column revenue"),
        ("SELECT country, avg(clicks) FROM ev GROUP BY country", "it does not contain both avg(clicks) and the matching count: a sum of bigint may overflow"),
        ("SELECT count(DISTINCT clicks) FROM ev", "it does not contain count(DISTINCT clicks), and does not contain column clicks"),
        ("SELECT stddev_pop(clicks) FROM ev", "stddev_pop(clicks) cannot be computed from its groups"),
        ("SELECT is_mobile, count(*) FROM ev GROUP BY is_mobile", "it does not contain column is_mobile"),
        ("SELECT country, count(*) FROM ev WHERE is_mobile GROUP BY country", "it does not contain column is_mobile"),
        ("SELECT country FROM ev", "it contains groups, not rows"),
        ("SELECT count(clicks) FROM ev", "it does not contain count(clicks), and does not contain column clicks"),
        ("SELECT sum(clicks) FILTER (WHERE revenue > 1) FROM ev", "it does not contain column revenue"),
        ("SELECT sum(DISTINCT clicks) FROM ev", "it does not contain sum(DISTINCT clicks), and does not contain column clicks"),
    ],
)  # fmt: skip
def test_what_groups_do_not_tell(query: str, reason: str) -> None:
    assert refused(DAILY, query) == reason


def test_averages_of_bigint_come_from_averages() -> None:
    text = answered(
        "SELECT floor_day(`__time`) AS `__time`, country, avg(clicks) a, count(clicks) c FROM ev GROUP BY floor_day(`__time`), country",
        "SELECT country, avg(clicks) FROM ev GROUP BY country",
    )
    assert "sum((a * " in text


# --- time ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["day", "week", "month", "quarter", "year"])
def test_days_make_every_longer_unit(unit: str) -> None:
    query = f"SELECT floor_{unit}(`__time`), sum(clicks) FROM ev GROUP BY floor_{unit}(`__time`)"
    for zone in ("UTC", "US/Pacific"):
        answered(DAILY, query, zone=zone)


@pytest.mark.parametrize(
    ("fine", "coarse"), [("week", "month"), ("month", "week"), ("year", "month"), ("week", "year"), ("quarter", "day")]
)
def test_units_that_do_not_fit_into_each_other(fine: str, coarse: str) -> None:
    text = f"SELECT floor_{fine}(`__time`) AS `__time`, sum(clicks) AS s FROM ev GROUP BY floor_{fine}(`__time`)"
    query = f"SELECT floor_{coarse}(`__time`), sum(clicks) FROM ev GROUP BY floor_{coarse}(`__time`)"
    assert refused(text, query) == f"it contains __time only by {fine}"


def test_hours_of_a_zone_are_not_rolled_up() -> None:
    """Offsets of some zones were once not whole hours, so that an hour belongs to two days."""
    text = "SELECT floor_hour(`__time`) AS `__time`, sum(clicks) AS s FROM ev GROUP BY floor_hour(`__time`)"
    query = "SELECT floor_day(`__time`), sum(clicks) FROM ev GROUP BY floor_day(`__time`)"
    answered(text, query)
    refused(text, query, zone="US/Pacific")
    answered(text.replace("ev ", "evt "), query.replace("ev ", "evt "), zone="US/Pacific")


@pytest.mark.parametrize(
    "condition",
    [
        "`__time` >= '2020-01-01' AND `__time` < '2020-02-01'",
        "year(`__time`) = 2020",
        "month(`__time`) = 3",
        "`__time` < '2020-01-01' OR `__time` >= '2021-01-01'",
        "`__time` BETWEEN '2020-01-01' AND '2020-01-31 23:59:59.999'",
        "to_date(`__time`) = '2020-01-05'",
        "floor_month(`__time`) = '2020-01-01 00:00:00'",
        "`__time` NOT BETWEEN '2020-01-01' AND '2020-01-31 23:59:59.999'",
    ],
)
def test_conditions_whose_edges_are_days(condition: str) -> None:
    query = f"SELECT sum(clicks) FROM ev WHERE {condition}"
    answered(DAILY, query)
    answered(DAILY, query, zone="US/Pacific")


@pytest.mark.parametrize(
    "condition",
    [
        "`__time` > '2020-01-01'",
        "`__time` <= '2020-01-01'",
        "`__time` = '2020-01-01'",
        "`__time` >= '2020-01-01 00:00:01'",
        "`__time` BETWEEN '2020-01-01' AND '2020-02-01'",
        "hour(`__time`) = 3",
        "floor_hour(`__time`) = '2020-01-01 00:00:00'",
    ],
)
def test_conditions_that_cut_a_day(condition: str) -> None:
    assert refused(DAILY, f"SELECT sum(clicks) FROM ev WHERE {condition}") == "it contains __time only by day"


def test_the_second_midnight_of_a_night_is_no_edge() -> None:
    """In Havana the clocks go from 1:00 back to 0:00: the day begins at the first of the two midnights."""
    first = "SELECT sum(clicks) FROM ev WHERE `__time` >= TIMESTAMPLOCALTZ '2020-11-01 04:00:00 UTC'"
    answered(DAILY, first, zone="America/Havana")
    refused(DAILY, first.replace("04:00", "05:00"), zone="America/Havana")


HIVE_SIDE = Table(
    "default", "facts", "iceberg", (Column("t", TIMESTAMP), Column("k", STRING), Column("x", DOUBLE)), format="orc"
)


def test_druid_keeps_milliseconds_of_other_tables_times() -> None:
    tables = (*TABLES, HIVE_SIDE)
    text = "SELECT t AS `__time`, k, x FROM facts"
    answered(text, "SELECT floor_second(t), count(*) FROM facts GROUP BY floor_second(t)", tables=tables)
    answered(text, "SELECT year(t), sum(x) FROM facts WHERE t >= '2020-01-01' GROUP BY year(t)", tables=tables)
    assert refused(text, "SELECT t FROM facts", tables=tables) == "it contains t only by millisecond"
    refused(text, "SELECT k FROM facts WHERE t > '2020-01-01'", tables=tables)
    refused(text, "SELECT k FROM facts WHERE t = '2020-01-01'", tables=tables)
    refused(text, "SELECT k FROM facts WHERE t >= '2020-01-01 00:00:00.0001'", tables=tables)
    answered(text, "SELECT t FROM facts WHERE t > '2020-01-01'", tables=tables, kind="iceberg")


def test_a_cast_between_timestamps_is_the_same_instant_in_utc() -> None:
    text = "SELECT CAST(t AS TIMESTAMP WITH LOCAL TIME ZONE) AS `__time`, k, x FROM facts WHERE k = 'a'"
    query = "SELECT year(t), x FROM facts WHERE k = 'a'"
    tables = (*TABLES, HIVE_SIDE)
    answered(text, query, tables=tables)
    refused(text, query, tables=tables, zone="US/Pacific")


# --- rows and their conditions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of_view", "of_query"),
    [
        ("clicks > 3", "clicks > 3"),
        ("clicks > 3", "clicks >= 4"),
        ("clicks > 3", "clicks = 7 AND country = 'x'"),
        ("clicks > 3", "clicks IN (4, 5)"),
        ("clicks > 3", "clicks BETWEEN 10 AND 20"),
        ("clicks <> 3", "clicks > 3"),
        ("clicks IS NOT NULL", "clicks < 3"),
        ("country IN ('a', 'b')", "country = 'a'"),
        ("country = 'a' OR country = 'b'", "country IN ('b', 'a')"),
        ("country = 'a' OR clicks > 3", "clicks > 5"),
        ("country >= 'b'", "country = 'é'"),
        ("revenue > 1.5", "revenue > 2.5"),
        ("3 < clicks", "clicks > 3"),
        ("country = city", "city = country"),
        ("`__time` >= '2020-01-01'", "`__time` > '2020-05-01'"),
        ("`__time` >= '2020-01-01' AND `__time` < '2021-01-01'", "year(`__time`) = 2020"),
        ("year(`__time`) = 2020", "`__time` BETWEEN '2020-02-01' AND '2020-03-01'"),
        ("clicks > 1 AND clicks < 9", "clicks = 5"),
        ("NOT clicks = 3", "clicks = 5"),
    ],
)
def test_conditions_that_imply_the_views(of_view: str, of_query: str) -> None:
    answered(f"{ROWS} WHERE {of_view}", f"SELECT country, sum(revenue) FROM ev WHERE {of_query} GROUP BY country")


@pytest.mark.parametrize(
    ("of_view", "of_query"),
    [
        ("clicks > 3", "clicks >= 3"),
        ("clicks > 3", "clicks > 3 OR country = 'a'"),
        ("clicks > 3", "revenue > 3"),
        ("clicks > 3", "clicks IS NOT NULL"),
        ("clicks > 3", "clicks <> 3"),
        ("clicks > 3", "NOT clicks > 5"),
        ("clicks > 3", "clicks IS NULL"),
        ("clicks IS NULL", "clicks < 3"),
        ("country = 'a'", "country IN ('a', 'b')"),
        ("country = 'a'", "lower(country) = 'a'"),
        ("country <> 'a'", "country IS NULL"),
        ("revenue > 1.5", "revenue >= 1.5"),
        ("revenue >= 4", "revenue > 3"),  # there are other values between two integers
        ("revenue IN (4, 5)", "revenue > 3 AND revenue < 6"),
        ("`__time` >= '2020-01-01'", "`__time` >= '2019-12-31 23:59:59.999'"),
        ("`__time` >= '2020-01-01'", "hour(`__time`) = 3"),
        ("year(`__time`) = 2020", "`__time` >= '2020-06-01'"),
        ("clicks = 3", "imps = 3"),
        ("NOT clicks IS NOT NULL", "clicks = 5"),
        ("clicks > imps", "clicks > 10"),
    ],
)
def test_conditions_that_do_not(of_view: str, of_query: str) -> None:
    query = f"SELECT country, sum(revenue) FROM ev WHERE {of_query} GROUP BY country"
    assert refused(f"{ROWS} WHERE {of_view}", query).startswith("it contains only the rows with ")


def test_conditions_of_the_view_are_not_asked_again() -> None:
    text = answered(f"{ROWS} WHERE clicks > 3", "SELECT country FROM ev WHERE clicks > 3 AND country = 'a'")
    assert "clicks" not in text.splitlines()[1]
    without = "SELECT `__time`, country, city FROM ev WHERE clicks > 3"
    answered(without, "SELECT country FROM ev WHERE clicks >= 4")
    assert refused(without, "SELECT country FROM ev WHERE clicks > 5") == "it does not contain column clicks"


def test_a_column_that_the_view_has_one_value_of() -> None:
    text = answered("SELECT `__time`, country FROM ev WHERE imps = 3", "SELECT imps, country FROM ev WHERE imps = 3")
    assert "[3]" in text
    refused("SELECT `__time`, country FROM ev WHERE revenue = 0.0", "SELECT revenue FROM ev WHERE revenue = 0.0")
    refused("SELECT `__time`, country FROM ev WHERE imps = 7.0", "SELECT max(imps) FROM ev WHERE imps = 7.0")


def test_rows_serve_every_aggregate() -> None:
    query = (
        "SELECT country, count(DISTINCT city), stddev_pop(clicks), sum(clicks * 2), collect_set(city) FROM ev "
        "GROUP BY country"
    )
    answered(ROWS, query)


def test_expressions_are_found_as_a_whole() -> None:
    text = "SELECT `__time`, country, clicks * imps AS product, upper(city) AS big FROM ev"
    answered(text, "SELECT sum(imps * clicks) FROM ev WHERE upper(city) = 'OSLO'")
    assert refused(text, "SELECT sum(clicks) FROM ev") == "it does not contain column clicks"


# --- joins -----------------------------------------------------------------------------------------------------

JOINED = "SELECT e.`__time`, e.country, d.region, e.clicks FROM ev e JOIN dim d ON e.country = d.country"


def test_the_same_joins_in_any_order_and_spelling() -> None:
    for query in (
        "SELECT region, sum(clicks) FROM dim, ev WHERE dim.country = ev.country GROUP BY region",
        "SELECT region, sum(clicks) FROM ev JOIN dim USING (country) WHERE dim.country <> 'x' GROUP BY region",
        "SELECT region FROM (SELECT * FROM ev WHERE clicks > 3) a JOIN dim b ON b.country = a.country",
    ):
        answered(JOINED, query)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT region, sum(clicks) FROM ev LEFT JOIN dim ON ev.country = dim.country GROUP BY region", "it reads different tables"),
        ("SELECT region, clicks FROM ev JOIN dim ON ev.city = dim.country", "it joins its tables on (country = country)"),
        ("SELECT sum(clicks) FROM ev", "it reads different tables"),
        ("SELECT pop FROM ev JOIN dim ON ev.country = dim.country", "it does not contain column pop"),
    ],
)  # fmt: skip
def test_other_joins(query: str, reason: str) -> None:
    assert refused(JOINED, query) == reason


def test_tables_that_only_add_columns_may_be_left_out() -> None:
    """`root`: counting showed that every row of `ev` is in the view once."""
    text = answered(JOINED, "SELECT country, sum(clicks) FROM ev GROUP BY country", root=0)
    assert "TableScan(table=[default.mv]" in text
    refused(JOINED, "SELECT pop, country FROM dim", root=0)
    assert refused(JOINED, "SELECT sum(revenue) FROM ev", root=0) == "it does not contain column revenue"


def test_a_chain_of_tables_is_not_broken() -> None:
    third = Table("default", "zones", "files", (Column("region", STRING), Column("zone", STRING)), True, format="orc")
    tables = (*TABLES, third)
    text = f"{JOINED.replace('e.clicks', 'e.clicks, z.zone')} JOIN zones z ON d.region = z.region"
    answered(text, "SELECT sum(clicks) FROM ev", tables=tables, root=0)
    answered(
        text,
        "SELECT region, sum(clicks) FROM ev JOIN dim ON ev.country = dim.country GROUP BY region",
        tables=tables,
        root=0,
    )
    query = "SELECT zone, sum(clicks) FROM ev JOIN zones ON ev.city = zones.region GROUP BY zone"
    assert (
        refused(text, query, tables=tables, root=0)
        == "the tables of the query are joined through a table that the view does not have"
    )


def test_a_table_joined_with_itself() -> None:
    text = "SELECT a.`__time`, a.city AS c1, b.city AS c2 FROM ev a JOIN ev b ON a.country = b.city"
    answered(text, "SELECT x.city FROM ev y JOIN ev x ON x.country = y.city")
    answered(text, "SELECT x.city FROM ev x JOIN ev y ON x.country = y.city")
    refused(text, "SELECT x.city FROM ev x JOIN ev y ON x.country = y.country")


def test_the_part_of_a_query_that_the_view_has() -> None:
    query = "SELECT t1.clicks FROM (SELECT clicks FROM ev WHERE clicks = 3) t1 JOIN (SELECT clicks FROM ev WHERE imps = 3) t2 ON t1.clicks = t2.clicks"
    found = rewritten("SELECT `__time`, clicks FROM ev WHERE clicks = 3", query)
    assert "default.mv" in found.text
    assert "default.ev" in found.text
    inner = "SELECT d.region, s.c FROM (SELECT country, sum(clicks) c FROM ev GROUP BY country) s LEFT JOIN dim d ON s.country = d.country"
    answered(DAILY, inner)
    for condition in ("pop > (SELECT sum(clicks) FROM ev)", "country IN (SELECT country FROM ev GROUP BY country)"):
        assert rewritten(DAILY, f"SELECT region FROM dim WHERE {condition}").is_answered


def test_correlated_subqueries_keep_their_columns() -> None:
    query = "SELECT region FROM dim d WHERE pop > (SELECT sum(clicks) FROM ev WHERE ev.country = d.country)"
    assert not rewritten(DAILY, query).is_answered


# --- which view, and what comes of it ----------------------------------------------------------------------------


def test_the_first_view_by_name_that_fits() -> None:
    monthly = DAILY.replace("floor_day", "floor_month")
    found = rewritten([DAILY, monthly], "SELECT country, sum(clicks) FROM ev GROUP BY country")
    assert "table=[default.mv]" in found.text
    found = rewritten([ROWS.replace("clicks, ", ""), DAILY], "SELECT country, sum(clicks) FROM ev GROUP BY country")
    assert "table=[default.mv1]" in found.text
    assert sorted(found.said) == [
        "default.mv is not used: it does not contain column clicks",
        "default.mv1 is used instead of default.ev",
    ]


def test_the_smaller_view_goes_first() -> None:
    from hivedruid.plan.build import Builder
    from hivedruid.plan.materialize import rewrite
    from hivedruid.plan.rules import RuleContext
    from hivedruid.plan.show import tree
    from tests.support.planning import parse, snapshot

    ids: dict[str, int] = {}
    views = [view(ROWS, name="a", rows=1000, ids=ids), view(DAILY, name="b", rows=10, ids=ids)]
    expression, source = parse("SELECT country, sum(clicks) FROM ev GROUP BY country")
    builder = Builder(source, snapshot(), None, ids)
    context = RuleContext("UTC", builder.new_column)
    assert "default.b" in "\n".join(tree(rewrite(builder.query(expression, None), views, context, [])))


def test_the_answer_is_one_native_query_with_the_querys_columns() -> None:
    found = rewritten(
        DAILY, "SELECT country AS c, avg(imps) AS a FROM ev WHERE city = 'x' GROUP BY country ORDER BY a LIMIT 3"
    )
    assert isinstance(found.optimized, DruidQuery)
    assert [c.id for c in found.optimized.columns] == [c.id for c in found.node.columns]
    assert found.optimized.base.table.name == "mv"


def test_without_a_fitting_view_the_plan_is_as_it_was() -> None:
    query = "SELECT is_mobile, count(*) FROM ev WHERE clicks > 1 GROUP BY is_mobile"
    before, after = rewritten([], query).node, rewritten(DAILY, query).node
    assert type(before) is type(after)
    assert "default.ev" in rewritten(DAILY, query).text


CHARS = Table(
    "default", "chars", "druid", (Column("__time", TIMESTAMP), Column("n", BIGINT), Column("x", DOUBLE)), True
)


def test_doubles_are_not_equal_columns() -> None:
    """-0.0 = 0.0, and they are two values."""
    text = "SELECT a.`__time`, a.x FROM chars a JOIN evt b ON a.x = b.revenue"
    tables = (*TABLES, CHARS)
    assert (
        refused(text, "SELECT revenue FROM chars JOIN evt ON x = revenue", tables=tables)
        == "it does not contain column revenue"
    )
    same = text.replace("a.x = b.revenue", "a.n = b.clicks").replace("a.x", "a.n")
    answered(same, "SELECT clicks FROM chars JOIN evt ON n = clicks", tables=tables)


def test_a_join_of_a_hive_side_table_alone() -> None:
    answered(
        "SELECT country, region FROM dim WHERE pop > 5",
        "SELECT region FROM dim WHERE pop > 5",
        tables=(DIM,),
        kind="iceberg",
    )


def test_a_column_compared_with_itself_is_not_null() -> None:
    text = answered(ROWS, "SELECT country FROM ev WHERE city = city")
    assert "Filter" in text
    assert refused(f"{ROWS} WHERE city = city", "SELECT country FROM ev").startswith("it contains only the rows with")
    answered(f"{ROWS} WHERE city = city", "SELECT country FROM ev WHERE city = city")


def test_a_zero_is_two_groups() -> None:
    """Groups with -0.0 and 0.0 are two rows of a view, and one group of a query for 0.0."""
    text = (
        "SELECT floor_day(`__time`) AS `__time`, revenue, count(*) AS n FROM ev GROUP BY floor_day(`__time`), revenue"
    )
    query = "SELECT floor_day(`__time`), count(*) FROM ev WHERE revenue = 0.0 GROUP BY floor_day(`__time`)"
    assert "Aggregate" in answered(text, query)


def test_equal_columns_as_two_keys() -> None:
    """The groups are still those of two columns: the view has one of them twice, below."""
    query = (
        "SELECT e.country, d.country, count(*) FROM ev e JOIN dim d ON e.country = d.country "
        "GROUP BY e.country, d.country"
    )
    text = answered(JOINED, query).splitlines()
    assert text[1].strip().startswith("Aggregate(groups=[country_2, country_3]")
    assert text[2].strip().startswith("Project(")
