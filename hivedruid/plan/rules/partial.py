"""Rules about aggregates over joins and UNION ALL that Spark runs: Druid computes partial results, so few rows are
transferred.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import replace
from math import prod
from operator import itemgetter

from hivedruid.catalog.types import BIGINT, DOUBLE
from hivedruid.plan.functions import function_type
from hivedruid.plan.nodes import Aggregate, DruidQuery, Join, Node, PlanColumn, Project, SetOp
from hivedruid.plan.rex import Agg, Call, Literal, Ref, Rex, Subquery, has, refs, substitute, walk
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.rules.distinct import without_condition
from hivedruid.plan.rules.inference import equal_keys
from hivedruid.plan.rules.set_op import branches_of, is_union_all

_TOTAL = {
    "count": "sum", "sum": "sum", "min": "min", "max": "max", "bit_and": "bit_and", "bit_or": "bit_or",
    "bit_xor": "bit_xor",
}  # fmt: skip
"""Aggregates that can be computed from partial results, and the aggregate that combines them."""
_OF_SETS = ("approx_distinct", "collect_set")
"""Aggregates with the same result for repeated values, as those with DISTINCT have."""

WORTH = 2
"""The minimum ratio of rows to groups, by estimate, if both are known."""


def aggregate_union_transpose(node: Node, context: RuleContext) -> Node | None:
    """Aggregate[k, count(*)](a + b) => Aggregate[k, sum(c)](Aggregate[k, c := count(*)](a) + Aggregate[k, …](b))

    Applies if at least one branch is a native query that can compute it: one row for each group is transferred instead
    of all. The arguments of aggregates of sets are keys of the branches:

    Aggregate[k, count(DISTINCT d)](a + b) => Aggregate[k, count(DISTINCT d)](Aggregate[k, d](a) + Project[k, d](b))
    """
    if not isinstance(node, Aggregate) or not is_union_all(node.input) or node.grouping_sets is not None:
        return None
    node = replace(node, calls=tuple(without_condition(c) if _is_of_set(c) else c for c in node.calls))
    parts = _parts(tuple(c for c in node.calls if not _is_of_set(c)))
    values = dict.fromkeys(a for c in node.calls if _is_of_set(c) for a in c.args if refs(a))
    if parts is None or not any(_is_rows(b) for b in node.input.inputs):
        return None
    if any(value.type.is_timestamp for value in values):
        return None  # few rows have the same millisecond
    keys = tuple(dict.fromkeys((*node.keys, *values)))
    names = [c.name for c in node.columns[: len(node.keys)]] + ["_d"] * (len(keys) - len(node.keys))
    branches = [_branch(b, m, keys, names, parts, context) for b, m in branches_of(node.input)]
    if not any(isinstance(b, DruidQuery) for b in branches):
        return None
    if values and not parts:  # the aggregate above finds repeated values anyway
        branches = [Project(b.columns, b.input, b.keys) if isinstance(b, Aggregate) else b for b in branches]
    columns = tuple(context.new_column(c.name, c.type) for c in branches[0].columns)
    union = SetOp(columns, "union", True, tuple(branches))
    by_key: dict[Rex, Rex] = {k: c.ref for k, c in zip(keys, columns, strict=False)}
    made = dict(zip(parts, columns[len(keys) :], strict=True))
    return _whole(node, union, by_key, made, context)


def _branch(
    branch: Node,
    mapping: dict[str, Rex],
    keys: tuple[Rex, ...],
    names: list[str],
    parts: list[Agg],
    context: RuleContext,
) -> Node:
    """The aggregates of one branch: in the native query if that is possible, otherwise above the branch."""
    mapped = tuple(substitute(k, mapping) for k in keys)
    partial = _aggregate(branch, mapped, [substituted(p, mapping) for p in parts], names, context)
    return _pushed(branch, partial, context) or partial


def aggregate_join_transpose(node: Node, context: RuleContext) -> Node | None:
    """Aggregate[r.g, sum(l.x)](l JOIN r) => Aggregate[r.g, sum(s)](Aggregate[l.k, s := sum(l.x)](l) JOIN r)

    Applies if `l` is a native query that can compute it, and the aggregates of the other inputs are only minima and
    maxima: rows of `l` with the same keys match the same rows of `r` (eager aggregation of Yan and Larson). Below
    several joins the keys are those of all of them, and the number of groups must be known.
    """
    if not isinstance(node, Aggregate) or not isinstance(node.input, Join) or node.grouping_sets is not None:
        return None
    if not all(isinstance(c, Agg) and _part(c) is not None for c in node.calls):
        return None
    conditions = _Conditions(node.input)
    if conditions.have_subqueries:
        return None
    for query in _queries(node.input):
        made = _below_joins(node, node.input, query, conditions, context)
        if made is not None:
            return made
    return None


def _queries(join: Join) -> Iterator[DruidQuery]:
    """The native queries whose rows with the same keys are in the result equally often: no join adds nulls to them."""
    stack: list[Node] = [join]
    while stack:
        side = stack.pop()
        if isinstance(side, Join):
            stack += [side.right] if side.kind in ("inner", "right") else []
            stack += [side.left] if side.kind in ("inner", "left", "semi") else []
        elif isinstance(side, DruidQuery) and _is_rows(side):
            yield side


class _Conditions:
    """The conditions of a tree of joins: what they read, and which columns they make equal."""

    def __init__(self, join: Join) -> None:
        self.have_subqueries = False
        self.reads: dict[str, tuple[int, Ref]] = {}
        """The columns by their ids, with the order in which they are read first."""
        self.equal: defaultdict[Rex, list[Rex]] = defaultdict(list)
        """The columns that are equal to each column."""
        for each in _joins(join):
            if each.condition is None:
                continue
            self.have_subqueries |= has(each.condition, Subquery)
            for read in walk(each.condition):
                if isinstance(read, Ref):
                    self.reads.setdefault(read.id, (len(self.reads), read))
            for left, right in equal_keys(each):
                self.equal[left].append(right)
                self.equal[right].append(left)

    def of(self, ids: Set[str]) -> list[Ref]:
        """The columns with these ids that a condition reads."""
        return [read for _, read in sorted([self.reads[i] for i in ids if i in self.reads], key=itemgetter(0))]


def _joins(join: Join) -> Iterator[Join]:
    """The joins of a tree of joins."""
    stack: list[Node] = [join]
    while stack:
        node = stack.pop()
        if isinstance(node, Join):
            yield node
            stack += node.inputs[::-1]


def _below_joins(
    node: Aggregate, join: Join, query: DruidQuery, conditions: _Conditions, context: RuleContext
) -> Node | None:
    own = query.ids
    if any(refs(rex) & own and not refs(rex) <= own for rex in (*node.keys, *node.calls)):
        return None
    mine = [c for c in node.calls if refs(c) <= own]
    others = [c for c in node.calls if c not in mine]
    if any(c.op not in ("min", "max") for c in others):
        return None  # for rows that represent several
    keys = list(dict.fromkeys(k for k in node.keys if refs(k) and refs(k) <= own))
    keys += [read for read in conditions.of(own) if read not in keys]
    if not keys or any(isinstance(k, Ref) and k.type.is_timestamp for k in keys):
        return None
    parts = _parts(tuple(mine)) or []
    partial = _aggregate(query, tuple(keys), parts, ["_k"] * len(keys), context)
    below = _pushed(query, partial, context)
    if below is None:
        return None
    is_beside = query is join.left or query is join.right
    if not (
        _is_worth(below, query, context) if is_beside else _is_certainly_worth(query, keys, join, conditions, context)
    ):
        return None
    by_key: dict[Rex, Rex] = {k: c.ref for k, c in zip(keys, below.columns, strict=False)}
    joined = _with_query(join, query, below, {k.id: c for k, c in by_key.items() if isinstance(k, Ref)})
    made = dict(zip(parts, below.columns[len(keys) :], strict=True))
    return _whole(node, joined, by_key, made, context)


def _with_query(node: Node, query: DruidQuery, below: DruidQuery, mapping: dict[str, Rex]) -> Node:
    """The tree of joins over another native query, whose columns stand for those of the mapping."""
    if node is query:
        return below
    if not isinstance(node, Join):
        return node
    left, right = (_with_query(side, query, below, mapping) for side in node.inputs)
    columns = left.columns if node.kind in ("semi", "anti") else (*left.columns, *right.columns)
    condition = None if node.condition is None else substitute(node.condition, mapping)
    return Join(columns, left, right, node.kind, condition)


def _is_worth(below: DruidQuery, query: DruidQuery, context: RuleContext) -> bool:
    after, before = context.rows(below), context.rows(query)
    return after is None or before is None or after * WORTH <= before


def _is_certainly_worth(
    query: DruidQuery, keys: list[Rex], join: Join, conditions: _Conditions, context: RuleContext
) -> bool:
    """Whether the numbers of values of the keys are known, those of a join key from either side of it."""
    rows = context.rows(query)
    context.rows(join)  # so that the values of the other inputs are known
    counts = [_values(key, conditions, context) for key in keys]
    if rows is None or None in counts:
        return False
    return prod(c for c in counts if c is not None) * WORTH <= rows


def _values(key: Rex, conditions: _Conditions, context: RuleContext) -> int | None:
    """The number of values of a key; if it is unknown, of those that it is compared with."""
    known = context.distinct(key)
    if known is not None:
        return known
    others = conditions.equal.get(key, ())
    return min((n for other in others if (n := context.distinct(other)) is not None), default=None)


# --- parts ------------------------------------------------------------------------------------------------------------


def _is_rows(node: Node) -> bool:
    return isinstance(node, DruidQuery) and node.grouped is None and not node.is_limited


def _aggregate(
    input_: Node, keys: tuple[Rex, ...], parts: list[Agg], names: list[str], context: RuleContext
) -> Aggregate:
    named = [context.new_column(name, k.type) for name, k in zip(names, keys, strict=True)]
    values = [context.new_column(f"_p{i}", p.type) for i, p in enumerate(parts)]
    return Aggregate((*named, *values), input_, keys, tuple(parts))


def _pushed(query: Node, aggregate: Aggregate, context: RuleContext) -> DruidQuery | None:
    if not isinstance(query, DruidQuery) or not _is_rows(query):
        return None
    return pushed(lambda: push_aggregate(query, aggregate, context))


def _whole(
    node: Aggregate, input_: Node, by_key: dict[Rex, Rex], parts: dict[Agg, PlanColumn], context: RuleContext
) -> Node:
    """The aggregate combined from its partial results, which are columns of the input, as the keys `by_key` are; a
    count of nothing is 0."""
    keys = tuple(by_key.get(k, k) for k in node.keys)
    width = len(keys)
    key_columns = [context.new_column(c.name, c.type) for c in node.columns[:width]]
    totals: dict[Agg, PlanColumn] = {}

    def total(part: Agg) -> Rex:
        made = replace(part, op=_TOTAL[part.op], args=(parts[part].ref,), condition=None) if part in parts else part
        if made not in totals:
            totals[made] = context.new_column(f"_t{len(totals)}", made.type)
        return totals[made].ref

    outputs: list[Rex] = [c.ref for c in key_columns]
    for call in node.calls:
        if _is_of_set(call):
            outputs.append(total(replace(call, args=tuple(by_key.get(a, a) for a in call.args))))
            continue
        values = [total(p) for p in _part(call) or ()]
        if call.op == "avg":
            outputs.append(Call(DOUBLE, "/", (values[0], as_double(values[1]))))
        elif call.op == "count" and not keys:
            outputs.append(Call(BIGINT, "coalesce", (values[0], Literal(BIGINT, 0))))
        else:
            outputs.append(values[0])
    above = Aggregate((*key_columns, *totals.values()), input_, keys, tuple(totals))
    return Project(node.columns, above, tuple(outputs))


def _parts(calls: tuple[Agg, ...]) -> list[Agg] | None:
    """The partial results that are needed; None if a call can only be computed from all rows."""
    parts: list[Agg] = []
    for call in calls:
        part = _part(call)
        if part is None:
            return None
        parts += [p for p in part if p not in parts]
    return parts


def _is_of_set(call: Agg) -> bool:
    return call.distinct or (call.op in _OF_SETS and len(call.args) == 1)


def _part(call: Agg) -> tuple[Agg, ...] | None:
    if call.distinct:
        return None
    if call.op == "avg":
        if call.type != DOUBLE or call.args[0].type.name == "decimal":
            return None
        total = Agg(DOUBLE, "sum", (as_double(call.args[0]),), condition=call.condition)
        return total, Agg(BIGINT, "count", call.args, condition=call.condition)
    if call.op not in _TOTAL:
        return None
    # a sum of sums has the same type, except for decimals
    return (call,) if call.op != "sum" or function_type("sum", (Literal(call.type, None),)) == call.type else None


def as_double(rex: Rex) -> Rex:
    return rex if rex.type == DOUBLE else Call(DOUBLE, "cast", (rex,))


def substituted(call: Agg, mapping: dict[str, Rex]) -> Agg:
    changed = substitute(call, mapping)
    assert isinstance(changed, Agg)
    return changed
