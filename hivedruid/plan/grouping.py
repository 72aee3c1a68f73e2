"""GROUP BY: keys, grouping sets, aggregates, and expressions over their output. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog import types as t
from hivedruid.errors import SemanticError, Span
from hivedruid.plan import nodes
from hivedruid.plan.nodes import Node, PlanColumn
from hivedruid.plan.rex import (
    Agg,
    Call,
    Literal,
    Over,
    Ref,
    Rex,
    SortKey,
    Subquery,
    asks_for_grouping,
    has,
    refs,
    transform,
    walk,
)

if TYPE_CHECKING:
    from hivedruid.plan.select import SelectBlock

Lift = Callable[[Rex], Rex]
"""Rewrites an expression over the input of an Aggregate to one over its output."""

_GROUPING_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def has_grouping_sets(group: exp.Group) -> bool:
    return bool(_grouping_clauses(group))


def has_own_aggregate(rex: Rex, inputs: set[str]) -> bool:
    """Whether an expression makes its block an aggregation; `inputs` are the columns that the block reads."""
    aggregates: dict[Agg, None] = {}
    _collect_aggregates(rex, aggregates, inputs)
    return bool(aggregates)


class Grouping:
    """The GROUP BY of one block, or the single group of all rows for aggregates without GROUP BY."""

    def __init__(self, block: SelectBlock, group: exp.Group | None) -> None:
        self.block = block
        self.group = group
        self.keys: dict[Rex, int] = {}
        """The distinct keys with their positions."""
        self.sets: tuple[tuple[int, ...], ...] | None = None

    def aggregate(self, every: list[Rex]) -> Lift:
        """Add an Aggregate on top of the block's node; returns a function that rewrites expressions over its output."""
        block = self.block
        if self.group is not None:
            self._find_keys(self.group)
        inputs = block.input_columns
        calls: dict[Agg, None] = {}
        for rex in every:
            _collect_aggregates(rex, calls, inputs)
        key_columns = [self._key_column(rex) for rex in self.keys]
        call_columns = [block.b.new_column(f"$f{len(self.keys) + i}", call.type) for i, call in enumerate(calls)]
        extra = (block.b.grouping_id,) if self.sets is not None and block.b.grouping_id else ()
        columns = (*key_columns, *call_columns, *extra)
        block.node = nodes.Aggregate(columns, block.node, tuple(self.keys), tuple(calls), self.sets)
        return self._lift(
            dict(zip(self.keys, key_columns, strict=True)),
            dict(zip(calls, call_columns, strict=True)),
            inputs - {c.id for c in columns},
        )

    def _lift(self, by_key: dict[Rex, PlanColumn], by_call: dict[Agg, PlanColumn], gone: set[str]) -> Lift:
        plans: dict[int, Node] = {}  # a plan that is read twice stays one

        def change(rex: Rex) -> Rex | None:
            if rex in by_key:
                return by_key[rex].ref
            if isinstance(rex, Agg) and rex in by_call:
                return by_call[rex].ref
            if isinstance(rex, Call) and rex.op == "grouping":
                return self._grouping_bits(rex)
            if isinstance(rex, Over) and isinstance(rex.call, Agg):
                call = Agg(
                    rex.call.type, rex.call.op, tuple(transform(a, change) for a in rex.call.args), rex.call.distinct
                )
                order = tuple(SortKey(transform(k.rex, change), k.descending, k.nulls_first) for k in rex.order)
                return Over(rex.type, call, tuple(transform(p, change) for p in rex.partition), order, rex.frame)
            if isinstance(rex, Subquery) and rex.plan.outer_refs() & self.block.input_columns:
                args = tuple(transform(a, change) for a in rex.args)
                plan = plans.setdefault(id(rex.plan), _rewritten(rex.plan, change))
                return Subquery(rex.type, rex.kind, plan, args)
            if isinstance(rex, Ref) and rex.id in gone:
                raise SemanticError(
                    f"column '{rex.id}' must be in GROUP BY or inside an aggregate function",
                    span=self._span_of_name(rex.id),
                    hint="add it to GROUP BY, or use min(…) or max(…)",
                )
            return None

        return lambda rex: transform(rex, change)

    # --- keys ----------------------------------------------------------------------------------------------------

    def _find_keys(self, group: exp.Group) -> None:
        """The distinct keys, and for ROLLUP, CUBE and GROUPING SETS the sets as positions in them."""
        plain = [self._add_key(e) for e in group.expressions if not isinstance(e, _GROUPING_SETS)]
        plain = [position for position in plain if position is not None]
        sets: list[tuple[int, ...]] | None = None
        for clause, is_only_item in _grouping_clauses(group):
            if sets is not None:
                raise SemanticError(
                    "only one of ROLLUP, CUBE and GROUPING SETS is allowed", span=self.block.b.span(group)
                )
            sets = self._sets_of(clause, [p for p in plain if p is not None], is_only_item)
        if sets is not None:  # duplicate sets count once
            self.sets = tuple(dict.fromkeys(tuple(sorted(set(s))) for s in sets))

    def _add_key(self, e: exp.Expr) -> int | None:
        """The position of a key; None for `GROUP BY ()`, which has no key."""
        if isinstance(e, exp.Tuple) and not e.expressions:
            return None
        rex = self._key(e)
        if has(rex, Agg, Over) or asks_for_grouping(rex):
            kind = "a window" if has(rex, Over) else "an aggregate"
            raise SemanticError(
                f"{kind} function is not allowed in GROUP BY",
                span=self.block.b.span(e),
                hint="compute it in a subquery, as a column",
            )
        return self.keys.setdefault(rex, len(self.keys))

    def _positions(self, items: Sequence[exp.Expr]) -> list[int]:
        return [p for p in (self._add_key(e) for e in items) if p is not None]

    def _sets_of(self, clause: exp.Expr, plain: list[int], is_only_item: bool) -> list[tuple[int, ...]]:
        if isinstance(clause, exp.GroupingSets):
            items = [i.expressions if isinstance(i, exp.Tuple) else [i.unnest()] for i in clause.expressions]
            if not is_only_item:
                self._check_items(items)
            sets = [tuple(self._positions(item)) for item in items]
            return [(*plain, *(p for p in s if p not in plain)) for s in sets] if is_only_item else sets
        positions = self._positions(clause.expressions) or plain
        fixed = plain if is_only_item else [p for p in plain if p not in positions]
        sizes = range(len(positions), -1, -1)
        if isinstance(clause, exp.Rollup):
            return [tuple(fixed + positions[:n]) for n in sizes]
        return [tuple(fixed + list(c)) for n in sizes for c in combinations(positions, n)]

    def _check_items(self, items: Sequence[Sequence[exp.Expr]]) -> None:
        """The sets of GROUP BY a, b GROUPING SETS (…) contain only its keys."""
        for e in (each for item in items for each in item):
            if self._key(e) not in self.keys:
                raise SemanticError(
                    "an expression in GROUPING SETS must be a key of GROUP BY",
                    span=self.block.b.span(e),
                    hint="add it to the keys before GROUPING SETS",
                )

    def _key(self, e: exp.Expr) -> Rex:
        block = self.block
        by_position = block.b.snapshot.settings.get("hive.groupby.position.alias", "false").lower() == "true"
        items = block.e.expressions
        if by_position and isinstance(e, exp.Literal) and e.name.isdigit() and 1 <= int(e.name) <= len(items):
            return block.c.convert(items[int(e.name) - 1])
        try:
            return block.c.convert(e)
        except SemanticError:
            for item in items:
                if isinstance(e, exp.Column) and isinstance(item, exp.Alias) and item.alias.lower() == e.name.lower():
                    return block.c.convert(item)
            raise

    def _key_column(self, rex: Rex) -> PlanColumn:
        name = rex.op if isinstance(rex, Call) else rex.id if isinstance(rex, Ref) else "_key"
        return self.block.b.new_column(name if name.replace("_", "a").isalnum() else "_key", rex.type)

    # --- grouping(…) ---------------------------------------------------------------------------------------------

    def _grouping_bits(self, rex: Call) -> Rex:
        """grouping(a, b, …): 1 for each that is not in the row's grouping set, the first in the highest bit."""
        if not rex.args or any(a not in self.keys for a in rex.args):
            raise SemanticError(
                "the argument of grouping() must be a GROUP BY expression", span=self._span_of_grouping()
            )
        grouping_id = self.block.b.grouping_id
        if grouping_id is None or self.sets is None:
            return Literal(t.BIGINT, 0)
        bits: Rex | None = None
        for arg in rex.args:
            shift = Literal(t.INT, len(self.keys) - 1 - self.keys[arg])
            bit = Call(t.BIGINT, "grouping_bit", (grouping_id.ref, shift))
            bits = bit if bits is None else Call(t.BIGINT, "+", (Call(t.BIGINT, "*", (bits, Literal(t.INT, 2))), bit))
        assert bits is not None
        return bits

    def _span_of_grouping(self) -> Span | None:
        for call in self.block.e.find_all(exp.Anonymous):
            if str(call.this).lower().endswith("grouping"):
                return self.block.b.span(call)
        return self.block.b.span(self.block.e)

    def _span_of_name(self, name: str) -> Span | None:
        for column in self.block.e.find_all(exp.Column):
            if column.name.lower() == name:
                return self.block.b.span(column)
        return self.block.b.span(self.block.e)


