"""Plans over tiered tables: the table is the union of its hot part in Druid and its cold part in an Iceberg table.

    t  =>  hot + Project(Filter[the batch counts, and was not removed](cold))

Facts about both parts leave out the one that cannot have rows of a condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from hivedruid.catalog.archives import Batch, Removal
from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.catalog.tiers import BATCH_COLUMN, cold_part
from hivedruid.catalog.types import BOOLEAN
from hivedruid.druid.interval_sets import ALL, Cover, IntervalSet, complement, intersection, merged, union
from hivedruid.druid.intervals import of_conjuncts
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.computed_columns import scan_with_computed
from hivedruid.plan.nodes import Filter, Node, PlanColumn, Project, SetOp, TableScan, Values, map_subqueries
from hivedruid.plan.rex import Call, Literal, Rex, conjunction, conjuncts
from hivedruid.plan.tier_parts import TierPart
from hivedruid.plan.time_ranges import in_times, is_in_times

if TYPE_CHECKING:
    from hivedruid.plan.build import Builder
    from hivedruid.plan.facts import PlannerFacts


@dataclass(frozen=True)
class TierFacts:
    """What a statement must know of a tiered table before it reads it.

    `batches` are those that are not done, the newest one, and what else a plan depends on (`Batches.current`); `edge`
    is the end of the times of the archived rows in milliseconds, None if there are none. `asked` are the times for
    which Druid was queried which rows it has, `hot` those with rows; `archived` are those of `batches` with rows of
    these times that count as archived. `segments` are the times of the segments with rows that Druid has listed, None
    if it was not asked; `has_all`: all of the table.
    """

    batches: tuple[Batch, ...] = ()
    asked: IntervalSet = ()
    hot: IntervalSet = ()
    archived: frozenset[str] = frozenset()
    edge: int | None = None
    segments: tuple[tuple[int, int], ...] | None = None
    has_all: bool = False

    @property
    def left_out(self) -> tuple[str, ...]:
        """The batches whose rows must not be read from the cold part."""
        return tuple(b.id for b in self.batches if b.effect != "removed" and not self._is_switched(b))

    @property
    def removals(self) -> tuple[Batch, ...]:
        """The batches that have removed rows which are still in the files of the cold part."""
        return tuple(b for b in self.batches if b.effect == "removed" and b.state != "done" and self._is_switched(b))

    def _is_switched(self, batch: Batch) -> bool:
        return batch.state in ("switched", "done") or batch.id in self.archived

    @property
    def times(self) -> IntervalSet:
        """The times of the rows of the batches that are in the cold part, or may be."""
        return merged(
            (each.start, each.end)
            for batch in self.batches
            if batch.effect != "removed" or not batch.is_decided
            for each in batch.intervals
        )

    def removal(self, *, of_others: bool) -> Removal:
        """That of the rows which count now."""
        return Removal(max((b.number for b in self.batches), default=0), self.left_out, of_others)


NO_FACTS = TierFacts()
TableKey = tuple[str, str]
"""The database and name of a table."""


def tiered_scan(table: Table, builder: Builder) -> Node:
    """A tiered table as its parts."""
    read = builder.snapshot.settings.get("hivedruid.tiered.read", "exact").lower()
    hot = scan_with_computed(table, builder) or builder.table_scan(table)
    facts = builder.snapshot.tiers.get((table.database, table.name), NO_FACTS)
    is_written = (
        table.is_written
        or facts.edge is not None
        or any(b.effect != "removed" and b.state not in ("planned", "cancelled") for b in facts.batches)
    )
    if read == "hot" or (not is_written and read != "cold"):
        return hot
    table = replace(table, is_written=is_written)
    cold = _cold_rows(table, facts, builder)
    if read == "cold":
        return cold
    columns = tuple(builder.new_column(c.name, c.type) for c in table.columns)
    return SetOp(columns, "union", True, (hot, cold))


def _cold_rows(table: Table, facts: TierFacts, builder: Builder) -> Node:
    return _without_batch(_counted(table, facts, builder), builder)


def batch_rows(table: Table, facts: TierFacts, times: IntervalSet, builder: Builder) -> Node:
    """The rows of a table's cold part that count, are of batches, and of these times."""
    rows = _counted(table, facts, builder)
    known = Call(BOOLEAN, "is_not_null", (rows.columns[-1].ref,))
    return _without_batch(in_times(Filter(rows.columns, rows, known), times), builder)


def _without_batch(rows: Node, builder: Builder) -> Node:
    own = rows.columns[:-1]
    columns = tuple(builder.new_column(c.name, c.type) for c in own)
    return Project(columns, rows, tuple(c.ref for c in own))


def _counted(table: Table, facts: TierFacts, builder: Builder) -> Node:
    """The rows of the cold part that count."""
    scan = builder.table_scan(cold_part(table))
    rows: Node = scan
    if facts.left_out:
        batch = scan.columns[-1]
        unknown = Call(BOOLEAN, "is_null", (batch.ref,))
        rows = Filter(scan.columns, scan, Call(BOOLEAN, "or", (unknown, _not(_is_one_of(batch, facts.left_out)))))
    for removal in facts.removals:
        rows = Filter(rows.columns, rows, _not(removed_rows(rows.columns, removal, facts.batches)))
    return rows


