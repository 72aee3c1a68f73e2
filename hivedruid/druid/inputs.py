"""The input side of one native query: its data source, intervals and filter, and the virtual columns it needs."""

from __future__ import annotations

from itertools import count
from typing import Any

from hivedruid.druid import intervals
from hivedruid.druid.expressions import DruidColumn, DruidExpressions, druid_type, may_be_negative_zero
from hivedruid.druid.filters import to_filter
from hivedruid.druid.intervals import IntervalSet
from hivedruid.druid.sources import Render, narrowed, read_by, source_of
from hivedruid.plan.nodes import DruidQuery
from hivedruid.plan.rex import Call, Literal, Ref, Rex, conjunction, conjuncts

Json = dict[str, Any]


class Inputs:
    """What the parts of a native query read; virtual columns are collected as they are asked for."""

    def __init__(self, query: DruidQuery, zone: str, render: Render) -> None:
        self.zone = zone
        self.condition = query.filter
        source = source_of(narrowed(query.source, read_by(query)), render, zone)
        self.data_source = source.data_source
        self.columns = source.columns
        self.time_id = source.time_id
        self.expressions = DruidExpressions(self.columns, zone)
        self.virtual: dict[tuple[str, str], str] = {}

    def filter(self) -> tuple[IntervalSet, Json | None]:
        """What the condition says about time as intervals, and the rest as a filter."""
        terms = conjuncts(self.condition)
        span, rest = intervals.of_conjuncts(terms, self.time_id, self.zone) if self.time_id else (intervals.ALL, terms)
        condition = conjunction(rest)
        native = self.to_filter(condition) if condition is not None else None
        if not span:  # no time at all: the grand total still has its one row
            return intervals.ALL, {"type": "false"}
        return span, native

    def to_filter(self, condition: Rex) -> Json:
        """A condition over the source's rows."""
        return to_filter(condition, self.columns, self.zone, self.time_id, self.computed)

    def column(self, rex: Rex) -> DruidColumn:
        """A column of the source, or a virtual column for an expression."""
        if isinstance(rex, Ref):
            return self.expressions.column(rex)
        return self.computed(self.expressions.text(rex), druid_type(rex.type))

    def key(self, rex: Rex) -> DruidColumn:
        """What groups by an expression: 0.0 and -0.0 are one group to Hive, two to Druid."""
        if not may_be_negative_zero(rex):
            return self.column(rex)
        return self.computed(self.expressions.without_negative_zero(rex), druid_type(rex.type))

    def computed(self, text: str, type_: str) -> DruidColumn:
        """The virtual column of an expression's text; the same text twice is one column."""
        if (text, type_) not in self.virtual:
            taken = {c.name for c in self.columns.values()}
            taken |= set(self.virtual.values())
            self.virtual[(text, type_)] = next(n for n in (f"vc{i}" for i in count()) if n not in taken)
        return DruidColumn(self.virtual[(text, type_)], type_)

    def virtual_columns(self) -> Json:
        """The `virtualColumns` part, empty where there are none. To be asked when all else is written."""
        if not self.virtual:
            return {}
        columns = [
            {"type": "expression", "name": name, "expression": text, "outputType": type_}
            for (text, type_), name in self.virtual.items()
        ]
        return {"virtualColumns": columns}

    def never_null(self, rex: Rex) -> bool:
        """Whether an expression over the source's rows that pass the filter is certainly not null."""
        if isinstance(rex, Literal):
            return rex.value is not None
        if isinstance(rex, Ref):
            terms = conjuncts(self.condition)
            return rex.id == self.time_id or any(_proves_not_null(term, rex) for term in terms)
        strict = isinstance(rex, Call) and (
            rex.op.startswith(("floor_", "extract_")) or rex.op in ("upper", "lower", "concat")
        )
        return isinstance(rex, Call) and strict and all(self.never_null(a) for a in rex.args)


def _proves_not_null(term: Rex, ref: Ref) -> bool:
    """A comparison, IN, LIKE or IS NOT NULL of the column holds for no null."""
    if isinstance(term, Call) and term.op in ("or", "and"):
        return (all if term.op == "or" else any)(_proves_not_null(part, ref) for part in term.args)
    if not isinstance(term, Call) or not term.args or term.args[0] != ref:
        return False
    return term.op in ("is_not_null", "in", "=", "<>", "<", "<=", ">", ">=", "like")
