"""The rows of a node whose `__time` is in given intervals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.catalog.types import BOOLEAN
from hivedruid.druid.interval_sets import MAX, MIN, IntervalSet
from hivedruid.plan.nodes import Filter, Node, PlanColumn
from hivedruid.plan.rex import Call, Literal, Rex, conjunction, disjunction

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def in_times(node: Node, intervals: IntervalSet) -> Node:
    """A filter over a node with the column `__time`; the intervals are in milliseconds, half open."""
    return Filter(node.columns, node, is_in_times(next(c for c in node.columns if c.name == TIME_COLUMN), intervals))


def is_in_times(time: PlanColumn, intervals: IntervalSet) -> Rex:
    """The condition that a time is in one of these intervals."""

    def moment(millis: int) -> Literal:
        at = _EPOCH + timedelta(milliseconds=millis)
        return Literal(time.type, at if time.type.name.endswith("zone") else at.replace(tzinfo=None))

    def inside(start: int, end: int) -> Rex:
        after = [] if start == MIN else [Call(BOOLEAN, ">=", (time.ref, moment(start)))]
        before = [] if end == MAX else [Call(BOOLEAN, "<", (time.ref, moment(end)))]
        return conjunction([*after, *before]) or Literal(BOOLEAN, True)

    return disjunction(inside(*each) for each in intervals) or Literal(BOOLEAN, False)
