"""Window functions and LATERAL VIEW run on Spark; their inputs are pushed down, and only valid conditions move past
them.
"""

from __future__ import annotations

import pytest

from hivedruid.plan.physical import DruidInput
from hivedruid.plan.split import spark_job
from tests.support.planning import plan, residual


def pushed_filter(sql: str) -> object:
    source = residual(sql).inputs[0]
    assert isinstance(source, DruidInput)
    return source.read.query.get("filter")


RANKED = "SELECT country, city, clicks, rank() OVER (PARTITION BY country ORDER BY clicks) r FROM ev"


def test_conditions_below_a_window_are_pushed() -> None:
    assert pushed_filter(f"{RANKED} WHERE clicks > 3") is not None


def test_conditions_above_a_window_choose_among_ranked_rows() -> None:
    sql = f"SELECT * FROM ({RANKED}) x WHERE clicks > 3"
    assert pushed_filter(sql) is None
    assert residual(sql).sql.endswith("WHERE (`clicks` > 3)")


def test_conditions_on_what_all_windows_partition_by_choose_whole_windows() -> None:
    assert pushed_filter(f"SELECT * FROM ({RANKED}) x WHERE country = 'a' AND clicks > 3") == {
        "type": "equals", "column": "country", "matchValueType": "STRING", "matchValue": "a",
    }  # fmt: skip
    two = (
        "SELECT country, rank() OVER (PARTITION BY country ORDER BY clicks) r, rank() OVER (ORDER BY clicks) s FROM ev"
    )
    assert pushed_filter(f"SELECT * FROM ({two}) x WHERE country = 'a'") is None


@pytest.mark.parametrize("outer", ["", "OUTER "])
def test_conditions_on_the_rows_below_a_lateral_view_are_pushed(outer: str) -> None:
    made = plan(
        f"SELECT w FROM ev LATERAL VIEW {outer}explode(split(city, ' ')) t AS w WHERE clicks > 3 AND w > 'a' AND w > country"
    )
    assert "filter_lateral_view_transpose" in made.fired
    (source,) = spark_job(made).inputs
    assert isinstance(source, DruidInput)
    assert source.read.query["filter"]["column"] == "clicks"
    assert "`w` > 'a'" in spark_job(made).sql


def test_conditions_on_rows_that_a_select_makes_stay_above_it() -> None:
    assert pushed_filter("SELECT * FROM (SELECT explode(split(city, ' ')) w FROM ev) x WHERE w > 'a'") is None
