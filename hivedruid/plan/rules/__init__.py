"""The planner's rules, in the order they are tried on a node. Each is one function with its rewrite drawn above it."""

from __future__ import annotations

from hivedruid.plan.rules.aggregate import (
    aggregate_constant_keys,
    aggregate_project_merge,
    aggregate_sort_remove,
    druid_aggregate,
)
from hivedruid.plan.rules.condition import aggregate_case_to_filter, aggregate_common_filter, aggregate_filter_true
from hivedruid.plan.rules.context import Rule, RuleContext
from hivedruid.plan.rules.decimals import aggregate_decimal_units
from hivedruid.plan.rules.distinct import aggregate_expand_distinct
from hivedruid.plan.rules.empty import empty_input, sort_limit_zero
from hivedruid.plan.rules.filter import (
    druid_filter,
    filter_aggregate_transpose,
    filter_into_join,
    filter_lateral_view_transpose,
    filter_merge,
    filter_project_transpose,
    filter_set_op_transpose,
    filter_true,
    join_condition_push,
)
from hivedruid.plan.rules.join import druid_join
from hivedruid.plan.rules.join_logical import filter_join_merge, join_keys_not_null, outer_join_reduce
from hivedruid.plan.rules.lateral_view import druid_unnest
from hivedruid.plan.rules.one_table import aggregate_union_one_table, intersect_one_table, union_one_table
from hivedruid.plan.rules.partial import aggregate_join_transpose, aggregate_union_transpose
from hivedruid.plan.rules.project import druid_project, druid_project_part, druid_scan, project_merge, project_remove
from hivedruid.plan.rules.set_op import (
    druid_union,
    project_union_transpose,
    set_op_distinct,
    set_op_distinct_branches,
    set_op_join,
    set_op_merge,
    sort_union_transpose,
    union_distinct,
)
from hivedruid.plan.rules.sort import druid_sort, sort_merge, sort_remove_keys
from hivedruid.plan.rules.subquery import filter_scalar_subquery, filter_subquery, project_scalar_subquery
from hivedruid.plan.rules.top_rows import sort_first_keys
from hivedruid.plan.rules.values import join_one_row, join_values, scalar_of_constants, values_merge

RULES: tuple[Rule, ...] = (
    scalar_of_constants,
    filter_subquery,  # subqueries as joins
    filter_scalar_subquery,
    project_scalar_subquery,
    values_merge,  # constants in the one form that the rules below know
    join_values,
    join_one_row,
    set_op_distinct,  # set operations in the form that the rules below know
    set_op_merge,
    union_distinct,
    druid_scan,  # every other native query grows from it
    sort_limit_zero,  # nothing to ask for
    empty_input,
    filter_true,  # constants, before they are carried around
    filter_merge,  # one Filter, so that its terms move at once
    filter_project_transpose,  # filters towards the tables …
    filter_aggregate_transpose,
    filter_lateral_view_transpose,
    outer_join_reduce,
    filter_into_join,
    filter_join_merge,
    filter_set_op_transpose,
    join_condition_push,
    druid_filter,  # … and into Druid, before projections hide its columns
    project_remove,
    project_merge,
    druid_project,  # whole, else
    druid_project_part,  # what of it is exact
    druid_unnest,
    druid_join,
    project_union_transpose,
    union_one_table,  # UNION ALL as one scan
    druid_union,
    intersect_one_table,
    set_op_join,
    aggregate_sort_remove,
    aggregate_project_merge,  # aggregates see through projections that Druid could not take
    aggregate_constant_keys,
    aggregate_case_to_filter,
    aggregate_filter_true,
    aggregate_common_filter,
    druid_aggregate,
    aggregate_decimal_units,  # what Druid cannot add up as it is
    aggregate_expand_distinct,  # only what the plain form could not do
    aggregate_union_one_table,
    aggregate_join_transpose,  # what is left of joins and set operations to Spark: little should travel
    aggregate_union_transpose,
    set_op_distinct_branches,
    join_keys_not_null,
    sort_union_transpose,
    sort_merge,
    sort_remove_keys,
    druid_sort,  # nothing but a projection may follow a limit
    sort_first_keys,  # what Druid cannot sort as it is
)

LOGICAL = frozenset(
    (
        scalar_of_constants,
        filter_subquery,
        filter_scalar_subquery,
        project_scalar_subquery,
        values_merge,
        join_values,
        join_one_row,
        set_op_distinct,
        set_op_merge,
        union_distinct,
        filter_true,
        filter_merge,
        filter_project_transpose,
        filter_aggregate_transpose,
        filter_lateral_view_transpose,
        outer_join_reduce,
        filter_into_join,
        filter_join_merge,
        filter_set_op_transpose,
        join_condition_push,
        project_remove,
        project_merge,
    )
)
"""What knows nothing of Druid. In a plan with more than one table these come first, by themselves, so that a native query
is made of joins and set operations only when all that narrows their inputs is known."""

SCANS: tuple[Rule, ...] = (druid_scan,)
"""Everything else on Spark: for what Druid refuses for lack of resources."""

__all__ = ["LOGICAL", "RULES", "SCANS", "Rule", "RuleContext"]
