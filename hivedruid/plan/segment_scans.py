"""Scans of segment files: which native queries Spark replaces by reading the files of a data source, and how.

A query can be replaced if it returns rows of one table as they are stored. What the reader of segments does not compute
(expressions, most filters) moves from the query to Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hivedruid.druid.exactness import NotExact
from hivedruid.druid.query import native_query
from hivedruid.plan.ctes import with_ctes
from hivedruid.plan.nodes import DruidQuery, Filter, Node, Project, TableScan
from hivedruid.plan.physical import STORED_AS, DruidRead
from hivedruid.plan.rex import Rex, conjunction, conjuncts, refs
from hivedruid.plan.segment_files import READ, WORTH, SegmentFiles, SegmentScan
from hivedruid.plan.statistics import Estimator
from hivedruid.segments.native_filters import segment_filter

if TYPE_CHECKING:
    from hivedruid.plan.split import QueryPlan


@dataclass
class FileScans:
    """Chooses the queries of a plan that become scans of files: `scans` has them by the identity of their nodes."""

    plan: QueryPlan
    files: Mapping[str, SegmentFiles]
    scans: dict[int, SegmentScan] = field(default_factory=dict)

    def replacements(self, node: Node, reduced: Mapping[int, object]) -> dict[int, Node]:
        """The chosen queries, by identity, as queries of stored rows with operators for Spark above them.

        `reduced` are the queries to which a semi-join reduction adds a filter: they remain queries.
        """
        made: dict[int, Node] = {}
        for query in _queries(node):
            if id(query) not in reduced and (scan := self._scan(query)) is not None:
                made[id(query)] = scan
        return made

    def _scan(self, query: DruidQuery) -> Node | None:
        source = query.source
        if not isinstance(source, TableScan) or query.grouped is not None or query.sort or query.is_limited:
            return None
        known = self.files.get(source.table.data_source)
        if known is None or known.problem or not self._is_worth(query, source, known):
            return None
        done, left = self._divided(query, source, known)
        needed = set().union(*(refs(rex) for rex in (*query.exprs, *left)))
        columns = tuple(c for c in source.columns if c.id in needed)
        bare = DruidQuery(columns, source, tuple(c.ref for c in columns), conjunction(done))
        scan = segment_scan(native_query(bare, self.plan.zone), known) if columns else None
        if scan is None:
            return None
        self.scans[id(bare)] = scan
        condition = conjunction(left)
        below: Node = bare if condition is None else Filter(columns, bare, condition)
        return Project(query.columns, below, query.exprs)

    def _is_worth(self, query: DruidQuery, source: TableScan, known: SegmentFiles) -> bool:
        if self.plan.context.settings.get(READ) == "segments":
            return True
        if known.statistics is None:
            return False
        key = (source.table.database, source.table.name)
        rows = Estimator({**self.plan.context.statistics, key: known.statistics}, self.plan.zone).rows(query)
        return rows is not None and rows >= WORTH

    def _divided(self, query: DruidQuery, source: TableScan, known: SegmentFiles) -> tuple[list[Rex], list[Rex]]:
        """The conditions that the reader evaluates, and the others."""
        done: list[Rex] = []
        left: list[Rex] = []
        for term in conjuncts(query.filter):
            (done if self._is_readable(term, source, known) else left).append(term)
        return done, left

    def _is_readable(self, term: Rex, source: TableScan, known: SegmentFiles) -> bool:
        try:
            native = native_query(DruidQuery((), source, (), term), self.plan.zone).query
        except NotExact:
            return False
        condition = native.get("filter", {"type": "true"})
        return "virtualColumns" not in native and segment_filter(condition, known.types) is not None


def segment_scan(read: DruidRead, known: SegmentFiles) -> SegmentScan | None:
    """The segments for a query of stored rows, within its intervals; None if the type of a field is not read from
    files."""
    types = tuple(known.types.get(f.name, f.druid_type) for f in read.fields)
    for type_, one in zip(types, read.fields, strict=True):
        if type_ not in STORED_AS or (type_ == "ARRAY<STRING>" and one.type.name != "array"):
            return None
    needed = known.within(read.spans)
    return SegmentScan(needed.files, needed.growing, types, known.types)


def _queries(node: Node) -> Iterator[DruidQuery]:
    for plan in with_ctes(node):
        yield from (n for n in plan.walk() if isinstance(n, DruidQuery))
