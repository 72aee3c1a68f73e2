"""Table-generating functions (UDTF). In SELECT they are converted to LATERAL VIEW, so that only one kind of node
generates rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hivedruid.catalog import types as t
from hivedruid.catalog.functions import shown_name
from hivedruid.catalog.types import HiveType
from hivedruid.errors import SemanticError
from hivedruid.plan.functions import GENERATORS
from hivedruid.plan.java_calls import is_java, is_java_generator
from hivedruid.plan.nodes import LateralView, Node, PlanColumn, Project
from hivedruid.plan.rex import Call, Literal, Over, Rex, Subquery, has

_OF_ARRAYS = frozenset({"explode", "posexplode", "inline"})
NewColumn = Callable[[str, HiveType], PlanColumn]


def is_generator(rex: Rex) -> bool:
    return is_java_generator(rex) or (isinstance(rex, Call) and rex.op in GENERATORS)


def generated(generator: Rex, names: list[str], new_column: NewColumn) -> tuple[PlanColumn, ...]:
    """The columns of the generated rows, named by AS or by default. Raises SemanticError, without a position, for a
    wrong number of names."""
    if not (isinstance(generator, Call) and is_generator(generator)):
        raise SemanticError(
            "a table-generating function is required here", hint="for example explode(), inline() or stack()"
        )
    if generator.args and generator.args[0].type is t.VOID and generator.op.removesuffix("_outer") in _OF_ARRAYS:
        raise SemanticError(f"{generator.op}() takes an array or a map, not NULL")
    fields = _fields(generator)
    if names and fields and len(names) != len(fields) and t.UNKNOWN not in [a.type for a in generator.args]:
        raise SemanticError(f"{shown_name(generator.op)}() returns {len(fields)} columns, but AS names {len(names)}")
    if not names:
        names = [name for name, _ in fields] or ["col"]
    types = [type_ for _, type_ in fields] if len(fields) == len(names) else [t.UNKNOWN] * len(names)
    return tuple(new_column(name, type_) for name, type_ in zip(names, types, strict=True))


def lateral_view(
    node: Node, generator: Rex, made: tuple[PlanColumn, ...], new_column: NewColumn, *, outer: bool = False
) -> LateralView:
    """The node's rows, each with the rows that the generator returns for it. Window functions and subqueries among its
    arguments, which Spark supports only in a SELECT, become columns of the node first.
    """
    if isinstance(generator, Call):
        late = {a: new_column("_a", a.type) for a in generator.args if has(a, Over, Subquery)}
        if late:
            columns = (*node.columns, *late.values())
            node = Project(columns, node, (*(c.ref for c in node.columns), *late))
            generator = replace(generator, args=tuple(late[a].ref if a in late else a for a in generator.args))
    return LateralView((*node.columns, *made), node, generator, outer, made)


def _fields(generator: Call) -> list[tuple[str, HiveType]]:
    """The names and types of its columns, as far as its arguments determine them; none otherwise."""
    if is_java(generator):
        return list(zip(generator.type.fields, generator.type.children, strict=True))
    op, args = generator.op.removesuffix("_outer"), generator.args
    if op in ("json_tuple", "parse_url_tuple"):
        return [(f"c{i}", t.STRING) for i in range(len(args) - 1)]
    if op == "stack":
        count = args[0].value if args and isinstance(args[0], Literal) else None
        width = -(-(len(args) - 1) // count) if isinstance(count, int) and count > 0 else 0
        return [(f"col{i}", _only_type(args[1 + i :: width])) for i in range(width)]
    if len(args) != 1:
        return []
    return [("pos", t.INT), *_elements(args[0])] if op == "posexplode" else _elements(args[0], in_fields=op == "inline")


def _only_type(values: tuple[Rex, ...]) -> HiveType:
    """The type of values in a column of stack(), which Hive does not convert; UNKNOWN if they differ."""
    types = {value.type for value in values} - {t.VOID} or {t.VOID}
    return types.pop() if len(types) == 1 else t.UNKNOWN


def _elements(rex: Rex, *, in_fields: bool = False) -> list[tuple[str, HiveType]]:
    """A column for the elements of an array, two for a map; optionally the fields of a struct in an array."""
    if rex.type.name == "map" or (isinstance(rex, Call) and rex.op == "map"):
        return list(zip(("key", "value"), rex.type.children or (t.UNKNOWN, t.UNKNOWN), strict=True))
    element = rex.type.children[0] if rex.type.name == "array" else t.UNKNOWN
    if in_fields:
        return list(zip(element.fields, element.children, strict=True))
    return [("col", element)]
