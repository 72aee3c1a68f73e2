"""Names, scopes and clauses: the meaning of a query before any rule, and the errors for invalid ones."""

from __future__ import annotations

import pytest

from hivedruid.errors import HiveDruidError, SemanticError
from hivedruid.plan.show import tree
from tests.support.planning import plan


def shown(sql: str) -> str:
    return "\n".join(tree(plan(sql, rules=()).node))


def names(sql: str) -> list[str]:
    return [column.name for column in plan(sql, rules=()).columns]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT Country, CLICKS AS Total FROM ev", ["country", "total"]),
        ("SELECT clicks + 1, upper(country), 3 FROM ev", ["_c0", "_c1", "_c2"]),
        ("SELECT country, count(*) FROM ev GROUP BY country", ["country", "_c1"]),
        ("SELECT * FROM dim", ["country", "region", "pop"]),
        ("SELECT d.*, e.clicks FROM dim d JOIN ev e ON d.country = e.country", ["country", "region", "pop", "clicks"]),
        ("SELECT * FROM dim a JOIN dim b USING (country)", ["country", "region", "pop", "region", "pop"]),
        ("SELECT x.a FROM (SELECT pop a FROM dim) x", ["a"]),
        ("WITH x AS (SELECT pop a FROM dim) SELECT a FROM x", ["a"]),
        ("SELECT pop FROM dim UNION ALL SELECT clicks FROM ev", ["pop"]),
        ("SELECT t.region r FROM default.dim t", ["r"]),
        ("SELECT dim.region FROM default.dim", ["region"]),
    ],
)
def test_output_names(sql: str, expected: list[str]) -> None:
    assert names(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # a cast of a table's column has its name, unless another column has it; functions that cast, too
        ("SELECT CAST(pop AS STRING), CAST(d.region AS INT), CAST(pop AS INT) FROM dim d WHERE pop > 1", ["pop", "region", "_c2"]),
        ("SELECT CAST(pop AS STRING), pop, CAST((region) AS INT) AS n FROM dim ORDER BY pop LIMIT 2", ["_c0", "pop", "n"]),
        ("SELECT string(pop), date(region), int(country) FROM dim", ["pop", "region", "country"]),
        ("SELECT *, CAST(pop AS STRING) FROM dim", ["country", "region", "pop", "_c3"]),
        ("SELECT CAST(upper(region) AS INT), CAST(CAST(pop AS INT) AS STRING), to_date(region) FROM dim", ["_c0", "_c1", "_c2"]),
        ("SELECT CAST(region AS INT) FROM dim UNION ALL SELECT 1", ["region"]),
        ("SELECT region FROM (SELECT CAST(region AS INT) FROM dim) t", ["region"]),
        # over a subquery: the name in the table, but only in the outermost SELECT
        ("SELECT CAST(k AS INT) FROM (SELECT region k FROM dim WHERE pop > 1) t", ["region"]),
        ("SELECT * FROM (SELECT CAST(region AS INT) FROM (SELECT region FROM dim) t) u", ["_c0"]),
        ("SELECT CAST(k AS INT) FROM (SELECT region k FROM dim LIMIT 3) t", ["_c0"]),
        ("SELECT CAST(k AS INT) FROM (SELECT max(region) k FROM dim) t", ["_c0"]),
        # not with groups, joins, windows, generated rows, DISTINCT
        ("SELECT CAST(region AS INT), count(*) FROM dim GROUP BY region", ["_c0", "_c1"]),
        ("SELECT CAST(max(pop) AS INT), CAST(1 AS INT) FROM dim", ["_c0", "_c1"]),
        ("SELECT CAST(a.region AS INT) FROM dim a JOIN dim b ON a.pop = b.pop", ["_c0"]),
        ("SELECT CAST(region AS INT), rank() OVER (ORDER BY pop) FROM dim", ["_c0", "_c1"]),
        ("SELECT CAST(region AS INT) FROM dim LATERAL VIEW explode(array(1)) t AS x", ["_c0"]),
        ("SELECT DISTINCT CAST(region AS INT) FROM dim", ["_c0"]),
        # parentheses, and fields of structs
        ("SELECT (pop), ((dim.region)) FROM dim", ["pop", "region"]),
        ("SELECT array(named_struct('a', pop))[0].a, named_struct('F', 1).F, array(1)[0] FROM dim", ["a", "f", "_c2"]),
    ],
)  # fmt: skip
def test_names_of_expressions_that_hive_names_after_a_column(sql: str, expected: list[str]) -> None:
    assert names(sql) == expected


