"""The data sources of native queries: tables, unions, inline rows, queries, and filters, joins and unnests of these.

Refuses queries that a broker refuses, answers wrongly, or never answers (`check_buckets`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.embedded import intervals as time
from hivedruid.embedded.granularity import Granularity
from hivedruid.embedded.relations import TIME, Relation, Scope, Tables, inline, union
from hivedruid.embedded.sql import identifier
from hivedruid.errors import DruidError

Query = Mapping[str, Any]
Spans = tuple[tuple[int, int], ...]


def source(query: Query, tables: Tables) -> tuple[Relation, Spans]:
    """The rows that a query reads, and its intervals."""
    spans = time.parse_intervals(query.get("intervals"))
    return relation(query["dataSource"], spans, tables), spans


def relation(spec: Any, spans: Spans, tables: Tables) -> Relation:
    """The rows of a data source; `spans` are the intervals of the outer query."""
    if isinstance(spec, str):
        return tables.stored(spec, spans)
    match spec.get("type"):
        case "table":
            return tables.stored(spec["name"], spans)
        case "query":
            return tables.answered(spec["query"])
        case "union":
            return union([relation(_table(member), spans, tables) for member in spec["dataSources"]])
        case "inline":
            return inline(spec)
        case "filter":
            from hivedruid.embedded.filters import filtered

            return filtered(relation(spec["base"], spans, tables), spec["filter"])
        case "join":
            from hivedruid.embedded.joins import join

            return join(spec, spans, tables)
        case "unnest":
            from hivedruid.embedded.unnest import unnest

            return unnest(spec, relation(spec["base"], spans, tables))
    raise DruidError(f"data sources of type '{spec.get('type')}' are not supported by the embedded store")


def _table(member: Any) -> Any:
    """A member of a union. Raises DruidError as UnionDataSource does."""
    if isinstance(member, Mapping) and member.get("type") not in (None, "table", "inline"):
        raise DruidError("a union data source reads tables only")
    return member


def where(query: Query, scope: Scope, spans: Spans, rows: Relation) -> str:
    """The WHERE clause of a query: its intervals and its filter."""
    parts = []
    timed = TIME in scope.columns and not rows.is_in_time
    in_time = time.condition(identifier(TIME), spans) if timed else None
    if in_time:
        parts.append(in_time)
    if query.get("filter") is not None:
        from hivedruid.embedded.filters import condition

        parts.append(condition(query["filter"], scope).text)
    return " WHERE " + " AND ".join(parts) if parts else ""


def check_buckets(granularity: Granularity, rows: Relation, spans: Spans) -> None:
    """Raises DruidError for time buckets over rows without segments in unbounded intervals.

    A broker would iterate over every bucket of the intervals, practically forever.
    """
    endless = any(start <= time.MIN_INSTANT or end >= time.MAX_INSTANT for start, end in spans)
    if not granularity.is_all and rows.spans is None and endless:
        raise DruidError("granularities over a query or inline rows require bounded intervals")
