"""Relational nodes: queries without SQL syntax. The terminology is Calcite's.

Every column has an id that is unique in the whole plan, so an expression can move between nodes, and a correlated
subquery can refer to an outer column, without renaming.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from functools import cached_property
from typing import Any
from typing import Literal as Choice

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import BIGINT, HiveType
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.rex import Agg, Literal, Ref, Rex, SortKey, Subquery, has, refs, substitute, transform

JoinKind = Choice["inner", "left", "right", "full", "cross", "semi", "anti"]


@dataclass(frozen=True)
class PlanColumn:
    """A column of a node's output: its unique id, the name a query sees, its type."""

    id: str
    name: str
    type: HiveType

    @property
    def ref(self) -> Ref:
        return Ref(self.type, self.id)


@dataclass(frozen=True)
class Node:
    """Base of relational nodes; `columns` is the output, in order."""

    columns: tuple[PlanColumn, ...]

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of the columns."""
        return frozenset([column.id for column in self.columns])

    @property
    def by_name(self) -> dict[str, Rex]:
        """References to the columns with their names as ids, by their ids."""
        return {column.id: Ref(column.type, column.name) for column in self.columns}

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self if not inputs else replace(self, input=inputs[0])  # type: ignore[call-arg]

    def expressions(self) -> Iterator[Rex]:
        return iter(())

    def outer_refs(self) -> set[str]:
        """Ids read in this tree that none of its nodes produces: the columns of an outer query."""
        used: set[str] = set()
        made: set[str] = set()
        for node in self.walk():
            made.update(c.id for c in node.columns)
            for rex in node.expressions():
                used |= refs(rex)
        return used - made

    def walk(self) -> Iterator[Node]:
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += node.inputs[::-1]


@dataclass(frozen=True)
class TableScan(Node):
    """All rows of a table; `columns` are those of the table that are read, named as in the catalog."""

    table: Table


@dataclass(frozen=True)
class Values(Node):
    """Literal rows; one row without columns is SELECT without FROM."""

    rows: tuple[tuple[Rex, ...], ...]

    def expressions(self) -> Iterator[Rex]:
        return (rex for row in self.rows for rex in row)


@dataclass(frozen=True)
class CteScan(Node):
    """A reference to a CTE or view that is planned by itself and computed once; `columns[i]` is `plan.columns[i]`.

    All references have the same `plan`. It is not an input: no rule moves a node into it.
    """

    name: str
    plan: Node = field(hash=False)  # the columns identify the node
    is_view: bool = False


@dataclass(frozen=True)
class SingleInput(Node):
    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)


@dataclass(frozen=True)
class Filter(SingleInput):
    condition: Rex

    def expressions(self) -> Iterator[Rex]:
        return iter((self.condition,))


@dataclass(frozen=True)
class Project(SingleInput):
    """`exprs[i]` computes `columns[i]`."""

    exprs: tuple[Rex, ...]

    def expressions(self) -> Iterator[Rex]:
        return iter(self.exprs)

    @property
    def mapping(self) -> dict[str, Rex]:
        """The expression behind each output column."""
        return {column.id: rex for column, rex in zip(self.columns, self.exprs, strict=True)}


@dataclass(frozen=True)
class Aggregate(SingleInput):
    """GROUP BY: the output is the keys, then the calls, then `grouping__id` if `grouping_sets` is given.

    `grouping_sets`: for each set the positions of its keys; None is the one set of all keys. The empty set has its row
    even over no rows, unless `needs_total` is false because nothing reads it.
    """

    keys: tuple[Rex, ...]
    calls: tuple[Agg, ...]
    grouping_sets: tuple[tuple[int, ...], ...] | None = None
    needs_total: bool = True

    @property
    def has_total(self) -> bool:
        """Whether one of several sets has a row even for no rows."""
        return self.needs_total and self.grouping_sets is not None and () in self.grouping_sets

    @property
    def total(self) -> tuple[Literal, ...] | None:
        """The values of the keys and grouping__id in that row."""
        if not self.has_total:
            return None
        id_ = Literal(BIGINT, (1 << len(self.keys)) - 1)
        return (*(Literal(k.type, None) for k in self.keys), id_)

    def expressions(self) -> Iterator[Rex]:
        yield from self.keys
        yield from self.calls


@dataclass(frozen=True)
class Sort(SingleInput):
    """ORDER BY … LIMIT fetch OFFSET offset; without keys only the limit."""

    keys: tuple[SortKey, ...]
    fetch: int | None = None
    offset: int = 0

    def expressions(self) -> Iterator[Rex]:
        return (key.rex for key in self.keys)


@dataclass(frozen=True)
class Join(Node):
    left: Node
    right: Node
    kind: JoinKind
    condition: Rex | None

    @cached_property
    def ids(self) -> frozenset[str]:
        return self.left.ids if self.kind in ("semi", "anti") else self.left.ids | self.right.ids

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, left=inputs[0], right=inputs[1])

    def filterable_input(self, column: str) -> Node | None:
        """The input with this column, if a condition on it selects the same rows before the join as after it."""
        if column in self.left.ids:
            return self.left if self.kind in ("inner", "cross", "left", "semi", "anti") else None
        return self.right if self.kind in ("inner", "cross", "right") else None

    def expressions(self) -> Iterator[Rex]:
        return iter((self.condition,) if self.condition else ())


@dataclass(frozen=True)
class SetOp(Node):
    """UNION, INTERSECT or EXCEPT of inputs with equal column counts and types."""

    kind: Choice["union", "intersect", "except"]
    all: bool
    branches: tuple[Node, ...]

    def merged(self) -> SetOp:
        """(a UNION ALL b) UNION ALL c as UNION ALL(a, b, c), so that a long chain is one node. Of EXCEPT only the first
        branch is merged.
        """
        places = range(1) if self.kind == "except" else range(len(self.branches))
        branches: list[Node] = []
        for place, branch in enumerate(self.branches):
            inside = place in places and isinstance(branch, SetOp) and self._takes(branch)
            branches += branch.inputs if inside else [branch]
        return self if len(branches) == len(self.branches) else replace(self, branches=tuple(branches))

    def _takes(self, branch: SetOp) -> bool:
        """A distinct operation does not depend on how often a row occurs in a branch; but (a EXCEPT ALL b) may contain
        a row of b.
        """
        if branch.kind != self.kind or (self.kind != "union" and self.all):
            return False
        return branch.all == self.all or (not self.all and self.kind != "except")

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, branches=inputs)


@dataclass(frozen=True)
class LateralView(SingleInput):
    """LATERAL VIEW [OUTER] f(…), and SELECT f(…): the input's columns and those of the generator (`generated`)."""

    generator: Rex
    outer: bool
    generated: tuple[PlanColumn, ...]

    def expressions(self) -> Iterator[Rex]:
        return iter((self.generator,))


