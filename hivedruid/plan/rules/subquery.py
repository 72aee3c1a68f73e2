"""Rules about subqueries in expressions: as joins, which Druid and Spark can both plan.

The terms are Calcite's (SubQueryRemoveRule, RelDecorrelator). A subquery with other references to the outer query stays
in the expression, where Spark runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hivedruid.catalog.types import BIGINT, BOOLEAN
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.nodes import (
    Aggregate,
    Filter,
    Join,
    LateralView,
    Node,
    PlanColumn,
    Project,
    SetOp,
    Sort,
    TableScan,
    Values,
    map_expressions,
)
from hivedruid.plan.nullability import never_null
from hivedruid.plan.rex import (
    Agg,
    Call,
    Literal,
    Over,
    Ref,
    Rex,
    Subquery,
    conjunction,
    conjuncts,
    has,
    is_deterministic,
    refs,
    substitute,
    transform,
    walk,
)
from hivedruid.plan.rules.context import RuleContext

_EMPTY_IS_NULL = frozenset(
    {"sum", "min", "max", "avg", "stddev_pop", "stddev_samp", "stddev", "std", "var_pop", "var_samp", "variance"}
)
"""Aggregates that are null over no rows; `count` is 0, others are not relied on."""


def filter_subquery(node: Node, context: RuleContext) -> Node | None:
    """Filter[k IN (q)](x) => Join[semi, k = q.c](x, q); also EXISTS; NOT EXISTS is an anti-join

    NOT IN is an anti-join if neither side is ever null. Otherwise a single null changes the result for all rows, so all
    rows and the non-null ones are counted:

    Filter[k NOT IN (q)](x) => Filter[n = m AND (k IS NOT NULL OR n = 0)](Join(Join[anti, k = q.c](x, q), Aggregate[n :=
    count(*), m := count(c)](q)))
    """
    if not isinstance(node, Filter):
        return None
    rows, kept = node.input, list[Rex]()
    terms = conjuncts(node.condition)
    for place, term in enumerate(terms):
        if not has(term, Subquery):
            kept.append(term)
            continue
        joined = _not_in(term, rows, [*kept, *terms[place + 1 :]], context)
        counted = _exists_as_count(term, context) if joined is None else None
        if joined is None and counted is None:
            joined = _semi_join(term, rows, context)
        if joined is None:
            kept.append(counted or term)
        rows = joined or rows
    condition = conjunction(kept)
    if rows is node.input and (condition is None or kept == terms):
        return None
    return rows if condition is None else Filter(node.columns, rows, condition)


def filter_scalar_subquery(node: Node, context: RuleContext) -> Node | None:
    """Filter[a > (SELECT avg(b) FROM q)](x) => Project[x](Filter[a > m](Join(x, Aggregate[m := avg(b)](q))))"""
    if not isinstance(node, Filter):
        return None
    made = _with_scalars(node.input, (node.condition,), context)
    if made is None:
        return None
    joined, (condition,) = made
    return Project(node.columns, Filter(joined.columns, joined, condition), tuple(c.ref for c in node.columns))


def project_scalar_subquery(node: Node, context: RuleContext) -> Node | None:
    """Project[(SELECT max(b) FROM q)](x) => Project[m](Join(x, Aggregate[m := max(b)](q)))"""
    if not isinstance(node, Project):
        return None
    made = _with_scalars(node.input, node.exprs, context)
    return None if made is None else Project(node.columns, made[0], tuple(made[1]))


# --- IN and EXISTS ----------------------------------------------------------------------------------------------------


def _semi_join(term: Rex, input_: Node, context: RuleContext) -> Join | None:
    negated = isinstance(term, Call) and term.op == "not"
    inner = term.args[0] if negated and isinstance(term, Call) else term
    if not isinstance(inner, Subquery) or inner.kind == "scalar" or any(has(a, Subquery) for a in inner.args):
        return None
    if not all(is_deterministic(a) for a in inner.args):
        return None
    outer = {c.id for c in input_.columns}
    if inner.plan.outer_refs() - outer or any(refs(a) - outer for a in inner.args):
        return None  # belongs to an enclosing query
    plan = decorrelated(_any_row(inner.plan) if inner.kind == "exists" else inner.plan, outer, context)
    if plan is None:
        return None
    terms = list(plan.terms)
    if inner.kind == "in":
        columns = inner.plan.columns
        if negated and not _is_plain_not_in(input_, inner):
            return None
        pairs = zip(inner.args, columns, strict=True)
        terms += [Call(BOOLEAN, "=", (a, c.ref) if refs(a) else (c.ref, a)) for a, c in pairs]
    condition = conjunction(terms)
    if condition is None:
        return None
    return Join(input_.columns, input_, plan.node, "anti" if negated else "semi", condition)


def _is_plain_not_in(input_: Node, subquery: Subquery) -> bool:
    """Whether nulls cannot affect NOT IN. Doubles are excluded: Spark's NOT IN distinguishes -0.0 from 0.0, its
    anti-join does not.
    """
    if any(a.type.is_approximate for a in subquery.args):
        return False
    columns = subquery.plan.columns
    return all(never_null(input_, a) for a in subquery.args) and all(never_null(subquery.plan, c.ref) for c in columns)


def _not_in(term: Rex, input_: Node, beside: list[Rex], context: RuleContext) -> Node | None:
    """NOT IN of one value that may be null, or of rows that may; None for others. `beside` are the other conditions."""
    inner = term.args[0] if isinstance(term, Call) and term.op == "not" else None
    if not isinstance(inner, Subquery) or inner.kind != "in" or len(inner.args) != 1 or inner.plan.outer_refs():
        return None
    (value,), (column,) = inner.args, inner.plan.columns
    if value.type.is_approximate or column.type.is_approximate or not is_deterministic(value) or has(value, Subquery):
        return None
    tables = [n for n in (*input_.walk(), *inner.plan.walk()) if isinstance(n, TableScan)]
    if any(not t.table.has_data_source for t in tables):
        return None
    others = conjunction(beside)
    rows = input_ if others is None else Filter(input_.columns, input_, others)
    if _is_plain_not_in(rows, inner) or not refs(value) or refs(value) - {c.id for c in input_.columns}:
        return None
    counted = renamed(inner.plan, context)
    if counted is None:
        return None
    same = Call(BOOLEAN, "=", (value, column.ref))
    without = Join(input_.columns, input_, inner.plan, "anti", same)
    every, known = context.new_column("_n", BIGINT), context.new_column("_m", BIGINT)
    counts = (Agg(BIGINT, "count", ()), Agg(BIGINT, "count", (counted.columns[0].ref,)))
    total = Aggregate((every, known), counted, (), counts)
    joined = Join((*input_.columns, every, known), without, total, "cross", None)
    is_there = Call(BOOLEAN, "is_not_null", (value,))
    is_empty = Call(BOOLEAN, "=", (every.ref, Literal(BIGINT, 0)))
    terms = [Call(BOOLEAN, "=", (every.ref, known.ref)), Call(BOOLEAN, "or", (is_there, is_empty))]
    condition = conjunction([terms[0]] if never_null(input_, value) else list(terms))
    assert condition is not None
    chosen = Filter(joined.columns, joined, condition)
    return Project(input_.columns, chosen, tuple(c.ref for c in input_.columns))


def renamed(node: Node, context: RuleContext) -> Node | None:
    """A copy of the plan with new column ids, so that a plan can read it twice; None for plans that contain anything
    but tables, filters, projections, aggregates, unions and joins.
    """
    if not all(isinstance(n, _COPIED) for n in node.walk()) or any(
        has(e, Subquery) for n in node.walk() for e in n.expressions()
    ):
        return None
    fresh: dict[str, PlanColumn] = {}

    def column(c: PlanColumn) -> PlanColumn:
        if c.id not in fresh:
            fresh[c.id] = context.new_column(c.name, c.type)
        return fresh[c.id]

    def copy(n: Node) -> Node:
        inputs = tuple(copy(i) for i in n.inputs)
        columns = tuple(column(c) for c in n.columns)
        made = replace(n.with_inputs(inputs), columns=columns)
        return map_expressions(made, lambda rex: substitute(rex, {i: c.ref for i, c in fresh.items()}))

    return copy(node)


_COPIED = (TableScan, Filter, Project, Aggregate, Join, SetOp, Values, Sort)


def _exists_as_count(term: Rex, context: RuleContext) -> Rex | None:
    """EXISTS of an uncorrelated subquery => (SELECT count(*) …) > 0"""
    negated = isinstance(term, Call) and term.op == "not"
    inner = term.args[0] if negated and isinstance(term, Call) else term
    if not isinstance(inner, Subquery) or inner.kind != "exists" or inner.plan.outer_refs():
        return None
    rows = _any_row(inner.plan)
    count = context.new_column("_c", BIGINT)
    total = Aggregate((count,), rows, (), (Agg(BIGINT, "count", ()),))
    value = Subquery(BIGINT, "scalar", total)
    return Call(BOOLEAN, "=" if negated else ">", (value, Literal(BIGINT, 0)))


def _any_row(node: Node) -> Node:
    """A node that has rows exactly if this one has: order, output and distinct keys do not matter."""
    while isinstance(node, Sort | Project | Aggregate):
        if isinstance(node, Sort) and (node.fetch == 0 or node.offset):
            break
        if isinstance(node, Project) and any(has(e, Over, Subquery) for e in node.exprs):
            break
        if isinstance(node, Aggregate) and (not node.keys or node.grouping_sets is not None):
            break
        node = node.input
    return node


# --- correlation ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decorrelated:
    """A plan without references to the outer query, and the conditions that were removed from it.

    The node may have additional columns: those that the conditions read.
    """

    node: Node
    terms: tuple[Rex, ...] = ()


def decorrelated(node: Node, outer: set[str], context: RuleContext) -> Decorrelated | None:
    """The plan without the conditions on the outer query's columns; None if they cannot be removed."""
    if not node.outer_refs() & outer:
        return Decorrelated(node)
    if isinstance(node, Filter):
        return _out_of_filter(node, outer, context)
    if isinstance(node, Project):
        return _out_of_project(node, outer, context)
    if isinstance(node, LateralView):
        return _out_of_lateral_view(node, outer, context)
    if isinstance(node, Aggregate) and node.keys and node.grouping_sets is None:
        return _out_of_aggregate(node, outer, context)
    if isinstance(node, Sort) and node.fetch is None and not node.offset:
        return decorrelated(node.input, outer, context)
    if isinstance(node, Join) and node.kind in ("inner", "cross"):
        return _out_of_join(node, outer, context)
    return None


