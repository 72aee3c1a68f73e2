"""Converts the types of CAST from sqlglot's tree. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.catalog.types import HiveType, decimal
from hivedruid.errors import UnsupportedError

if TYPE_CHECKING:
    from hivedruid.plan.convert import Converter

_TYPES: dict[Any, HiveType] = {
    exp.DataType.Type.BOOLEAN: t.BOOLEAN,
    exp.DataType.Type.TINYINT: t.TINYINT,
    exp.DataType.Type.SMALLINT: t.SMALLINT,
    exp.DataType.Type.INT: t.INT,
    exp.DataType.Type.BIGINT: t.BIGINT,
    exp.DataType.Type.FLOAT: t.FLOAT,
    exp.DataType.Type.DOUBLE: t.DOUBLE,
    exp.DataType.Type.TEXT: t.STRING,
    exp.DataType.Type.DATE: t.DATE,
    exp.DataType.Type.TIMESTAMP: t.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPLTZ: t.TIMESTAMP_LTZ,
    exp.DataType.Type.TIMESTAMPTZ: t.TIMESTAMP_LTZ,
}


def data_type(c: Converter, to: exp.DataType, e: exp.Expr) -> HiveType:
    """The type after AS in CAST."""
    numbers = tuple(int(p.name) for p in to.expressions if isinstance(p, exp.DataTypeParam))
    if to.this == exp.DataType.Type.DECIMAL:
        return decimal(*numbers)
    if to.this in (exp.DataType.Type.BINARY, exp.DataType.Type.VARBINARY):
        if not numbers:
            return t.BINARY  # with a length it is a varchar or char, marked so by parser.functions
        return HiveType("varchar" if to.this == exp.DataType.Type.BINARY else "char", numbers)
    if to.this in _TYPES:
        return _TYPES[to.this]
    children = tuple(data_type(c, child, e) for child in to.expressions if isinstance(child, exp.DataType))
    if to.this == exp.DataType.Type.ARRAY and len(children) == 1:
        return t.array_of(children[0])
    if to.this == exp.DataType.Type.MAP and len(children) == 2:
        return HiveType("map", children=children)
    if to.this == exp.DataType.Type.STRUCT:
        members = [each for each in to.expressions if isinstance(each, exp.ColumnDef)]
        types = tuple(data_type(c, member.args["kind"], e) for member in members)
        return HiveType("struct", children=types, fields=tuple(member.name.lower() for member in members))
    raise UnsupportedError(f"cannot cast to {to.sql('hive')}", span=c.span(e))
