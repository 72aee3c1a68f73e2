"""CTEs and views with several references: one plan for each reference, or one for all if it would contain many copies."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, STRING
from hivedruid.plan import ctes
from hivedruid.plan.build import MAX_COPIES
from hivedruid.plan.ctes import cte_scans, with_ctes
from hivedruid.plan.nodes import CteScan, Node
from hivedruid.plan.physical import CteInput, DruidInput
from hivedruid.plan.reasons import left_outside
from hivedruid.plan.show import tree
from hivedruid.plan.split import QueryPlan, native_queries, spark_job
from tests.support.instructions import instructions
from tests.support.planning import TABLES, plan

if TYPE_CHECKING:
    import pytest

FIRST = "c0 AS (SELECT city AS x, sum(clicks) AS s FROM ev GROUP BY city)"


def doubled(levels: int, last: str = "SELECT x, s FROM {}", references: int = 2) -> str:
    """A chain of CTEs, each with several references to the one before it."""
    names = [f"t{n}" for n in range(references)]
    joins = " ".join(f"JOIN {{}} {name} ON t0.x = {name}.x" for name in names[1:])
    steps = [FIRST]
    for n in range(1, levels + 1):
        source = f"c{n - 1}"
        steps.append(f"c{n} AS (SELECT t0.x, {names[-1]}.s FROM {source} t0 {joins.replace('{}', source)})")
    return f"WITH {', '.join(steps)} {last.format(f'c{levels}')}"


def nodes(made: QueryPlan) -> list[Node]:
    return [node for root in with_ctes(made.node) for node in root.walk()]


def test_a_plan_is_linear_in_the_levels_of_ctes_with_two_references() -> None:
    """A CTE is shared every few levels, so the size is compared over multiples of that number."""
    step = MAX_COPIES.bit_length() + 1
    sizes = [len(nodes(plan(doubled(levels * step)))) for levels in (2, 3, 4, 8)]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0]
    assert sizes[3] - sizes[2] == 4 * (sizes[1] - sizes[0])


def test_planning_is_linear_in_the_levels() -> None:
    plan(doubled(3))  # loads the modules
    work = [instructions(lambda levels=levels: plan(doubled(levels))) for levels in (10, 20, 40)]  # type: ignore[misc]
    assert work[2] - work[1] < 2.4 * (work[1] - work[0])


def test_all_references_to_a_large_cte_have_one_plan_and_columns_of_their_own() -> None:
    scans = [node for node in nodes(plan(doubled(6))) if isinstance(node, CteScan)]
    assert len(scans) == 2
    assert scans[0].plan is scans[1].plan
    assert not {c.id for c in scans[0].columns} & {c.id for c in scans[1].columns}


def test_each_reference_to_a_small_cte_has_a_plan_of_its_own() -> None:
    """Conditions move into it."""
    made = plan(doubled(3, "SELECT a.s FROM {0} a JOIN {0} b ON a.s = b.s WHERE a.x = 'Athens' AND b.x = 'Bern'"))
    assert not cte_scans(made.node)
    text = " ".join(str(query) for query in native_queries(made.node))
    assert text.count("'Athens'") >= 4
    assert text.count("'Bern'") >= 4


def test_a_large_cte_with_one_reference_has_no_plan_of_its_own() -> None:
    branches = " UNION ALL ".join(f"SELECT x, s + {n} AS s FROM c0" for n in range(2 * MAX_COPIES))
    made = plan(f"WITH {FIRST}, c1 AS ({branches}) SELECT s FROM c1 WHERE x = 'A'")
    assert not cte_scans(made.node)
    assert all("'A'" in str(query.filter) for query in native_queries(made.node))


def test_many_references_to_one_cte_are_planned_one_by_one() -> None:
    branches = " UNION ALL ".join(f"SELECT s FROM c0 WHERE x = '{n}'" for n in range(2 * MAX_COPIES))
    assert not cte_scans(plan(f"WITH {FIRST} {branches}").node)


def test_a_shared_cte_in_a_subquery() -> None:
    made = plan(
        doubled(5, "SELECT city FROM ev WHERE city IN (SELECT x FROM {0}) AND clicks > (SELECT max(s) FROM {0})")
    )
    assert [scan.name for scan in cte_scans(made.node)] == ["c5"]


def test_spark_computes_a_shared_cte_once() -> None:
    """Spark itself would write the query of a CTE in the place of each of its references."""
    made = plan(doubled(12))
    job = spark_job(made)
    first, second = [item for item in job.computed if isinstance(item, CteInput)]
    assert [scan.name for scan in cte_scans(made.node)] == [first.name, second.name]
    assert f"`{first.view}`" in second.sql
    assert [item.view in job.sql for item in (first, second)] == [False, True]


def test_the_text_of_spark_sql_is_linear_in_the_levels() -> None:
    step = MAX_COPIES.bit_length() + 1
    sizes = []
    for levels in (2, 3, 4, 8):
        job = spark_job(plan(doubled(levels * step)))
        sizes.append(len(job.sql) + sum(len(item.sql) for item in job.computed))
    assert sizes[3] - sizes[2] < 4.2 * (sizes[2] - sizes[1])


def test_a_cte_is_not_walked_again_for_each_cte_that_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    walked = 0
    collect = ctes._collect

    def counted(node: Node, found: dict[int, CteScan]) -> None:
        nonlocal walked
        walked += 1
        collect(node, found)

    monkeypatch.setattr(ctes, "_collect", counted)
    step = MAX_COPIES.bit_length() + 1
    numbers = []
    for levels in (2, 3, 4, 8):
        made = plan(doubled(levels * step))
        walked = 0
        spark_job(made)
        numbers.append(walked)
    assert 0 < numbers[3] - numbers[2] < 4.2 * (numbers[2] - numbers[1])


def test_explain_shows_a_shared_cte_once() -> None:
    made = plan(doubled(6))
    lines = tree(made.node)
    (scan,) = cte_scans(made.node)
    assert lines.count(f"Cte(name=[{scan.name}])") == 1
    assert len([line for line in lines if "CteScan(" in line]) == 2
    assert f"the CTE {scan.name} is computed once for all its references" in {x.reason for x in left_outside(made)}


# --- views ------------------------------------------------------------------------------------------------------------


def view(name: str, query: str) -> Table:
    columns = (Column("x", STRING), Column("s", BIGINT))
    return Table("default", name, "view", columns, view_text=query, properties={})


def doubled_views(levels: int) -> tuple[Table, ...]:
    """A chain of views, each with two references to the one before it."""
    first = view("v0", "SELECT city AS x, sum(clicks) AS s FROM ev GROUP BY city")
    joins = "SELECT a.x, b.s FROM {0} a JOIN {0} b ON a.x = b.x"
    return (*TABLES, first, *(view(f"v{n}", joins.format(f"v{n - 1}")) for n in range(1, levels + 1)))


def diamonds(levels: int) -> tuple[Table, ...]:
    """A chain of views over two views, each with one reference to the one before it."""
    views = [view("v0", "SELECT city AS x, sum(clicks) AS s FROM ev GROUP BY city")]
    for n in range(1, levels + 1):
        views += [view(f"{side}{n}", f"SELECT x, s + {n} AS s FROM v{n - 1} WHERE s <> 1") for side in "lr"]
        views.append(view(f"v{n}", f"SELECT l.x, r.s FROM l{n} l JOIN r{n} r ON l.x = r.x"))
    return (*TABLES, *views)


def size(views: Callable[[int], tuple[Table, ...]], levels: int) -> int:
    return len(nodes(plan(f"SELECT x FROM v{levels}", tables=views(levels))))


def test_a_plan_is_linear_in_the_levels_of_views_with_two_references() -> None:
    sizes = [size(doubled_views, levels) for levels in (6, 12, 18, 24)]
    assert len({more - less for less, more in pairwise(sizes)}) == 1


def test_views_that_others_refer_to_once_each_are_shared() -> None:
    assert size(diamonds, 14) < 10 * size(diamonds, 5)


def test_a_shared_view_is_optimized_once_and_named_in_the_reasons() -> None:
    made = plan("SELECT x FROM v6 WHERE x = 'A'", tables=doubled_views(6))
    (scan,) = cte_scans(made.node)
    assert scan.name == "default.v5"
    assert f"the view {scan.name} is computed once for all its references" in {x.reason for x in left_outside(made)}
    assert f"View(name=[{scan.name}])" in tree(made.node)
    assert all(isinstance(source, DruidInput) for source in spark_job(made).inputs)


def test_each_reference_to_a_small_view_has_a_plan_of_its_own() -> None:
    made = plan("SELECT a.s FROM v3 a JOIN v3 b ON a.s = b.s WHERE a.x = 'A' AND b.x = 'B'", tables=doubled_views(3))
    assert not cte_scans(made.node)
    text = " ".join(str(query) for query in native_queries(made.node))
    assert text.count("'A'") >= 4
    assert text.count("'B'") >= 4


def test_a_large_view_with_one_reference_has_no_plan_of_its_own() -> None:
    branches = " UNION ALL ".join(f"SELECT x, s + {n} AS s FROM v0" for n in range(2 * MAX_COPIES))
    made = plan("SELECT s FROM many WHERE x = 'A'", tables=(*doubled_views(0), view("many", branches)))
    assert not cte_scans(made.node)
    assert all("'A'" in str(query.filter) for query in native_queries(made.node))


def test_a_shared_cte_of_a_view_is_optimized() -> None:
    inner = view("inner_ctes", doubled(6, "SELECT x, s FROM {}"))
    made = plan("SELECT x, s FROM inner_ctes", tables=(*TABLES, inner))
    assert cte_scans(made.node)
    assert all(isinstance(source, DruidInput) for source in spark_job(made).inputs)
