"""Whether the joins of a materialized view preserve the rows of one of its tables, its root, exactly once each.

Hive derives that from declared keys (PRIMARY KEY … RELY), which it trusts. Here it is counted when the view is built:
the view has as many rows as the root, and every other table is joined by columns that are unique in it. Queries of the
root and some of the other tables can then be answered from the view, too.
"""

from __future__ import annotations

from collections.abc import Callable

from hivedruid.actions.materialized.model import RootChecks
from hivedruid.catalog.types import BIGINT
from hivedruid.plan.blocks import Definition
from hivedruid.plan.build import Builder
from hivedruid.plan.nodes import Aggregate, Join, Node, TableScan
from hivedruid.plan.physical import SparkJob
from hivedruid.plan.rex import Agg, Call, Ref, Rex
from hivedruid.plan.split import optimized, spark_job

Edges = dict[tuple[int, int], list[Ref]]
"""The columns of the first table by which it is joined to the second."""


def root_checks(definition: Definition, builder: Builder) -> RootChecks | None:
    """The queries that find the root; None unless the joins form a tree of plain equalities without other
    conditions."""
    scans = definition.block.scans
    edges = _edges(definition)
    if len(scans) < 2 or edges is None or len(edges) != 2 * (len(scans) - 1):
        return None
    trees = [_parents(root, len(scans), edges) for root in range(len(scans))]
    if any(len(tree) < len(scans) - 1 for tree in trees):
        return None
    counts = _job([_counted(scan, [Agg(BIGINT, "count", ())], builder) for scan in scans], builder)
    keys = tuple(
        _job([_counted(scans[child], _uniqueness(edges[child, parent]), builder) for child, parent in tree], builder)
        for tree in trees
    )
    return RootChecks(counts, keys)


def _edges(definition: Definition) -> Edges | None:
    owner = {c.id: i for i, scan in enumerate(definition.block.scans) for c in scan.columns}
    edges: Edges = {}
    for term in definition.block.terms:
        pair = _equal_columns(term)
        if pair is None or owner[pair[0].id] == owner[pair[1].id]:
            return None
        for near, far in (pair, pair[::-1]):
            edges.setdefault((owner[near.id], owner[far.id]), []).append(near)
    return edges


def _equal_columns(term: Rex) -> tuple[Ref, Ref] | None:
    if isinstance(term, Call) and term.op == "=":
        a, b = term.args
        if isinstance(a, Ref) and isinstance(b, Ref) and a.type == b.type:
            return a, b
    return None


def _parents(root: int, number: int, edges: Edges) -> list[tuple[int, int]]:
    """Each table except the root, with its parent in the join tree."""
    found: list[tuple[int, int]] = []
    reached = [root]
    for near in reached:
        for far in range(number):
            if far not in reached and (far, near) in edges:
                found.append((far, near))
                reached.append(far)
    return found


def _uniqueness(columns: list[Ref]) -> list[Agg]:
    args = tuple(columns)
    return [Agg(BIGINT, "count", args), Agg(BIGINT, "count", args, distinct=True)]


def _counted(scan: TableScan, calls: list[Agg], builder: Builder) -> Node:
    columns = tuple(builder.new_column("_count", BIGINT) for _ in calls)
    return Aggregate(columns, scan, (), tuple(calls))


def _job(parts: list[Node], builder: Builder) -> SparkJob:
    node = parts[0]
    for part in parts[1:]:
        node = Join((*node.columns, *part.columns), node, part, "cross", None)
    return spark_job(optimized(node, builder), facts=builder.snapshot)


def find_root(checks: RootChecks, rows: int, first_row: Callable[[SparkJob], tuple[int, ...]]) -> int | None:
    """The table each of whose rows is in the view, which has `rows` rows, exactly once."""
    for position, count in enumerate(first_row(checks.counts)):
        if count == rows:
            pairs = first_row(checks.keys[position])
            if all(filled == different for filled, different in zip(pairs[::2], pairs[1::2], strict=True)):
                return position
    return None
