"""Selects the plans that are evaluated in this process, and evaluates them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, Self

from hivedruid.catalog.types import ALIKE_IN_PARQUET, FLOAT, TIMESTAMP
from hivedruid.cells import interval_of
from hivedruid.druid.query import native_query
from hivedruid.errors import ExecutionError
from hivedruid.evaluation.exactness import NotLocal, Unsure
from hivedruid.evaluation.expressions import ARRAYS, DOUBLES
from hivedruid.evaluation.relations import Evaluator, Relation, Rows, not_from_druid
from hivedruid.filesystems import local_path
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.ctes import all_nodes
from hivedruid.plan.literals import zone_of
from hivedruid.plan.nodes import DruidQuery, Filter, Node, TableScan
from hivedruid.plan.physical import MOST_FILE_ROWS, DruidInput, DruidRead, FileRows, KeyFilter, SparkJob
from hivedruid.plan.rex import Over, Subquery, conjuncts, has, substitute
from hivedruid.plan.split import QueryPlan, native_queries, shared, spark_job
from hivedruid.plan.table_views import view_name
from hivedruid.results import ResultColumn
from hivedruid.sketches.library import SketchError

MAX_ROWS = "hivedruid.local.evaluation.max.rows"


@dataclass(frozen=True)
class LocalInput:
    """The rows of one native query, which replaces `node` in the plan; `view` is its name in EXPLAIN. `reducers` add
    filters to the query when it runs."""

    view: str
    read: DruidRead
    node: DruidQuery
    reducers: tuple[KeyFilter, ...] = ()


@dataclass(frozen=True)
class LocalFiles:
    """The rows of files, which replace `node` in the plan; `view` is their name in EXPLAIN."""

    view: str
    rows: FileRows
    node: Node


@dataclass(frozen=True)
class LocalPlan:
    """Operators over the rows of native queries, and of the files of tables, each with at most `most` rows."""

    node: Node
    inputs: tuple[LocalInput, ...]
    files: tuple[LocalFiles, ...]
    columns: tuple[ResultColumn, ...]
    zone: str
    most: int

    @property
    def views(self) -> dict[int, str]:
        """The names of the inputs, by the identity of the nodes that they replace."""
        native = {id(item.node): item.view for item in self.inputs}
        return native | {id(item.node): item.view for item in self.files}

    @property
    def reads(self) -> tuple[DruidRead, ...]:
        return tuple(item.read for item in self.inputs)

    def with_reads(self, change: Callable[[DruidRead], DruidRead]) -> Self:
        """The same plan with each of its native queries changed."""
        inputs = tuple(
            replace(item, read=change(item.read), reducers=tuple(each.with_reads(change) for each in item.reducers))
            for item in self.inputs
        )
        return replace(self, inputs=inputs)


def local_plan(
    plan: QueryPlan,
    job: SparkJob | None = None,
    setting: str = MAX_ROWS,
    small: Collection[tuple[str, str]] = (),
) -> LocalPlan:
    """The plan for local evaluation, with the reducers of the Spark job that it replaces; `setting` has the most rows.
    `small` are tables of few small files, which may be read here without a table of Druid beside them. Raises NotLocal
    if a part is not supported or too large."""
    most = plan.context.most(setting)
    if most <= 0:
        raise NotLocal(f"{setting} is 0")
    node = shared(plan.node, plan.zone)
    leaves = list({id(n): n for n in native_queries(node)}.values())
    inputs = tuple(_input(f"druid_{i}", leaf, most, plan, job) for i, leaf in enumerate(leaves))
    reads_files = bool(inputs or small) or _has_loose_files(node)
    files = tuple(_files(node, len(inputs), most, plan, small)) if reads_files else ()
    candidate = LocalPlan(node, inputs, files, plan.columns, plan.zone, most)
    evaluator = _evaluator(candidate, {})
    evaluator.relation(node)  # rejected here rather than at run time
    for item in files:
        evaluator.check_filters(item.node)
    return candidate


def _input(view: str, leaf: DruidQuery, most: int, plan: QueryPlan, job: SparkJob | None) -> LocalInput:
    read = native_query(leaf, plan.zone)
    same = (i.reducers for i in (job.inputs if job is not None else ()) if isinstance(i, DruidInput) and i.read == read)
    reducers = next(same, ())
    rows = plan.context.rows(leaf)
    if rows is not None and (left := int(rows * prod(each.share for each in reducers))) > most:
        raise NotLocal(f"a native query has about {left} rows, more than {MAX_ROWS} ({most})")
    return LocalInput(view, _limited(leaf, read, most, plan.zone), leaf, reducers)


def _has_loose_files(node: Node) -> bool:
    return any(isinstance(each, TableScan) and each.table.is_loose for each in all_nodes(node))


def _files(
    node: Node, first: int, most: int, plan: QueryPlan, small: Collection[tuple[str, str]]
) -> Iterator[LocalFiles]:
    """The tables of files, each with the filter above it."""
    from hivedruid.spark.paths import is_visible_here

    below: set[int] = set()
    found: list[tuple[Node, TableScan]] = []
    for each in all_nodes(node):
        scan = _filtered_scan(each)
        if scan is not None and id(each) not in below:
            found.append((each, scan))
            below |= {id(one) for one in each.walk()}
    for place, (each, scan) in enumerate(found, start=first):
        is_here = is_visible_here(plan.context.settings) and local_path(scan.table.location or "") is not None
        is_small = (scan.table.database, scan.table.name) in small
        if not (scan.table.has_parquet_files or is_small) or not is_here:
            raise NotLocal(not_from_druid(scan.table))
        for column in scan.columns:
            is_alike = (
                not scan.table.has_parquet_files
                or column.type.name in ALIKE_IN_PARQUET
                or (scan.table.is_copy and column.type == TIMESTAMP)
            )
            if column.type == FLOAT or not is_alike or not scan.table.column(column.name):
                raise NotLocal(f"column {column.name} of {scan.table.full_name} is read by Spark")
        for input_, limit in ((scan, MOST_FILE_ROWS), (each, most)):
            rows = plan.context.rows(input_)
            if rows is not None and rows > limit:
                raise NotLocal(f"{scan.table.full_name} has about {rows} rows, more than {limit}")
        yield LocalFiles(f"{view_name(scan.table)}_{place}", _file_rows(each, scan, plan.zone), each)


def _filtered_scan(node: Node) -> TableScan | None:
    """The scan of a table outside Druid below filters; None for any other node."""
    while isinstance(node, Filter) and not any(has(rex, Over, Subquery) for rex in node.expressions()):
        node = node.input
    return node if isinstance(node, TableScan) and not node.table.has_data_source else None


def _file_rows(node: Node, scan: TableScan, zone: str) -> FileRows:
    terms = [term for each in node.walk() if isinstance(each, Filter) for term in conjuncts(each.condition)]
    names = scan.by_name
    conditions = tuple([substitute(term, names) for term in terms])
    return FileRows(scan.table, conditions, tuple([column.name for column in scan.columns]), zone)


def fallback_reason(plan: QueryPlan) -> str | None:
    """The reason why a plan is not evaluated locally; None if it is."""
    try:
        local_plan(plan, spark_job(plan))
    except NotLocal as no:
        return no.reason
    return None


def evaluated(plan: LocalPlan, fetched: Mapping[str, Rows]) -> Rows:
    """The result for the rows of each input, with zoned timestamps in UTC. Raises Unsure."""
    relation = _evaluator(plan, fetched).relation(plan.node)
    try:
        return _shown(relation(), plan)
    except SketchError as error:
        raise ExecutionError(str(error)) from error
    except ArithmeticError as error:  # of a time beyond the year 9999, for example, also in the session's time zone
        raise Unsure(f"a value is out of range: {error}") from error


def _evaluator(plan: LocalPlan, fetched: Mapping[str, Rows]) -> Evaluator:
    views = plan.views

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


def _limited(leaf: DruidQuery, read: DruidRead, most: int, zone: str) -> DruidRead:
    """The native query of a leaf; a scan stops when it exceeds the row limit."""
    if leaf.grouped is None and leaf.fetch is None and not leaf.offset:
        return native_query(replace(leaf, fetch=most + 1), zone)
    return read


def _shown(rows: Rows, plan: LocalPlan) -> Rows:
    """The rows as result values: zoned timestamps in the session's time zone, intervals formatted as in Hive, arrays
    as lists."""
    session = zone_of(plan.zone)
    forms: list[Callable[[Any], Any] | None] = []
    for column in plan.columns:
        if column.type.name.endswith("zone"):
            forms.append(lambda moment: moment.astimezone(session))
        elif column.type in (ARRAYS, DOUBLES):
            forms.append(list)
        else:
            is_interval = column.type.name.startswith("interval")
            forms.append(partial(interval_of, type_=column.type) if is_interval else None)
    if not any(forms):
        return rows
    return [
        tuple([v if v is None or form is None else form(v) for v, form in zip(row, forms, strict=True)]) for row in rows
    ]