def removed_rows(columns: Sequence[PlanColumn], batch: Batch, batches: Iterable[Batch]) -> Rex:
    """The condition of the rows of the cold part that a batch removes; never null. `batches` are all of the table."""
    removal = batch.removal
    assert removal is not None
    time, of_batch = next(c for c in columns if c.name == TIME_COLUMN), columns[-1]
    unknown = Call(BOOLEAN, "is_null", (of_batch.ref,))
    later = (b.id for b in batches if b.number > removal.last and b.effect != "removed")
    kept = tuple(dict.fromkeys((*removal.kept, *later)))
    terms: list[Rex] = []
    if not removal.of_others:
        terms.append(_not(unknown))
    if kept:
        terms.append(Call(BOOLEAN, "or", (unknown, _not(_is_one_of(of_batch, kept)))))
    spans = merged((each.start, each.end) for each in batch.intervals)
    if spans != ALL:
        terms += [Call(BOOLEAN, "is_not_null", (time.ref,)), is_in_times(time, spans)]
    return conjunction(terms) or Literal(BOOLEAN, True)


def of_known_batches(batch: PlanColumn, facts: TierFacts) -> Rex:
    """The condition of the rows whose batch counts, or which have none: the rows of a later batch are not known."""
    left_out = {*facts.left_out}
    known = [b.id for b in facts.batches if b.effect != "removed" and b.id not in left_out]
    unknown = Call(BOOLEAN, "is_null", (batch.ref,))
    return Call(BOOLEAN, "or", (unknown, _is_one_of(batch, known))) if known else unknown


def _is_one_of(column: PlanColumn, values: Iterable[str]) -> Rex:
    return Call(BOOLEAN, "in", (column.ref, *(Literal(column.type, value) for value in values)))


def _not(rex: Rex) -> Rex:
    return Call(BOOLEAN, "not", (rex,))


@dataclass
class TierPruning:
    """Replaces the part of a tiered table that has no rows of a query's conditions by nothing.

    `spans` receives, for each tiered table, the times of the conditions on its hot part, and `parts` what is read of
    each part.
    """

    facts: PlannerFacts
    zone: str
    spans: dict[TableKey, IntervalSet] = field(default_factory=dict)
    parts: list[TierPart] = field(default_factory=list)

    def prune(self, node: Node) -> Node:
        """The plan, whose conditions are at the tables."""
        if isinstance(node, Filter) and isinstance(node.input, TableScan):
            return self._scan(node, node.input, conjuncts(node.condition))
        if isinstance(node, TableScan):
            return self._scan(node, node, [])
        inputs = tuple(self.prune(each) for each in node.inputs)
        if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            node = _without_nothing(node.with_inputs(inputs))
        return map_subqueries(node, self.prune)

    def _scan(self, node: Node, scan: TableScan, terms: list[Rex]) -> Node:
        if scan.table.is_tiered:
            part = self._hot(scan, terms)
        elif scan.table.column(BATCH_COLUMN) is not None:
            count = self.facts.file_count(scan, node.condition if isinstance(node, Filter) else None)
            part = TierPart(scan.table.table_id, "cold", total=self.facts.number_of_files(scan.table))
            if count is not None:
                part = replace(part, read=count.read, total=count.total, is_left_out=count.read == 0)
        else:
            return node
        self.parts.append(part)
        return Values(node.columns, ()) if part.is_left_out else node

    def _hot(self, scan: TableScan, terms: list[Rex]) -> TierPart:
        time = next((c.id for c in scan.columns if c.name == TIME_COLUMN), None)
        span = of_conjuncts(terms, time, self.zone)[0] if time is not None else ALL
        key = (scan.table.database, scan.table.name)
        self.spans[key] = union([self.spans.get(key, ()), span])
        facts = self.facts.tiers.get(key, NO_FACTS)
        is_empty = not intersection(span, complement(facts.asked)) and not intersection(span, facts.hot)
        if facts.segments is None:
            return TierPart(scan.table.table_id, "hot", span, is_left_out=is_empty)
        cover = Cover(span)
        read = sum(cover.overlaps(*each) for each in facts.segments)
        total = len(facts.segments) if facts.has_all else None
        return TierPart(scan.table.table_id, "hot", span, read, total, is_empty)


def _without_nothing(node: Node) -> Node:
    """A UNION ALL without its empty branches; a projection or filter of nothing is nothing."""
    if isinstance(node, Project | Filter) and _is_nothing(node.input):
        return Values(node.columns, ())
    if not (isinstance(node, SetOp) and node.kind == "union" and node.all):
        return node
    kept = tuple(b for b in node.branches if not _is_nothing(b))
    if not kept:
        return Values(node.columns, ())
    if len(kept) == 1:
        return Project(node.columns, kept[0], tuple(c.ref for c in kept[0].columns))
    return replace(node, branches=kept)


def _is_nothing(node: Node) -> bool:
    return isinstance(node, Values) and not node.rows