def _out_of_filter(node: Filter, outer: set[str], context: RuleContext) -> Decorrelated | None:
    below = decorrelated(node.input, outer, context)
    if below is None:
        return None
    mine: list[Rex] = []
    theirs: list[Rex] = []
    for term in conjuncts(node.condition):
        (theirs if refs(term) & outer else mine).append(term)
    if any(has(t, Subquery) or not is_deterministic(t) for t in theirs):
        return None
    condition = conjunction(mine)
    kept = below.node if condition is None else Filter(below.node.columns, below.node, condition)
    return Decorrelated(kept, (*below.terms, *theirs))


def _out_of_project(node: Project, outer: set[str], context: RuleContext) -> Decorrelated | None:
    below = decorrelated(node.input, outer, context)
    if below is None or any(refs(e) & outer or has(e, Over) for e in node.exprs):
        return None
    there = {c.id for c in node.columns}
    own = {c.id: c for c in below.node.columns}
    read = {i for t in below.terms for i in refs(t)} - outer
    more = [own[i] for i in sorted(read) if i in own and i not in there]
    # a column with the same id may have another value above
    renamed = {c.id for c, e in zip(node.columns, node.exprs, strict=True) if not (isinstance(e, Ref) and e.id == c.id)}
    if read & renamed:
        return None
    project = Project((*node.columns, *more), below.node, (*node.exprs, *(c.ref for c in more)))
    return Decorrelated(project, below.terms)


