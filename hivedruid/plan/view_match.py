"""Matches query blocks with materialized views, and rewrites them over the view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations

from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE, HiveType
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.blocks import Block, Definition
from hivedruid.plan.fold import cast
from hivedruid.plan.implication import implied
from hivedruid.plan.nodes import Aggregate, Filter, Node, PlanColumn, Project, TableScan
from hivedruid.plan.rex import Agg, Call, Literal, Ref, Rex, conjunction, transform, walk
from hivedruid.plan.view_columns import MissingError, ViewColumns, canonical

NewColumn = Callable[[str, HiveType], PlanColumn]
MOST_PAIRINGS = 24
"""Maximum number of pairings of the tables of a self-join with the view's that are tried."""


@dataclass(frozen=True)
class MaterializedView:
    """A view that queries can be rewritten to read, as it was built: its table, the definition of its rows, and its
    time zone.

    `root`: the position of the table in `definition.block.scans` whose every row is in the view exactly once, each of
    the other tables adding only columns; None if that is unknown.
    """

    table: Table
    definition: Definition
    zone: str
    rows: int | None = None
    root: int | None = None


@dataclass(frozen=True)
class Match:
    """A view that contains a block's rows: its scan, the remaining conditions, and the expressions of its columns."""

    scan: TableScan
    residual: tuple[Rex, ...]
    columns: ViewColumns
    names: dict[str, Ref]
    equal: dict[str, Ref]
    keys: tuple[Rex, ...] | None

    def normalized(self, rex: Rex) -> Rex:
        """An expression over the block's tables, in the form of the keys of `columns`."""
        return canonical(rex, self.names, self.equal)

    @property
    def input(self) -> Node:
        condition = conjunction(list(self.residual))
        return self.scan if condition is None else Filter(self.scan.columns, self.scan, condition)


def match(block: Block, view: MaterializedView, new_column: NewColumn) -> Match:
    """The block's rows or groups, computed from the view. Raises MissingError with the reason."""
    missing: MissingError | None = None
    for pairing in _pairings(block, view):
        try:
            return _matched(block, view, pairing, new_column)
        except MissingError as error:
            missing = error
    raise missing or MissingError("it reads different tables")


def _pairings(block: Block, view: MaterializedView) -> Iterator[tuple[int | None, ...]]:
    """For each table of the view the corresponding one of the block; None for a table that adds only columns."""
    ours = [_key(s.table) for s in block.scans]
    theirs = [_key(s.table) for s in view.definition.block.scans]
    extra = len(theirs) - len(ours)
    if extra < 0 or any(ours.count(k) > theirs.count(k) for k in ours):
        return
    if extra == 0 and len(set(theirs)) == len(theirs):
        yield tuple(ours.index(k) for k in theirs)
        return
    if extra and (view.root is None or theirs[view.root] not in ours or len(set(theirs)) < len(theirs)):
        return
    if extra:
        yield tuple(ours.index(k) if k in ours else None for k in theirs)
        return
    places = permutations(range(len(ours)))
    fitting = (p for p in places if all(ours[i] == k for i, k in zip(p, theirs, strict=True)))
    for _, pairing in zip(range(MOST_PAIRINGS), fitting, strict=False):
        yield pairing


def _key(table: Table) -> tuple[str, str]:
    return table.database, table.name


def _matched(block: Block, view: MaterializedView, pairing: Sequence[int | None], new_column: NewColumn) -> Match:
    scans = view.definition.block.scans
    mine: dict[str, Ref] = {}
    theirs: dict[str, Ref] = {}
    whole: set[str] = set()
    used = {i for i, place in enumerate(pairing) if place is not None}
    for i, place in enumerate(pairing):
        theirs |= {c.id: Ref(c.type, f"{i}.{c.name}") for c in scans[i].columns}
        if place is not None:
            mine |= {c.id: Ref(c.type, f"{i}.{c.name}") for c in block.scans[place].columns}
        if scans[i].table.has_data_source:
            whole.add(f"{i}.{TIME_COLUMN}")
    times = frozenset(whole)
    plain_view = [canonical(t, theirs, {}) for t in view.definition.block.terms]
    if len(used) < len(scans):
        _check_lossless(plain_view, used, view)
        plain_view_used = [t for t in plain_view if _tables(t) <= used]
    else:
        plain_view_used = plain_view
    plain_ours = [canonical(t, mine, {}) for t in block.terms]
    equal = _classes(plain_view)
    _check_equalities(plain_view_used, plain_ours)
    ours = [canonical(t, {}, equal) for t in plain_ours]
    has = [t for t in (canonical(t, {}, equal) for t in plain_view) if not _is_same(t, equal)]
    needed = [t for t in (canonical(t, {}, equal) for t in plain_view_used) if not _is_same(t, equal)]
    for term in needed:
        if not implied(term, ours, times, view.zone):
            raise MissingError(f"it contains only the rows with {_shown(term)}")
    columns, scan = _columns(view, theirs, equal, times, new_column)
    residual = [
        columns.rewrite_term(t) for t in ours if not _is_same(t, equal) and not implied(t, has, times, view.zone)
    ]
    keys = view.definition.keys
    normalized = None if keys is None else tuple(canonical(k, theirs, equal) for k in keys)
    return Match(scan, tuple(residual), columns, mine, equal, normalized)


