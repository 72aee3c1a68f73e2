"""Relational nodes over rows in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import field
from functools import cache
from typing import Any

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import FLOAT
from hivedruid.evaluation.aggregates import Fold, aggregate, key
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.expressions import DOUBLES, Compiled, Row, Scope, check_type, compiled
from hivedruid.evaluation.functions import Given
from hivedruid.evaluation.generators import generator
from hivedruid.evaluation.numbers import single
from hivedruid.evaluation.ordering import ordered
from hivedruid.evaluation.windows import window
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import nodes
from hivedruid.plan.nodes import Node, PlanColumn
from hivedruid.plan.rex import Call, Over, Rex, Subquery, conjuncts, refs, walk

MOST_ROWS = 200_000
"""Maximum rows of any operator: a join of small inputs can have many."""

Rows = list[Row]
Relation = Callable[[], Rows]


@dataclass
class Evaluator:
    """The evaluation of one plan; `leaf` returns the source of a leaf's rows, None for other nodes."""

    zone: str
    leaf: Callable[[Node], Relation | None]
    _subqueries: dict[int, Any] = field(default_factory=dict)
    _ctes: dict[int, Relation] = field(default_factory=dict)
    _joined: dict[int, dict[str, int]] = field(default_factory=dict)
    """The places of the columns of a join, by its identity, until the join above it adds its own to them."""

    def relation(self, node: Node) -> Relation:
        """A function that computes the node's rows. Raises NotLocal for unsupported nodes."""
        leaf = self.leaf(node)
        if leaf is not None:
            for column in node.columns:
                check_type(column.type)
            return _with_singles(leaf, [i for i, column in enumerate(node.columns) if column.type == FLOAT])
        build = _RELATIONS.get(type(node))
        if build is None:
            raise NotLocal(_reason(node))
        return build(self, node)

    def check_filters(self, node: Node) -> None:
        """Raise NotLocal if a condition in the filters above a leaf is not supported."""
        while isinstance(node, nodes.Filter):
            compiled(node.condition, self.scope(node.input.columns))
            node = node.input

    def scope(self, columns: Iterable[PlanColumn], computed: Mapping[Rex, int] | None = None) -> Scope:
        return self._scope(_places(columns), computed)

    def _scope(self, places: Mapping[str, int], computed: Mapping[Rex, int] | None = None) -> Scope:
        return Scope(places, Given(self.zone), self._subquery, computed or {})

    # --- subqueries --------------------------------------------------------------------------------------------

    def _subquery(self, rex: Subquery, outer: Scope) -> Compiled:
        """An uncorrelated subquery; its rows are computed once."""
        if rex.plan.outer_refs():
            raise NotLocal("a correlated subquery")
        rows = self.relation(rex.plan)
        kept = self._subqueries
        if rex.kind == "in":
            return self._in(rex, rows, outer)

        def value(_row: Row) -> Any:
            if id(rex) not in kept:
                result = rows()
                if rex.kind == "scalar" and len(result) > 1:
                    raise Unsure("a scalar subquery with more than one row")
                kept[id(rex)] = bool(result) if rex.kind == "exists" else result[0][0] if result else None
            return kept[id(rex)]

        return value

    def _in(self, rex: Subquery, rows: Relation, outer: Scope) -> Compiled:
        made = rex.plan.columns
        if len(rex.args) != 1 or rex.args[0].type != made[0].type:
            raise NotLocal("IN (SELECT …) with several columns or mixed types")
        kept = self._subqueries

        def values() -> set[Any]:
            if id(rex) not in kept:
                kept[id(rex)] = {key(row[0]) for row in rows()}
            members: set[Any] = kept[id(rex)]
            return members

        return _among(compiled(rex.args[0], outer), values)

    # --- operators ---------------------------------------------------------------------------------------------

    def values(self, node: nodes.Values) -> Relation:
        scope = self.scope(())
        rows = [[compiled(rex, scope) for rex in row] for row in node.rows]
        return lambda: [tuple([value(()) for value in row]) for row in rows]

    def cte_scan(self, node: nodes.CteScan) -> Relation:
        """The rows of a CTE, computed once for all references."""
        if id(node.plan) not in self._ctes:
            self._ctes[id(node.plan)] = cache(self.relation(node.plan))
        return self._ctes[id(node.plan)]

    def filter(self, node: nodes.Filter) -> Relation:
        below = self.relation(node.input)
        condition = compiled(node.condition, self.scope(node.input.columns))
        return lambda: [row for row in below() if condition(row) is True]

    def project(self, node: nodes.Project) -> Relation:
        below = self.relation(node.input)
        overs = list(dict.fromkeys(part for rex in node.exprs for part in _windows(rex)))
        inner = self.scope(node.input.columns)
        functions = [window(over, inner) for over in overs]
        computed: dict[Rex, int] = {over: len(node.input.columns) + i for i, over in enumerate(overs)}
        scope = self.scope(node.input.columns, computed)
        exprs = [compiled(rex, scope) for rex in node.exprs]

        def rows() -> Rows:
            input_rows = below()
            if functions:
                added = [function(input_rows) for function in functions]
                input_rows = [(*row, *more) for row, more in zip(input_rows, zip(*added, strict=True), strict=True)]
            return [tuple([expr(row) for expr in exprs]) for row in input_rows]

        return rows

    def sort(self, node: nodes.Sort) -> Relation:
        below = self.relation(node.input)
        sort = ordered(node.keys, self.scope(node.input.columns))
        end = None if node.fetch is None else node.offset + node.fetch

        def rows() -> Rows:
            input_rows = below()
            return [input_rows[n] for n in sort(list(range(len(input_rows))), input_rows)[node.offset : end]]

        return rows

    def lateral_view(self, node: nodes.LateralView) -> Relation:
        below = self.relation(node.input)
        make = generator(node.generator, self.scope(node.input.columns))
        empty_row = [(None,) * len(node.generated)] if node.outer else []

        def rows() -> Rows:
            return _bounded([(*row, *made) for row in below() for made in make(row) or empty_row])

        return rows

    def set_op(self, node: nodes.SetOp) -> Relation:
        for branch in node.branches:
            for mine, theirs in zip(node.columns, branch.columns, strict=True):
                if mine.type != theirs.type and not (mine.type.is_integer and theirs.type.is_integer):
                    raise NotLocal(f"{node.kind.upper()} of {mine.type} and {theirs.type}")
                if mine.type == DOUBLES and not (node.kind == "union" and node.all):
                    raise NotLocal(f"{node.kind.upper()} of {mine.type}")
        branches = [self.relation(branch) for branch in node.branches]
        combine = _SET_OPS[node.kind]

        def rows() -> Rows:
            branch_rows = [branch() for branch in branches]
            if node.kind == "union" and node.all:
                return _bounded([row for part in branch_rows for row in part])
            return combine([[tuple(map(key, row)) for row in part] for part in branch_rows], node.all)

        return rows

    def aggregate(self, node: nodes.Aggregate) -> Relation:
        below = self.relation(node.input)
        scope = self.scope(node.input.columns)
        for rex in node.keys:
            if rex.type.name == "unknown" or rex.type.children:
                raise NotLocal(f"GROUP BY {rex.type}")
        keys = [compiled(k, scope) for k in node.keys]
        calls = [_Call.of(agg, scope) for agg in node.calls]
        sets = node.grouping_sets if node.grouping_sets is not None else (tuple(range(len(keys))),)
        numbered = len(node.columns) > len(keys) + len(calls)

        def rows() -> Rows:
            keyed = [(tuple([key(k(row)) for k in keys]), row) for row in below()]
            result: Rows = []
            for kept in sets:
                number = sum(1 << (len(keys) - 1 - i) for i in range(len(keys)) if i not in kept)
                for group, members in _groups(keyed, kept, len(keys)).items():
                    extra = (number,) if numbered else ()
                    result.append((*group, *(call.result(members) for call in calls), *extra))
            return result

        return rows

    def join(self, node: nodes.Join) -> Relation:
        left, right = self.relation(node.left), self.relation(node.right)
        pairs, rest = _equalities(node)
        places = self._joined.pop(id(node.left), None) or _places(node.left.columns)
        left_keys = [compiled(a, self._scope(places)) for a, _ in pairs]
        right_keys = [compiled(b, self.scope(node.right.columns)) for _, b in pairs]
        width, is_one_sided = len(node.left.columns), node.kind in ("semi", "anti")
        places |= _places(node.right.columns, width)  # in place: a chain of joins does not copy those of all its tables
        conditions = [compiled(term, self._scope(places)) for term in rest]
        plan = _JoinPlan(node.kind, left_keys, right_keys, conditions, width, len(node.right.columns))
        if not is_one_sided:
            self._joined[id(node)] = places
        both = (*node.left.columns, *node.right.columns)
        columns = node.left.columns if is_one_sided else both
        is_same = node.columns == columns  # quick, as most of the columns are the same objects
        if not is_same and [c.id for c in node.columns] != [c.id for c in columns]:
            raise NotLocal("a join whose columns are not those of its inputs")
        return lambda: plan.rows(left(), right())