def _out_of_lateral_view(node: LateralView, outer: set[str], context: RuleContext) -> Decorrelated | None:
    """Conditions on the input rows also select among the rows computed from them."""
    below = decorrelated(node.input, outer, context)
    if below is None or refs(node.generator) & outer:
        return None
    columns = (*below.node.columns, *node.generated)
    return Decorrelated(replace(node, input=below.node, columns=columns), below.terms)


def _out_of_aggregate(node: Aggregate, outer: set[str], context: RuleContext) -> Decorrelated | None:
    """A column that must equal a column of the outer query becomes an additional key."""
    below = decorrelated(node.input, outer, context)
    if below is None or any(refs(e) & outer for e in (*node.keys, *node.calls)):
        return None
    keys, terms = [], []
    for term in below.terms:
        pair = _equality(term, outer)
        if pair is None:
            return None
        op, theirs, mine = pair
        column = context.new_column("_k", mine.type)
        keys.append((column, mine))
        terms.append(Call(BOOLEAN, op, (theirs, column.ref)))
    width = len(node.keys)
    columns = (*node.columns[:width], *(c for c, _ in keys), *node.columns[width:])
    grouped = Aggregate(columns, below.node, (*node.keys, *(k for _, k in keys)), node.calls)
    return Decorrelated(grouped, tuple(terms))


def _out_of_join(node: Join, outer: set[str], context: RuleContext) -> Decorrelated | None:
    left, right = decorrelated(node.left, outer, context), decorrelated(node.right, outer, context)
    if left is None or right is None:
        return None
    terms = conjuncts(node.condition)
    theirs = [t for t in terms if refs(t) & outer]
    if any(has(t, Subquery) or not is_deterministic(t) for t in theirs):
        return None
    condition = conjunction([t for t in terms if t not in theirs])
    columns = (*left.node.columns, *right.node.columns)
    joined = Join(columns, left.node, right.node, "cross" if condition is None else "inner", condition)
    return Decorrelated(joined, (*left.terms, *right.terms, *theirs))