def grouped_columns(block: SelectBlock, group: exp.Group) -> dict[str, PlanColumn]:
    """The qualified columns that are keys, by their unqualified names; not if two have the same name."""
    columns: dict[str, PlanColumn] = {}
    twice: set[str] = set()
    for e in group.expressions:
        rex = block.c.convert(e) if isinstance(e, exp.Column) and len(e.parts) > 1 else None
        if isinstance(rex, Ref):
            name = e.name.lower()
            twice |= {name} if name in columns and columns[name].id != rex.id else set()
            columns[name] = PlanColumn(rex.id, name, rex.type)
    return {name: column for name, column in columns.items() if name not in twice}


def _grouping_clauses(group: exp.Group) -> list[tuple[exp.Expr, bool]]:
    """ROLLUP, CUBE and GROUPING SETS; True for the standard form, which is an item among the keys: GROUP BY a, CUBE(b,
    c).
    """
    behind = [(clause, False) for kind in ("rollup", "cube", "grouping_sets") for clause in group.args.get(kind) or ()]
    return behind + [(e, True) for e in group.expressions if isinstance(e, _GROUPING_SETS)]


def _collect_aggregates(rex: Rex, into: dict[Agg, None], inputs: set[str]) -> None:
    """Aggregates of the block that reads `inputs`: not those that are a window's own function, nor those of subqueries,
    unless they only read columns of this block: HAVING EXISTS (… WHERE x = min(outer.y)).
    """
    if isinstance(rex, Agg):
        into.setdefault(rex)
        return
    if isinstance(rex, Subquery):
        into.update(dict.fromkeys(a for a in _outer_aggregates(rex.plan) if refs(a) <= inputs))
    if isinstance(rex, Over):
        parts = [
            *(rex.call.args if isinstance(rex.call, Agg | Call) else ()),
            *rex.partition,
            *(k.rex for k in rex.order),
        ]
    else:
        parts = list(rex.args) if isinstance(rex, Call | Subquery) else []
    for part in parts:
        _collect_aggregates(part, into, inputs)


def _outer_aggregates(plan: Node) -> list[Agg]:
    """The aggregates in conditions of a subquery: its own have become columns there, so these belong to an outer
    query.
    """
    conditions = [rex for node in plan.walk() if isinstance(node, nodes.Filter) for rex in node.expressions()]
    aggregates: list[Agg] = []
    for rex in (part for condition in conditions for part in walk(condition)):
        if isinstance(rex, Agg):
            aggregates.append(rex)
        elif isinstance(rex, Subquery):
            aggregates += _outer_aggregates(rex.plan)
    return aggregates


def _rewritten(plan: Node, change: Callable[[Rex], Rex | None]) -> Node:
    """A subquery's plan with its outer expressions replaced. Its own aggregates may be equal to them: count(*)."""
    inputs = tuple(_rewritten(i, change) for i in plan.inputs)
    own = {rex.call for e in plan.expressions() for rex in walk(e) if isinstance(rex, Over)}
    own.update(plan.calls if isinstance(plan, nodes.Aggregate) else ())

    def changed(rex: Rex) -> Rex | None:
        return None if rex in own else change(rex)

    return nodes.map_expressions(plan.with_inputs(inputs), lambda rex: transform(rex, changed))
