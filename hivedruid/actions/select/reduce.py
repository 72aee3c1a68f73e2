"""Semi-join reduction at run time: the keys are fetched and added to the native queries as filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.druid import intervals
from hivedruid.druid.interval_sets import IntervalSet, merged
from hivedruid.plan.literals import to_micros
from hivedruid.plan.physical import DruidInput, DruidRead, FileKeys, KeyFilter, KeySource, SparkJob

if TYPE_CHECKING:
    from datetime import date

    from hivedruid.actions.services import Services

Json = dict[str, Any]
_DAY = 86_400_000

Keys = list[tuple[Any, ...]]
"""Keys, each with its date if the reducer has dates."""

Queried = list[tuple[KeySource, Keys | None]]
"""Queries for keys, and their results: None if there are too many."""


def reduced(job: SparkJob, services: Services) -> SparkJob:
    """The job with the keys of its reducers added to its native queries; the same keys are queried once."""
    if not any(isinstance(i, DruidInput) and i.reducers for i in job.inputs):
        return job
    queried: Queried = []
    inputs = tuple([_reduced_input(i, queried, services) if isinstance(i, DruidInput) else i for i in job.inputs])
    return replace(job, inputs=inputs)


def _reduced_input(item: DruidInput, queried: Queried, services: Services) -> DruidInput:
    return replace(item, read=reduced_read(item.read, item.reducers, queried, services), reducers=())


def reduced_read(read: DruidRead, reducers: tuple[KeyFilter, ...], queried: Queried, services: Services) -> DruidRead:
    """The query with the keys of its reducers; `queried` are the keys that are known, to which it adds more."""
    for reducer in reducers:
        rows: Keys | None = []
        for query in reducer.keys:
            more = _queried(query, reducer.most, queried, services)
            rows = None if rows is None or more is None else [*rows, *more]
        if rows is not None and len({row[0] for row in rows}) <= reducer.most:
            read = with_keys(read, reducer, rows)
    return read


def _queried(query: KeySource, most: int, queried: Queried, services: Services) -> Keys | None:
    """The keys of a query, which runs unless it has run before."""
    if not any(other == query for other, _ in queried):
        queried.append((query, _rows(query, most, services)))
    return next(rows for other, rows in queried if other == query)


def _rows(query: KeySource, most: int, services: Services) -> Keys | None:
    """The keys without nulls, which never match; None if there are too many."""
    rows: Iterator[tuple[Any, ...]]
    if isinstance(query, FileKeys):
        from hivedruid.actions.select.file_rows import keys_in_files

        read = keys_in_files(query.rows, services.settings)
        rows = services.spark().rows(query.job) if read is None else iter(read)
    else:
        rows = services.druid().rows(query) if isinstance(query, DruidRead) else services.spark().rows(query)
    found = list(islice(rows, most + 1))
    return None if len(found) > most else [row for row in found if row[0] is not None]


def with_keys(read: DruidRead, reducer: KeyFilter, rows: Keys) -> DruidRead:
    """The query restricted to the keys; keys of `__time`, and the dates of keys, also restrict its intervals."""
    query: Json = dict(read.query)
    keys = sorted({row[0] for row in rows})
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
    if reducer.has_dates and all(row[1] is not None for row in rows):
        days = intervals.intersection(read.spans, _days(row[1] for row in rows))
        query["intervals"] = intervals.to_json(days)
    return replace(read, query=query)


def _days(dates: Iterable[date]) -> IntervalSet:
    """The days in UTC."""
    starts = (to_micros(day) // 1_000 for day in dates)
    return merged((start, start + _DAY) for start in starts)
