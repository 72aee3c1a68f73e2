"""The steps of a statement: the operators of its plans with the engines that compute them, below its writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from hivedruid.actions.brief import written
from hivedruid.actions.plan_text import files_line, scan_lines
from hivedruid.actions.select.model import AnswerRows, AskValues, RunDruidQuery
from hivedruid.druid.query import native_query
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan import nodes
from hivedruid.plan.ctes import cte_scans
from hivedruid.plan.nodes import CteScan, DruidQuery, Node, PlanColumn
from hivedruid.plan.physical import DruidInput, SparkJob
from hivedruid.plan.rex import Agg, Subquery, walk
from hivedruid.plan.segment_files import FileScan
from hivedruid.plan.show import attributes, show
from hivedruid.plan.statistics import Estimator
from hivedruid.plan_steps import Engine, Step

if TYPE_CHECKING:
    from hivedruid.actions.model import Action
    from hivedruid.actions.statement_plan import StatementPlan
    from hivedruid.plan.split import QueryPlan


def steps(built: StatementPlan) -> tuple[Step, ...]:
    """A tree for each write, or for the query of a statement, followed by those of shared CTEs and of the native
    queries that run before it is planned; none for a statement that neither reads nor writes rows."""
    jobs = [job for action in built.actions for job in _jobs(action)]
    is_here = any(action.evaluates or isinstance(action, AnswerRows) for action in built.actions)
    outside: Engine = "hivedruid" if is_here else "spark"
    files = "".join(_files(action) for action in built.actions)
    trees = [_Tree(plan, outside, jobs, files).steps() for plan in built.plans]
    writes = [found for action in built.actions if (found := list(_writes(action)))]
    asked = tuple(_asked(action) for action in built.actions if isinstance(action, AskValues))
    if len(writes) == len(trees):
        roots = [_below(found, tree[:1]) + tree[1:] for found, tree in zip(writes, trees, strict=True)]
    else:
        every = tuple(tree[0] for tree in trees)
        first = _below(writes[0], every) if writes else every
        rest = tuple(step for found in writes[1:] for step in _below(found, ()))
        roots = [first, rest, *(tree[1:] for tree in trees)]
    return (*(step for root in roots for step in root), *asked)


def _jobs(action: Action) -> tuple[SparkJob, ...]:
    return () if action.evaluates is not None else action.jobs


def _files(action: Action) -> str:
    """The segment files that are read for the result; "" if there are none."""
    if not isinstance(action, RunDruidQuery) or action.scan is None:
        return ""
    return files_line(action.read, action.scan)


def _writes(action: Action) -> Iterator[Step]:
    for line in written(action.writes or action):
        engine, _, what = line.partition(" ")
        yield Step("druid" if engine == "Druid" else "spark", what[0].upper() + what[1:])


def _below(writes: list[Step], inputs: tuple[Step, ...]) -> tuple[Step, ...]:
    """The writes of an action, the first of which reads the inputs."""
    first = writes[0]
    return (Step(first.engine, first.operator, first.attributes, first.rows, inputs), *writes[1:])


def _asked(action: AskValues) -> Step:
    queries = {f"query {number}": ask.key for number, ask in enumerate(action.asks, 1)}
    return Step("druid", "native queries that run before planning", queries)


@dataclass
class _Tree:
    """The steps of one plan; `outside` is the engine of the operators outside native queries, `jobs` are those of the
    statement. `files` describes the segment files that are read for the result; "" if there are none."""

    plan: QueryPlan
    outside: Engine
    jobs: list[SparkJob]
    files: str
    _estimator: Estimator = field(init=False)
    _inputs: list[DruidInput] = field(init=False)
    _calls: dict[str, str] = field(default_factory=dict)
    """The calls of aggregate functions by the columns without a name of their own that have their results."""

    def __post_init__(self) -> None:
        self._estimator = Estimator(self.plan.context.statistics, self.plan.zone)
        self._inputs = [item for job in self.jobs for item in job.inputs if isinstance(item, DruidInput)]

    def steps(self) -> tuple[Step, ...]:
        """The tree of the plan, and those of the CTEs that are computed once."""
        ctes = (
            Step(self.outside, f"{'View' if scan.is_view else 'CTE'} {scan.name}", inputs=(self._step(scan.plan),))
            for scan in cte_scans(self.plan.node)
        )
        return (self._step(self.plan.node), *ctes)

    def _step(self, node: Node) -> Step:
        if isinstance(node, DruidQuery):
            return self._query(node)
        if isinstance(node, CteScan):
            return Step(self.outside, f"rows of {node.name}", rows=self._estimator.rows(node))
        subqueries = (part.plan for rex in node.expressions() for part in walk(rex) if isinstance(part, Subquery))
        inputs = tuple(self._step(item) for item in (*node.inputs, *subqueries))
        return self._operator(self.outside, node, inputs)

    def _query(self, node: DruidQuery) -> Step:
        """A native query, or the segment files that Spark reads in its place."""
        read = native_query(node, self.plan.zone)
        same = [item for item in self._inputs if item.read.query == read.query]
        source = () if isinstance(node.source, nodes.TableScan) else (self._inside(node.source),)
        over = [item for item in self._inputs if item.read.query["dataSource"] == read.query["dataSource"]]
        files = [scan_lines(item)[0] for item in same or over if isinstance(item.scan, FileScan)]
        if files or self.files:
            how = {"segments": (self.files or files[0]).partition(": ")[2]}
            engine: Engine = "hivedruid" if self.files else "spark"
            return Step(engine, "Scan of segment files", self._query_attributes(node) | how, self._rows(node))
        lines = (line.partition(": ") for item in same for line in scan_lines(item))
        sent = {key.rpartition(".")[2]: text for key, _, text in lines}
        kind = f"{read.query['queryType']} query"
        return Step("druid", kind, self._query_attributes(node) | sent, self._rows(node), source)

    def _inside(self, node: Node) -> Step:
        """What a native query reads other than a table."""
        if isinstance(node, DruidQuery):
            return self._query(node)
        inputs = tuple(self._inside(item) for item in node.inputs)
        return self._operator("druid", node, inputs)

    def _operator(self, engine: Engine, node: Node, inputs: tuple[Step, ...]) -> Step:
        if isinstance(node, nodes.SetOp):
            return Step(engine, f"{node.kind.title()}{' all' if node.all else ''}", {}, self._rows(node), inputs)
        computed = {key: value for key, value in attributes(node, self._calls).items() if key != value}
        if isinstance(node, nodes.Aggregate):
            self._name_calls(node.columns[len(node.keys) :], node.calls)
        return Step(engine, _NAMES.get(type(node)) or type(node).__name__, computed, self._rows(node), inputs)

    def _rows(self, node: Node) -> int | None:
        return self._estimator.rows(node)

    def _query_attributes(self, node: DruidQuery) -> dict[str, str]:
        """The attributes, with the names under which the results of aggregate functions are read above them."""
        if node.grouped is None or not node.calls:
            return attributes(node, self._calls)
        columns = node.grouped[len(node.keys) :]
        listed = self._name_calls(columns, node.calls)
        return attributes(node, self._calls) | {"aggs": ", ".join(listed)}

    def _name_calls(self, columns: Sequence[PlanColumn], calls: Sequence[Agg]) -> list[str]:
        """Each call, after the name of its column if that has one."""
        listed = []
        for column, call in zip(columns, calls, strict=False):
            text = show(call, self._calls)
            if _UNNAMED.fullmatch(column.id):
                self._calls[column.id] = text
            listed.append(text if column.id in self._calls else f"{column.id} = {text}")
        return listed


_UNNAMED = re.compile(r"\$f\d+(?:_\d+)?")
"""The id of a column that has the result of an aggregate function."""


_NAMES: dict[type[Node], str] = {
    nodes.TableScan: "Scan",
    nodes.LateralView: "Lateral view",
    nodes.DruidUnion: "Union",
    nodes.DruidUnnest: "Unnest",
    nodes.DruidJoin: "Join",
}
"""The operators whose names are not those of their classes."""
