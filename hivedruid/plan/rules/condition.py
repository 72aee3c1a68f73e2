"""Rules about the conditions of aggregates: FILTER (WHERE …) and CASE inside the argument."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.catalog.types import BIGINT, BOOLEAN
from hivedruid.plan.nodes import Aggregate, DruidQuery, Filter, Node, PlanColumn, Project
from hivedruid.plan.rex import (
    Agg,
    Call,
    Literal,
    Ref,
    Rex,
    Subquery,
    conjunction,
    conjuncts,
    has,
    is_deterministic,
    substitute,
)
from hivedruid.plan.rules.aggregate import substituted
from hivedruid.plan.rules.context import RuleContext
from hivedruid.plan.rules.filter import decisive_terms

_NULL_BLIND = frozenset({"count", "sum", "avg", "min", "max"})
"""Aggregates that ignore nulls."""


def aggregate_case_to_filter(node: Node, context: RuleContext) -> Node | None:
    """Aggregate[sum(CASE WHEN c THEN x END)](q) => Aggregate[sum(x) FILTER (WHERE c)](q)

    Also count, avg, min and max, and sum(CASE WHEN c THEN 1 ELSE 0 END), which is count(*) FILTER (WHERE c) if there
    are any rows.
    """
    if not isinstance(node, Aggregate) or not isinstance(node.input, DruidQuery):
        return None
    always = bool(node.keys) and node.grouping_sets is None
    width = len(node.keys)
    original, node = node, inlined(node, node.input)
    columns, calls = list(node.columns), list(node.calls)
    outputs: list[Rex] = [c.ref for c in node.columns]
    exprs = list(outputs)
    for i, call in enumerate(node.calls):
        counted = _counted(call)
        if counted is None:
            calls[i] = _filtered(call)
            continue
        column = context.new_column(f"$f{width + i}", BIGINT)
        columns[width + i], calls[i] = column, counted
        exprs[width + i] = column.ref if always else _unless_empty(column, calls, columns, node, context)
    if calls == list(node.calls):
        return None
    made = replace(node, columns=tuple(columns), calls=tuple(calls))
    return made if exprs == outputs else Project(original.columns, made, tuple(exprs))


def inlined(node: Aggregate, query: DruidQuery) -> Aggregate:
    """The aggregate over the columns of the query's source, so that the expressions in its arguments are visible."""
    if query.grouped is not None or query.is_limited or all(isinstance(e, Ref) for e in query.exprs):
        return node
    mapping = query.mapping
    keys = tuple(substitute(k, mapping) for k in node.keys)
    if len(set(keys)) != len(keys):
        return node
    columns = query.source.columns
    below = replace(query, columns=columns, exprs=tuple(c.ref for c in columns), sort=())
    calls = tuple(substituted(c, mapping) for c in node.calls)
    return replace(node, input=below, keys=keys, calls=calls)


def _filtered(call: Agg) -> Agg:
    """The call whose argument is a CASE of one value or NULL, with the CASE's condition as a FILTER."""
    if call.op not in _NULL_BLIND or len(call.args) != 1 or call.distinct:
        return call
    case = call.args[0]
    if not isinstance(case, Call) or case.op != "case" or len(case.args) not in (2, 3) or not _can_move(case.args[0]):
        return call
    if len(case.args) == 3 and not _is(case.args[2], None):
        return call
    value = case.args[1]
    if value.type != case.type:
        return call
    condition = _both(call.condition, case.args[0])
    if isinstance(value, Literal) and value.value is not None and call.op == "count":
        return Agg(call.type, "count", (), condition=condition)
    return Agg(call.type, call.op, (value,), condition=condition)


def _counted(call: Agg) -> Agg | None:
    """sum(CASE WHEN c THEN 1 ELSE 0 END) as count(*) FILTER (WHERE c)."""
    case = call.args[0] if call.op == "sum" and len(call.args) == 1 and not call.distinct else None
    if not isinstance(case, Call) or case.op != "case" or len(case.args) != 3 or call.condition is not None:
        return None
    condition, then, otherwise = case.args
    if call.type != BIGINT or not _can_move(condition):
        return None
    if _is(then, 1) and _is(otherwise, 0):
        return Agg(BIGINT, "count", (), condition=condition)
    return None


def _unless_empty(
    column: PlanColumn, calls: list[Agg], columns: list[PlanColumn], node: Aggregate, context: RuleContext
) -> Rex:
    """The count; NULL if there are no rows, like the sum."""
    rows = Agg(BIGINT, "count", ())
    width = len(node.keys)
    if rows in calls:
        total = columns[width + calls.index(rows)]
    else:
        total = context.new_column("_rows", BIGINT)
        calls.append(rows)
        columns.insert(width + len(calls) - 1, total)
    is_empty = Call(BOOLEAN, "=", (total.ref, Literal(BIGINT, 0)))
    return Call(BIGINT, "case", (is_empty, Literal(BIGINT, None), column.ref))


def _is(rex: Rex, value: int | None) -> bool:
    return isinstance(rex, Literal) and not isinstance(rex.value, bool) and rex.value == value


def _can_move(condition: Rex) -> bool:
    return is_deterministic(condition) and not has(condition, Subquery)


def _both(a: Rex | None, b: Rex) -> Rex:
    terms = dict.fromkeys([*conjuncts(a), *conjuncts(b)])
    made = conjunction(list(terms))
    assert made is not None
    return made


def aggregate_filter_true(node: Node, _context: RuleContext) -> Node | None:
    """Aggregate[a FILTER (WHERE TRUE)](x) => Aggregate[a](x); a condition that is NULL is FALSE"""
    if not isinstance(node, Aggregate) or not any(c.condition is not None for c in node.calls):
        return None
    terms = [conjuncts(c.condition) for c in node.calls]
    kept = [decisive_terms(own) for own in terms]
    if kept == terms:
        return None
    calls = tuple(replace(c, condition=conjunction(own)) for c, own in zip(node.calls, kept, strict=True))
    return replace(node, calls=calls)


def aggregate_common_filter(node: Node, _context: RuleContext) -> Node | None:
    """Aggregate[a FILTER (p AND q), b FILTER (p)](x) => Aggregate[a FILTER (q), b](Filter[p](x))      no keys

    A grand total has its row even if no row remains.
    """
    if not isinstance(node, Aggregate) or node.keys or node.grouping_sets is not None or not node.calls:
        return None
    if not isinstance(node.input, DruidQuery) or node.input.grouped is not None or node.input.is_limited:
        return None
    terms = [conjuncts(c.condition) for c in node.calls]
    common = [t for t in terms[0] if all(t in other for other in terms) and _can_move(t)]
    if not common:
        return None
    condition = conjunction(common)
    assert condition is not None
    calls = tuple(
        replace(call, condition=conjunction([t for t in own if t not in common]))
        for call, own in zip(node.calls, terms, strict=True)
    )
    return replace(node, input=Filter(node.input.columns, node.input, condition), calls=calls)
