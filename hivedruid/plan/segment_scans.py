"""Scans of segments: which native queries are replaced by reading the files of a data source, or by queries of single
segments, and how.

A query can be replaced if it returns rows of one table, without an order or limit. What the reader of files does not
compute (expressions, most filters) moves from the query to Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from hivedruid.catalog.stored_types import CAST, JSON, MIXED
from hivedruid.catalog.types import STRING
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.query import native_query
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.ctes import all_nodes
from hivedruid.plan.nodes import DruidQuery, Filter, Node, PlanColumn, Project, TableScan
from hivedruid.plan.physical import STORED_AS, DruidInput, DruidRead, KeyFilter
from hivedruid.plan.rex import Ref, Rex, conjunction, conjuncts, refs
from hivedruid.plan.segment_files import FEW, MOST_IN_PROCESS, READ, WORTH, FileScan, SegmentFiles
from hivedruid.plan.segment_queries import THRESHOLD, ServedSegments, divided, least_rows
from hivedruid.plan.statistics import Estimator
from hivedruid.segments.native_filters import segment_filter
from hivedruid.segments.texts import is_read_as_text
from hivedruid.setting_types import other_machines

if TYPE_CHECKING:
    from hivedruid.catalog.statistics import TableStatistics
    from hivedruid.catalog.table import Table
    from hivedruid.plan.split import QueryPlan


ScannedSegments = Mapping[str, SegmentFiles | ServedSegments]
"""What Spark may read in place of queries, by data source."""
NO_SEGMENTS: ScannedSegments = {}


@dataclass
class SegmentScans:
    """Chooses the queries of a plan that Spark replaces; `files` are scans of files by the identity of their nodes, and
    `reducers` the filters of semi-join reductions by that of queries."""

    plan: QueryPlan
    segments: ScannedSegments
    reducers: dict[int, tuple[KeyFilter, ...]]
    files: dict[int, FileScan] = field(default_factory=dict)

    def replacements(self, node: Node) -> dict[int, Node]:
        """The queries that become scans of files, by identity, as queries of stored rows with operators for Spark above
        them."""
        queries = {id(query): query for query in all_nodes(node) if isinstance(query, DruidQuery)}
        return {key: scan for key, query in queries.items() if (scan := self._scan(query)) is not None}

    def applied(self, made: DruidInput, query: DruidQuery) -> DruidInput:
        """The input of a query with its scan of files, or with the queries that Spark sends in its place."""
        if id(query) in self.files:
            return replace(made, scan=self.files[id(query)])
        source = query.source
        if not isinstance(source, TableScan) or made.reducers or made.read.scanned is None:
            return made
        known = self.segments.get(source.table.data_source)
        settings = self.plan.context.settings
        if not isinstance(known, ServedSegments) or self._estimate(query, source, known) < least_rows(settings):
            return made
        types = made.read.types(known.types)
        if known.problem or not STORED_AS.keys() >= set(types):
            return replace(made, undivided=known.problem or "Spark does not read columns of its types")
        return replace(made, scan=divided(made.read.spans, types, known, int(settings[THRESHOLD])))

    def of_result(self) -> FileScan | None:
        """The files that this process reads for a result, in place of the query that is the whole plan; None if the
        query computes anything but conditions that the reader evaluates."""
        query = self.plan.node
        if not isinstance(query, DruidQuery) or not query.exprs or (found := self._stored_rows(query)) is None:
            return None
        source, known = found
        columns = {column.id: column for column in source.columns}
        returned = [columns[rex.id] for rex in query.exprs if isinstance(rex, Ref)]
        if len(returned) < len(query.exprs) or self._divided(query, source, known)[1]:
            return None
        if known.growing or not (self._reads_all or (_are_here(known) and self._estimate(query, source, known) >= FEW)):
            return None
        scan = segment_scan(native_query(query, self.plan.zone), _stored(source.table, returned), known)
        return None if scan is None else replace(scan, is_in_process=True)

    def _stored_rows(self, query: DruidQuery) -> tuple[TableScan, SegmentFiles] | None:
        """The table whose rows a query returns, without an order or limit, and the files that have them."""
        source = query.source
        if not isinstance(source, TableScan) or query.grouped is not None or query.sort or query.is_limited:
            return None
        known = self.segments.get(source.table.data_source)
        if not isinstance(known, SegmentFiles) or _computes_with_nested_data(query, source):
            return None
        return source, known

    def _scan(self, query: DruidQuery) -> Node | None:
        if (found := self._stored_rows(query)) is None:
            return None
        source, known = found
        rows = self._estimate(query, source, known)
        is_in_process = self._is_in_process(known, rows)
        # the keys of a semi-join reduction are not known yet when Spark begins to plan a scan
        if not is_in_process and (id(query) in self.reducers or not self._is_worth(rows)):
            return None
        done, left = self._divided(query, source, known)
        needed = set().union(*(refs(rex) for rex in (*query.exprs, *left)))
        columns = tuple(c for c in source.columns if c.id in needed)
        bare = DruidQuery(columns, source, tuple(c.ref for c in columns), conjunction(done))
        scan = (
            segment_scan(native_query(bare, self.plan.zone), _stored(source.table, columns), known) if columns else None
        )
        if scan is None:
            return None
        self.files[id(bare)] = replace(scan, is_in_process=is_in_process)
        if id(query) in self.reducers:
            self.reducers[id(bare)] = self.reducers[id(query)]
        condition = conjunction(left)
        below: Node = bare if condition is None else Filter(columns, bare, condition)
        return Project(query.columns, below, query.exprs)

    def _is_worth(self, rows: float) -> bool:
        return self._reads_all or rows >= WORTH

    @property
    def _reads_all(self) -> bool:
        return self.plan.context.settings.get(READ) == "segments"

    def _is_in_process(self, known: SegmentFiles, rows: float) -> bool:
        """Whether this process reads the files, all of which are on this machine."""
        settings = self.plan.context.settings
        if settings.get(READ, "auto") != "auto" or other_machines(settings) or known.growing:
            return False
        return _are_here(known) and FEW <= rows <= MOST_IN_PROCESS

    def _estimate(self, query: DruidQuery, source: TableScan, known: SegmentFiles | ServedSegments) -> float:
        """The rows of a query; 0 if they cannot be estimated."""
        return estimated_rows(self.plan, query, source, known.statistics)

    def _divided(self, query: DruidQuery, source: TableScan, known: SegmentFiles) -> tuple[list[Rex], list[Rex]]:
        """The conditions that the reader evaluates, and the others."""
        done: list[Rex] = []
        left: list[Rex] = []
        for term in conjuncts(query.filter):
            (done if self._is_readable(term, source, known) else left).append(term)
        return done, left

    def _is_readable(self, term: Rex, source: TableScan, known: SegmentFiles) -> bool:
        of_term = refs(term)
        if any(_is_mixed(source.table, column.name) for column in source.columns if column.id in of_term):
            return False
        try:
            native = native_query(DruidQuery((), source, (), term), self.plan.zone).query
        except NotExact:
            return False
        condition = native.get("filter", {"type": "true"})
        return "virtualColumns" not in native and segment_filter(condition, known.types) is not None


def estimated_rows(plan: QueryPlan, query: DruidQuery, source: TableScan, known: TableStatistics | None) -> float:
    """The rows of a query with these statistics of its table; 0 if they cannot be estimated."""
    if known is None:
        return 0
    statistics = {**plan.context.statistics, (source.table.database, source.table.name): known}
    return Estimator(statistics, plan.zone).rows(query) or 0


def _are_here(known: SegmentFiles) -> bool:
    """Whether all files are on this machine."""
    return all("://" not in file.location for file in known.files)


def _is_mixed(table: Table, name: str) -> bool:
    """Whether the type of a column in a segment may be another one than its own."""
    return _reading(table, name) in (CAST, MIXED)


def _reading(table: Table, name: str) -> str:
    stored = table.column(name)
    return "" if stored is None else stored.reading


def _computes_with_nested_data(query: DruidQuery, source: TableScan) -> bool:
    """Whether Druid computes values at paths of nested data: it need not return the documents."""
    nested = {column.id for column in source.columns if _reading(source.table, column.name) == JSON}
    return any(not isinstance(rex, Ref) and refs(rex) & nested for rex in (*query.exprs, *conjuncts(query.filter)))


def _stored(table: Table, columns: Iterable[PlanColumn]) -> tuple[str, ...]:
    """The fields of the data source with the values of these columns."""
    known = ((column.name, table.column(column.name)) for column in columns)
    return tuple(name if stored is None else stored.field_name for name, stored in known)


def segment_scan(read: DruidRead, fields: tuple[str, ...], known: SegmentFiles) -> FileScan | None:
    """The segments for a query that returns these stored fields, within its intervals; None if the type of a field is
    not read from files."""
    types = read.types(known.types)
    for name, type_, one in zip(fields, types, read.fields, strict=True):
        stored = known.types.get(name, type_)
        if stored.startswith("COMPLEX") and not (one.type == STRING and is_read_as_text(stored)):
            return None
        if type_ not in STORED_AS or (type_ == "ARRAY<STRING>" and one.type.name != "array"):
            return None
    needed = known.within(read.spans)
    return FileScan(needed.files, needed.growing, fields, types, known.types)