def _places(columns: Iterable[PlanColumn], first: int = 0) -> dict[str, int]:
    """The places of columns in a row, by their ids."""
    return {column.id: place for place, column in enumerate(columns, first)}


def _with_singles(rows: Relation, places: list[int]) -> Relation:
    """The rows with single-precision numbers in these columns, where Druid's responses contain their decimal
    representation."""
    if not places:
        return rows

    def convert() -> Rows:
        result = []
        for row in rows():
            values = list(row)
            for place in places:
                values[place] = None if row[place] is None else single(row[place])
            result.append(tuple(values))
        return result

    return convert


def _among(value: Compiled, kept: Callable[[], set[Any]]) -> Compiled:
    """`value IN (…)`: NULL if nothing is equal and either side has a NULL, unless there are no rows."""

    def is_member(row: Row) -> bool | None:
        values, wanted = kept(), value(row)
        if not values:
            return False
        if wanted is None:
            return None
        return True if key(wanted) in values else None if None in values else False

    return is_member


def _reason(node: Node) -> str:
    return not_from_druid(node.table) if isinstance(node, nodes.TableScan) else type(node).__name__


def not_from_druid(table: Table) -> str:
    """The reason why a table is not read without Spark."""
    return f"{table.full_name} is not a Druid table"


def _windows(rex: Rex) -> list[Over]:
    return [part for part in walk(rex) if isinstance(part, Over)]


