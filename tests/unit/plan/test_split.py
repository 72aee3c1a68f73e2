"""The split between Druid and Spark: the remaining job, its inputs, its order, and the reasons."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hivedruid.druid.limits import DruidLimits
from hivedruid.plan.physical import DruidInput, TableInput
from hivedruid.plan.reasons import left_outside
from hivedruid.plan.split import druid_read, spark_job
from tests.support.planning import plan, residual


def test_a_job_reads_native_queries_and_tables_by_view() -> None:
    job = residual("SELECT d.region, e.clicks FROM ev e JOIN dim d ON e.country = d.country WHERE e.clicks > 3")
    druid, table = job.inputs
    assert isinstance(druid, DruidInput)
    assert isinstance(table, TableInput)
    assert (druid.view, druid.columns) == ("druid_0", ("country", "clicks"))
    assert (table.view, table.columns) == ("dim_1", ("country", "region"))
    assert druid.read.query["filter"]["fields"][0]["lower"] == 3
    assert "`druid_0`" in job.sql
    assert "`dim_1`" in job.sql


def test_only_what_is_read_travels() -> None:
    job = residual("SELECT md5(city) FROM ev WHERE country = 'US'")
    assert job.inputs[0].columns == ("city",)
    assert job.inputs[0].read.query["columns"] == ["city"]  # type: ignore[union-attr]


def test_the_same_table_twice_is_two_views() -> None:
    job = residual("SELECT a.city FROM ev a JOIN ev b ON a.country = b.country")
    assert [item.view for item in job.inputs] == ["druid_0", "druid_1"]


def test_output_names_are_the_columns_ids_or_those_asked_for() -> None:
    made = plan("SELECT md5(city) AS m FROM ev")
    assert spark_job(made).sql == "SELECT md5(`city`) AS `m` FROM `druid_0`"
    assert spark_job(made, ("x",)).sql == "SELECT md5(`city`) AS `x` FROM `druid_0`"
    assert [c.name for c in spark_job(made).columns] == ["m"]


def test_an_order_made_by_druid_is_made_again_above_what_spark_computes() -> None:
    """Spark reads a view's rows in any order."""
    job = residual(
        "SELECT m, md5(CAST(s AS string)) FROM (SELECT floor_day(`__time`) m, sum(clicks) s FROM ev GROUP BY floor_day(`__time`)) x ORDER BY m LIMIT 5"
    )
    assert job.sql.rstrip().endswith("LIMIT 5") or "ORDER BY" in job.sql
    ordered = residual("SELECT md5(city) FROM ev ORDER BY `__time` LIMIT 5")
    assert "ORDER BY" in ordered.sql


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT md5(country) FROM ev", [("Project", "Druid has no equivalent of Hive's md5()")]),
        ("SELECT collect_set(country) FROM ev", [("Aggregate", "Druid does not support collect_set() of string")]),
        ("SELECT clicks FROM ev ORDER BY clicks", [("Sort", "Druid sorts scan results only by __time")]),
        ("SELECT region FROM dim", [("TableScan", "default.dim is not a Druid table")]),
        ("SELECT clicks FROM ev WHERE md5(country) = 'a'", [("Project", "its input, the Filter below, is computed outside Druid"), ("Filter", "Druid has no equivalent of Hive's md5()")]),
        ("SELECT clicks, row_number() OVER (ORDER BY clicks) FROM ev", [("Project", "native queries do not support window functions: row_number()")]),
        ("SELECT a.country FROM ev a FULL JOIN evt b ON a.country = b.country", [("Project", "its input, the Join below, is computed outside Druid"), ("Join", "Druid joins each segment separately, which is not possible for a FULL JOIN")]),
        ("SELECT country FROM ev INTERSECT ALL SELECT country FROM evt", [("SetOp", "native queries cannot compare the rows of different queries: the INTERSECT ALL runs over their results")]),
        ("SELECT country FROM ev UNION ALL SELECT region FROM dim", [("SetOp", "a branch of the UNION ALL is computed outside Druid"), ("TableScan", "default.dim is not a Druid table")]),
        ("SELECT t FROM tagged LATERAL VIEW posexplode(tags) x AS p, t", [("Project", "its input, the LateralView below, is computed outside Druid"), ("LateralView", "native queries do not support LATERAL VIEW posexplode()")]),
        ("SELECT clicks FROM ev", []),
    ],
)  # fmt: skip
def test_every_operator_outside_has_a_reason(sql: str, expected: list[tuple[str, str]]) -> None:
    assert [(left.operator, left.reason) for left in left_outside(plan(sql))] == expected


def test_planning_needs_neither_druid_nor_spark() -> None:
    code = (
        "import sys; from tests.support.planning import native, residual;"
        "native('SELECT count(DISTINCT country) FROM ev'); residual('SELECT * FROM ev JOIN dim USING (country)');"
        "heavy = {'pyspark', 'duckdb', 'requests', 'kafka', 'rich', 'prompt_toolkit', 'lark'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_scans_only_leaves_everything_else_to_spark() -> None:
    made = plan("SELECT country, sum(clicks) FROM ev WHERE city = 'Oslo' GROUP BY country LIMIT 3", scans_only=True)
    job = spark_job(made)
    (source,) = job.inputs
    assert isinstance(source, DruidInput)
    assert source.read.query["queryType"] == "scan"
    assert "filter" not in source.read.query
    assert sorted(source.read.query["columns"]) == ["city", "clicks", "country"]
    assert "GROUP BY" in job.sql


def test_a_broker_without_enough_merge_buffers_is_not_asked_for_nested_group_bys() -> None:
    nested = "SELECT c, count(*) FROM (SELECT country, count(*) c FROM ev GROUP BY country) x GROUP BY c"
    assert druid_read(plan(nested, limits=DruidLimits(merge_buffers=1))) is not None
    without = plan(nested, limits=DruidLimits(merge_buffers=0))
    assert druid_read(without) is None
    assert [left.reason for left in left_outside(without)][
        -1
    ] == "nested groupBy queries require 1 merge buffers, Druid has 0"


def test_scans_of_one_table_read_one_view_with_the_columns_of_all() -> None:
    """Spark lists the files of a view once, and merges scalar subqueries over the same rows only if one view has them."""
    job = residual(
        "SELECT (SELECT max(md5(region)) FROM dim) m, (SELECT min(md5(country)) FROM dim) n FROM dim WHERE pop > 1"
    )
    (item,) = job.inputs
    assert isinstance(item, TableInput)
    assert set(item.columns) == {"region", "country", "pop"}
    assert job.sql.count(f"FROM `{item.view}`") == 3


def test_a_join_sees_only_the_columns_that_a_scan_reads() -> None:
    text = residual("SELECT a.pop, b.country FROM dim a JOIN dim b ON a.pop = length(b.country)").sql
    assert "(SELECT `pop` FROM `dim_0`) JOIN (SELECT `country` FROM `dim_0`) ON" in text
