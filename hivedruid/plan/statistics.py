"""Estimates the number of rows of a node, from table statistics and textbook selectivities. Estimates only choose
between equivalent plans, so they may be wrong; `bounded_values` gives certain bounds for any data.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import field
from math import prod

from hivedruid.catalog.statistics import ColumnStatistics, Statistics, TableStatistics
from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.druid import intervals
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import nodes
from hivedruid.plan.bounds import bounded_values
from hivedruid.plan.nodes import DruidQuery, Node, PlanColumn, TableScan
from hivedruid.plan.ranges import Comparison, ValueRange, comparison, uncast, value_range
from hivedruid.plan.rex import Agg, Call, Literal, Ref, Rex, conjuncts, refs

__all__ = [
    "ColumnStatistics",
    "Estimator",
    "Statistics",
    "TableStatistics",
    "bounded_values",
    "estimate_groups",
    "estimate_rows",
]

EQUAL, BETWEEN, MATCH, OTHER = 0.1, 1 / 3, 0.1, 0.5
"""The estimated selectivity of an equality with an unknown number of values, a comparison, a pattern, and any other
condition. Those of System R, since there are no histograms."""
NULLS = 0.1
GROUPS = 0.1
"""The estimated ratio of groups to rows for an unknown key."""
DENSE = 0.9
"""The minimum ratio of rows to the values between the smallest and the largest key of a complete dimension."""
EVIDENT = 10
"""The minimum number of rows for which that ratio means anything."""
LEAST = 1e-9
"""The selectivity of a condition that no row satisfies by statistics, which may be outdated."""


def estimate_rows(node: Node, statistics: Statistics, zone: str = "UTC") -> int | None:
    """The estimated rows of the node; None without statistics of a table below. `zone` is the session's time zone."""
    return Estimator(statistics, zone).rows(node)


def estimate_groups(keys: Iterable[Rex], node: Node, statistics: Statistics, zone: str = "UTC") -> int | None:
    """The estimated number of distinct key combinations in the rows of the node."""
    return Estimator(statistics, zone).groups(tuple(keys), node)


@dataclass(frozen=True)
class _Column:
    """What is known of a column of a table with this number of rows."""

    statistics: ColumnStatistics
    range: ValueRange | None
    rows: int | None

    @property
    def distinct(self) -> int | None:
        """The number of values; if it was not counted, the maximum by the range, with null."""
        known, values = self.statistics.distinct, None if self.range is None else self.range.values
        if known is not None or values is None:
            return known
        values += self.statistics.has_nulls is not False
        return values if self.rows is None else max(1, min(values, self.rows))

    @property
    def nulls(self) -> float | None:
        """The share of nulls."""
        nulls = self.statistics.nulls
        return None if nulls is None or not self.rows else min(1.0, nulls / self.rows)

    def filled(self, share: float) -> float:
        """The share of rows if it is that of values."""
        return max(LEAST, share * (1.0 - (self.nulls or 0.0)))


