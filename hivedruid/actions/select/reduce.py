"""Semi-join reduction at run time: the keys are fetched and added to the native queries as filters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.druid import intervals
from hivedruid.plan.physical import DruidInput, DruidRead, KeyFilter, SparkJob

if TYPE_CHECKING:
    from hivedruid.actions.services import Services

Json = dict[str, Any]


def reduced(job: SparkJob, services: Services) -> SparkJob:
    """The job with the keys of its reducers added to its native queries."""
    if not any(isinstance(i, DruidInput) and i.reducers for i in job.inputs):
        return job
    inputs = tuple([_reduced_input(i, services) if isinstance(i, DruidInput) else i for i in job.inputs])
    return replace(job, inputs=inputs)


def _reduced_input(item: DruidInput, services: Services) -> DruidInput:
    read = item.read
    for reducer in item.reducers:
        keys = _keys(reducer, services)
        if keys is not None:
            read = with_keys(read, reducer, keys)
    return replace(item, read=read, reducers=())


def _keys(reducer: KeyFilter, services: Services) -> list[Any] | None:
    """The keys, sorted, without nulls, which never match; None if there are too many."""
    rows: Iterator[tuple[Any, ...]]
    if isinstance(reducer.keys, DruidRead):
        rows = services.druid().rows(reducer.keys)
    else:
        rows = services.spark().rows(reducer.keys)
    keys = [row[0] for row in islice(rows, reducer.most + 1)]
    return None if len(keys) > reducer.most else sorted({k for k in keys if k is not None})


def with_keys(read: DruidRead, reducer: KeyFilter, keys: list[Any]) -> DruidRead:
    """The query restricted to the keys; keys of `__time` also bound its interval."""
    query: Json = dict(read.query)
    among: Json = {"type": "false"}
    if keys:
        among = {"type": "inType", "column": reducer.column, "matchValueType": reducer.type, "values": keys}
    given = query.get("filter")
    if given is None:
        query["filter"] = among
    elif given.get("type") == "and":
        query["filter"] = {"type": "and", "fields": [among, *given["fields"]]}
    else:
        query["filter"] = {"type": "and", "fields": [among, given]}
    if reducer.column == TIME_COLUMN and keys and query["intervals"] == intervals.to_json(intervals.ALL):
        query["intervals"] = intervals.to_json(((keys[0], keys[-1] + 1),))
    return replace(read, query=query)