def _columns(
    view: MaterializedView, names: dict[str, Ref], equal: dict[str, Ref], times: frozenset[str], new_column: NewColumn
) -> tuple[ViewColumns, TableScan]:
    made = tuple(new_column(c.name, c.type) for c in view.table.columns)
    columns = ViewColumns(view.zone, times)
    for rex, column in zip(view.definition.outputs, made, strict=True):
        columns.add(canonical(rex, names, equal), column.ref, in_druid=view.table.has_data_source)
    for term in view.definition.block.terms:
        normalized = canonical(term, names, equal)
        if (
            isinstance(normalized, Call)
            and normalized.op == "="
            and isinstance(normalized.args[1], Literal)
            and _is_identity(normalized.args[0])
        ):
            value = _typed(normalized.args[1], normalized.args[0].type)
            if value is not None:
                columns.exact.setdefault(normalized.args[0], value)
    return columns, TableScan(made, view.table)


def _typed(literal: Literal, type_: HiveType) -> Literal | None:
    """The constant that a column is equal to, in the column's type; None if they are of different kinds."""
    if literal.type == type_:
        return literal
    return Literal(type_, literal.value) if literal.type.is_integer and type_.is_integer else None


# --- equal columns ---------------------------------------------------------------------------------------------


def _is_identity(rex: Rex) -> bool:
    """Whether equal values of the type are indistinguishable; doubles have two zeros."""
    return rex.type.is_integer or rex.type.name in ("string", "boolean", "date", "timestamp")


def _equality(term: Rex) -> tuple[Ref, Ref] | None:
    if isinstance(term, Call) and term.op == "=":
        a, b = term.args
        if isinstance(a, Ref) and isinstance(b, Ref) and a != b and a.type == b.type and _is_identity(a):
            return a, b
    return None


def _classes(terms: Sequence[Rex]) -> dict[str, Ref]:
    """For every column that is equal to others, the representative of its group."""
    representatives: dict[str, Ref] = {}
    for pair in filter(None, map(_equality, terms)):
        a, b = (representatives.get(ref.id, ref) for ref in pair)
        keep, other = (a, b) if a.id <= b.id else (b, a)
        representatives = {key: keep if ref == other else ref for key, ref in representatives.items()}
        representatives |= {other.id: keep, keep.id: keep}
    return representatives


def _check_equalities(view: Sequence[Rex], ours: Sequence[Rex]) -> None:
    classes = _classes(ours)
    for pair in filter(None, map(_equality, view)):
        a, b = (classes.get(ref.id, ref) for ref in pair)
        if a != b:
            raise MissingError(f"it joins its tables on {_shown(Call(BOOLEAN, '=', pair))}")


def _is_same(term: Rex, equal: Mapping[str, Ref]) -> bool:
    """Whether the view's joins imply it: equal columns have been unified, and are not null. (`a = a` only implies that
    it is not null.)
    """
    if not isinstance(term, Call) or term.op != "=" or term.args[0] != term.args[1]:
        return False
    return term.args[0] in equal.values()


# --- tables that add only columns -----------------------------------------------------------------------------


def _tables(term: Rex) -> set[int]:
    return {int(node.id.partition(".")[0]) for node in walk(term) if isinstance(node, Ref)}


def _check_lossless(terms: Sequence[Rex], used: set[int], view: MaterializedView) -> None:
    """Whether every table of the query is connected to the root by its joins, and joined with one other table."""
    reached = {view.root}
    edges = [tuple(_tables(t)) for t in terms]
    if any(len(e) != 2 for e in edges):
        raise MissingError("it has more tables, and conditions other than joins")
    grown = True
    while grown:
        grown = False
        for a, b in edges:
            for near, far in ((a, b), (b, a)):
                if near in reached and far in used and far not in reached and near in used:
                    reached.add(far)
                    grown = True
    if not used <= reached:
        raise MissingError("the tables of the query are joined through a table that the view does not have")


# --- rows and groups -------------------------------------------------------------------------------------------