@dataclass(frozen=True)
class Script:
    """A command that reads the first `width` columns as text and writes rows. `distribute` and `sort` are positions of
    columns of its input: rows with the same values go to one process, in this order (descending, nulls first).
    `written` and `read` are the SerDe properties of both directions, None without ROW FORMAT; `takes_rest`: the last
    column is the rest of the line."""

    command: str
    width: int
    distribute: tuple[int, ...] = ()
    sort: tuple[tuple[int, bool, bool], ...] = ()
    written: tuple[tuple[str, str], ...] | None = None
    read: tuple[tuple[str, str], ...] | None = None
    takes_rest: bool = False


@dataclass(frozen=True)
class Transform(SingleInput):
    """SELECT TRANSFORM (…) USING: the rows that a command writes. It reads all columns of its input."""

    script: Script

    def expressions(self) -> Iterator[Rex]:
        return (column.ref for column in self.input.columns)


@dataclass(frozen=True)
class DruidUnion(Node):
    """A `union` data source: all rows of tables that have the same columns; `columns` are those of the first."""

    scans: tuple[TableScan, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.scans


@dataclass(frozen=True)
class DruidUnnest(SingleInput):
    """An `unnest` data source: the rows of a table, each with every element of its `array`, in the column `element`.

    With `outer` a row without elements occurs once, with NULL. `condition` reads only the element.
    """

    input: TableScan | DruidUnion | DruidUnnest
    array: Ref
    outer: bool
    element: PlanColumn
    condition: Rex | None = None

    def expressions(self) -> Iterator[Rex]:
        return iter((self.array, self.condition) if self.condition else (self.array,))


@dataclass(frozen=True)
class DruidJoin(Node):
    """A `join` data source: the rows of `left`, each with the rows of `right` that satisfy the condition.

    The output is the columns of both. `condition` is an AND of `=` and `<=>` between an expression over the left and a
    column of the right, None for every pair. Druid reads the left in its segments and keeps the right in memory.
    """

    left: TableScan | DruidUnion | DruidUnnest | DruidJoin | DruidQuery
    right: DruidQuery | Values
    kind: Choice["inner", "left"]
    condition: Rex | None

    @cached_property
    def ids(self) -> frozenset[str]:
        return self.left.ids | self.right.ids

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    @cached_property
    def first(self) -> TableScan | DruidUnion | DruidUnnest | DruidQuery:
        """What the first of a chain of joins reads on its left."""
        return self.left.first if isinstance(self.left, DruidJoin) else self.left

    @cached_property
    def rendered(self) -> dict[str, Any]:
        """The native data source for each time zone."""
        return {}

    def expressions(self) -> Iterator[Rex]:
        return iter((self.condition,) if self.condition else ())


@dataclass(frozen=True)
class DruidQuery(Node):
    """The work of one native query, in Druid's order of evaluation: the filter over the source, then either the
    projection (`exprs`) of a scan, or keys and calls, `having`, and the post-aggregation (`exprs`); then the sort.

    `source` is a Druid table, a union, unnest or join of such tables, or another native query. `filter`, `keys` and the
    arguments of `calls` read the source's columns. After an aggregate `having`, `exprs` and `sort` read `grouped` (the
    output of an Aggregate, including that of `grouping_sets`), otherwise `exprs` and `sort` read the source's columns.
    `total` contains the keys, and grouping__id, of the group that has a row even over no rows.
    """

    source: TableScan | DruidUnion | DruidUnnest | DruidJoin | DruidQuery
    exprs: tuple[Rex, ...]
    filter: Rex | None = None
    grouped: tuple[PlanColumn, ...] | None = None
    keys: tuple[Rex, ...] = ()
    calls: tuple[Agg, ...] = ()
    having: Rex | None = None
    sort: tuple[SortKey, ...] = ()
    fetch: int | None = None
    offset: int = 0
    grouping_sets: tuple[tuple[int, ...], ...] | None = None
    total: tuple[Literal, ...] | None = None

    @cached_property
    def rendered(self) -> dict[tuple[str, bool], Any]:
        """The native query for each time zone, and with or without all columns of its joins."""
        return {}

    @property
    def base(self) -> TableScan:
        """The table at the bottom; for a union the first, for a join the left."""
        source: Node = self.source
        while not isinstance(source, TableScan):
            assert isinstance(source, DruidQuery | DruidJoin | DruidUnion | DruidUnnest)
            source = source.source if isinstance(source, DruidQuery) else source.inputs[0]
        return source

    @property
    def tables(self) -> tuple[TableScan, ...]:
        """All the tables it reads."""
        scans: list[TableScan] = []
        stack: list[Node] = [self.source]
        while stack:
            source = stack.pop()
            if isinstance(source, TableScan):
                scans.append(source)
            stack += (source.source,) if isinstance(source, DruidQuery) else source.inputs[::-1]
        return tuple(scans)

    @property
    def is_limited(self) -> bool:
        return self.fetch is not None or self.offset > 0

    @property
    def mapping(self) -> dict[str, Rex]:
        """The expression behind each output column."""
        return {column.id: rex for column, rex in zip(self.columns, self.exprs, strict=True)}


def below_projects(node: Node) -> tuple[Node, tuple[Rex, ...]]:
    """The node below the projections at the top of a plan, and the plan's columns as expressions over it."""
    exprs: tuple[Rex, ...] = tuple(column.ref for column in node.columns)
    while isinstance(node, Project):
        exprs = tuple(substitute(rex, node.mapping) for rex in exprs)
        node = node.input
    return node, exprs


def filterable_input(node: Node, column: Ref) -> tuple[Node, Ref] | None:
    """The input that has a column of the node unchanged, and the column there, if a condition on the column can be
    checked on the input in place of the node; None if there is none. Callers exclude window functions.
    """
    if isinstance(node, Filter):
        return node.input, column
    if isinstance(node, Join):
        side = node.filterable_input(column.id)
        return None if side is None else (side, column)
    if isinstance(node, Project):
        rex = node.mapping.get(column.id)
    elif isinstance(node, Aggregate) and node.grouping_sets is None:
        rex = dict(zip([c.id for c in node.columns], node.keys, strict=False)).get(column.id)
    else:
        return None
    return (node.input, rex) if isinstance(rex, Ref) else None


def map_expressions(node: Node, change: Callable[[Any], Any]) -> Node:
    """The node with each of its own expressions replaced."""
    if isinstance(node, Filter):
        return replace(node, condition=change(node.condition))
    if isinstance(node, Project):
        return replace(node, exprs=tuple(change(e) for e in node.exprs))
    if isinstance(node, Aggregate):
        return replace(node, keys=tuple(change(k) for k in node.keys), calls=tuple(change(c) for c in node.calls))
    if isinstance(node, Sort):
        return replace(node, keys=tuple(SortKey(change(k.rex), k.descending, k.nulls_first) for k in node.keys))
    if isinstance(node, Join) and node.condition is not None:
        return replace(node, condition=change(node.condition))
    if isinstance(node, LateralView):
        return replace(node, generator=change(node.generator))
    return node


def map_subqueries(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with the plan of each subquery in its expressions changed; the same node if none is."""
    if not any(has(rex, Subquery) for rex in node.expressions()):
        return node
    is_changed = False

    def changed(rex: Rex) -> Rex | None:
        nonlocal is_changed
        if not isinstance(rex, Subquery):
            return None
        plan, args = change(rex.plan), tuple([transform(arg, changed) for arg in rex.args])
        is_changed = is_changed or plan is not rex.plan
        return Subquery(rex.type, rex.kind, plan, args)

    made = map_expressions(node, lambda rex: transform(rex, changed))
    return made if is_changed else node
