"""The kinds of the sketches in the columns of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hivedruid.catalog import types as t
from hivedruid.catalog.druid_columns import AGGREGATED, SKETCHES, parse_aggregators
from hivedruid.plan import nodes, rex
from hivedruid.sketches.kinds import AGGREGATORS, KINDS, SketchKind

if TYPE_CHECKING:
    from hivedruid.plan.nodes import Node, PlanColumn
    from hivedruid.plan.rex import Rex

PREFIXES = {"ds_theta_": "theta", "ds_hll_": "hll", "ds_quantile_doubles_": "quantiles"}
"""The kinds of the sketches of Hive's functions, by the beginning of their names."""


READ_ONLY = SketchKind("read only", (), "", "", None, 0)
"""Stands for the sketches of a table in Druid that no function of druid.columns.aggregators stores."""


def kind_of_column(node: Node, column: PlanColumn, read_only: SketchKind | None = None) -> SketchKind | None:
    """The kind of the sketches in a column of a node; None if it is not known, or they are other values. `read_only` is
    the result for sketches that are only read."""
    if column.type != t.BINARY:
        return None
    match node:
        case nodes.Project():
            return kind_of(node.mapping[column.id], node.input, read_only)
        case nodes.Aggregate():
            return kind_of((*node.keys, *node.calls)[node.columns.index(column)], node.input, read_only)
        case nodes.CteScan():
            return kind_of_column(node.plan, node.plan.columns[node.columns.index(column)], read_only)
        case nodes.SetOp():
            place = node.columns.index(column)
            return _common([kind_of_column(each, each.columns[place], read_only) for each in node.inputs])
    found = (kind_of_column(each, column, read_only) for each in node.inputs if column in each.columns)
    return next(found, None)


def kind_of(value: Rex, node: Node, read_only: SketchKind | None = None) -> SketchKind | None:
    """The kind of the sketches that an expression over a node returns; None if it is not known."""
    if isinstance(value, rex.Ref):
        sources = ((each, c) for each in node.walk() for c in each.columns if c.id == value.id)
        source = next(sources, None)
        return kind_of_column(*source, read_only) if source is not None else None
    if not isinstance(value, rex.Call | rex.Agg) or value.type != t.BINARY:
        return None
    if value.op == "unbase64" and isinstance(node, nodes.TableScan):  # see plan.computed_columns
        is_column = len(value.args) > 1
        return _of_scan(node, value.args[0]) or (read_only if is_column else None)
    for prefix, name in PREFIXES.items():
        if value.op.startswith(prefix):
            return KINDS[name]
    values = (each for each in value.args if each.type == t.BINARY and not isinstance(each, rex.Literal))  # not NULL
    return _common([kind_of(each, node, read_only) for each in values])


def _of_scan(scan: nodes.TableScan, value: Rex) -> SketchKind | None:
    """The kind of the sketches in a column of a table in Druid, which is scanned as text."""
    name = next((c.name for c in scan.columns if isinstance(value, rex.Ref) and c.id == value.id), "")
    aggregator = parse_aggregators(scan.table.properties.get(AGGREGATED, ""))[0].get(name)
    return AGGREGATORS[aggregator.function] if aggregator is not None and aggregator.function in SKETCHES else None


def _common(kinds: Sequence[SketchKind | None]) -> SketchKind | None:
    return kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else None
