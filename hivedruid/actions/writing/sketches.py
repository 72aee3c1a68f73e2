"""The kinds of sketches that a query returns, and the sketch columns of a table that CREATE TABLE … AS SELECT makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.catalog import types as t
from hivedruid.catalog.druid_columns import AGGREGATED, SKETCHES, parse_aggregators
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.parser.statements.ddl import Property
from hivedruid.plan import nodes, rex
from hivedruid.plan.operands import NESTED
from hivedruid.sketches.kinds import AGGREGATORS, KINDS, SketchKind

if TYPE_CHECKING:
    from hivedruid.catalog.table import Column
    from hivedruid.catalog.types import HiveType
    from hivedruid.parser.statements.ddl import CreateTable
    from hivedruid.plan.nodes import Node, PlanColumn
    from hivedruid.plan.rex import Rex

_FUNCTIONS = {
    "ds_theta_": "theta", "ds_hll_": "hll", "ds_quantile_doubles_": "quantiles", "ds_kll_": "kll_floats",
}  # fmt: skip
"""The kinds of the sketches of Hive's functions, by the beginning of their names."""


def kind_of_column(node: Node, column: PlanColumn) -> SketchKind | None:
    """The kind of the sketches in a column of a node; None if it is not known, or they are other values."""
    if column.type != t.BINARY:
        return None
    match node:
        case nodes.Project():
            return _kind_of(node.mapping[column.id], node.input)
        case nodes.Aggregate():
            return _kind_of((*node.keys, *node.calls)[node.columns.index(column)], node.input)
        case nodes.CteScan():
            return kind_of_column(node.plan, node.plan.columns[node.columns.index(column)])
        case nodes.SetOp():
            place = node.columns.index(column)
            return _common([kind_of_column(each, each.columns[place]) for each in node.inputs])
    found = (kind_of_column(each, column) for each in node.inputs if column in each.columns)
    return next(found, None)


def _kind_of(value: Rex, node: Node) -> SketchKind | None:
    if isinstance(value, rex.Ref):
        column = next((c for c in node.columns if c.id == value.id), None)
        return kind_of_column(node, column) if column is not None else None
    if not isinstance(value, rex.Call | rex.Agg) or value.type != t.BINARY:
        return None
    if value.op == "unbase64" and isinstance(node, nodes.TableScan):  # see plan.computed_columns
        return _of_scan(node, value.args[0])
    for prefix, name in _FUNCTIONS.items():
        if value.op.startswith(prefix):
            return KINDS[name]
    return _common([_kind_of(each, node) for each in value.args if each.type == t.BINARY])


def _of_scan(scan: nodes.TableScan, value: Rex) -> SketchKind | None:
    """The kind of the sketches in a column of a table in Druid, which is scanned as text."""
    name = next((c.name for c in scan.columns if isinstance(value, rex.Ref) and c.id == value.id), "")
    aggregator = parse_aggregators(scan.table.properties.get(AGGREGATED, ""))[0].get(name)
    return AGGREGATORS[aggregator.function] if aggregator is not None and aggregator.function in SKETCHES else None


def _common(kinds: Sequence[SketchKind | None]) -> SketchKind | None:
    return kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else None


def with_sketches(statement: CreateTable, node: Node) -> CreateTable:
    """The statement with the property that stores the columns of its query with sketches as such."""
    given = {item.key: item.value for item in statement.properties}
    known = parse_aggregators(given.get(AGGREGATED, ""))[0]
    names = [column.name for column in statement.columns] or [column.name for column in node.columns]
    found = []
    for name, column in zip(names, node.columns, strict=False):
        kind = kind_of_column(node, column)
        if kind is None or name in known:
            continue
        if kind.build not in SKETCHES:
            raise UnsupportedError(
                f"column '{name}' has sketches of the kind {kind.name}, which tables in Druid do not store",
                span=statement.name.span, hint="use ds_quantile_doubles_sketch",
            )  # fmt: skip
        found.append(f"{name}:{kind.build}")
    if not found:
        return statement
    aggregators = ", ".join([*filter(None, [given.get(AGGREGATED)]), *found])
    others = (item for item in statement.properties if item.key != AGGREGATED)
    return replace(statement, properties=(*others, Property(AGGREGATED, aggregators, statement.name.span)))


def check_kind(kind: SketchKind, source: HiveType, given: SketchKind | None, column: Column, span: Span | None) -> None:
    """Raise SemanticError if values of a type, or sketches of the kind `given`, cannot be added to those of a
    column."""
    if given is not None and given != kind:
        raise SemanticError(
            f"column '{column.name}' stores sketches of {kind.build}, the query gives sketches of {given.build}",
            span=span, hint=f"give sketches of {kind.build}, or values",
        )  # fmt: skip
    is_number = source.is_numeric or source in (t.VOID, t.UNKNOWN)
    if source == t.BINARY or (source.name not in NESTED and (kind.counts_distinct or is_number)):
        return
    raise SemanticError(
        f"column '{column.name}' stores sketches of {kind.build}: a value of type {source} cannot be added to them",
        span=span,
        hint="give one value, or a sketch"
        if kind.counts_distinct
        else "give a number, as CAST(x AS DOUBLE), or a sketch",
    )