def test_order_by_prefers_the_cast_that_has_the_name_of_a_column() -> None:
    assert "sort=[region_1 " in shown("SELECT CAST(region AS INT) FROM dim ORDER BY region")


def test_clauses_are_nodes_from_the_inside_out() -> None:
    sql = "SELECT country, count(*) c FROM ev WHERE clicks > 1 GROUP BY country HAVING count(*) > 2 ORDER BY c DESC LIMIT 3 OFFSET 1"
    assert [line.strip().partition("(")[0] for line in shown(sql).splitlines()] == [
        "Sort", "Project", "Filter", "Aggregate", "Filter", "TableScan",
    ]  # fmt: skip


def test_the_same_aggregate_twice_is_computed_once() -> None:
    assert "aggs=[sum(clicks), count(*)]" in shown("SELECT sum(clicks), sum(clicks) / count(*), count(*) FROM ev")


def test_order_by_takes_aliases_positions_expressions_and_hidden_columns() -> None:
    for key in ("c", "2", "count(*)"):
        assert "sort=[$f1 ASC NULLS LAST]" in shown(
            f"SELECT country, count(*) c FROM ev GROUP BY country ORDER BY {key}"
        )
    hidden = shown("SELECT country FROM dim ORDER BY pop * 2")
    assert hidden.splitlines()[0] == "Project(country=[country])"


def test_group_by_takes_select_aliases() -> None:
    assert "groups=[upper(country)]" in shown("SELECT upper(country) u, count(*) FROM ev GROUP BY u")


def test_a_constant_beside_aggregates_needs_no_key() -> None:
    assert names("SELECT 'x', count(*), 1 + 1 FROM ev") == ["_c0", "_c1", "_c2"]


def test_count_of_a_constant_counts_rows() -> None:
    assert "aggs=[count(*)]" in shown("SELECT count(1) FROM ev")
    assert "aggs=[count(*), count(NULL)]" in shown("SELECT count(*), count(NULL) FROM ev")


@pytest.mark.parametrize(
    ("group", "sets"),
    [
        ("country, city WITH ROLLUP", ((0, 1), (0,), ())),
        ("ROLLUP (country, city)", ((0, 1), (0,), ())),
        ("country, city WITH CUBE", ((0, 1), (0,), (1,), ())),
        ("CUBE (country, city)", ((0, 1), (0,), (1,), ())),
        ("country, ROLLUP (city)", ((0, 1), (0,))),
        ("country, city GROUPING SETS ((country, city), city, ())", ((0, 1), (1,), ())),
        ("GROUPING SETS ((country, city), (city), ())", ((0, 1), (1,), ())),
    ],
)
def test_rollup_and_cube_are_grouping_sets(group: str, sets: tuple[tuple[int, ...], ...]) -> None:
    made = plan(f"SELECT country, city, count(*), grouping__id FROM ev GROUP BY {group}", rules=())
    aggregate = next(n for n in made.node.walk() if type(n).__name__ == "Aggregate")
    assert aggregate.grouping_sets == sets  # type: ignore[attr-defined]


def test_grouping_of_several_columns_is_a_vector_of_bits() -> None:
    made = shown("SELECT grouping(country, city), count(*) FROM ev GROUP BY country, city WITH CUBE")
    assert "((grouping_bit(_grouping_id, 1) * 2) + grouping_bit(_grouping_id, 0))" in made