# --- scalar subqueries ------------------------------------------------------------------------------------------------


def _with_scalars(input_: Node, exprs: Sequence[Rex], context: RuleContext) -> tuple[Node, list[Rex]] | None:
    """The input joined with the value of each scalar subquery, and the expressions that read it there."""
    outer = {c.id for c in input_.columns}
    values: dict[int, Rex] = {}
    joined = input_
    for subquery in _scalars(exprs):
        made = _joined_value(joined, subquery, outer, context)
        if made is not None:
            joined, values[id(subquery.plan)] = made
    if not values:
        return None

    def change(rex: Rex) -> Rex | None:
        return values.get(id(rex.plan)) if isinstance(rex, Subquery) else None

    return joined, [transform(e, change) for e in exprs]


def _scalars(exprs: Sequence[Rex]) -> list[Subquery]:
    """The scalar subqueries without duplicates: one plan is one value, however often it is read."""
    subqueries: dict[int, Subquery] = {}
    for expr in exprs:
        for rex in walk(expr):
            if isinstance(rex, Subquery) and rex.kind == "scalar":
                subqueries[id(rex.plan)] = rex
    return list(subqueries.values())


def _joined_value(left: Node, subquery: Subquery, outer: set[str], context: RuleContext) -> tuple[Node, Rex] | None:
    total = _grand_total(subquery.plan)
    if total is None or subquery.plan.outer_refs() - outer:
        return None
    if isinstance(left, Values) and not left.columns:
        return None  # SELECT without FROM: there is nothing to join with
    value, aggregate = total
    if refs(value) & outer:
        return None
    if not subquery.plan.outer_refs():
        made = context.new_column("_s", subquery.type)
        single: Node = Project((made,), aggregate, (value,))
        return Join((*left.columns, made), left, single, "cross", None), made.ref
    return _correlated_value(left, aggregate, value, outer, context)


def _grand_total(plan: Node) -> tuple[Rex, Aggregate] | None:
    """The value in terms of the aggregate that has exactly one row, if the plan has this form."""
    value: Rex = plan.columns[0].ref
    node = plan
    while True:
        if isinstance(node, Project):
            if any(has(e, Over, Subquery) or not is_deterministic(e) for e in node.exprs):
                return None
            value = substitute(value, node.mapping)
            node = node.input
        elif isinstance(node, Sort) and node.fetch != 0 and not node.offset:
            node = node.input
        else:
            break
    if not isinstance(node, Aggregate) or node.keys or node.grouping_sets is not None:
        return None
    return value, node


def _correlated_value(
    left: Node, aggregate: Aggregate, value: Rex, outer: set[str], context: RuleContext
) -> tuple[Node, Rex] | None:
    """x with (SELECT sum(b) FROM q WHERE q.k = x.k) => Join[left, k = q.k](x, Aggregate[q.k, sum(b)](q))

    A missing group is an aggregate over no rows: its counts are 0.
    """
    if any(c.op not in _EMPTY_IS_NULL and c.op != "count" for c in aggregate.calls):
        return None
    if any(refs(c) & outer for c in aggregate.calls):
        return None
    below = decorrelated(aggregate.input, outer, context)
    pairs = [_equality(t, outer) for t in below.terms] if below is not None else []
    if below is None or not pairs:
        return None
    keys: list[Rex] = []
    terms: list[tuple[str, Rex, int]] = []
    for pair in pairs:
        if pair is None:
            return None
        op, theirs, mine = pair
        if mine not in keys:
            keys.append(mine)
        terms.append((op, theirs, keys.index(mine)))
    key_columns = [context.new_column("_k", k.type) for k in keys]
    grouped = Aggregate((*key_columns, *aggregate.columns), below.node, tuple(keys), aggregate.calls)
    condition = conjunction([Call(BOOLEAN, op, (theirs, key_columns[i].ref)) for op, theirs, i in terms])
    counts: dict[str, Rex] = {
        column.id: Call(BIGINT, "coalesce", (column.ref, Literal(BIGINT, 0)))
        for column, call in zip(aggregate.columns, aggregate.calls, strict=True)
        if call.op == "count"
    }
    joined = Join((*left.columns, *grouped.columns), left, grouped, "left", condition)
    return joined, substitute(value, counts)


def _equality(term: Rex, outer: set[str]) -> tuple[str, Rex, Rex] | None:
    """A condition `outer = inner` as its operator and its two sides."""
    if not isinstance(term, Call) or term.op not in ("=", "<=>"):
        return None
    a, b = term.args
    if refs(b) and refs(b) <= outer:
        a, b = b, a
    if not refs(a) or not refs(a) <= outer or refs(b) & outer or not refs(b):
        return None
    return term.op, a, b
