"""The sketch columns of a table that CREATE TABLE … AS SELECT makes, and what may be added to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.catalog import types as t
from hivedruid.catalog.druid_columns import AGGREGATED, STORED_AS, parse_aggregators, parse_stored_as
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.parser.statements.ddl import Property
from hivedruid.plan.operands import NESTED
from hivedruid.plan.sketch_kinds import READ_ONLY, kind_of_column
from hivedruid.sketches.kinds import SketchKind

if TYPE_CHECKING:
    from hivedruid.catalog.table import Column
    from hivedruid.catalog.types import HiveType
    from hivedruid.parser.statements.ddl import CreateTable
    from hivedruid.plan.nodes import Node


def with_sketches(statement: CreateTable, node: Node) -> CreateTable:
    """The statement with the property that stores the columns of its query with sketches as such."""
    given = {item.key: item.value for item in statement.properties}
    known = {*parse_aggregators(given.get(AGGREGATED, ""))[0], *parse_stored_as(given.get(STORED_AS, ""))[0]}
    names = [column.name for column in statement.columns] or [column.name for column in node.columns]
    found = []
    for name, column in zip(names, node.columns, strict=False):
        kind = kind_of_column(node, column, READ_ONLY)
        if kind is None or name in known:
            continue
        if kind is READ_ONLY:
            raise UnsupportedError(
                f"cannot store column '{name}' in Druid: its sketches are only read", span=statement.name.span,
                hint=f"TBLPROPERTIES ('{STORED_AS}' = '{name}:string') stores the base64 of their bytes",
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