def rows_from(match: Match, node: Node, block: Block) -> Node:
    """The columns of a block without aggregation, from a view without aggregation."""
    if match.keys is not None:
        raise MissingError("it contains groups, not rows")
    exprs = tuple(match.columns.rewrite(match.normalized(block.exprs[c.id])) for c in node.columns)
    return Project(node.columns, match.input, exprs)


def groups_from_rows(match: Match, node: Aggregate, keys: Sequence[Rex], calls: Sequence[Agg]) -> Node:
    """The same aggregation over the view's rows."""
    new_keys = _keys(match, [match.normalized(k) for k in keys])
    new_calls = tuple(_over_rows(match, call) for call in calls)
    return Aggregate(node.columns, match.input, new_keys, new_calls, node.grouping_sets)


def _keys(match: Match, keys: Sequence[Rex]) -> tuple[Rex, ...]:
    made = tuple(match.columns.rewrite(k) for k in keys)
    if len(set(made)) < len(made):
        raise MissingError("two keys of the query are the same column of the view")
    return made


def _over_rows(match: Match, call: Agg) -> Agg:
    normalized = match.normalized(call)
    assert isinstance(normalized, Agg)
    args = tuple(match.columns.rewrite(a) for a in normalized.args)
    condition = match.columns.rewrite_term(normalized.condition) if normalized.condition is not None else None
    return Agg(call.type, call.op, args, call.distinct, condition)


def groups_from_groups(
    match: Match, node: Aggregate, keys: Sequence[Rex], calls: Sequence[Agg], new_column: NewColumn
) -> Node:
    """The view's groups if the query has the same ones, otherwise aggregated further."""
    assert match.keys is not None
    normalized_keys = [match.normalized(k) for k in keys]
    new_keys = _keys(match, normalized_keys)
    normalized_calls = [match.normalized(c) for c in calls]
    stored = [match.columns.calls.get(c) for c in normalized_calls if isinstance(c, Agg)]
    fixed = _fixed(match)
    if keys and node.grouping_sets is None and all(k in normalized_keys or k in fixed for k in match.keys):
        plain = [column for column in stored if column is not None]
        if len(plain) == len(calls):
            return Project(node.columns, match.input, (*new_keys, *plain))
    return _RollUp(match, node, new_keys, new_column).build(normalized_calls)


def _fixed(match: Match) -> set[Rex]:
    """Expressions that the conditions restrict to one value."""
    values = {
        t.args[0]
        for t in match.residual
        if isinstance(t, Call) and t.op == "=" and isinstance(t.args[1], Literal) and _is_identity(t.args[0])
    }
    return {rex for rex, column in match.columns.exact.items() if column in values or isinstance(column, Literal)}


