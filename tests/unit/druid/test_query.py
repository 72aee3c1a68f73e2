"""Which native query a plan becomes, and its parts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.planning import ETERNITY, is_pushed, native, read, residual


def test_scan_has_the_columns_asked_for_in_druids_documented_order() -> None:
    assert native("SELECT country, clicks FROM ev WHERE clicks > 3 LIMIT 5") == {
        "queryType": "scan",
        "dataSource": "events",
        "intervals": [ETERNITY],
        "filter": {"type": "range", "column": "clicks", "matchValueType": "LONG", "lower": 3, "lowerOpen": True},
        "columns": ["country", "clicks"],
        "resultFormat": "compactedList",
        "limit": 5,
    }


def test_every_column_can_be_asked_for() -> None:
    query = native("SELECT * FROM ev")
    assert query["queryType"] == "scan"
    assert query["columns"][0] == "__time"
    assert len(query["columns"]) == 10


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("`__time`", "ascending"),
        ("`__time` DESC", "descending"),
        ("`__time` ASC NULLS LAST", "ascending"),
        ("1", "ascending"),
    ],
)
def test_scan_ordered_by_time(order: str, expected: str) -> None:
    query = native(f"SELECT `__time`, clicks FROM ev ORDER BY {order} LIMIT 3 OFFSET 2")
    assert (query["queryType"], query["order"], query["limit"], query["offset"]) == ("scan", expected, 3, 2)


def test_scan_ordered_by_a_time_that_is_not_selected_reads_it() -> None:
    made = read("SELECT clicks FROM ev ORDER BY `__time`")
    assert made.query["columns"] == ["clicks", "__time"]
    assert [f.name for f in made.fields] == ["clicks"]


@pytest.mark.parametrize("order", ["clicks", "`__time`, clicks", "hour(`__time`)"])
def test_scan_in_another_order_is_sorted_on_spark(order: str) -> None:
    assert "ORDER BY" in residual(f"SELECT `__time`, clicks FROM ev ORDER BY {order}").sql


def test_grand_total_is_a_timeseries_of_one_bucket() -> None:
    assert native("SELECT count(*), sum(clicks) FROM ev") == {
        "queryType": "timeseries",
        "dataSource": "events",
        "descending": False,
        "granularity": "all",
        "aggregations": [{"type": "count", "name": "$f0"}, {"type": "longSum", "name": "$f1", "fieldName": "clicks"}],
        "intervals": [ETERNITY],
        "context": {"skipEmptyBuckets": False},
    }


PERIODS = {
    "second": "PT1S", "minute": "PT1M", "hour": "PT1H", "day": "P1D", "week": "P1W", "month": "P1M", "quarter": "P3M",
    "year": "P1Y",
}  # fmt: skip


@pytest.mark.parametrize(("unit", "period"), PERIODS.items())
@pytest.mark.parametrize(("table", "zone"), [("ev", "US/Pacific"), ("evt", "UTC")])
def test_group_by_a_floor_of_time_is_a_timeseries(unit: str, period: str, table: str, zone: str) -> None:
    query = native(
        f"SELECT floor_{unit}(`__time`), count(*) FROM {table} WHERE `__time` >= '2020-01-01' AND `__time` < '2020-01-02' "
        f"GROUP BY floor_{unit}(`__time`)",
        "US/Pacific",
    )
    assert query["queryType"] == "timeseries"
    assert query["granularity"] == {"type": "period", "period": period, "timeZone": zone}
    assert query["context"] == {"skipEmptyBuckets": True}


def test_a_timeseries_does_not_step_through_the_seconds_of_years() -> None:
    query = native("SELECT floor_second(`__time`) t, count(*) FROM ev GROUP BY floor_second(`__time`) ORDER BY t")
    assert query["queryType"] == "groupBy"
    assert query["virtualColumns"][0]["expression"] == "timestamp_floor(\"__time\",'PT1S',null,'UTC')"


def test_timeseries_in_descending_order_with_a_limit() -> None:
    query = native(
        "SELECT floor_day(`__time`) d, sum(clicks) FROM ev GROUP BY floor_day(`__time`) ORDER BY d DESC LIMIT 3"
    )
    assert (query["queryType"], query["descending"], query["limit"]) == ("timeseries", True, 3)


TIMESERIES_NO_MORE = [
    "SELECT floor_day(`__time`), count(*) FROM ev GROUP BY floor_day(`__time`) HAVING count(*) > 3",
    "SELECT floor_day(`__time`), count(*) c FROM ev GROUP BY floor_day(`__time`) ORDER BY c LIMIT 3",
    "SELECT floor_day(`__time`) d, count(*) FROM ev GROUP BY floor_day(`__time`) ORDER BY d LIMIT 3 OFFSET 2",
    "SELECT floor_day(`__time`), country, count(*) FROM ev GROUP BY floor_day(`__time`), country",
    "SELECT year(`__time`), count(*) FROM ev GROUP BY year(`__time`)",
    "SELECT `__time`, count(*) FROM ev GROUP BY `__time`",
    "SELECT ceil(`__time` TO day), count(*) FROM ev GROUP BY ceil(`__time` TO day)",
]


@pytest.mark.parametrize("sql", TIMESERIES_NO_MORE)
def test_what_a_timeseries_cannot_say_is_a_group_by(sql: str) -> None:
    assert native(sql)["queryType"] == "groupBy"


def test_group_by_has_typed_dimensions_and_aggregators() -> None:
    query = native(
        "SELECT country, clicks + 1, sum(imps), min(revenue), max(score), avg(clicks), count(city), count(*) "
        "FROM ev GROUP BY country, clicks + 1"
    )
    assert query["dimensions"] == [
        {"type": "default", "dimension": "country", "outputName": "country", "outputType": "STRING"},
        {"type": "default", "dimension": "vc0", "outputName": "vc0", "outputType": "LONG"},
    ]
    assert [(a["type"], a["name"]) for a in query["aggregations"]] == [
        ("longSum", "$f2"), ("doubleMin", "$f3"), ("floatMax", "$f4"), ("doubleSum", "$f5:sum"), ("filtered", "$f5:count"),
        ("filtered", "$f6"), ("count", "$f7"),
    ]  # fmt: skip
    assert query["postAggregations"] == [
        {"type": "expression", "name": "$f5", "expression": '("$f5:sum" / "$f5:count")', "outputType": "DOUBLE"}
    ]


def test_count_of_a_column_counts_values_that_are_not_null() -> None:
    (count,) = native("SELECT count(city) FROM ev")["aggregations"]
    assert count["filter"] == {"type": "not", "field": {"type": "null", "column": "city"}}
    assert native("SELECT count(`__time`) FROM ev")["aggregations"] == [{"type": "count", "name": "$f0"}]


def test_aggregate_filter_and_null_check_are_one_condition() -> None:
    (count,) = native("SELECT country, count(city) FILTER (WHERE clicks = 1) FROM ev GROUP BY country")["aggregations"]
    assert [f["type"] for f in count["filter"]["fields"]] == ["not", "equals"]
    total, _ = native("SELECT sum(clicks) FILTER (WHERE country = 'US'), count(*) FROM ev")["aggregations"]
    assert total["aggregator"] == {"type": "longSum", "name": "$f0", "fieldName": "clicks"}


def test_distinct_is_a_group_by_without_aggregators() -> None:
    query = native("SELECT DISTINCT country, is_mobile FROM ev")
    assert query["queryType"] == "groupBy"
    assert "aggregations" not in query
    assert [d["outputType"] for d in query["dimensions"]] == ["STRING", "LONG"]


def test_having_reads_aggregates_and_a_condition_on_keys_is_a_filter() -> None:
    query = native("SELECT country, count(*) FROM ev GROUP BY country HAVING count(*) > 3 AND country <> 'US'")
    assert query["having"]["filter"]["column"] == "$f1"
    assert query["filter"]["type"] == "not"


def test_arithmetic_on_aggregates_is_a_post_aggregation() -> None:
    query = native("SELECT country, sum(clicks) / count(*) FROM ev GROUP BY country")
    (post,) = query["postAggregations"]
    assert post["expression"] == 'if("$f2" == 0,null,(CAST("$f1",\'DOUBLE\') / "$f2"))'


def test_output_names_are_unique_and_never_the_time_columns() -> None:
    """Druid refuses `__time` and names given twice (GroupByQuery.verifyOutputNames)."""
    from hivedruid.catalog.table import Column, Table
    from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP

    for sql in (
        "SELECT DISTINCT `__time` FROM ev",
        "SELECT `__time`, max(clicks) FROM ev GROUP BY `__time` ORDER BY `__time` LIMIT 2",
    ):
        query = native(sql)
        (dimension,) = query.get("dimensions") or [query["dimension"]]
        assert (dimension["dimension"], dimension["outputName"]) == ("__time", "d0")
    names = ("d0", "d1", "p0", "vc0", "$f1")
    odd = Table(
        "default",
        "odd",
        "druid",
        (Column("__time", TIMESTAMP), *(Column(n, STRING) for n in names), Column("x", BIGINT)),
        True,
    )
    listed = ", ".join(f"`{n}`" for n in names)
    query = native(
        f"SELECT `__time`, {listed}, upper(d1), sum(x), sum(x) + 1 FROM odd GROUP BY `__time`, {listed}, upper(d1)",
        tables=(odd,),
    )
    made = [
        *(d["outputName"] for d in query["dimensions"]), *(a["name"] for a in query["aggregations"]), *(p["name"] for p in query["postAggregations"]),
    ]  # fmt: skip
    assert len(set(made)) == len(made) == 9
    assert "__time" not in made


# --- top n, order, nulls -------------------------------------------------------------------------------------------


def order_of(sql: str) -> list[tuple[str, str]]:
    return [(c["dimension"], c["direction"]) for c in native(sql)["limitSpec"]["columns"]]


def test_top_n_only_for_one_key_ordered_by_itself_and_limited() -> None:
    query = native("SELECT country, sum(clicks) FROM ev GROUP BY country ORDER BY country NULLS FIRST LIMIT 5")
    assert query["queryType"] == "topN"
    assert query["metric"] == {"type": "dimension", "ordering": "lexicographic"}
    assert query["threshold"] == 5
    descending = native("SELECT clicks, count(*) FROM ev WHERE clicks > 0 GROUP BY clicks ORDER BY clicks DESC LIMIT 5")
    assert descending["metric"] == {"type": "inverted", "metric": {"type": "dimension", "ordering": "numeric"}}


TOP_N_NEVER = [
    "SELECT country, sum(clicks) s FROM ev GROUP BY country ORDER BY s DESC LIMIT 5",  # approximate
    "SELECT country, city, count(*) FROM ev GROUP BY country, city ORDER BY country NULLS FIRST LIMIT 5",
    "SELECT country, count(*) FROM ev GROUP BY country ORDER BY country NULLS FIRST LIMIT 5 OFFSET 1",
    "SELECT country, count(*) FROM ev GROUP BY country HAVING count(*) > 1 ORDER BY country NULLS FIRST LIMIT 5",
    "SELECT country, count(*) FROM ev GROUP BY country ORDER BY country NULLS LAST LIMIT 5",  # Druid has nulls lowest
    "SELECT country, count(*) FROM ev GROUP BY country ORDER BY country DESC NULLS LAST LIMIT 5",  # inverted: nulls first
    "SELECT country, count(*) FROM ev GROUP BY country ORDER BY country NULLS FIRST LIMIT 5000",
    "SELECT country, count(*) FROM ev GROUP BY country ORDER BY country NULLS FIRST",
]


@pytest.mark.parametrize("sql", TOP_N_NEVER)
def test_where_top_n_would_not_be_exact_it_is_a_group_by(sql: str) -> None:
    assert native(sql)["queryType"] == "groupBy"


BY_CLICKS = "SELECT country, sum(clicks) FROM ev GROUP BY country ORDER BY sum(clicks) "


def test_druids_null_order_needs_no_flag() -> None:
    assert order_of(BY_CLICKS + "NULLS FIRST LIMIT 3") == [("$f1", "ascending")]
    assert order_of(BY_CLICKS + "DESC NULLS LAST LIMIT 3") == [("$f1", "descending")]


def test_another_null_order_is_made_by_a_flag_in_front() -> None:
    flag = native(BY_CLICKS + "NULLS LAST LIMIT 3")["postAggregations"]
    assert flag == [{"type": "expression", "name": "p0", "expression": 'isnull("$f1")', "outputType": "LONG"}]
    assert order_of(BY_CLICKS + "NULLS LAST LIMIT 3") == [("p0", "ascending"), ("$f1", "ascending")]
    assert order_of(BY_CLICKS + "DESC NULLS FIRST LIMIT 3") == [("p0", "descending"), ("$f1", "descending")]


def test_hives_default_is_nulls_last_ascending_and_first_descending() -> None:
    """hive.default.nulls.last is true in Hive 4: ASC NULLS LAST, DESC NULLS FIRST."""
    assert order_of(BY_CLICKS + "LIMIT 3") == order_of(BY_CLICKS + "NULLS LAST LIMIT 3")
    assert order_of(BY_CLICKS + "DESC LIMIT 3") == order_of(BY_CLICKS + "DESC NULLS FIRST LIMIT 3")


def test_what_is_never_null_needs_no_flag() -> None:
    assert order_of("SELECT country, count(*) FROM ev GROUP BY country ORDER BY count(*) NULLS LAST LIMIT 3") == [
        ("$f1", "ascending")
    ]
    sql = "SELECT country, count(*) FROM ev WHERE country IS NOT NULL GROUP BY country, city ORDER BY country NULLS LAST LIMIT 3"
    assert order_of(sql) == [("country", "ascending")]
    either = sql.replace("country IS NOT NULL", "country = 'US' OR (country > 'x' AND clicks > 1)")
    assert order_of(either) == [("country", "ascending")]
    assert order_of(either.replace("country = 'US'", "clicks = 2"))[0] == ("p0", "ascending")


def test_zeros_of_either_sign_are_one_group() -> None:
    query = native(
        "SELECT revenue, score, CAST(clicks AS double), count(*) FROM ev GROUP BY revenue, score, CAST(clicks AS double)"
    )
    names = [(d["dimension"], d["outputName"], d["outputType"]) for d in query["dimensions"]]
    assert names == [("vc0", "revenue", "DOUBLE"), ("vc1", "score", "FLOAT"), ("vc2", "vc2", "DOUBLE")]
    computed = [(v["expression"], v["outputType"]) for v in query["virtualColumns"]]
    assert computed == [
        ('("revenue" + 0.0)', "DOUBLE"),
        ('("score" + 0.0)', "FLOAT"),
        ("CAST(\"clicks\",'DOUBLE')", "DOUBLE"),
    ]


def test_zeros_of_either_sign_are_at_one_place_of_the_order() -> None:
    query = native(
        "SELECT country, max(revenue) m, sum(revenue) s FROM ev GROUP BY country ORDER BY m NULLS FIRST, s NULLS FIRST"
    )
    assert [c["dimension"] for c in query["limitSpec"]["columns"]] == ["p0", "$f2"]
    assert [p["expression"] for p in query["postAggregations"]] == ['("$f1" + 0.0)']


def test_numbers_are_ordered_as_numbers_and_texts_as_texts() -> None:
    query = native(
        "SELECT clicks, country, count(*) FROM ev GROUP BY clicks, country ORDER BY clicks NULLS FIRST, country NULLS FIRST LIMIT 3"
    )
    assert [c["dimensionOrder"] for c in query["limitSpec"]["columns"]] == ["numeric", "lexicographic"]


# --- nested queries ------------------------------------------------------------------------------------------------


def nesting(sql: str) -> list[str]:
    """Query types from the outside in."""
    kinds: list[str] = []
    query: Any = native(sql)
    while isinstance(query, dict):
        kinds.append(query["queryType"])
        query = query["dataSource"]["query"] if isinstance(query["dataSource"], dict) else None
    return kinds


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(DISTINCT country) FROM ev", ["groupBy", "groupBy"]),
        ("SELECT count(DISTINCT country), count(DISTINCT city) FROM ev", ["timeseries", "groupBy"]),
        ("SELECT city, count(DISTINCT country), sum(clicks) FROM ev GROUP BY city", ["groupBy", "groupBy"]),
        ("SELECT sum(DISTINCT clicks) FROM ev", ["groupBy", "groupBy"]),
        ("SELECT max(c) FROM (SELECT country, count(*) c FROM ev GROUP BY country) x", ["groupBy", "groupBy"]),
        ("SELECT count(*) FROM (SELECT clicks FROM ev LIMIT 10) x", ["timeseries", "scan"]),
        ("SELECT count(*) FROM (SELECT DISTINCT country FROM ev) x", ["groupBy", "groupBy"]),
        ("SELECT country FROM (SELECT country, clicks FROM ev LIMIT 5) x WHERE clicks > 3", ["scan", "scan"]),
    ],
)
def test_aggregates_of_aggregates_are_nested_queries(sql: str, expected: list[str]) -> None:
    assert nesting(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT corr(clicks, imps) FROM ev",
        "SELECT collect_set(country) FROM ev",
        "SELECT sum(CAST(clicks AS decimal(10,2))) FROM ev",
        "SELECT clicks FROM ev LIMIT 0",
        "SELECT * FROM ev JOIN dim ON ev.country = dim.country",
        "SELECT country FROM ev UNION ALL SELECT country FROM dim",
        "SELECT row_number() OVER (ORDER BY clicks) FROM ev",
    ],
)
def test_query_that_needs_spark(sql: str) -> None:
    assert not is_pushed(sql)


def test_arrays_are_read_but_no_keys() -> None:
    assert native("SELECT tags FROM tagged")["columns"] == ["tags"]
    assert not is_pushed("SELECT tags, count(*) FROM tagged GROUP BY tags")
    assert not is_pushed("SELECT tags[-1] FROM tagged")
    assert not is_pushed("SELECT sort_array(tags) FROM tagged")


@pytest.mark.parametrize(
    ("sql", "expression"),
    [
        ("size(tags)", 'nvl(array_length(mv_to_array("tags")),-1)'),
        ("tags[1]", 'array_offset(mv_to_array("tags"),1)'),
        ("array_contains(tags, 'x')", "nvl(scalar_in_array('x',mv_to_array(\"tags\")),0)"),
        ("tags IS NULL", 'isnull(mv_to_array("tags"))'),
    ],
)
def test_functions_of_arrays(sql: str, expression: str) -> None:
    assert [column["expression"] for column in virtual(f"SELECT {sql} FROM tagged")] == [expression]


def test_names_that_differ_in_druid_are_used_in_the_query_and_not_in_the_result() -> None:
    from hivedruid.catalog.table import Column, Table
    from hivedruid.catalog.types import BIGINT, STRING, TIMESTAMP_LTZ

    columns = (Column("__time", TIMESTAMP_LTZ), Column("cityname", STRING, field="cityName"), Column("added", BIGINT))
    table = Table("default", "wiki", "druid", columns, True)
    query = native("SELECT cityname, sum(added) FROM wiki WHERE cityname LIKE 'B%' GROUP BY cityname", tables=(table,))
    assert query["dimensions"][0]["dimension"] == "cityName"
    assert query["filter"]["dimension"] == "cityName"
    assert query["dataSource"] == "default.wiki"


def virtual(sql: str) -> list[Any]:
    return native(sql).get("virtualColumns", [])


def test_an_aggregate_of_an_expression_reads_a_virtual_column_once() -> None:
    made = virtual("SELECT sum(clicks * 2), max(clicks * 2) FROM ev")
    assert [v["expression"] for v in made] == ['("clicks" * 2)']


def test_post_aggregations_beside_dimensions_named_like_them_have_names_of_their_own() -> None:
    query = native(
        "SELECT p0, p0 + 1, p0 + 2 FROM (SELECT count(*) + 1 AS p0, country FROM ev GROUP BY country) x GROUP BY p0"
    )
    names = [d["outputName"] for d in query["dimensions"]] + [p["name"] for p in query.get("postAggregations", [])]
    assert len(names) == len(set(names)) == 3


def test_a_join_of_inner_queries_is_not_grouped_twice() -> None:
    """Druid 33 leaves such a join out: GROUP BY over GROUP BY over a join whose left side is a query."""
    joined = "(SELECT DISTINCT country, city FROM ev) x JOIN (SELECT DISTINCT city FROM ev) y ON x.city = y.city"
    once = f"SELECT x.country AS k, count(*) AS c FROM {joined} GROUP BY x.country"
    assert native(once)["dataSource"]["type"] == "join"
    assert native(f"SELECT sum(c) FROM ({once}) z")["queryType"] == "timeseries"
    assert not is_pushed(f"SELECT c, count(*) FROM ({once}) z GROUP BY c")
    over_table = once.replace("(SELECT DISTINCT country, city FROM ev) x", "ev x")
    assert is_pushed(f"SELECT c, count(*) FROM ({over_table}) z GROUP BY c")
