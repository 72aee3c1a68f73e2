"""The planner's rules, in the order in which they are tried on a node. Each is one function with its rewrite drawn
above it.
"""

from __future__ import annotations

from hivedruid.plan.nodes import (
    Aggregate,
    DruidQuery,
    Filter,
    Join,
    LateralView,
    Project,
    SetOp,
    Sort,
    TableScan,
    Values,
)
from hivedruid.plan.rules.context import Rule, RuleContext
from hivedruid.plan.rules.operand import (
    OperandRule,
    has_and,
    has_case,
    has_decimals,
    has_distinct,
    has_filter,
    has_or,
    has_subquery,
    has_unions,
)

DRUID_SCAN = OperandRule("project", "druid_scan", of=(TableScan,))

RULES: tuple[OperandRule, ...] = (
    OperandRule("values", "scalar_of_constants", of=(Filter, Project), where=has_subquery, logical=True),
    # subqueries as joins
    OperandRule("subquery", "filter_subquery", of=(Filter,), where=has_subquery, logical=True),
    OperandRule("subquery", "filter_scalar_subquery", of=(Filter,), where=has_subquery, logical=True),
    OperandRule("subquery", "project_scalar_subquery", of=(Project,), where=has_subquery, logical=True),
    # constants in the form that the rules below match
    OperandRule("values", "values_merge", of=(LateralView, SetOp), logical=True),
    OperandRule("values", "join_values", of=(Join,), logical=True),
    OperandRule("values", "join_one_row", of=(Join,), logical=True),
    # set operations in the form that the rules below match
    OperandRule("set_op", "set_op_distinct", of=(SetOp,), logical=True),
    OperandRule("set_op", "set_op_merge", of=(SetOp,), logical=True),
    OperandRule("set_op", "union_distinct", of=(SetOp,), logical=True),
    # the start of every other native query
    DRUID_SCAN,
    # empty results
    OperandRule("empty", "sort_limit_zero", of=(Sort,), logical=True),
    OperandRule("empty", "filter_false", of=(Filter,), logical=True),
    OperandRule(
        "empty", "empty_input", of=(Filter, Project, Sort, LateralView, Aggregate), over=(Values,), logical=True
    ),
    OperandRule("empty", "join_empty_side", of=(Join,), over=(Values,), logical=True),
    OperandRule("empty", "set_op_empty_branch", of=(SetOp,), over=(Values,), logical=True),
    # constant conditions, before they are moved
    OperandRule("filter", "filter_true", of=(Filter,), logical=True),
    # one Filter, so that its terms move together
    OperandRule("filter", "filter_merge", of=(Filter,), over=(Filter,), logical=True),
    # one range for each expression, and conditions that are never true
    OperandRule("conjunction", "filter_ranges_merge", of=(Filter,), where=has_and, logical=True),
    # terms of a condition that all branches of an OR repeat
    OperandRule("disjunction", "or_common_factors", of=(Filter, Join), where=has_or, logical=True),
    # filters towards the tables …
    OperandRule("filter", "filter_project_transpose", of=(Filter,), over=(Project,), logical=True),
    OperandRule("filter", "filter_aggregate_transpose", of=(Filter,), over=(Aggregate,), logical=True),
    OperandRule("filter", "filter_lateral_view_transpose", of=(Filter,), over=(LateralView,), logical=True),
    OperandRule("join_logical", "outer_join_reduce", of=(Filter,), over=(Join,), logical=True),
    OperandRule("filter", "filter_into_join", of=(Filter,), over=(Join,), logical=True),
    OperandRule("join_logical", "filter_join_merge", of=(Filter,), over=(Join,), logical=True),
    OperandRule("filter", "filter_set_op_transpose", of=(Filter,), over=(SetOp,), logical=True),
    OperandRule("filter", "join_condition_push", of=(Join,), logical=True),
    # … and into Druid, before projections hide its columns
    OperandRule("filter", "druid_filter", of=(Filter,), over=(DruidQuery,)),
    OperandRule("project", "project_remove", of=(Project,), logical=True),
    OperandRule("project", "project_merge", of=(Project,), over=(Project,), logical=True),
    # as a whole, or else …
    OperandRule("project", "druid_project", of=(Project,), over=(DruidQuery,)),
    # … the expressions that are exact
    OperandRule("project", "druid_project_part", of=(Project,), over=(DruidQuery,)),
    OperandRule("lateral_view", "druid_unnest", of=(LateralView,)),
    OperandRule("join", "druid_join", of=(Join,)),
    OperandRule("set_op", "project_union_transpose", of=(Project,), over=(SetOp,)),
    # UNION ALL as one scan
    OperandRule("one_table", "union_one_table", of=(SetOp,)),
    OperandRule("set_op", "druid_union", of=(SetOp,)),
    OperandRule("one_table", "intersect_one_table", of=(SetOp,)),
    OperandRule("set_op", "set_op_join", of=(SetOp,)),
    OperandRule("aggregate", "aggregate_sort_remove", of=(Aggregate,), over=(Sort,)),
    # aggregates over projections that Druid could not compute
    OperandRule("aggregate", "aggregate_project_merge", of=(Aggregate,), over=(Project,)),
    OperandRule("aggregate", "aggregate_constant_keys", of=(Aggregate,), over=(DruidQuery,)),
    OperandRule("condition", "aggregate_case_to_filter", of=(Aggregate,), over=(DruidQuery,), where=has_case),
    OperandRule("condition", "aggregate_filter_true", of=(Aggregate,), where=has_filter),
    OperandRule("condition", "aggregate_common_filter", of=(Aggregate,), over=(DruidQuery,), where=has_filter),
    OperandRule("aggregate", "druid_aggregate", of=(Aggregate,), over=(DruidQuery,)),
    # unions of sketches, which Druid returns in base64
    OperandRule("sketches", "aggregate_sketch_union", of=(Aggregate,), over=(DruidQuery,), where=has_unions),
    # if the session accepts estimates
    OperandRule("distinct", "aggregate_estimate_distinct", of=(Aggregate,), over=(DruidQuery,), where=has_distinct),
    # aggregates that Druid cannot compute directly
    OperandRule("decimals", "aggregate_decimal_units", of=(Aggregate,), over=(DruidQuery,), where=has_decimals),
    # only where the plain form was not possible
    OperandRule("distinct", "aggregate_expand_distinct", of=(Aggregate,), over=(DruidQuery,), where=has_distinct),
    OperandRule("one_table", "aggregate_union_one_table", of=(Aggregate,), over=(SetOp,)),
    # joins and set operations that stay on Spark: reduce the transferred rows
    OperandRule("partial", "aggregate_join_transpose", of=(Aggregate,), over=(Join,)),
    OperandRule("partial", "aggregate_union_transpose", of=(Aggregate,), over=(SetOp,)),
    OperandRule("set_op", "set_op_distinct_branches", of=(SetOp,)),
    OperandRule("join_logical", "join_keys_not_null", of=(Join,)),
    OperandRule("set_op", "sort_union_transpose", of=(Sort,), over=(SetOp,)),
    OperandRule("sort", "sort_merge", of=(Sort,), over=(Sort,)),
    OperandRule("sort", "sort_remove_keys", of=(Sort,)),
    # only a projection may follow a limit
    OperandRule("sort", "druid_sort", of=(Sort,), over=(DruidQuery,)),
    # orders that Druid cannot sort by directly
    OperandRule("top_rows", "sort_first_keys", of=(Sort,), over=(DruidQuery,)),
)

LOGICAL: frozenset[Rule] = frozenset(rule for rule in RULES if rule.logical)
"""Rules that do not depend on Druid. In a plan with more than one table these run first, on their own, so that joins
and set operations become native queries only after all conditions on their inputs are known."""

SCANS: tuple[Rule, ...] = (DRUID_SCAN,)
"""The rules that run everything except scans on Spark, for queries that Druid refuses for lack of resources."""

__all__ = ["LOGICAL", "RULES", "SCANS", "Rule", "RuleContext"]