class _RollUp:
    """Groups of groups: sums of sums and of counts, minima of minima, maxima of maxima."""

    def __init__(self, match: Match, node: Aggregate, keys: tuple[Rex, ...], new_column: NewColumn) -> None:
        self.found = match
        self.columns = match.columns
        self.node = node
        self.keys = keys
        self.new_column = new_column
        self.totals: list[tuple[Agg, PlanColumn]] = []
        sets = node.grouping_sets
        self.may_be_empty = not keys or (sets is not None and () in sets)

    def build(self, calls: Sequence[Rex]) -> Node:
        outputs = [self._call(c) for c in calls if isinstance(c, Agg)]
        names = [self.new_column(c.name, c.type) for c in self.node.columns[: len(self.keys)]]
        extra = self.node.columns[len(self.keys) + len(calls) :]
        again = [self.new_column(c.name, c.type) for c in extra]
        made = (*names, *(column for _, column in self.totals), *again)
        outer = Aggregate(
            made, self.found.input, self.keys, tuple(agg for agg, _ in self.totals), self.node.grouping_sets
        )
        exprs = (*(c.ref for c in names), *outputs, *(c.ref for c in again))
        return Project(self.node.columns, outer, exprs)

    def _total(self, agg: Agg) -> Rex:
        for known, column in self.totals:
            if known == agg:
                return column.ref
        column = self.new_column("_total", agg.type)
        self.totals.append((agg, column))
        return column.ref

    def _call(self, call: Agg) -> Rex:
        stored = self.columns.calls.get(call)
        if stored is not None and call.op in ("sum", "min", "max") and not call.distinct:
            return self._total(Agg(call.type, call.op, (stored,)))
        if stored is not None and call.op == "count" and not call.distinct:
            return self._number(stored, None)
        condition = self.columns.rewrite_term(call.condition) if call.condition is not None else None
        plain = Agg(call.type, call.op, call.args, call.distinct)
        if call.distinct and call.op in ("count", "sum", "avg", "min", "max"):
            args = tuple(self._of_keys(a, plain) for a in call.args)
            return self._total(Agg(call.type, call.op, args, True, condition))
        rollers = {"count": self._count, "sum": self._sum, "avg": self._avg, "min": self._extreme, "max": self._extreme}
        if call.op not in rollers or call.distinct:
            raise MissingError(f"{_shown(call)} cannot be computed from its groups")
        return rollers[call.op](plain, condition)

    def _of_keys(self, rex: Rex, call: Agg) -> Rex:
        try:
            return self.columns.rewrite(rex)
        except MissingError as missing:
            raise MissingError(
                f"it does not contain {_shown(call)}, and {missing.reason.removeprefix('it ')}"
            ) from None

    def _extreme(self, call: Agg, condition: Rex | None) -> Rex:
        stored = self.columns.calls.get(call)
        argument = stored if stored is not None else self._of_keys(call.args[0], call)
        return self._total(Agg(call.type, call.op, (argument,), condition=condition))

    def _number(self, stored: Rex, condition: Rex | None) -> Rex:
        """A sum of counts; 0 for no rows."""
        total = self._total(Agg(BIGINT, "sum", (stored,), condition=condition))
        if condition is None and not self.may_be_empty:
            return total
        return Call(BIGINT, "coalesce", (total, Literal(BIGINT, 0)))

    def _count(self, call: Agg, condition: Rex | None) -> Rex:
        stored = self.columns.calls.get(call)
        if stored is not None:
            return self._number(stored, condition)
        tests = [Call(BOOLEAN, "is_not_null", (self._of_keys(a, call),)) for a in call.args if not _is_constant(a)]
        return self._number(self._rows(call), _all_of([condition, *tests]))

    def _rows(self, call: Agg) -> Rex:
        """The column with the number of rows in each group."""
        stored = self.columns.calls.get(Agg(BIGINT, "count", ()))
        if stored is None:
            raise MissingError(f"it contains neither {_shown(call)} nor count(*)")
        return stored

    def _sum(self, call: Agg, condition: Rex | None) -> Rex:
        stored = self.columns.calls.get(call)
        if stored is not None:
            return self._total(Agg(call.type, "sum", (stored,), condition=condition))
        argument = self._of_keys(call.args[0], call)
        rows = self._rows(call)
        if not (call.type.is_integer or call.type == DOUBLE) or not argument.type.is_numeric:
            raise MissingError(f"it does not contain {_shown(call)}")
        if isinstance(argument, Literal) and argument.value == 1:
            return self._total(Agg(call.type, "sum", (cast(rows, call.type, "UTC"),), condition=condition))
        factors = (cast(argument, call.type, "UTC"), cast(rows, call.type, "UTC"))
        return self._total(Agg(call.type, "sum", (Call(call.type, "*", factors),), condition=condition))

    def _avg(self, call: Agg, condition: Rex | None) -> Rex:
        """sum / count. A sum of bigint may overflow where an average does not: it is then computed from averages and
        counts.
        """
        (argument,) = call.args
        if call.type != DOUBLE:
            raise MissingError(f"{_shown(call)} cannot be computed from its groups")
        stored = self.columns.calls.get(call)
        count = self.columns.calls.get(Agg(BIGINT, "count", (argument,)))
        if stored is not None and count is not None:
            parts = Call(DOUBLE, "*", (stored, cast(count, DOUBLE, "UTC")))
            total = self._total(Agg(DOUBLE, "sum", (parts,), condition=condition))
        elif argument.type == BIGINT and not self.columns.can(argument):
            raise MissingError(
                f"it does not contain both {_shown(call)} and the matching count: a sum of bigint may overflow"
            )
        elif argument.type == BIGINT:
            as_double = Agg(DOUBLE, "sum", (cast(argument, DOUBLE, "UTC"),))
            total = self._sum(as_double, condition)
        else:
            total = self._sum(Agg(BIGINT if argument.type.is_integer else DOUBLE, "sum", (argument,)), condition)
        number = self._count(Agg(BIGINT, "count", (argument,)), condition)
        bare = number.args[0] if isinstance(number, Call) else number
        return Call(DOUBLE, "/", (total, bare))


def _is_constant(rex: Rex) -> bool:
    return isinstance(rex, Literal) and rex.value is not None


def _all_of(terms: Sequence[Rex | None]) -> Rex | None:
    return conjunction([t for t in terms if t is not None])


def _shown(rex: Rex) -> str:
    from hivedruid.plan.show import show

    return show(transform(rex, lambda r: Ref(r.type, r.id.partition(".")[2]) if isinstance(r, Ref) else None))
