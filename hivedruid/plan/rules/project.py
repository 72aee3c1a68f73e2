"""Rules about Project."""

from __future__ import annotations

from dataclasses import replace

from hivedruid.druid.exactness import NotExact
from hivedruid.plan.nodes import DruidQuery, Node, PlanColumn, Project, TableScan
from hivedruid.plan.rex import Call, Over, Ref, Rex, Subquery, has, is_deterministic, refs, substitute, walk
from hivedruid.plan.rules.context import RuleContext, pushed


def druid_scan(node: Node, _context: RuleContext) -> Node | None:
    """TableScan of a Druid table => DruidQuery"""
    if not isinstance(node, TableScan) or not node.table.has_data_source:
        return None
    return DruidQuery(node.columns, node, tuple(c.ref for c in node.columns))


def project_remove(node: Node, _context: RuleContext) -> Node | None:
    """Project[a, b](x with columns a, b) => x"""
    if not isinstance(node, Project) or [c.id for c in node.columns] != [c.id for c in node.input.columns]:
        return None
    return (
        node.input
        if all(isinstance(e, Ref) and e.id == c.id for e, c in zip(node.exprs, node.columns, strict=True))
        else None
    )


def project_merge(node: Node, _context: RuleContext) -> Node | None:
    """Project[e](Project[f](x)) => Project[e over f](x)      f deterministic, no window function, nothing computed
    twice"""
    if not isinstance(node, Project) or not isinstance(node.input, Project):
        return None
    inner = node.input
    mapping = inner.mapping
    if any(has(e, Over, Subquery) or not is_deterministic(e) for e in inner.exprs):
        return None
    if any(has(e, Subquery) for e in node.exprs):
        return None
    uses = [n.id for e in node.exprs for n in walk(e) if isinstance(n, Ref)]
    if any(uses.count(i) > 1 and isinstance(mapping.get(i), Call) for i in set(uses)):
        return None
    return replace(node, input=inner.input, exprs=tuple(substitute(e, mapping) for e in node.exprs))


def push_project(
    query: DruidQuery, columns: tuple[PlanColumn, ...], exprs: tuple[Rex, ...], context: RuleContext
) -> DruidQuery:
    """The query with other output; also after a LIMIT, since computing values keeps the rows."""
    mapping = query.mapping
    if not all(is_deterministic(e) for e in exprs):
        raise NotExact("a non-deterministic function")
    return context.exact(replace(query, columns=columns, exprs=tuple(substitute(e, mapping) for e in exprs)))


def druid_project(node: Node, context: RuleContext) -> Node | None:
    """Project[e](DruidQuery) => DruidQuery with output e"""
    if not isinstance(node, Project) or not isinstance(node.input, DruidQuery):
        return None
    query = node.input
    return pushed(lambda: push_project(query, node.columns, node.exprs, context))


def druid_project_part(node: Node, context: RuleContext) -> Node | None:
    """Project[e, f](DruidQuery) => Project[e', f](DruidQuery with output e and the columns of f)

    f is not exact in Druid. The exact expressions are computed in Druid, and only the needed columns are transferred.
    """
    if not isinstance(node, Project) or not isinstance(node.input, DruidQuery):
        return None
    query = node.input
    columns: list[PlanColumn] = []
    exprs: list[Rex] = []
    above: list[Rex] = []
    places = {c.id: place for place, c in enumerate(query.columns)}
    read: set[str] = set()
    moved = _exact_calls(node, query, context)
    for place, (column, rex) in enumerate(zip(node.columns, node.exprs, strict=True)):
        if place not in moved:
            above.append(rex)
            added = (refs(rex) & places.keys()) - read
            for id_ in sorted(added, key=places.__getitem__):
                columns.append(query.columns[places[id_]])
                exprs.append(columns[-1].ref)
            read |= added
        else:
            made = context.new_column(column.name or "_e", column.type)
            columns.append(made)
            exprs.append(rex)
            above.append(made.ref)
    if [c.id for c in columns] == [c.id for c in query.columns]:
        return None
    if not columns:
        columns, exprs = [query.columns[0]], [query.columns[0].ref]
        if len(query.columns) == 1:
            return None
    narrowed = pushed(lambda: push_project(query, tuple(columns), tuple(exprs), context))
    return None if narrowed is None else replace(node, input=narrowed, exprs=tuple(above))


def _exact_calls(node: Project, query: DruidQuery, context: RuleContext) -> set[int]:
    """The places of the expressions, other than columns, that Druid computes exactly, each by itself."""
    pairs = {place: rex for place, rex in enumerate(node.exprs) if not isinstance(rex, Ref) and is_deterministic(rex)}
    if query.grouped is None:
        mapping = query.mapping
        exact = context.exact_outputs(query, [substitute(rex, mapping) for rex in pairs.values()])
        return {place for place, is_exact in zip(pairs, exact, strict=True) if is_exact}

    def is_exact(place: int) -> bool:
        columns, exprs = (node.columns[place],), (node.exprs[place],)
        return pushed(lambda: push_project(query, columns, exprs, context)) is not None

    return set(filter(is_exact, pairs))
