"""A plan as a tree of lines, in Calcite's format: the output of EXPLAIN CBO."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

from hivedruid.plan import nodes
from hivedruid.plan.ctes import cte_scans
from hivedruid.plan.nodes import DruidQuery, Node
from hivedruid.plan.rex import Agg, Call, Literal, Over, Ref, Rex, SortKey, Subquery

Attribute = str | int | list[str] | None
Names = Mapping[str, str]
"""What is shown for columns, by their ids."""
NO_NAMES: Names = MappingProxyType({})

_INFIX = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "+", "-", "*", "/", "%", "div", "and", "or", "&", "|", "^"})


def tree(node: Node, names: Mapping[int, str] | None = None) -> list[str]:
    """One line per node, inputs indented below; a node that has a name, by its id(), is shown by its name only.

    The plans of shared CTEs follow, each with a line of its own above.
    """
    lines = _tree(node, 0, names)
    for scan in cte_scans(node):
        lines += [f"{'View' if scan.is_view else 'Cte'}(name=[{scan.name}])", *_tree(scan.plan, 1, names)]
    return lines


def _tree(node: Node, depth: int, names: Mapping[int, str] | None) -> list[str]:
    if names and id(node) in names:
        return ["  " * depth + names[id(node)]]
    lines = ["  " * depth + _label(node)]
    for child in node.inputs:
        lines += _tree(child, depth + 1, names)
    if isinstance(node, DruidQuery) and not isinstance(node.source, nodes.TableScan):
        lines += _tree(node.source, depth + 1, None)
    return lines


def _label(node: Node) -> str:
    inner = ", ".join(f"{key}=[{value}]" for key, value in attributes(node).items())
    return f"{type(node).__name__}({inner})"


def attributes(node: Node, names: Names = NO_NAMES) -> dict[str, str]:
    """What a node computes: its expressions and options by their names, without those that are empty."""
    parts = {key: value for key, value in _attributes(node, names).items() if value not in (None, "", [], 0)}
    return {key: ", ".join(value) if isinstance(value, list) else str(value) for key, value in parts.items()}


def _attributes(node: Node, names: Names) -> dict[str, Attribute]:
    if isinstance(node, DruidQuery):
        grouped: dict[str, Attribute] = {
            "groups": [show(k, names) for k in node.keys],
            "sets": _sets(node),
            "aggs": [show(c, names) for c in node.calls],
            "having": show(node.having, names) if node.having else None,
        }
        return {
            "table": f"{node.base.table.full_name}" if isinstance(node.source, nodes.TableScan) else None,
            "filter": show(node.filter, names) if node.filter else None,
            **(grouped if node.grouped is not None else {}),
            "projects": [show(e, names) for e in node.exprs],
            "sort": [_key(k, names) for k in node.sort],
            "offset": node.offset,
            "fetch": node.fetch,
        }
    if isinstance(node, nodes.TableScan):
        return {"table": node.table.full_name, "columns": [show(c.ref, names) for c in node.columns]}
    if isinstance(node, nodes.CteScan):
        return {"name": node.name, "columns": [show(c.ref, names) for c in node.columns]}
    if isinstance(node, nodes.Filter):
        return {"condition": show(node.condition, names)}
    if isinstance(node, nodes.Project):
        return {show(c.ref, names): show(e, names) for c, e in zip(node.columns, node.exprs, strict=True)}
    if isinstance(node, nodes.Aggregate):
        aggs = [show(c, names) for c in node.calls]
        return {"groups": [show(k, names) for k in node.keys], "sets": _sets(node), "aggs": aggs}
    if isinstance(node, nodes.Sort):
        return {"sort": [_key(k, names) for k in node.keys], "offset": node.offset, "fetch": node.fetch}
    if isinstance(node, nodes.Join | nodes.DruidJoin):
        return {"type": node.kind, "condition": show(node.condition, names) if node.condition else None}
    if isinstance(node, nodes.SetOp):
        return {"kind": node.kind, "all": str(node.all).lower()}
    if isinstance(node, nodes.DruidUnnest):
        return {"array": show(node.array, names), "outer": "true" if node.outer else None}
    if isinstance(node, nodes.Transform):
        return {"script": node.script.command}
    if isinstance(node, nodes.LateralView):
        return {"generator": show(node.generator, names)}
    return {"rows": len(node.rows)} if isinstance(node, nodes.Values) else {}


def _sets(node: DruidQuery | nodes.Aggregate) -> list[str]:
    """The grouping sets as positions among the keys."""
    return [f"({', '.join(str(i) for i in kept)})" for kept in node.grouping_sets or ()]


def _key(key: SortKey, names: Names) -> str:
    return (
        f"{show(key.rex, names)} {'DESC' if key.descending else 'ASC'} NULLS {'FIRST' if key.nulls_first else 'LAST'}"
    )


def show(rex: Rex, names: Names = NO_NAMES) -> str:
    """An expression, prefix and infix operators as in SQL; columns that have a name, by their ids, are shown by it."""
    if isinstance(rex, Ref):
        return names.get(rex.id, rex.id)
    if isinstance(rex, Literal):
        quoted = isinstance(rex.value, str | date)
        return f"'{rex.value}'" if quoted else "NULL" if rex.value is None else str(rex.value)
    if isinstance(rex, Agg):
        args = ", ".join(show(a, names) for a in rex.args) or "*"
        suffix = f" FILTER ({show(rex.condition, names)})" if rex.condition else ""
        return f"{rex.op}({'DISTINCT ' if rex.distinct else ''}{args}){suffix}"
    if isinstance(rex, Over):
        order = ", ".join(_key(k, names) for k in rex.order)
        partition = ", ".join(show(p, names) for p in rex.partition)
        return f"{show(rex.call, names)} OVER (PARTITION BY [{partition}] ORDER BY [{order}])"
    if isinstance(rex, Subquery):
        return f"{rex.kind}({', '.join([*(show(a, names) for a in rex.args), type(rex.plan).__name__])})"
    assert isinstance(rex, Call)
    if rex.op in _INFIX:
        return "(" + f" {rex.op.upper()} ".join(show(a, names) for a in rex.args) + ")"
    if rex.op == "cast":
        return f"CAST({show(rex.args[0], names)} AS {rex.type})"
    return f"{rex.op}({', '.join(show(a, names) for a in rex.args)})"
