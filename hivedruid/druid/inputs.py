"""The input side of one native query: its data source, intervals and filter, and the virtual columns it needs."""

from __future__ import annotations

from functools import cached_property
from itertools import count
from typing import Any

from hivedruid.catalog.stored_types import CAST
from hivedruid.druid import intervals
from hivedruid.druid.expressions import DruidColumn, DruidExpressions, Times, druid_type, may_be_negative_zero
from hivedruid.druid.filters import to_filter
from hivedruid.druid.intervals import IntervalSet
from hivedruid.druid.sources import Render, elements_of, narrowed, read_by, source_of, with_unnest_filters
from hivedruid.druid.syntax import quote
from hivedruid.plan.nodes import DruidQuery
from hivedruid.plan.rex import Call, Literal, Ref, Rex, conjunction, conjuncts, refs

Json = dict[str, Any]


class Inputs:
    """The input columns of a native query; virtual columns are created on demand. `whole`: the source keeps the columns
    that the query does not read."""

    def __init__(self, query: DruidQuery, zone: str, render: Render, *, whole: bool = False) -> None:
        self.zone = zone
        self.condition = query.filter
        source = query.source if whole else narrowed(query.source, read_by(query))
        below, terms = with_unnest_filters(source, conjuncts(query.filter))
        native = source_of(below, render, zone)
        self.elements = elements_of(below)
        self.data_source = native.data_source
        self.columns = native.columns
        self.time_id = native.time_id
        self.span, self._rest = (
            intervals.of_conjuncts(terms, self.time_id, zone) if self.time_id else (intervals.ALL, terms)
        )
        self.expressions = DruidExpressions(self.columns, zone, Times(self.time_id, self.span), self.computed)
        self.virtual: dict[tuple[str, str], str] = {}
        self._references: dict[tuple[str, str], DruidColumn] = {}
        """The virtual columns by the expressions that are only their names."""
        self._free_names = (name for i in count() if (name := f"vc{i}") not in self._names)

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of the columns."""
        return frozenset([column.name for column in self.columns.values()])

    def filter(self) -> tuple[IntervalSet, Json | None]:
        """The time condition as intervals, and the rest as a filter."""
        condition = conjunction([t for t in self._rest if not refs(t) & self.elements])
        natives = [self.to_filter(condition)] if condition is not None else []
        natives += [self._as_expression(t) for t in self._rest if refs(t) & self.elements]
        native = {"type": "and", "fields": natives} if len(natives) > 1 else next(iter(natives), None)
        if not self.span:  # an empty interval: the grand total still has its row
            return intervals.ALL, {"type": "false"}
        return self.span, native

    def _as_expression(self, term: Rex) -> Json:
        """A condition that reads elements of an `unnest` and other columns, as a filter that Druid does not rewrite.
        Druid 33 pushes other filters below the unnest, and loses rows that match a NOT under OR.
        """
        return {"type": "expression", "expression": self.expressions.text(term)}

    def to_filter(self, condition: Rex) -> Json:
        """A condition over the source's rows."""
        return to_filter(condition, self.expressions, self.computed)

    def column(self, rex: Rex) -> DruidColumn:
        """A column of the source, or a virtual column for an expression."""
        if isinstance(rex, Ref) and self.expressions.column(rex).reading != CAST:
            return self.expressions.column(rex)
        return self.computed(self.expressions.text(rex), druid_type(rex.type))

    def key(self, rex: Rex) -> DruidColumn:
        """The grouping column of an expression: 0.0 and -0.0 are one group in Hive, two in Druid."""
        if not may_be_negative_zero(rex):
            return self.column(rex)
        return self.computed(self.expressions.without_negative_zero(rex), druid_type(rex.type))

    def computed(self, text: str, type_: str) -> DruidColumn:
        """The virtual column of an expression; equal expressions share a column."""
        if (text, type_) in self._references:
            return self._references[(text, type_)]
        if (text, type_) not in self.virtual:
            name = self.virtual[(text, type_)] = next(self._free_names)
            self._references[(quote(name), type_)] = DruidColumn(name, type_)
        return DruidColumn(self.virtual[(text, type_)], type_)

    def virtual_columns(self) -> Json:
        """The `virtualColumns` part, empty if there are none. Must be called last."""
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
    """A comparison, IN, LIKE or IS NOT NULL of the column is not true for null."""
    if isinstance(term, Call) and term.op in ("or", "and"):
        return (all if term.op == "or" else any)(_proves_not_null(part, ref) for part in term.args)
    if not isinstance(term, Call) or not term.args or term.args[0] != ref:
        return False
    return term.op in ("is_not_null", "in", "=", "<>", "<", "<=", ">", ">=", "like")
