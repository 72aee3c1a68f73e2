"""Query blocks as sets: joined tables, conditions and outputs over their columns, whatever the order of the
operators."""

from __future__ import annotations

from collections.abc import Mapping

from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.nodes import Aggregate, Filter, Join, LateralView, Node, Project, SetOp, Sort, TableScan, Values
from hivedruid.plan.rex import (
    Agg,
    Over,
    Ref,
    Rex,
    Subquery,
    conjuncts,
    has,
    is_deterministic,
    substitute,
)


@dataclass(frozen=True)
class Block:
    """Inner-joined tables: the rows of `scans` for which all `terms` hold; `exprs` computes each output column,
    by id."""

    scans: tuple[TableScan, ...]
    terms: tuple[Rex, ...]
    exprs: Mapping[str, Rex]


@dataclass(frozen=True)
class Definition:
    """The definition of a view: a block, grouped by `keys` if it aggregates (otherwise None), and the view's columns.

    `outputs` are over the block's tables; aggregate calls in them are `Agg`.
    """

    block: Block
    keys: tuple[Rex, ...] | None
    outputs: tuple[Rex, ...]


def block_of(node: Node) -> Block | None:
    """The node as a block, None if it contains anything that a block cannot represent."""
    if isinstance(node, TableScan):
        return Block((node,), (), {c.id: c.ref for c in node.columns})
    if not all(_is_plain(e) for e in node.expressions()):
        return None
    if isinstance(node, Join) and node.kind in ("inner", "cross"):
        left, right = block_of(node.left), block_of(node.right)
        if left is None or right is None:
            return None
        exprs = {**left.exprs, **right.exprs}
        terms = tuple(substitute(t, exprs) for t in conjuncts(node.condition)) if node.condition is not None else ()
        return Block(left.scans + right.scans, (*left.terms, *right.terms, *terms), exprs)
    if not isinstance(node, Filter | Project):
        return None
    below = block_of(node.input)
    if below is None:
        return None
    mapping = dict(below.exprs)
    if isinstance(node, Filter):
        return Block(
            below.scans, (*below.terms, *(substitute(t, mapping) for t in conjuncts(node.condition))), below.exprs
        )
    computed = zip(node.columns, node.exprs, strict=True)
    return Block(below.scans, below.terms, {c.id: substitute(e, mapping) for c, e in computed})


def _is_plain(rex: Rex) -> bool:
    return not has(rex, Over, Subquery, Agg) and is_deterministic(rex)


def definition_of(node: Node) -> Definition | str:
    """The definition of a view's query, or the reason why it cannot be used for rewriting."""
    while isinstance(node, Sort) and node.fetch is None and not node.offset:
        node = node.input
    block = block_of(node)
    if block is not None:
        return Definition(block, None, tuple(block.exprs[c.id] for c in node.columns))
    mapping: dict[str, Rex] = {c.id: c.ref for c in node.columns}
    columns = node.columns
    while isinstance(node, Project) and not any(has(e, Over, Subquery) for e in node.exprs):
        below = dict(zip((c.id for c in node.columns), node.exprs, strict=True))
        mapping = {key: substitute(rex, below) for key, rex in mapping.items()}
        node = node.input
    if not isinstance(node, Aggregate):
        return f"its query has {_WHAT.get(type(node), 'more')} over the tables"
    if node.grouping_sets is not None:
        return "its query has GROUPING SETS, ROLLUP or CUBE"
    block = block_of(node.input)
    if block is None:
        return "the input of its GROUP BY is not limited to filtered inner joins of tables"
    keys = tuple(substitute(k, dict(block.exprs)) for k in node.keys)
    calls = [substitute(c, dict(block.exprs)) for c in node.calls]
    made = dict(zip((c.id for c in node.columns), (*keys, *calls), strict=True))
    return Definition(block, keys, tuple(substitute(mapping[c.id], made) for c in columns))


_WHAT: dict[type[Node], str] = {
    Filter: "HAVING",
    Sort: "LIMIT",
    SetOp: "UNION, INTERSECT or EXCEPT",
    Join: "an outer or semi join",
    LateralView: "LATERAL VIEW",
    Project: "a window function or a subquery",
    Values: "no table",
}


def renamed(rex: Rex, names: Mapping[str, Ref]) -> Rex:
    """The expression with other column ids."""
    return substitute(rex, dict(names))
