"""A short summary of a plan: what runs where, without the JSON and SQL of EXPLAIN."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hivedruid.actions.model import Action
from hivedruid.actions.select.model import AnswerRows, AskValues, RunDruidQuery, RunSparkJob
from hivedruid.actions.writing.model import ChangeTableRows, IngestDruid, MergeTableRows, WriteTable
from hivedruid.plan.physical import DruidInput, ScriptInput, SparkJob

if TYPE_CHECKING:
    from hivedruid.evaluation.local import LocalPlan


def brief(actions: Iterable[Action]) -> list[str]:
    """One line for each native query, Spark job and write; none for actions that only change the catalog."""
    return [line for action in actions for line in (*_read(action), *written(action))]


def _read(action: Action) -> Iterator[str]:
    if isinstance(action, RunDruidQuery) and action.scan is not None:
        files = len(action.scan.files)
        yield f"{files:,} segment file{'s' * (files != 1)} in place of a native query: {native(action.read.query)}"
    elif isinstance(action, RunDruidQuery):
        yield f"one native query: {native(action.read.query)}"
    elif isinstance(action, AnswerRows):
        yield "answered while planning: no query is sent"
    elif isinstance(action, AskValues):
        yield from (f"first, a native query: {native(ask.read.query)}" for ask in action.asks)
    elif (plan := action.evaluates) is not None:
        yield from _local(plan)
    elif isinstance(action, RunSparkJob | IngestDruid | WriteTable) or (
        isinstance(action, MergeTableRows) and not action.changes_nothing
    ):
        yield from _spark(action.job)
    elif isinstance(action, ChangeTableRows) and not action.changes_nothing:
        for job in action.subqueries.values():
            yield from _spark(job)


def written(action: Action) -> Iterator[str]:
    """A line for each write of an action, which begins with the engine that does it."""
    if isinstance(action, IngestDruid):
        kind = "appends the rows to" if action.replaces == "nothing" else "replaces rows of"
        built = ", in segments that Spark builds" if action.segments is not None else ""
        yield f"Druid {kind} data source {action.table.data_source}{built}"
        if action.cold is not None:
            yield f"Spark {'adds rows to' if action.cold.removal is None else 'deletes rows of'} the cold part"
    elif isinstance(action, WriteTable):
        target = f"the files in {action.table.location}" if action.is_directory else action.table.full_name
        yield f"Spark {'replaces' if action.overwrite else 'appends to'} {target}"
    elif isinstance(action, ChangeTableRows) and not action.changes_nothing:
        what = "the cold part of " if action.tiered is not None else ""
        verb = "updates" if action.assignments else "deletes"
        yield f"Spark {verb} rows of {what}{(action.tiered or action.table).full_name}"
    elif isinstance(action, MergeTableRows) and not action.changes_nothing:
        yield f"Spark merges the rows into {action.table.full_name}"


def _local(plan: LocalPlan) -> Iterator[str]:
    if not (plan.inputs or plan.files):
        yield "evaluated locally: no query is sent"
    for item in plan.inputs:
        query = {key: value for key, value in item.read.query.items() if (key, value) != ("limit", plan.most + 1)}
        yield f"evaluated locally over a native query: {native(query)}"
    for file in plan.files:
        yield f"evaluated locally over the files of {file.rows.table.full_name}"


def _spark(job: SparkJob) -> Iterator[str]:
    if not job.inputs:
        yield "a Spark job over the rows of the statement itself"
    for item in job.inputs:
        if isinstance(item, DruidInput):
            yield f"a Spark job reads a native query: {native(item.read.query)}"
        else:
            yield f"a Spark job reads table {item.table.full_name}"
    for part in job.computed:
        if isinstance(part, ScriptInput):
            yield f"Spark runs the command {part.script.command}"
        else:
            yield f"Spark computes {part.name} once"


def native(query: Mapping[str, Any]) -> str:
    """`topN over wiki by channel: longSum(added), 10 rows`."""
    parts = [f"{query.get('queryType')} over {_source(query.get('dataSource'))}"]
    granularity = query.get("granularity", "all")
    if granularity not in ("all", {"type": "all"}):
        parts.append(f"each {_granularity(granularity)}")
    dimensions = [_named(item) for item in [query.get("dimension"), *query.get("dimensions", ())] if item]
    if dimensions:
        parts.append(f"by {', '.join(dimensions)}")
    aggregations = [_aggregation(item) for item in query.get("aggregations", ())]
    line = " ".join(parts) + (f": {', '.join(aggregations)}" if aggregations else "")
    details = []
    if "filter" in query:
        details.append("filtered")
    details += [text for text in map(_interval, _intervals(query.get("intervals"))) if text]
    limit = query.get("threshold") or query.get("limit") or (query.get("limitSpec") or {}).get("limit")
    if limit:
        details.append(f"{limit} rows")
    return ", ".join([line, *details])


def _source(source: Any) -> str:
    if isinstance(source, str):
        return source
    kind = (source or {}).get("type")
    if kind == "table":
        return str(source["name"])
    if kind == "query":
        return f"({native(source['query'])})"
    if kind == "unnest":
        return f"{_source(source['base'])} with each element of its arrays"
    if kind == "join":
        return f"{_source(source['left'])} joined with {_source(source['right'])}"
    return str(kind)


def _granularity(granularity: Any) -> str:
    return (
        str(granularity.get("period") or granularity.get("type"))
        if isinstance(granularity, Mapping)
        else str(granularity)
    )


def _named(item: Any) -> str:
    return str(item.get("dimension") or item.get("outputName")) if isinstance(item, Mapping) else str(item)


def _aggregation(item: Mapping[str, Any]) -> str:
    if item.get("type") == "filtered":
        return f"filtered {_aggregation(item['aggregator'])}"
    return f"{item.get('type')}({item.get('fieldName') or item.get('expression') or '*'})"


_YEAR = re.compile(r"\d{4}-")


def _interval(interval: str) -> str:
    """`2015-09-12T18:00/2015-09-13T00:00`; an open end is omitted."""
    ends = interval.split("/")
    start, end = (
        end.removesuffix("Z").removesuffix(".000").removesuffix(":00") if _YEAR.match(end) else "" for end in ends
    )
    if start and end:
        return f"{start} to {end}"
    return f"from {start}" if start else f"until {end}" if end else ""


def _intervals(intervals: Any) -> list[str]:
    entries = intervals.get("intervals") if isinstance(intervals, Mapping) else intervals
    return [entries] if isinstance(entries, str) else list(entries or ())