def _bounded(rows: Rows) -> Rows:
    if len(rows) > MOST_ROWS:
        raise Unsure(f"more than {MOST_ROWS} intermediate rows")
    return rows


# --- groups ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Call:
    """One aggregate: its argument, its condition, and its fold."""

    args: tuple[Compiled, ...]
    fold: Fold
    condition: Compiled | None
    distinct: bool

    @classmethod
    def of(cls, agg: Any, scope: Scope) -> _Call:
        args = tuple(compiled(arg, scope) for arg in agg.args)
        condition = compiled(agg.condition, scope) if agg.condition is not None else None
        return cls(args, aggregate(agg), condition, agg.distinct)

    def result(self, rows: Sequence[Row]) -> Any:
        if self.condition is not None:
            rows = [row for row in rows if self.condition(row) is True]
        if not self.args:
            return self.fold(rows)
        if len(self.args) == 1:
            values = [v for v in map(self.args[0], rows) if v is not None]
        else:
            values = [v for v in (tuple([key(a(row)) for a in self.args]) for row in rows) if None not in v]
        return self.fold(list(dict.fromkeys(map(key, values))) if self.distinct else values)


def _groups(keyed: Sequence[tuple[Row, Row]], kept: tuple[int, ...], width: int) -> dict[Row, list[Row]]:
    """The rows by the keys of one grouping set, the others NULL; a set without keys has one group even for no rows."""
    groups: dict[Row, list[Row]] = {} if kept else {(None,) * width: []}
    for keys, row in keyed:
        group = keys if len(kept) == width else tuple([k if i in kept else None for i, k in enumerate(keys)])
        groups.setdefault(group, []).append(row)
    return groups


