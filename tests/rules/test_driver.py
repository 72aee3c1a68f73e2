"""The driver with faulty rules: it stops each with an error that names it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hivedruid.catalog.types import BOOLEAN, INT
from hivedruid.errors import PlanError
from hivedruid.plan import nodes
from hivedruid.plan.nodes import Filter, Node, Project, TableScan
from hivedruid.plan.optimizer import MAX_STEPS, Trace, optimize
from hivedruid.plan.rex import Literal
from hivedruid.plan.rules import RuleContext
from tests.support.planning import plan, snapshot

SQL = "SELECT pop, region FROM dim WHERE pop > 3"


def drops_a_column(node: Node, _context: RuleContext) -> Node | None:
    return (
        replace(node, columns=node.columns[:1], exprs=node.exprs[:1])
        if isinstance(node, Project) and len(node.columns) > 1
        else None
    )


def changes_a_type(node: Node, _context: RuleContext) -> Node | None:
    if not isinstance(node, TableScan) or node.columns[0].type == INT:
        return None
    return replace(node, columns=tuple(replace(c, type=INT) for c in node.columns))


def renumbers(node: Node, context: RuleContext) -> Node | None:
    if not isinstance(node, TableScan):
        return None
    return replace(node, columns=tuple(context.new_column(c.name, c.type) for c in node.columns))


@pytest.mark.parametrize("rule", [drops_a_column, changes_a_type, renumbers])
def test_a_rule_that_changes_the_schema_is_named(rule: object) -> None:
    with pytest.raises(PlanError, match=rf"{rule.__name__} changed the columns"):  # type: ignore[attr-defined]
        plan(SQL, rules=(rule,))  # type: ignore[arg-type]


def never_ends(node: Node, _context: RuleContext) -> Node | None:
    """Always applies."""
    if not isinstance(node, Filter):
        return None
    number = node.condition.value if isinstance(node.condition, Literal) else 0
    return replace(node, condition=Literal(INT, number + 1))


def test_a_rule_that_never_ends_is_named() -> None:
    with pytest.raises(PlanError, match="never_ends") as failure:
        plan(SQL, rules=(never_ends,))
    assert "does not terminate" in str(failure.value)


def ping(node: Node, _context: RuleContext) -> Node | None:
    return replace(node, condition=Literal(BOOLEAN, False)) if isinstance(node, Filter) and _says(node, True) else None


def pong(node: Node, _context: RuleContext) -> Node | None:
    return replace(node, condition=Literal(BOOLEAN, True)) if isinstance(node, Filter) and _says(node, False) else None


def _says(node: Node, value: bool) -> bool:
    return isinstance(node, Filter) and node.condition == Literal(BOOLEAN, value)


def starts(node: Node, _context: RuleContext) -> Node | None:
    if isinstance(node, Filter) and not isinstance(node.condition, Literal):
        return replace(node, condition=Literal(BOOLEAN, True))
    return None


def test_rules_that_undo_each_other_are_named() -> None:
    with pytest.raises(PlanError, match=r"ping|pong"):
        plan(SQL, rules=(starts, ping, pong))


def test_a_circle_over_several_passes_is_found() -> None:
    """Each pass ends, but its result equals that of an earlier one."""
    state = {"pass": 0}

    def flips(node: Node, _context: RuleContext) -> Node | None:
        if not isinstance(node, Filter) or state["pass"] % 2 == 1:
            state["pass"] += 1 if isinstance(node, Filter) else 0
            return None
        state["pass"] += 1
        wanted = not (isinstance(node.condition, Literal) and node.condition.value)
        return replace(node, condition=Literal(BOOLEAN, wanted))

    with pytest.raises(PlanError, match=r"cycle.*flips"):
        plan(SQL, rules=(flips,))


def test_passes_are_bounded() -> None:
    state = {"count": 0}

    def counts(node: Node, _context: RuleContext) -> Node | None:
        if not isinstance(node, Filter):
            return None
        state["count"] += 1
        return replace(node, condition=Literal(INT, state["count"])) if state["count"] % 2 else None

    with pytest.raises(PlanError, match=r"converge in \d+ passes.*counts"):
        plan(SQL, rules=(counts,))


def test_the_trace_names_every_step_in_order() -> None:
    trace = Trace()
    built = plan(SQL, rules=())
    context = RuleContext("UTC", built.new_column)
    assert optimize(built.node, context, (starts, ping), trace) != built.node
    assert trace.fired == ["starts", "ping"]
    assert MAX_STEPS > 100


def test_the_trace_keeps_the_whole_plan_after_every_step_if_asked() -> None:
    built = plan(SQL, rules=())
    trace = Trace(keeps_plans=True)
    made = optimize(built.node, RuleContext("UTC", built.new_column), (starts, ping), trace)
    assert [type(node) for node in trace.plans] == [type(made), type(made)]
    assert trace.plans[-1] == made
    first, last = (next(n for n in node.walk() if isinstance(n, Filter)) for node in trace.plans)
    assert (_says(first, True), _says(last, False)) == (True, True)


def test_no_rules_leave_the_plan_as_it_was_built_but_narrow() -> None:
    made = plan("SELECT pop FROM dim WHERE region = 'x'", rules=())
    assert made.fired == ()
    scan = next(n for n in made.node.walk() if isinstance(n, nodes.TableScan))
    assert [c.name for c in scan.columns] == ["region", "pop"]
    assert snapshot().zone == "UTC"


def test_the_same_query_gives_the_same_plan() -> None:
    sql = "SELECT country, count(DISTINCT city) FROM ev WHERE clicks > 3 GROUP BY country ORDER BY 2 DESC LIMIT 3"
    assert plan(sql).node == plan(sql).node


def test_plans_of_subqueries_are_optimised_too() -> None:
    made = plan("SELECT region FROM dim WHERE country IN (SELECT country FROM ev WHERE clicks > 3)")
    assert "druid_filter" in made.fired
