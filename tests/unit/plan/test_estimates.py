"""count(DISTINCT …) as an estimate, and which aggregates of a plan are estimates."""

from __future__ import annotations

import pytest

from hivedruid.plan.estimates import estimates
from hivedruid.plan.show import tree
from tests.support.planning import plan

HLL = "HLL sketch of Druid, standard error 1.6 %"
BUILTIN = "HyperLogLog of Druid, standard error 2.3 %"
SPARK = "HyperLogLog++ of Spark, standard error 5 %"


def of(sql: str, approximate: str = "never") -> list[str]:
    return [str(each) for each in estimates(plan(sql, settings={"hivedruid.approximate": approximate}))]


@pytest.mark.parametrize("approximate", ["sketches", "DRUID"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(DISTINCT country) FROM dim",
        "SELECT count(DISTINCT country, city) FROM ev",
        "SELECT sum(DISTINCT clicks) FROM ev",
        "SELECT count(DISTINCT country), collect_set(city) FROM ev",
        "SELECT count(DISTINCT country) FROM ev WHERE rand() > 0",
        "SELECT DISTINCT country FROM ev",
        "SELECT count(country) FROM ev",
    ],
)
def test_exact_whatever_the_session_accepts(sql: str, approximate: str) -> None:
    assert of(sql, approximate) == []
    settings = {"hivedruid.approximate": approximate}
    assert tree(plan(sql, settings=settings).node) == tree(plan(sql).node)


@pytest.mark.parametrize(("approximate", "method"), [("sketches", HLL), ("druid", BUILTIN), ("Druid", BUILTIN)])
def test_an_estimate_of_druid(approximate: str, method: str) -> None:
    sql = "SELECT city, count(DISTINCT country) n, sum(clicks) FROM ev GROUP BY city HAVING n > 1 ORDER BY n LIMIT 3"
    assert of(sql) == []
    assert of(sql, approximate) == [f"approx_distinct(country): {method}"]
    condition = "SELECT count(DISTINCT CASE WHEN clicks > 3 THEN country END) FROM ev"
    assert of(condition, approximate) == [f"approx_distinct(case((clicks > 3), country)): {method}"]


def test_estimates_everywhere_in_a_plan() -> None:
    assert of("SELECT approx_distinct(country) FROM ev") == [f"approx_distinct(country): {HLL}"]
    assert of("SELECT approx_count_distinct(country) FROM dim") == [f"approx_distinct(country): {SPARK}"]
    shared = "WITH c AS (SELECT city, approx_distinct(country) n FROM ev GROUP BY city) SELECT * FROM c a JOIN c b ON a.n = b.n"
    assert all(HLL in each for each in of(shared))
    assert of(shared)
    assert of("SELECT max(n) FROM (SELECT approx_distinct(country) n FROM ev GROUP BY city) x")
    assert of("SELECT region FROM dim WHERE pop > (SELECT approx_distinct(country) FROM ev)") != []
    (percentile,) = of("SELECT percentile_approx(clicks, 0.5) FROM ev")
    assert percentile.startswith("percentile_approx(clicks, 0.5): sample of Spark, ")


def test_sketches_are_estimates() -> None:
    (theta,) = of("SELECT ds_theta_estimate(ds_theta_sketch(country)) FROM ev")
    assert theta.startswith("ds_theta_sketch(country): theta sketch, exact up to 4096 values")
    (quantiles,) = of("SELECT ds_quantile_doubles_sketch(clicks) FROM dim JOIN ev ON dim.country = ev.country")
    assert quantiles.startswith("ds_quantile_doubles_sketch(CAST(")
    assert of("SELECT ds_theta_estimate(base64(unhex('00')))") == []
