"""Comparisons with the rows of a subquery: `x > ALL (SELECT …)`, and IN if its NULL matters. Pure.

One row about the subquery determines the result: its number of rows, the number that are not NULL, minimum and maximum.
`x > ALL (q)` is then true over no rows, false if x is not above the maximum, NULL if there is a NULL, else true.
"""

from __future__ import annotations

from collections.abc import Callable

from hivedruid.catalog import types as t
from hivedruid.catalog.types import HiveType
from hivedruid.plan.nodes import Aggregate, Node, PlanColumn, Project
from hivedruid.plan.rex import Agg, Call, Literal, Rex, Subquery, conjunction, conjuncts, transform

NewColumn = Callable[[str, HiveType], PlanColumn]

_TRUE, _FALSE, _NULL = Literal(t.BOOLEAN, True), Literal(t.BOOLEAN, False), Literal(t.BOOLEAN, None)
_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def quantified(op: str, value: Rex, plan: Node, is_any: bool, new_column: NewColumn) -> Rex:
    """`value op ANY (plan)` or `value op ALL (plan)`; the plan has one column, of a type that compares with the
    value."""
    if (op, is_any) in (("=", True), ("<>", False)):
        subquery = Subquery(t.BOOLEAN, "in", plan, (value,))
        return subquery if is_any else Call(t.BOOLEAN, "not", (subquery,))
    decided = op if is_any else _OPPOSITE[op]  # the case that one row decides: ANY is true, ALL is false
    row = _Summary(plan, new_column, with_extremes=True)
    bounds = [row.least] if decided in (">", ">=") else [row.most] if decided in ("<", "<=") else [row.least, row.most]
    hits = tuple(Call(t.BOOLEAN, decided, (value, bound)) for bound in bounds)
    hit = hits[0] if len(hits) == 1 else Call(t.BOOLEAN, "or", hits)
    return row.decide(value, hit, is_any)


def exact_in_value(rex: Rex, new_column: NewColumn) -> Rex:
    """The value with every `x IN (SELECT …)` in it expanded: Spark's own is false where it should be NULL."""

    def change(part: Rex) -> Rex | None:
        if not isinstance(part, Subquery) or part.kind != "in" or len(part.args) != 1:
            return None
        return _Summary(part.plan, new_column).decide(part.args[0], part, True)

    return transform(rex, change)


def exact_in_condition(rex: Rex, new_column: NewColumn) -> Rex:
    """The condition with IN (SELECT …) expanded where NULL differs from false: not in AND, OR, and a NOT of one IN
    alone.
    """
    terms = [_exact_term(term, new_column) for term in conjuncts(rex)]
    return conjunction(terms) or rex


def _exact_term(rex: Rex, new_column: NewColumn) -> Rex:
    inner = rex.args[0] if isinstance(rex, Call) and rex.op == "not" else rex
    if isinstance(inner, Subquery):
        return rex
    return _exact_where_false(rex, new_column)


def _exact_where_false(rex: Rex, new_column: NewColumn) -> Rex:
    if isinstance(rex, Subquery):
        return rex
    if isinstance(rex, Call) and rex.op in ("and", "or"):
        return Call(rex.type, rex.op, tuple(_exact_where_false(a, new_column) for a in rex.args))
    return exact_in_value(rex, new_column)


class _Summary:
    """The row about a subquery's column, as expressions; the subquery itself is one value, however often it is read."""

    def __init__(self, plan: Node, new_column: NewColumn, *, with_extremes: bool = False) -> None:
        column = plan.columns[0].ref
        calls = {"rows": Agg(t.BIGINT, "count", ()), "values": Agg(t.BIGINT, "count", (column,))}
        if with_extremes:
            calls |= {name: Agg(column.type, op, (column,)) for name, op in (("least", "min"), ("most", "max"))}
        outputs = tuple(new_column(f"_{name}", call.type) for name, call in calls.items())
        total = Aggregate(outputs, plan, (), tuple(calls.values()))
        row_type = HiveType("struct", children=tuple(c.type for c in outputs), fields=tuple(calls))
        fields = [x for name, c in zip(calls, outputs, strict=True) for x in (Literal(t.STRING, name), c.ref)]
        packed = new_column("_summary", row_type)
        self.row = Subquery(
            row_type, "scalar", Project((packed,), total, (Call(row_type, "named_struct", tuple(fields)),))
        )
        self.value_type = column.type

    def _field(self, name: str, type_: HiveType) -> Rex:
        return Call(type_, f"field:{name}", (self.row,))

    @property
    def least(self) -> Rex:
        return self._field("least", self.value_type)

    @property
    def most(self) -> Rex:
        return self._field("most", self.value_type)

    def decide(self, value: Rex, hit: Rex, is_any: bool) -> Rex:
        """Over no rows ANY is false and ALL true; otherwise a match makes ANY true and ALL false, and without one a
        NULL makes both NULL.
        """
        rows, values = self._field("rows", t.BIGINT), self._field("values", t.BIGINT)
        unknown = Call(t.BOOLEAN, "or", (Call(t.BOOLEAN, "<", (values, rows)), Call(t.BOOLEAN, "is_null", (value,))))
        hit_value, else_value = (_TRUE, _FALSE) if is_any else (_FALSE, _TRUE)
        empty = Call(t.BOOLEAN, "=", (rows, Literal(t.BIGINT, 0)))
        return Call(t.BOOLEAN, "case", (empty, else_value, hit, hit_value, unknown, _NULL, else_value))
