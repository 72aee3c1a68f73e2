"""Rules about UNION, INTERSECT and EXCEPT: into one native query if that is exact, otherwise fewer rows are
transferred.

`+` is UNION ALL in the drawings.
"""

from __future__ import annotations

from dataclasses import replace

from hivedruid.catalog.types import BOOLEAN
from hivedruid.druid.exactness import NotExact
from hivedruid.plan.nodes import (
    Aggregate,
    DruidQuery,
    DruidUnion,
    Join,
    Node,
    Project,
    SetOp,
    Sort,
    TableScan,
)
from hivedruid.plan.rex import (
    Call,
    Over,
    Ref,
    Rex,
    SortKey,
    Subquery,
    conjunction,
    has,
    is_deterministic,
    substitute,
)
from hivedruid.plan.rules.aggregate import push_aggregate
from hivedruid.plan.rules.context import RuleContext, pushed
from hivedruid.plan.rules.join import push_join
from hivedruid.plan.rules.sort import push_sort

# --- normal form
# --------------------------------------------------------------------------------------------------------


def set_op_distinct(node: Node, _context: RuleContext) -> Node | None:
    """UNION(DISTINCT a, b) => UNION(a, b); also INTERSECT and EXCEPT"""
    if not isinstance(node, SetOp) or node.all:
        return None
    branches = tuple(_without_distinct(b) for b in node.branches)
    return None if all(a is b for a, b in zip(branches, node.branches, strict=True)) else node.with_inputs(branches)


def _without_distinct(node: Node) -> Node:
    if not isinstance(node, Aggregate) or node.calls or node.grouping_sets is not None or not node.keys:
        return node
    same = [k.id if isinstance(k, Ref) else None for k in node.keys] == [c.id for c in node.input.columns]
    return node.input if same else node


def set_op_merge(node: Node, _context: RuleContext) -> Node | None:
    """(a UNION ALL b) UNION ALL c => UNION ALL(a, b, c); for EXCEPT only the first branch"""
    merged = node.merged() if isinstance(node, SetOp) else node
    return None if merged is node else merged


def union_distinct(node: Node, context: RuleContext) -> Node | None:
    """UNION(a, b) => Aggregate[every column](a + b)"""
    if not isinstance(node, SetOp) or node.kind != "union" or node.all:
        return None
    columns = tuple(context.new_column(c.name, c.type) for c in node.columns)
    everything = SetOp(columns, "union", True, node.branches)
    return Aggregate(node.columns, everything, tuple(c.ref for c in columns), ())


def project_union_transpose(node: Node, context: RuleContext) -> Node | None:
    """Project[e](a + b) => Project[e](a) + Project[e](b)"""
    if not isinstance(node, Project) or not is_union_all(node.input):
        return None
    if any(has(e, Over, Subquery) or not is_deterministic(e) for e in node.exprs):
        return None
    branches: list[Node] = []
    for branch, mapping in branches_of(node.input):
        columns = tuple(context.new_column(c.name, c.type) for c in node.columns)
        branches.append(Project(columns, branch, tuple(substitute(e, mapping) for e in node.exprs)))
    return SetOp(node.columns, "union", True, tuple(branches))


def is_union_all(node: Node) -> bool:
    return isinstance(node, SetOp) and node.kind == "union" and node.all


def branches_of(node: Node) -> list[tuple[Node, dict[str, Rex]]]:
    """Each branch with the expressions of the set operation's columns."""
    columns = [c.id for c in node.columns]
    return [(b, dict(zip(columns, [c.ref for c in b.columns], strict=True))) for b in node.inputs]


def set_op_join(node: Node, context: RuleContext) -> Node | None:
    """a INTERSECT b => DISTINCT a SEMI JOIN b on every column, null matching null; EXCEPT: ANTI JOIN      if Druid can
    join them
    """
    if not isinstance(node, SetOp) or node.kind == "union" or node.all:
        return None
    columns = tuple(context.new_column(c.name, c.type) for c in node.branches[0].columns)
    first = node.branches[0]
    joined: Node | None = pushed(
        lambda: push_aggregate(
            _query(first), Aggregate(columns, first, tuple(c.ref for c in first.columns), ()), context
        )
    )
    for branch in node.branches[1:]:
        if joined is None:
            return None
        terms: list[Rex] = [Call(BOOLEAN, "<=>", (a.ref, b.ref)) for a, b in zip(columns, branch.columns, strict=True)]
        join = Join(columns, joined, branch, "semi" if node.kind == "intersect" else "anti", conjunction(terms))
        joined = pushed(lambda j=join: push_join(j, context))  # type: ignore[misc]
    if joined is None:
        return None
    return Project(node.columns, joined, tuple(c.ref for c in columns))


