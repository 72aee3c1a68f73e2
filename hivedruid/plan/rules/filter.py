"""Rules about Filter: towards the tables, and into native queries."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from hivedruid.catalog.types import BOOLEAN
from hivedruid.plan.fold import fold, refold
from hivedruid.plan.nodes import Aggregate, DruidQuery, Filter, Join, LateralView, Node, Project, SetOp
from hivedruid.plan.rex import (
    Call,
    Literal,
    Over,
    Ref,
    Rex,
    Subquery,
    both,
    conjunction,
    conjuncts,
    has,
    is_deterministic,
    refs,
    substitute,
    walk,
)
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.rules.nested import rows_of


def filtered(node: Node, terms: list[Rex]) -> Node:
    """The rows of the node that satisfy all terms."""
    condition = conjunction(terms)
    return node if condition is None else Filter(node.columns, node, condition)


def filter_merge(node: Node, _context: RuleContext) -> Node | None:
    """Filter[p](Filter[q](x)) => Filter[q AND p](x)"""
    if not isinstance(node, Filter) or not isinstance(node.input, Filter):
        return None
    return filtered(node.input.input, [*conjuncts(node.input.condition), *conjuncts(node.condition)])


def decisive(term: Rex) -> Rex:
    """The term in a context where only TRUE matters: NULL is FALSE, and `x IN (a, NULL)` is `x IN (a)`."""
    if isinstance(term, Literal):
        return Literal(BOOLEAN, term.value is True)
    if not isinstance(term, Call):
        return term
    if term.op in ("and", "or"):
        return fold(Call(BOOLEAN, term.op, tuple([decisive(a) for a in term.args])), "UTC")
    if term.op == "not" and _has_null_item(term.args[0]):
        return Literal(BOOLEAN, False)
    if not _has_null_item(term):
        return term
    items = [a for a in term.args[1:] if not _is_null(a)]
    if len(items) == 1:
        return Call(BOOLEAN, "=", (term.args[0], items[0]))
    return Call(BOOLEAN, "in", (term.args[0], *items)) if items else Literal(BOOLEAN, False)


def _is_null(rex: Rex) -> bool:
    return isinstance(rex, Literal) and rex.value is None


def _has_null_item(rex: Rex) -> bool:
    return isinstance(rex, Call) and rex.op == "in" and any(_is_null(item) for item in rex.args[1:])


def filter_true(node: Node, _context: RuleContext) -> Node | None:
    """Filter[TRUE](x) => x; a condition that is NULL is FALSE in a filter."""
    if not isinstance(node, Filter):
        return None
    terms = conjuncts(node.condition)
    kept = decisive_terms(terms)
    return None if kept == terms else filtered(node.input, kept)


def decisive_terms(terms: list[Rex]) -> list[Rex]:
    """The terms of a condition in a context where only TRUE matters; none if it is always TRUE."""
    kept = [term for t in terms for term in conjuncts(decisive(t))]
    kept = [t for t in kept if not (isinstance(t, Literal) and t.value is True)]
    return [Literal(BOOLEAN, False)] if any(isinstance(t, Literal) for t in kept) else kept


def filter_project_transpose(node: Node, context: RuleContext) -> Node | None:
    """Filter[p](Project[e](x)) => Project[e](Filter[p over e](x))      e deterministic, no window function

    A condition moves below window functions only if it is the same for all rows of a window: it reads columns that all
    of them partition by.
    """
    if not isinstance(node, Filter) or not isinstance(node.input, Project):
        return None
    project = node.input
    mapping = project.mapping
    partition = _partition(project)
    down: list[Rex] = []
    stay: list[Rex] = []
    for term in conjuncts(node.condition):
        used = [mapping[i] for i in refs(term) if i in mapping]
        free = all(is_deterministic(e) and not has(e, Over, Subquery) for e in used)
        correlated = any(isinstance(s, Subquery) and s.plan.outer_refs() & set(mapping) for s in _subqueries(term))
        if free and partition is not None:
            free = is_deterministic(term) and not has(term, Subquery) and refs(substitute(term, mapping)) <= partition
        (down if free and not correlated else stay).append(term)
    if not down:
        return None
    below = filtered(project.input, [_over(t, mapping, context.zone) for t in down])
    return filtered(replace(project, input=below), stay)


def _over(term: Rex, mapping: dict[str, Rex], zone: str) -> Rex:
    """The term with its columns replaced by their expressions; computed if that is constant."""
    over = substitute(term, mapping)
    return refold(over, zone) if any(isinstance(mapping.get(i), Literal) for i in refs(term)) else over


def _partition(project: Project) -> set[str] | None:
    """The columns by which all window functions partition; None if there is no window function."""
    windows = [n for e in project.exprs for n in walk(e) if isinstance(n, Over)]
    if not windows:
        return None
    columns = [{p.id for p in window.partition if isinstance(p, Ref)} for window in windows]
    return set.intersection(*columns)


def filter_lateral_view_transpose(node: Node, _context: RuleContext) -> Node | None:
    """Filter[p AND q](LateralView(x)) => Filter[q](LateralView(Filter[p](x)))      p reads only x"""
    if not isinstance(node, Filter) or not isinstance(node.input, LateralView):
        return None
    view = node.input
    there = {c.id for c in view.input.columns}
    terms = conjuncts(node.condition)
    down = [t for t in terms if refs(t) and refs(t) <= there and is_deterministic(t) and not has(t, Subquery)]
    if not down:
        return None
    return filtered(replace(view, input=filtered(view.input, down)), [t for t in terms if t not in down])


def _subqueries(rex: Rex) -> list[Subquery]:
    return [n for n in walk(rex) if isinstance(n, Subquery)]


def filter_aggregate_transpose(node: Node, _context: RuleContext) -> Node | None:
    """Filter[p AND q](Aggregate[k](x)) => Filter[q](Aggregate[k](Filter[p over k](x)))      p reads only keys"""
    if not isinstance(node, Filter) or not isinstance(node.input, Aggregate) or node.input.grouping_sets is not None:
        return None
    aggregate = node.input
    keys = dict(zip([c.id for c in aggregate.columns], aggregate.keys, strict=False))
    if not keys:
        return None
    terms = conjuncts(node.condition)
    down = [t for t in terms if refs(t) and refs(t) <= set(keys) and not has(t, Subquery) and is_deterministic(t)]
    if not down:
        return None
    below = filtered(aggregate.input, [substitute(t, keys) for t in down])
    return filtered(replace(aggregate, input=below), [t for t in terms if t not in down])


def filter_into_join(node: Node, _context: RuleContext) -> Node | None:
    """Filter[p AND q](Join(l, r)) => Filter[q](Join(Filter[p](l), r))      p reads one side, which the join does not
    null-extend
    """
    if not isinstance(node, Filter) or not isinstance(node.input, Join):
        return None
    join = node.input
    left_ok = join.kind in ("inner", "cross", "left", "semi", "anti")
    right_ok = join.kind in ("inner", "cross", "right")
    left, right, stay = _by_side(conjuncts(node.condition), join, left_ok, right_ok)
    if not left and not right:
        return None
    return filtered(replace(join, left=_below(join.left, left), right=_below(join.right, right)), stay)


def _below(node: Node, terms: list[Rex]) -> Node:
    """The rows of the node that satisfy all terms. In a chain of joins each term moves at once to where it belongs:
    as a filter of every join above that, it would be examined as often as there are joins.
    """
    joins = _chain(node) if terms else []
    if not joins:
        return filtered(node, terms)
    made, last = joins[0].left, len(joins)
    places = dict.fromkeys(made.ids, 0) | {i: n for n, join in enumerate(joins, start=1) for i in join.right.ids}
    over: dict[int, list[Rex]] = defaultdict(list)
    beside: dict[int, list[Rex]] = defaultdict(list)
    for term in terms:
        is_movable = _is_movable(term)
        place = max([places.get(i, last) for i in refs(term)]) if is_movable else last
        is_beside = is_movable and place > 0 and refs(term) <= joins[place - 1].right.ids
        (beside if is_beside else over)[place].append(term)
    for place, join in enumerate(joins, start=1):
        left, right = filtered(made, over[place - 1]), _below(join.right, beside[place])
        made = join if left is join.left and right is join.right else replace(join, left=left, right=right)
    return filtered(made, over[last])


def _chain(node: Node) -> list[Join]:
    """The joins on the left below a node, the innermost first, that keep or remove rows of their left sides."""
    joins: list[Join] = []
    while isinstance(node, Join) and node.kind in ("inner", "cross", "semi", "anti"):
        joins.append(node)
        node = node.left
    return joins[::-1]


def join_condition_push(node: Node, _context: RuleContext) -> Node | None:
    """Join[p AND c](l, r) => Join[c](Filter[p](l), r)      p reads one side, which the join does not preserve"""
    if not isinstance(node, Join) or node.condition is None:
        return None
    left_ok, right_ok = node.kind in ("inner", "right", "semi"), node.kind in ("inner", "left", "semi", "anti")
    left, right, stay = _by_side(conjuncts(node.condition), node, left_ok, right_ok)
    if not stay or (not left and not right):
        return None
    return replace(node, left=filtered(node.left, left), right=filtered(node.right, right), condition=conjunction(stay))


def _is_movable(term: Rex) -> bool:
    return bool(refs(term)) and is_deterministic(term) and not has(term, Subquery)


def _by_side(terms: list[Rex], join: Join, left_ok: bool, right_ok: bool) -> tuple[list[Rex], list[Rex], list[Rex]]:
    left_ids, right_ids = join.left.ids, join.right.ids
    left, right, stay = [], [], []
    for term in terms:
        used, movable = refs(term), _is_movable(term)
        if movable and left_ok and used <= left_ids:
            left.append(term)
        elif movable and right_ok and used <= right_ids:
            right.append(term)
        else:
            stay.append(term)
    return left, right, stay


def filter_set_op_transpose(node: Node, _context: RuleContext) -> Node | None:
    """Filter[p](Union(a, b)) => Union(Filter[p](a), Filter[p](b)); also INTERSECT and EXCEPT"""
    if not isinstance(node, Filter) or not isinstance(node.input, SetOp):
        return None
    if not is_deterministic(node.condition) or has(node.condition, Subquery):
        return None
    branches: list[Node] = []
    for branch in node.input.branches:
        mapping: dict[str, Rex] = {c.id: b.ref for c, b in zip(node.input.columns, branch.columns, strict=True)}
        branches.append(Filter(branch.columns, branch, substitute(node.condition, mapping)))
    return replace(node.input, branches=tuple(branches))


def push_filter(query: DruidQuery, term: Rex, context: RuleContext) -> DruidQuery:
    """The query with one more condition on its rows; NotExact if it must be checked outside Druid."""
    if query.is_limited:
        query = rows_of(query, context)
    rex = substitute(term, query.mapping)
    if query.grouped is None:
        return context.exact(replace(query, filter=both(query.filter, rex)))
    keys = dict(zip([c.id for c in query.grouped], query.keys, strict=False)) if query.grouping_sets is None else {}
    if keys and refs(rex) and refs(rex) <= set(keys):
        return context.exact(replace(query, filter=both(query.filter, substitute(rex, keys))))
    return context.exact(replace(query, having=both(query.having, rex)))


def druid_filter(node: Node, context: RuleContext) -> Node | None:
    """Filter[p AND q](DruidQuery) => Filter[q](DruidQuery with p)      q is not exact in Druid"""
    if not isinstance(node, Filter) or not isinstance(node.input, DruidQuery):
        return None
    query, terms = node.input, conjuncts(node.condition)
    if (whole := _with_terms(query, terms, context)) is not None:
        return whole
    exact = [t for t in terms if _with_terms(query, [t], context) is not None] if len(terms) > 1 else []
    if not exact:
        return None
    kept = set(exact)
    return filtered(_pushed_terms(query, exact, context), [t for t in terms if t not in kept])


def _with_terms(query: DruidQuery, terms: list[Rex], context: RuleContext) -> DruidQuery | None:
    """The query with these conditions; None if they are not exact."""
    return pushed(lambda: _pushed_terms(query, terms, context))


def _pushed_terms(query: DruidQuery, terms: list[Rex], context: RuleContext) -> DruidQuery:
    """The query with all these conditions: terms of keys only below the aggregate, the others where they are."""
    for part in _by_reach(query, terms):
        query = push_filter(query, part, context)
    return query


def _by_reach(query: DruidQuery, terms: list[Rex]) -> list[Rex]:
    """The terms as at most two conditions: those on grouping keys only, and the rest."""
    if query.grouped is None or query.grouping_sets is not None:
        condition = conjunction(terms)
        return [condition] if condition is not None else []
    keys = {c.id for c in query.grouped[: len(query.keys)]}
    reads = [refs(substitute(t, query.mapping)) for t in terms]
    on_keys = [t for t, used in zip(terms, reads, strict=True) if used and used <= keys]
    rest = [t for t, used in zip(terms, reads, strict=True) if not (used and used <= keys)]
    return [c for c in (conjunction(on_keys), conjunction(rest)) if c is not None]