# --- set operations ----------------------------------------------------------------------------------------------


def _union(parts: list[Rows], _all: bool) -> Rows:
    return list(dict.fromkeys(row for part in parts for row in part))


def _intersect(parts: list[Rows], all_: bool) -> Rows:
    counts = Counter(parts[0])
    for part in parts[1:]:
        counts &= Counter(part)
    return list(counts.elements()) if all_ else list(counts)


def _except(parts: list[Rows], all_: bool) -> Rows:
    counts = Counter(parts[0])
    for part in parts[1:]:
        if all_:
            counts -= Counter(part)
        else:
            for row in part:
                counts.pop(row, None)
    return list(counts.elements()) if all_ else list(counts)


_SET_OPS: dict[str, Callable[[list[Rows], bool], Rows]] = {
    "union": _union,
    "intersect": _intersect,
    "except": _except,
}


# --- joins -------------------------------------------------------------------------------------------------------


def _equalities(node: nodes.Join) -> tuple[list[tuple[Rex, Rex]], list[Rex]]:
    """The terms `left = right` over values of one type, used for hash lookup; and the remaining terms."""
    left, right = node.left.ids, node.right.ids
    pairs: list[tuple[Rex, Rex]] = []
    rest: list[Rex] = []
    for term in conjuncts(node.condition):
        pair = _pair(term, left, right)
        if pair is None:
            rest.append(term)
        else:
            pairs.append(pair)
    return pairs, rest


def _pair(term: Rex, left: Set[str], right: Set[str]) -> tuple[Rex, Rex] | None:
    if not isinstance(term, Call) or term.op != "=":
        return None
    a, b = term.args
    one_type = a.type == b.type or (a.type.is_integer and b.type.is_integer)
    if not one_type or a.type.name in ("float", "double", "unknown") or a.type.children:
        return None
    if not refs(a) or not refs(b):
        return None
    if refs(a) <= left and refs(b) <= right:
        return a, b
    return (b, a) if refs(b) <= left and refs(a) <= right else None


@dataclass(frozen=True)
class _JoinPlan:
    """The parts of a join: the keys of each side, the remaining condition, and the width of each side."""

    kind: nodes.JoinKind
    left_keys: list[Compiled]
    right_keys: list[Compiled]
    conditions: list[Compiled]
    left_width: int
    right_width: int

    def rows(self, left: Rows, right: Rows) -> Rows:
        table: dict[Row, list[int]] = {}
        for number, row in enumerate(right):
            keys = tuple([k(row) for k in self.right_keys])
            if None not in keys:
                table.setdefault(keys, []).append(number)
        matched: set[int] = set()
        result: Rows = []
        work = 0
        for row in left:
            keys = tuple([k(row) for k in self.left_keys])
            candidates = table.get(keys, ()) if None not in keys else ()
            work += len(candidates)
            if work > MOST_ROWS * 10:
                raise Unsure("a join with too many comparisons")
            matches = [n for n in candidates if self._holds((*row, *right[n]))]
            if self.kind in ("semi", "anti"):
                result += [row] if bool(matches) == (self.kind == "semi") else []
                continue
            result += [(*row, *right[n]) for n in matches]
            matched.update(matches)
            if not matches and self.kind in ("left", "full"):
                result.append((*row, *(None,) * self.right_width))
            _bounded(result)
        if self.kind in ("right", "full"):
            result += [(*(None,) * self.left_width, *row) for n, row in enumerate(right) if n not in matched]
        return result

    def _holds(self, row: Row) -> bool:
        return all(condition(row) is True for condition in self.conditions)


_RELATIONS: dict[type[Node], Callable[[Evaluator, Any], Relation]] = {
    nodes.Values: Evaluator.values,
    nodes.CteScan: Evaluator.cte_scan,
    nodes.Filter: Evaluator.filter,
    nodes.Project: Evaluator.project,
    nodes.Aggregate: Evaluator.aggregate,
    nodes.Sort: Evaluator.sort,
    nodes.Join: Evaluator.join,
    nodes.SetOp: Evaluator.set_op,
    nodes.LateralView: Evaluator.lateral_view,
}