def _query(node: Node) -> DruidQuery:
    if not isinstance(node, DruidQuery):
        raise NotExact("a branch is computed outside Druid")
    return node


def set_op_distinct_branches(node: Node, context: RuleContext) -> Node | None:
    """a INTERSECT b => DISTINCT a INTERSECT DISTINCT b; also EXCEPT      a, b native queries: fewer rows are
    transferred
    """
    if not isinstance(node, SetOp) or node.kind == "union" or node.all:
        return None
    branches = tuple(_distinct_query(b, context) or b for b in node.branches)
    return None if all(a is b for a, b in zip(branches, node.branches, strict=True)) else node.with_inputs(branches)


def _distinct_query(node: Node, context: RuleContext) -> DruidQuery | None:
    if not isinstance(node, DruidQuery) or node.grouped is not None or node.is_limited or node.sort:
        return None
    if any(isinstance(e, Ref) and e.type.is_timestamp for e in node.exprs):
        return None  # few rows have the same millisecond
    columns = tuple(context.new_column(c.name, c.type) for c in node.columns)
    distinct = Aggregate(columns, node, tuple(c.ref for c in node.columns), ())
    return pushed(lambda: push_aggregate(node, distinct, context))


# --- UNION ALL of tables, order and limit -----------------------------------------------------------------------------


def druid_union(node: Node, context: RuleContext) -> Node | None:
    """a[p] + b[p] => DruidQuery[p] over a `union` data source      a, b are tables with the same columns"""
    if not isinstance(node, SetOp) or not is_union_all(node):
        return None
    scans: list[TableScan] = []
    shapes: set[object] = set()
    for branch in node.branches:
        plain = isinstance(branch, DruidQuery) and branch.grouped is None and not branch.is_limited
        if not plain or not isinstance(branch, DruidQuery) or not isinstance(branch.source, TableScan):
            return None
        by_name = branch.source.by_name
        condition = substitute(branch.filter, by_name) if branch.filter is not None else None
        shapes.add((condition, tuple(substitute(e, by_name) for e in branch.exprs)))
        scans.append(branch.source)
    if len(shapes) > 1 or len({s.table.data_source for s in scans}) < len(scans):
        return None
    names = sorted({c.name for s in scans for c in s.columns})
    aligned = [_with_columns(s, names, context) for s in scans]
    if any(s is None for s in aligned) or len({_layout(s) for s in aligned if s is not None}) > 1:
        return None
    first = node.branches[0]
    assert isinstance(first, DruidQuery)
    own = {c.id: c.name for c in scans[0].columns}
    merged = [s for s in aligned if s is not None]
    back: dict[str, Rex] = {i: next(c.ref for c in merged[0].columns if c.name == n) for i, n in own.items()}
    source = DruidUnion(merged[0].columns, tuple(merged))
    condition = substitute(first.filter, back) if first.filter is not None else None
    exprs = tuple(substitute(e, back) for e in first.exprs)
    return pushed(lambda: context.exact(DruidQuery(node.columns, source, exprs, condition)))


def _with_columns(scan: TableScan, names: list[str], context: RuleContext) -> TableScan | None:
    """The scan with the columns of these names, in this order; None if the table does not have them."""
    there = {c.name: c for c in scan.columns}
    columns = []
    for name in names:
        stored = scan.table.column(name)
        if stored is None:
            return None
        columns.append(there.get(name) or context.new_column(name, stored.type))
    return replace(scan, columns=tuple(columns))


def _layout(scan: TableScan) -> tuple[tuple[str, str, str], ...]:
    stored = [scan.table.column(c.name) for c in scan.columns]
    return tuple((c.field_name, str(c.type), c.reading) for c in stored if c is not None)


def sort_union_transpose(node: Node, context: RuleContext) -> Node | None:
    """Sort[k, limit n](a + b) => Sort[k, limit n](Sort[k, limit n](a) + Sort[k, limit n](b))      if Druid
    computes it"""
    if not isinstance(node, Sort) or node.fetch is None or not is_union_all(node.input):
        return None
    most = node.fetch + node.offset
    changed = False
    branches: list[Node] = []
    for branch, mapping in branches_of(node.input):
        if isinstance(branch, DruidQuery) and not branch.is_limited:
            keys = tuple(SortKey(substitute(k.rex, mapping), k.descending, k.nulls_first) for k in node.keys)
            top = Sort(branch.columns, branch, keys, most)
            query = pushed(lambda q=branch, s=top: push_sort(q, s, context))  # type: ignore[misc]
            changed = changed or query is not None
            branches.append(query or branch)
        else:
            branches.append(branch)
    return replace(node, input=node.input.with_inputs(tuple(branches))) if changed else None
