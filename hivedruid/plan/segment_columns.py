"""Writes of nothing but columns of segment files, whose rows need not pass through Spark's JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.druid.exactness import NotExact
from hivedruid.druid.query import native_query
from hivedruid.plan.nodes import DruidQuery, TableScan, below_projects
from hivedruid.plan.physical import DruidInput, DruidRead, SparkJob
from hivedruid.plan.rex import Ref, substitute
from hivedruid.plan.segment_files import FileScan

if TYPE_CHECKING:
    from hivedruid.plan.split import QueryPlan

COPIED = {
    "LONG": frozenset({"tinyint", "smallint", "int", "bigint", "boolean", "timestamp"}),
    "DOUBLE": frozenset({"double"}),
    "FLOAT": frozenset({"float", "double"}),
    "STRING": frozenset({"string"}),
}
"""The Hive types as which the values of a Druid type are copied."""


def segment_columns(plan: QueryPlan, job: SparkJob) -> tuple[int, ...] | None:
    """The positions of the plan's columns among the fields of the job's only input, a scan of segment files; None if
    Spark computes anything, also a condition."""
    if len(job.inputs) != 1 or job.computed or not isinstance(item := job.inputs[0], DruidInput):
        return None
    scan, wanted = item.scan, _query_of(plan)
    if not isinstance(scan, FileScan) or scan.growing or item.reducers or wanted is None:
        return None
    if any(wanted.query.get(key) != item.read.query.get(key) for key in ("filter", "intervals", "dataSource")):
        return None
    places = {field.name: number for number, field in enumerate(item.read.fields)}
    found: list[int] = []
    for field, column in zip(wanted.fields, plan.columns, strict=True):
        place = places.get(field.name)
        if place is None or field.type != column.type or field.type.name not in COPIED.get(scan.types[place], ()):
            return None
        found.append(place)
    return tuple(found)


def _query_of(plan: QueryPlan) -> DruidRead | None:
    """The scan that returns the columns of a plan as they are stored."""
    node, exprs = below_projects(plan.node)
    if not isinstance(node, DruidQuery) or not isinstance(node.source, TableScan):
        return None
    if node.grouped is not None or node.sort or node.is_limited:
        return None
    exprs = tuple(substitute(rex, node.mapping) for rex in exprs)
    if not all(isinstance(rex, Ref) for rex in exprs):
        return None
    try:
        read = native_query(DruidQuery(plan.node.columns, node.source, exprs, node.filter), plan.zone)
    except NotExact:
        return None
    return None if "virtualColumns" in read.query else read