@dataclass
class Estimator:
    """Estimates over one plan and its rewritten forms, each node once. Column ids are unique in a plan, so statistics
    of a column apply wherever it is read."""

    statistics: Statistics
    zone: str = "UTC"
    groups_by_row: float = GROUPS
    _columns: dict[str, _Column] = field(default_factory=dict)
    _meanings: dict[str, Rex] = field(default_factory=dict)
    _times: dict[str, tuple[int, int]] = field(default_factory=dict)
    _of_segments: set[str] = field(default_factory=set)
    _known: dict[int, tuple[Node, float | None]] = field(default_factory=dict)

    def rows(self, node: Node) -> int | None:
        """The estimated rows of the node, at least one if it may have any."""
        rows = self._rows(node)
        return None if rows is None else max(1, round(rows)) if rows > 0 else 0

    def groups(self, keys: tuple[Rex, ...], node: Node) -> int | None:
        """The estimated number of distinct key combinations."""
        rows = self._rows(node)
        groups = self._groups(keys, rows)
        return None if groups is None else max(1, round(groups))

    def has_every_key(self, node: Node, key: Ref) -> bool:
        """Whether the node probably has a row for each value between the smallest and the largest one of the key: a
        table of a dimension with generated keys, without a condition."""
        rows, column = self._rows(node), self._columns.get(key.id)
        values = None if column is None or column.range is None else column.range.values
        return rows is not None and values is not None and rows >= max(EVIDENT, DENSE * values)

    # --- rows --------------------------------------------------------------------------------------------------

    def _rows(self, node: Node) -> float | None:
        if id(node) not in self._known:  # keeps a reference to the node, so that its id is not reused
            self._known[id(node)] = (node, self._compute(node))
        return self._known[id(node)][1]

    def _compute(self, node: Node) -> float | None:
        if isinstance(node, TableScan):
            return self._scan(node)
        if isinstance(node, DruidQuery):
            return self._query(node)
        if isinstance(node, nodes.Values):
            return float(len(node.rows))
        if isinstance(node, nodes.SetOp):
            return self._set_op(node)
        if isinstance(node, nodes.CteScan):
            return self._rows(node.plan)
        if isinstance(node, nodes.Join | nodes.DruidJoin):
            return self._join(node)
        if isinstance(node, nodes.DruidUnion):
            parts = [self._rows(scan) for scan in node.inputs]
            return sum(p for p in parts if p is not None) if None not in parts else None
        if not node.inputs:
            return None
        rows = self._rows(node.inputs[0])
        if isinstance(node, nodes.Filter):
            return None if rows is None else self._kept(rows, node.condition)
        if isinstance(node, nodes.Project):
            self._learn(node.columns, node.exprs)
        if isinstance(node, nodes.Aggregate):
            self._learn(node.columns, node.keys)
            return self._grouped(node.keys, node.grouping_sets, rows)
        if isinstance(node, nodes.Sort):
            return _limited(rows, node.fetch, node.offset)
        return rows

    def _kept(self, rows: float, condition: Rex) -> float:
        """The rows that satisfy a condition: at least one, unless it is certain that there are none."""
        kept = rows * self.selectivity(condition)
        return max(kept, min(rows, 1.0)) if kept > 0 else 0.0

    def _learn(self, columns: tuple[PlanColumn, ...], exprs: tuple[Rex, ...]) -> None:
        """The expressions of columns; a column that is passed through keeps its id."""
        pairs = zip(columns, exprs, strict=False)
        self._meanings |= {c.id: rex for c, rex in pairs if type(rex) is not Ref or rex.id != c.id}

    def _scan(self, scan: TableScan) -> float | None:
        statistics = self.statistics.get((scan.table.database, scan.table.name))
        if statistics is None:
            return None
        for column in scan.columns:
            stored = scan.table.column(column.name)
            name = stored.field_name if stored else column.name
            if name in statistics.columns:
                known = statistics.columns[name]
                of_it = _Column(known, value_range(known, column.type), statistics.rows)
                self._columns[column.id] = of_it
                if column.type.is_timestamp and of_it.range is not None:
                    self._times[column.id] = of_it.range.millis
            if name == TIME_COLUMN and statistics.start is not None and statistics.end is not None:
                self._times[column.id] = (statistics.start, statistics.end)
                self._of_segments.add(column.id)
        return None if statistics.rows is None else float(statistics.rows)

    def _query(self, query: DruidQuery) -> float | None:
        rows = self._rows(query.source)
        if query.filter is not None and rows is not None:
            rows = self._kept(rows, query.filter)
        if query.grouped is not None:
            self._learn(query.grouped, query.keys)
            rows = self._grouped(query.keys, query.grouping_sets, rows)
            if query.having is not None and rows is not None:
                rows = self._kept(rows, query.having)
        self._learn(query.columns, query.exprs)
        return _limited(rows, query.fetch, query.offset)

    def _set_op(self, node: nodes.SetOp) -> float | None:
        parts = [self._rows(branch) for branch in node.branches]
        for column, first in zip(node.columns, node.branches[0].columns, strict=True):
            if column.id != first.id:
                self._meanings[column.id] = first.ref
        known = [p for p in parts if p is not None]
        if len(known) < len(parts):
            return None
        return sum(known) if node.kind == "union" else min(known) if node.kind == "intersect" else known[0]

    def _join(self, join: nodes.Join | nodes.DruidJoin) -> float | None:
        left, right = self._rows(join.left), self._rows(join.right)
        if left is None or right is None:
            return None
        matches = left * right * (1.0 if join.condition is None else self._matching(join, left, right))
        if join.kind in ("semi", "anti"):
            return min(left, matches) if join.kind == "semi" else left * OTHER
        matches = max(matches, left) if join.kind in ("left", "full") else matches
        return max(matches, right) if join.kind in ("right", "full") else matches

    def _matching(self, join: nodes.Join | nodes.DruidJoin, left: float, right: float) -> float:
        """The share of all pairs that satisfies the condition: 1 / the larger number of values of an equal pair."""
        assert join.condition is not None
        left_ids = join.left.ids
        part = 1.0
        for term in conjuncts(join.condition):
            if isinstance(term, Call) and term.op in ("=", "<=>") and len(term.args) == 2:
                sides = [min(self.distinct(a) or n, n) for a, n in self._sides(term, left_ids, left, right)]
                part /= max(1.0, *sides)
            else:
                part *= self.selectivity(term)
        return part

    def _sides(self, term: Call, left_ids: Set[str], left: float, right: float) -> list[tuple[Rex, float]]:
        return [(a, left if refs(a) <= left_ids else right) for a in term.args]

    # --- values ------------------------------------------------------------------------------------------------

    def _grouped(
        self, keys: tuple[Rex, ...], sets: tuple[tuple[int, ...], ...] | None, rows: float | None
    ) -> float | None:
        """The groups of all grouping sets."""
        parts = [self._groups(tuple(keys[i] for i in kept), rows) for kept in sets or (tuple(range(len(keys))),)]
        return sum(p for p in parts if p is not None) if None not in parts else None

    def _groups(self, keys: tuple[Rex, ...], rows: float | None) -> float | None:
        """The groups of this number of rows; without keys there is one."""
        counts = [self.distinct(key) for key in keys]
        if None not in counts:
            product = float(prod(c for c in counts if c is not None))
            return product if rows is None else min(product, rows)
        if rows is None:
            return None
        guess = prod(c if c is not None else max(1.0, rows * self.groups_by_row) for c in counts)
        return min(float(guess), rows)

    def distinct(self, rex: Rex) -> int | None:
        """The estimated number of distinct values of an expression, including null; None if unknown."""
        bound = bounded_values(rex)
        if bound is not None:
            return bound
        if isinstance(rex, Ref):
            if rex.id in self._columns:
                return self._columns[rex.id].distinct
            return self._distinct_meaning(rex.id)
        if isinstance(rex, Call) and rex.op.startswith("floor_") and len(rex.args) == 1:
            return self._buckets(rex)
        if not isinstance(rex, Call) or isinstance(rex, Agg):
            return None
        used = [self.distinct(Ref(a.type, i)) for a in rex.args for i in refs(a)]
        return None if None in used or not used else prod(u for u in used if u is not None)

    def _distinct_meaning(self, column: str) -> int | None:
        meaning = self._meanings.pop(column, None)  # two forms of a plan may define columns in terms of each other
        if meaning is None:
            return None
        count = self.distinct(meaning)
        self._meanings[column] = meaning
        return count

    def _buckets(self, rex: Call) -> int | None:
        """The number of time buckets of a floor function in the range of the rows' times."""
        argument = rex.args[0]
        seen = 0
        while isinstance(argument, Ref) and argument.id in self._meanings and seen < 20:
            argument, seen = self._meanings[argument.id], seen + 1
        if not isinstance(argument, Ref) or argument.id not in self._times or rex.op[6:] not in _LENGTHS:
            return None
        start, end = self._times[argument.id]
        return max(1, -(-(end - start) // _LENGTHS[rex.op[6:]]))

    # --- conditions --------------------------------------------------------------------------------------------

    def selectivity(self, rex: Rex) -> float:
        """The estimated selectivity of a condition, between 0 and 1."""
        part, terms = 1.0, conjuncts(rex)
        for time_id in dict.fromkeys(i for t in terms for i in refs(t) if i in self._times):
            share, terms = self._time_part(time_id, terms)
            part *= share
        share, terms = self._range_part(terms)
        return min(1.0, max(0.0, part * share * prod(self._term(t) for t in terms)))

    def _time_part(self, time_id: str, terms: list[Rex]) -> tuple[float, list[Rex]]:
        """The selectivity of the terms on a time, as if the rows were distributed evenly over time; and the other
        terms. Outside the intervals of segments there are no rows.
        """
        start, end = self._times[time_id]
        of_column = None if time_id in self._of_segments else self._columns.get(time_id)
        span, rest = intervals.ALL, []
        for term in terms:
            is_range = refs(term) == {time_id} and (of_column is None or not _is_of_values(term))
            ranges = intervals.of_predicate(term, time_id, self.zone) if is_range else None
            if ranges is None:
                rest.append(term)
            else:
                span = intervals.intersection(span, ranges)
        if len(rest) == len(terms):
            return 1.0, terms
        share = sum(max(0, min(high, end) - max(low, start)) for low, high in span) / max(1, end - start)
        return share if of_column is None else of_column.filled(share), rest

    def _range_part(self, terms: list[Rex]) -> tuple[float, list[Rex]]:
        """The selectivity of comparisons with constants, by the ranges of the columns; and the other terms."""
        found: dict[str, list[Comparison]] = {}
        rest: list[Rex] = []
        for term in terms:
            compared = comparison(term)
            column = None if compared is None else self._column(compared.column)
            if compared is None or column is None or column.range is None:
                rest.append(term)
            else:
                found.setdefault(compared.column, []).append(compared)
        shares = (
            column.filled(column.range.share(found[i])) for i in found if (column := self._column(i)) and column.range
        )
        return prod(shares, start=1.0), rest

    def _column(self, id_: str) -> _Column | None:
        """The column of a table that a column is, unchanged."""
        seen = 0
        while id_ not in self._columns and seen < 20:
            meaning = self._meanings.get(id_)
            if not isinstance(meaning, Ref):
                return None
            id_, seen = meaning.id, seen + 1
        return self._columns.get(id_)

    def _term(self, rex: Rex) -> float:
        if isinstance(rex, Literal):
            return 1.0 if rex.value is True else 0.0
        if not isinstance(rex, Call):
            return OTHER
        if rex.op == "and":
            return self.selectivity(rex)
        if rex.op == "or":
            return 1.0 - prod(1.0 - self.selectivity(a) for a in rex.args)
        if rex.op == "not":
            return 1.0 - self.selectivity(rex.args[0])
        if rex.op in ("=", "<=>", "in"):
            return self._equality(rex)
        if rex.op in ("is_null", "is_not_null"):
            return self._nulls(rex)
        return _SELECTIVITIES.get(rex.op, OTHER)

    def _equality(self, rex: Call) -> float:
        values: tuple[Rex, ...] = rex.args[1:]
        tested = next((a for a in rex.args if not isinstance(a, Literal)), rex.args[0])
        column = self._column_of(tested)
        if column is not None and column.range is not None:
            values = tuple(a for a in rex.args if a is not tested and column.range.may_have(a))
        distinct = self.distinct(tested)
        return min(1.0, max(LEAST, len(values) * (EQUAL if distinct is None else 1.0 / max(1, distinct))))

    def _nulls(self, rex: Call) -> float:
        column = self._column_of(rex.args[0])
        if column is None or column.nulls is None:
            return NULLS if rex.op == "is_null" else 1 - NULLS
        return max(LEAST, column.nulls if rex.op == "is_null" else 1 - column.nulls)

    def _column_of(self, rex: Rex) -> _Column | None:
        ref = uncast(rex)
        return self._column(ref.id) if isinstance(ref, Ref) else None


def _is_of_values(term: Rex) -> bool:
    """Whether it compares a column with single values, or with null."""
    ops = ("=", "<=>", "<>", "in", "is_null", "is_not_null")
    return isinstance(term, Call) and term.op in ops and isinstance(term.args[0], Ref)


_SELECTIVITIES = {
    **dict.fromkeys(("<", "<=", ">", ">="), BETWEEN),
    **dict.fromkeys(("like", "rlike", "regexp"), MATCH),
    "<>": 1 - EQUAL,
}

_LENGTHS = {
    "second": 1_000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000, "week": 7 * 86_400_000,
    "month": 30 * 86_400_000, "quarter": 91 * 86_400_000, "year": 365 * 86_400_000,
}  # fmt: skip
"""The approximate length of a bucket in milliseconds."""


def _limited(rows: float | None, fetch: int | None, offset: int) -> float | None:
    if rows is None:
        return None if fetch is None else float(fetch)
    rows = max(0.0, rows - offset)
    return rows if fetch is None else min(rows, float(fetch))
