"""The planner's rules, in the order they are tried on a node. Each is one function with its rewrite drawn above it."""

from __future__ import annotations

from hivedruid.plan.rules.aggregate import aggregate_expand_distinct, aggregate_project_merge, druid_aggregate
from hivedruid.plan.rules.context import Rule, RuleContext
from hivedruid.plan.rules.filter import (
    druid_filter,
    filter_aggregate_transpose,
    filter_into_join,
    filter_merge,
    filter_project_transpose,
    filter_set_op_transpose,
    filter_true,
    join_condition_push,
)
from hivedruid.plan.rules.project import druid_project, druid_project_part, druid_scan, project_merge, project_remove
from hivedruid.plan.rules.sort import druid_sort

RULES: tuple[Rule, ...] = (
    druid_scan,  # first: every other native query grows from it
    filter_true,  # constants, before they are carried around
    filter_merge,  # one Filter, so that its terms move at once
    filter_project_transpose,  # filters towards the tables …
    filter_aggregate_transpose,
    filter_into_join,
    filter_set_op_transpose,
    join_condition_push,
    druid_filter,  # … and into Druid, before projections hide its columns
    project_remove,
    project_merge,
    druid_project,  # whole, else
    druid_project_part,  # what of it is exact
    aggregate_project_merge,  # aggregates see through projections that Druid could not take
    druid_aggregate,
    aggregate_expand_distinct,  # only what the plain form could not do
    druid_sort,  # last: nothing but a projection may follow a limit
)

SCANS: tuple[Rule, ...] = (druid_scan,)
"""Everything else on Spark: for what Druid refuses for lack of resources."""

__all__ = ["RULES", "SCANS", "Rule", "RuleContext"]
