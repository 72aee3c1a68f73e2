"""Whether an expression over the rows of a node is certainly never null."""

from __future__ import annotations

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.druid.aggregators import BUILTIN_DISTINCT
from hivedruid.plan.nodes import Aggregate, DruidQuery, Filter, Join, Node, Project, SetOp, Sort, TableScan, Values
from hivedruid.plan.rex import Agg, Call, Literal, Ref, Rex, conjuncts

_STRICT = frozenset({"=", "<>", "<", "<=", ">", ">=", "like", "in", "is_not_null", "is_true"})
"""Conditions that are never true for a null argument: the first argument, or both of a comparison."""

COUNTS = frozenset({"count", "approx_distinct", BUILTIN_DISTINCT})
"""Aggregates that are 0 without values."""


def never_null(node: Node, rex: Rex) -> bool:
    """Whether the expression is not null in every row of the node."""
    if isinstance(rex, Literal):
        return rex.value is not None
    if isinstance(rex, Ref):
        return _column(node, rex)
    if isinstance(rex, Agg):
        return rex.op in COUNTS
    if not isinstance(rex, Call) or not rex.args:
        return False
    if rex.op in ("is_null", "is_not_null", "<=>"):
        return True
    if rex.op == "cast":
        widens = rex.type.name in ("bigint", "double") and rex.args[0].type.is_integer
        return (widens or rex.type.is_string) and never_null(node, rex.args[0])
    if rex.op == "coalesce":
        return any(never_null(node, a) for a in rex.args)
    if rex.op in ("+", "-", "*", "negative", "upper", "lower", "=", "<>", "<", "<=", ">", ">=", "and", "or", "not"):
        return rex.type.name != "decimal" and all(never_null(node, a) for a in rex.args)
    return False


def _column(node: Node, ref: Ref) -> bool:
    if isinstance(node, TableScan):
        return _is_time(node, ref.id)
    if isinstance(node, Filter):
        return any(rejects_null(t, ref.id) for t in conjuncts(node.condition)) or _column(node.input, ref)
    if isinstance(node, Project):
        return _behind(node, node.mapping, ref)
    if isinstance(node, Aggregate):
        if node.grouping_sets is not None:
            return False
        return _behind(node, dict(zip([c.id for c in node.columns], (*node.keys, *node.calls), strict=False)), ref)
    if isinstance(node, Sort):
        return _column(node.input, ref)
    if isinstance(node, Join):
        return _joined(node, ref)
    if isinstance(node, SetOp):
        place = next((i for i, c in enumerate(node.columns) if c.id == ref.id), None)
        return place is not None and all(never_null(b, b.columns[place].ref) for b in node.branches)
    if isinstance(node, Values):
        place = next((i for i, c in enumerate(node.columns) if c.id == ref.id), None)
        return place is not None and all(never_null(node, row[place]) for row in node.rows)
    return _native(node, ref) if isinstance(node, DruidQuery) else False


def _is_time(scan: TableScan, column: str) -> bool:
    if not scan.table.has_data_source:
        return False
    name = next((c.name for c in scan.columns if c.id == column), None)
    stored = scan.table.column(name) if name is not None else None
    return stored is not None and stored.field_name == TIME_COLUMN


def _behind(node: Project | Aggregate, mapping: dict[str, Rex], ref: Ref) -> bool:
    return ref.id in mapping and never_null(node.input, mapping[ref.id])


def _joined(join: Join, ref: Ref) -> bool:
    if join.kind in ("inner", "semi") and join.condition is not None:
        if any(rejects_null(t, ref.id) for t in conjuncts(join.condition)):
            return True
    on_left = any(c.id == ref.id for c in join.left.columns)
    if on_left:
        return join.kind not in ("right", "full") and _column(join.left, ref)
    return join.kind not in ("left", "full") and _column(join.right, ref)


def _native(query: DruidQuery, ref: Ref) -> bool:
    rex = query.mapping.get(ref.id)
    if rex is None:
        return False
    if query.grouped is not None:
        groups = dict(zip([c.id for c in query.grouped], (*query.keys, *query.calls), strict=False))
        if not isinstance(rex, Ref) or rex.id not in groups:
            return False
        rex = groups[rex.id]
    below: Node = query.source
    if query.filter is not None:
        below = Filter(below.columns, below, query.filter)
    return never_null(below, rex)


def rejects_null(term: Rex, column: str) -> bool:
    """Whether the condition holds in no row in which the column is null."""
    if not isinstance(term, Call) or not term.args:
        return isinstance(term, Ref) and term.id == column
    if term.op == "and":
        return any(rejects_null(t, column) for t in term.args)
    if term.op == "or":
        return all(rejects_null(t, column) for t in term.args)
    if term.op not in _STRICT:
        return False
    subjects = term.args if term.op in ("=", "<>", "<", "<=", ">", ">=") else term.args[:1]
    return any(_strict_in(s, column) for s in subjects)


def _strict_in(rex: Rex, column: str) -> bool:
    """Whether the expression is null if the column is null."""
    if isinstance(rex, Ref):
        return rex.id == column
    if not isinstance(rex, Call):
        return False
    strict = rex.op in ("cast", "+", "-", "*", "/", "%", "negative", "upper", "lower", "length", "substr", "substring")
    strict = strict or rex.op.startswith(("floor_", "ceil_", "extract_"))
    return strict and any(_strict_in(a, column) for a in rex.args)
