"""Selects the plans that are evaluated in this process, and evaluates them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hivedruid.cells import interval_of
from hivedruid.druid.query import native_query
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.expressions import ARRAYS
from hivedruid.evaluation.relations import Evaluator, Relation, Rows
from hivedruid.plan.literals import zone_of
from hivedruid.plan.nodes import DruidQuery, Node
from hivedruid.plan.physical import DruidRead
from hivedruid.plan.split import QueryPlan, native_queries, shared
from hivedruid.results import ResultColumn

MAX_ROWS = "hivedruid.local.evaluation.max.rows"


@dataclass(frozen=True)
class LocalInput:
    """The rows of one native query, which replaces `node` in the plan; `view` is its name in EXPLAIN."""

    view: str
    read: DruidRead
    node: DruidQuery


@dataclass(frozen=True)
class LocalPlan:
    """Operators over the rows of native queries, each with at most `most` rows."""

    node: Node
    inputs: tuple[LocalInput, ...]
    columns: tuple[ResultColumn, ...]
    zone: str
    most: int


def local_plan(plan: QueryPlan) -> LocalPlan:
    """The plan for local evaluation. Raises NotLocal if a part is not supported or too large."""
    most = plan.context.most(MAX_ROWS)
    if most <= 0:
        raise NotLocal(f"{MAX_ROWS} is 0")
    node = shared(plan.node, plan.zone)
    leaves = list({id(n): n for n in native_queries(node)}.values())
    for leaf in leaves:
        rows = plan.context.rows(leaf)
        if rows is not None and rows > most:
            raise NotLocal(f"a native query has about {rows} rows, more than {MAX_ROWS} ({most})")
    inputs = tuple(LocalInput(f"druid_{i}", _read(leaf, most, plan.zone), leaf) for i, leaf in enumerate(leaves))
    candidate = LocalPlan(node, inputs, plan.columns, plan.zone, most)
    _evaluator(candidate, {}).relation(node)  # rejected here rather than at run time
    return candidate


def fallback_reason(plan: QueryPlan) -> str | None:
    """The reason why a plan is not evaluated locally; None if it is."""
    try:
        local_plan(plan)
    except NotLocal as no:
        return no.reason
    return None


def evaluated(plan: LocalPlan, fetched: Mapping[str, Rows]) -> Rows:
    """The result for the rows of each input, with zoned timestamps in UTC. Raises Unsure."""
    relation = _evaluator(plan, fetched).relation(plan.node)
    try:
        rows = relation()
    except ArithmeticError as error:  # of a time beyond the year 9999, for example
        raise Unsure(f"a value is out of range: {error}") from error
    return _shown(rows, plan)


def _evaluator(plan: LocalPlan, fetched: Mapping[str, Rows]) -> Evaluator:
    views = {id(item.node): item.view for item in plan.inputs}

    def leaf(node: Node) -> Relation | None:
        view = views.get(id(node))
        return None if view is None else lambda: _hashable(fetched[view], node)

    return Evaluator(plan.zone, leaf)


def _hashable(rows: Rows, node: Node) -> Rows:
    """Rows with arrays as tuples, which are hashable for groups and sets."""
    places = [n for n, column in enumerate(node.columns) if column.type == ARRAYS]
    if not places:
        return rows
    return [tuple([tuple(v) if n in places and v is not None else v for n, v in enumerate(row)]) for row in rows]


def _read(leaf: DruidQuery, most: int, zone: str) -> DruidRead:
    """The native query; a scan stops when it exceeds the row limit."""
    if leaf.grouped is None and leaf.fetch is None and not leaf.offset:
        return native_query(replace(leaf, fetch=most + 1), zone)
    return native_query(leaf, zone)


def _shown(rows: Rows, plan: LocalPlan) -> Rows:
    """The rows as result values: zoned timestamps in the session's time zone, intervals formatted as in Hive, arrays
    as lists."""
    session = zone_of(plan.zone)
    forms: list[Callable[[Any], Any] | None] = []
    for column in plan.columns:
        if column.type.name.endswith("zone"):
            forms.append(lambda moment: moment.astimezone(session))
        elif column.type == ARRAYS:
            forms.append(list)
        else:
            is_interval = column.type.name.startswith("interval")
            forms.append(partial(interval_of, type_=column.type) if is_interval else None)
    if not any(forms):
        return rows
    return [
        tuple([v if v is None or form is None else form(v) for v, form in zip(row, forms, strict=True)]) for row in rows
    ]