def test_a_window_function_takes_aggregates() -> None:
    made = shown("SELECT country, sum(count(*)) OVER (ORDER BY sum(clicks)) FROM ev GROUP BY country")
    assert "aggs=[count(*), sum(clicks)]" in made


REFUSED = [
    ("SELECT nothing FROM ev", "unknown column 'nothing'", "nothing"),
    ("SELECT contry FROM ev", "unknown column 'contry'", "contry"),
    ("SELECT 1 FROM evv", "Table not found evv", "evv"),
    ("SELECT x.pop FROM dim", "unknown column 'x.pop'", "pop"),
    ("SELECT country FROM dim a JOIN dim b ON a.pop = b.pop", "ambiguous", "country"),
    ("SELECT city, count(*) FROM ev GROUP BY country", "must be in GROUP BY or inside an aggregate", "city"),
    ("SELECT clicks FROM ev WHERE sum(clicks) > 3", "aggregate functions are not allowed in WHERE", None),
    ("SELECT sum(count(*)) FROM ev", "nested aggregate functions are not supported", None),
    ("SELECT max(sum(count(*))) OVER () FROM ev", "nested aggregate functions are not supported", None),
    ("SELECT grouping() FROM ev GROUP BY country WITH ROLLUP", "the argument of grouping() must be", None),
    ("SELECT grouping(city) FROM ev GROUP BY country WITH ROLLUP", "the argument of grouping() must be", None),
    ("SELECT count(*) FROM ev GROUP BY CUBE(country), ROLLUP(city)", "only one of ROLLUP", None),
    ("SELECT clicks FROM ev HAVING clicks > 3", "HAVING requires GROUP BY", None),
    ("SELECT floor_decade(`__time`) FROM ev", "unknown function 'floor_decade'", None),
    ("SELECT DATE '2020-02-30' FROM ev", "invalid DATE literal '2020-02-30'", None),
    ("SELECT `__time` + INTERVAL 'x' DAY FROM ev", "invalid INTERVAL", None),
    ("SELECT clicks FROM ev ORDER BY 7", "position 7", None),
    ("SELECT clicks FROM ev UNION ALL SELECT clicks, imps FROM ev", "numbers of columns: 1 and 2", None),
    (
        "SELECT clicks FROM ev WHERE clicks IN (SELECT pop, region FROM dim)",
        "IN compares 1 values with 2 columns",
        None,
    ),
    ("SELECT (SELECT pop, region FROM dim) FROM ev", "must return one column, not 2", None),
    ("SELECT clicks FROM ev LIMIT clicks", "an integer", None),
    ("SELECT DISTINCT country FROM ev ORDER BY clicks", "ORDER BY of SELECT DISTINCT", None),
    (
        "SELECT pop FROM ev NATURAL JOIN dim",
        "NATURAL JOIN is not supported: Hive parses NATURAL as a table alias",
        None,
    ),
]


@pytest.mark.parametrize(("sql", "message", "at"), REFUSED)
def test_wrong_queries_are_refused_with_the_place(sql: str, message: str, at: str | None) -> None:
    with pytest.raises(HiveDruidError) as failure:
        plan(sql)
    assert message in str(failure.value)
    if at is not None:
        span = failure.value.span
        assert span is not None
        assert sql[span.column - 1 :].startswith(at)


def test_near_names_are_suggested() -> None:
    with pytest.raises(SemanticError) as failure:
        plan("SELECT contry FROM ev")
    assert "country" in (failure.value.hint or "")


def test_a_comparison_that_can_never_hold_is_noted() -> None:
    notes: list[str] = []
    plan("SELECT clicks FROM ev WHERE `__time` = '2020-01-01T00:00:00Z'", notes=notes)
    assert notes == [
        "'2020-01-01T00:00:00Z' is not a valid timestamp with local time zone: the comparison is NULL, as in Hive"
    ]
