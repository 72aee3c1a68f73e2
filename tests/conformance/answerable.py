"""Queries that no single native query of Druid 33 can answer, decided from the query itself."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.plan import nodes
from hivedruid.plan.nodes import Node
from hivedruid.plan.rex import Call, Over, Ref, Rex, SortKey, Subquery, has, refs, substitute, walk
from hivedruid.plan.split import QueryPlan

_MONOTONE = ("floor_", "ceil_")


def unanswerable(bare: QueryPlan) -> str | None:
    """The reason why a query, planned with no rules, cannot be one native query; None if it can."""
    for node in _everywhere(bare.node):
        for rule in (_sorted_rows, _window, _not_druids, _generator):
            reason = rule(node)
            if reason is not None:
                return reason
    return None


def _everywhere(root: Node) -> Iterator[Node]:
    """All nodes, including those of subqueries in expressions."""
    for node in root.walk():
        yield node
        for rex in node.expressions():
            for inner in walk(rex):
                if isinstance(inner, Subquery):
                    yield from _everywhere(inner.plan)


def _sorted_rows(node: Node) -> str | None:
    """ScanQueryEngine orders only by `__time`; every Druid up to 33 refuses `orderBy` of other columns."""
    if not isinstance(node, nodes.Sort) or not node.keys:
        return None
    bottom, keys = node.input, node.keys
    times = {c.id for n in node.walk() if isinstance(n, nodes.TableScan) for c in n.columns if c.name == "__time"}
    while isinstance(bottom, nodes.Project | nodes.Filter):
        if isinstance(bottom, nodes.Project):
            mapping = {c.id: e for c, e in zip(bottom.columns, bottom.exprs, strict=True)}
            keys = tuple(SortKey(substitute(k.rex, mapping), k.descending, k.nulls_first) for k in keys)
        bottom = bottom.input
    if not isinstance(bottom, nodes.TableScan) or _is_time(keys[0].rex, times):
        return None
    return "a scan is ordered by __time alone" if any(refs(k.rex) for k in keys) else None


def _is_time(rex: Rex, times: set[str]) -> bool:
    """`__time`, or an expression that increases monotonically with it."""
    while isinstance(rex, Call) and (
        rex.op.startswith(_MONOTONE) or (rex.op == "cast" and rex.type.name in ("date", "timestamp"))
    ):
        rex = rex.args[0]
    return isinstance(rex, Ref) and rex.id in times


def _window(node: Node) -> str | None:
    return "window functions" if any(has(e, Over) for e in node.expressions()) else None


def _not_druids(node: Node) -> str | None:
    if isinstance(node, nodes.TableScan) and node.table.kind != "druid":
        return "reads a table that is not in Druid"
    return None


def _generator(node: Node) -> str | None:
    """An `unnest` data source generates rows from one column; no native query from more."""
    if not isinstance(node, nodes.LateralView):
        return None
    call = node.generator
    is_unnest = isinstance(call, Call) and call.op == "explode" and isinstance(call.args[0], Ref)
    return None if is_unnest else "LATERAL VIEW of more than explode() of a column"
