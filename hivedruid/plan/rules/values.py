"""Rules about constant rows in a query: in whatever form they are written, they become one list."""

from __future__ import annotations

from hivedruid.catalog.types import INT, STRING
from hivedruid.plan.fold import cast, refold
from hivedruid.plan.nodes import Filter, Join, LateralView, Node, Project, SetOp, Values, map_expressions
from hivedruid.plan.rex import Call, Literal, Rex, Subquery, is_deterministic, substitute, transform
from hivedruid.plan.rules.context import RuleContext
from hivedruid.plan.rules.set_op import is_union_all

MAX_ROWS = 10_000

Row = tuple[Rex, ...]


def values_merge(node: Node, context: RuleContext) -> Node | None:
    """(SELECT 1, 'a' UNION ALL SELECT 2, 'b') => Values((1, 'a'), (2, 'b')); also explode(array(1, 2)) and other
    generators
    """
    if not isinstance(node, LateralView) and not is_union_all(node):
        return None
    rows = _rows(node, context.zone)
    return Values(node.columns, tuple(rows)) if rows is not None else None


def join_values(node: Node, context: RuleContext) -> Node | None:
    """Join(x, Project[f](Values)) => Join(x, Values)"""
    if not isinstance(node, Join):
        return None
    sides: list[Node] = []
    for side in node.inputs:
        rows = _rows(side, context.zone) if isinstance(side, Project) else None
        sides.append(side if rows is None else Values(side.columns, tuple(rows)))
    return None if sides == list(node.inputs) else node.with_inputs(tuple(sides))


def join_one_row(node: Node, context: RuleContext) -> Node | None:
    """Join[c](x, Values((1, 'a'))) => Project[x, 1, 'a'](Filter[c over 1, 'a'](x))      one row of constants, inner or
    cross"""
    if not isinstance(node, Join) or node.kind not in ("inner", "cross"):
        return None
    for side, other in (node.inputs, node.inputs[::-1]):
        if isinstance(other, Values) and len(other.rows) == 1 and all(isinstance(v, Literal) for v in other.rows[0]):
            constants: dict[str, Rex] = dict(zip([c.id for c in other.columns], other.rows[0], strict=True))
            condition = None
            if node.condition is not None:
                condition = refold(substitute(node.condition, constants), context.zone)
            below = side if condition is None else Filter(side.columns, side, condition)
            return Project(node.columns, below, tuple(constants.get(c.id, c.ref) for c in node.columns))
    return None


def scalar_of_constants(node: Node, context: RuleContext) -> Node | None:
    """Filter[a > (SELECT x FROM Values(1 AS x))] => Filter[a > 1]      in any expression, of one row of constants"""
    if not isinstance(node, Filter | Project):
        return None

    def constant(rex: Rex) -> Rex | None:
        if not isinstance(rex, Subquery) or rex.kind != "scalar":
            return None
        rows = _rows(rex.plan, context.zone)
        return rows[0][0] if rows is not None and len(rows) == 1 else None

    def folded(rex: Rex) -> Rex:
        changed = transform(rex, constant)
        return rex if changed == rex else refold(changed, context.zone)

    changed = map_expressions(node, folded)
    return None if changed == node else changed


def _rows(node: Node, zone: str) -> list[Row] | None:
    """The rows of a plan that reads no table, if all their values are constants."""
    result: list[Row] | None = None
    if isinstance(node, Values):
        result = list(node.rows)
    elif isinstance(node, Project) and all(is_deterministic(e) for e in node.exprs):
        result = _projected(node, zone)
    elif isinstance(node, SetOp) and is_union_all(node):
        result = _all_of(node.branches, zone)
    elif isinstance(node, LateralView):
        result = _generated(node, zone)
    if result is None or len(result) > MAX_ROWS:
        return None
    types = [c.type for c in node.columns]
    rows = [tuple([_typed(v, t, zone) for v, t in zip(row, types, strict=True)]) for row in result]
    return (
        rows
        if all(v.type == t and isinstance(v, Literal) for row in rows for v, t in zip(row, types, strict=True))
        else None
    )


def _typed(value: Rex, type_: object, zone: str) -> Rex:
    return value if value.type == type_ else cast(value, type_, zone)  # type: ignore[arg-type]


def _all_of(branches: tuple[Node, ...], zone: str) -> list[Row] | None:
    rows: list[Row] = []
    for branch in branches:
        part = _rows(branch, zone)
        if part is None:
            return None
        rows += part
    return rows


def _projected(node: Project, zone: str) -> list[Row] | None:
    below = _rows(node.input, zone)
    if below is None:
        return None
    ids = [c.id for c in node.input.columns]
    return [tuple(refold(substitute(e, dict(zip(ids, row, strict=True))), zone) for e in node.exprs) for row in below]


def _generated(node: LateralView, zone: str) -> list[Row] | None:
    below = _rows(node.input, zone)
    if below is None or not isinstance(node.generator, Call):
        return None
    ids = [c.id for c in node.input.columns]
    rows: list[Row] = []
    for row in below:
        generator = refold(substitute(node.generator, dict(zip(ids, row, strict=True))), zone)
        made = _made(generator, len(node.generated))
        if made is None or (node.outer and not made):
            return None
        rows += [(*row, *new) for new in made]
    return rows


def _made(generator: Rex, width: int) -> list[Row] | None:
    """The rows that a generator returns for constants."""
    if not isinstance(generator, Call) or not generator.args:
        return None
    op, args = generator.op, generator.args
    if op == "stack":
        count = args[0].value if isinstance(args[0], Literal) else None
        values = args[1:]
        if not isinstance(count, int) or count < 1 or len(values) != count * width:
            return None
        return [values[i * width : (i + 1) * width] for i in range(count)]
    items = _items(args[0])
    if items is None:
        return None
    if op == "explode" and width == 1:
        return [(item,) for item in items]
    if op == "posexplode" and width == 2:
        return [(Literal(INT, place), item) for place, item in enumerate(items)]
    if op == "inline":
        return _structs(items, width)
    return None


def _structs(items: tuple[Rex, ...], width: int) -> list[Row] | None:
    rows: list[Row] = []
    for item in items:
        if not isinstance(item, Call) or item.op not in ("struct", "named_struct"):
            return None
        values = item.args[1::2] if item.op == "named_struct" else item.args
        if len(values) != width:
            return None
        rows.append(values)
    return rows


def _items(rex: Rex) -> tuple[Rex, ...] | None:
    """The elements of a constant array: a literal one, or a string that is split at a separator."""
    if isinstance(rex, Call) and rex.op == "array":
        return rex.args
    if isinstance(rex, Call) and rex.op == "split" and all(isinstance(a, Literal) for a in rex.args):
        text, mark = (a.value for a in rex.args if isinstance(a, Literal))
        if isinstance(text, str) and isinstance(mark, str) and len(mark) == 1 and (mark.isalnum() or mark in " ,;:-_/"):
            return tuple(Literal(STRING, part) for part in text.split(mark))
    return None
