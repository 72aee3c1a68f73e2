"""Native groupBy queries: dimensions, having, limit specs, subtotals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.embedded.aggregators import aggregate
from hivedruid.embedded.buckets import bucketed
from hivedruid.embedded.granularity import Granularity
from hivedruid.embedded.keys import Key, dimension, grouped, ordered_dimension
from hivedruid.embedded.plan import Plan
from hivedruid.embedded.queries import post_aggregated
from hivedruid.embedded.relations import TIME, Scope, Tables
from hivedruid.embedded.sources import check_buckets, source, where
from hivedruid.embedded.sql import DUCKDB_TYPES, Sql, as_double, as_string, constant, identifier, string
from hivedruid.errors import DruidError

SUBTOTAL = "$set"
"""Hidden column: the position of a row's grouping set in `subtotalsSpec`."""


def plan_group_by(query: Mapping[str, Any], tables: Tables) -> Plan:
    """The plan of a groupBy. Without a limit spec, rows are sorted by time bucket and dimensions, nulls first."""
    relation, spans = source(query, tables)
    scope = Scope(relation.columns, query.get("virtualColumns") or ())
    granularity = Granularity(query.get("granularity", "all"))
    check_buckets(granularity, relation, spans)
    dimensions = [dimension(spec, scope) for spec in query.get("dimensions") or ()]
    _check_output_names(query, dimensions)
    bucket = []
    if not granularity.is_all:
        relation, start, _ = bucketed(granularity, relation, spans)
        bucket = [Key("timestamp", Sql(start, "LONG"))]
    filtered = where(query, scope, spans, relation)
    columns = {key.name: key.type for key in bucket + dimensions}
    sets = query.get("subtotalsSpec")
    parts = []
    for place, wanted in enumerate([None] if sets is None else sets):
        kept = [key for key in dimensions if wanted is None or key.name in wanted]
        grouped_by = None if wanted is None else _read_by(query, wanted)
        computed = [aggregate(spec, scope, grouped_by) for spec in query.get("aggregations") or ()]
        columns |= {agg.name: agg.type for agg in computed}
        missing = {key.name: key.type for key in dimensions if key not in kept}
        rows = grouped(relation, filtered, bucket + kept, computed)
        if sets is not None and not bucket + kept:
            rows += " HAVING count(*) > 0"  # only a query without dimensions returns a row for no input
        parts.append(_one_set(rows, columns, missing, place))
    sql = post_aggregated(" UNION ALL ".join(parts), columns, query.get("postAggregations"), SUBTOTAL)
    if query.get("having") is not None:
        sql = f"SELECT * FROM ({sql}) AS h WHERE {_having(query['having'], Scope(columns))}"
    return _ordered(query, sql, columns, [key.name for key in dimensions], bool(bucket))


def _check_output_names(query: Mapping[str, Any], dimensions: list[Key]) -> None:
    """Raises DruidError as GroupByQuery.verifyOutputNames does."""
    names: list[str | None] = [key.name for key in dimensions]
    for spec in query.get("aggregations") or ():
        names.append(spec.get("name") or (spec.get("aggregator") or {}).get("name"))
    names += [spec["name"] for spec in query.get("postAggregations") or ()]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise DruidError(f"Duplicate output name[{name}]")
    if TIME in names:
        raise DruidError(f"'{TIME}' cannot be used as an output name for dimensions, aggregators, or post-aggregators.")


def _read_by(query: Mapping[str, Any], wanted: list[str]) -> tuple[str, ...]:
    """The dimensions of a grouping set by the names that `grouping` uses: those in the source."""
    specs = [{"dimension": s} if isinstance(s, str) else s for s in query.get("dimensions") or ()]
    return tuple(s["dimension"] for s in specs if s.get("outputName", s["dimension"]) in wanted)


def _one_set(sql: str, columns: Mapping[str, str], missing: Mapping[str, str], place: int) -> str:
    """The rows of one grouping set: the dimensions that it omits are null."""
    items = [
        f"CAST(NULL AS {DUCKDB_TYPES[missing[name]]}) AS {identifier(name)}" if name in missing else identifier(name)
        for name in columns
    ]
    return f"SELECT {', '.join([*items, f'{place} AS {identifier(SUBTOTAL)}'])} FROM ({sql}) AS s"


def _ordered(
    query: Mapping[str, Any], sql: str, columns: Mapping[str, str], dimensions: list[str], bucketed: bool
) -> Plan:
    """Orders by time bucket, then the limit spec's columns, then the dimensions; nulls are lowest."""
    spec = query.get("limitSpec") or {}
    if spec.get("type", "default") not in ("default", "NoopLimitSpec"):
        raise DruidError(f"limit specs of type '{spec.get('type')}' are not supported by the embedded store")
    order = ['"timestamp" ASC'] if bucketed else []
    for item in spec.get("columns") or ():
        column = {"dimension": item} if isinstance(item, str) else item
        name = column["dimension"]
        if name not in columns:
            raise DruidError(f"Unknown column in order clause[{name}]")
        descending = str(column.get("direction", "ascending")).lower() in ("descending", "desc")
        direction = "DESC NULLS LAST" if descending else "ASC NULLS FIRST"
        ordering = column.get("dimensionOrder", "lexicographic")
        ordering = ordering["type"] if isinstance(ordering, Mapping) else ordering
        if name in dimensions:
            order += ordered_dimension(name, columns[name], ordering, direction)
        else:
            order.append(f"{identifier(name)} {direction}")
    order.append(identifier(SUBTOTAL))
    order += [f"{identifier(name)} ASC NULLS FIRST" for name in dimensions]
    if spec.get("limit") == 0:
        raise DruidError("limit[0] must be >0")
    return Plan(sql, columns, order=order, limit=spec.get("limit"), offset=spec.get("offset") or 0)


def _having(spec: Mapping[str, Any], scope: Scope) -> str:
    """A having spec as a two-valued condition over the rows of the groups."""
    kind = spec.get("type", "")
    match kind:
        case "always":
            return "TRUE"
        case "never":
            return "FALSE"
        case "filter":
            from hivedruid.embedded.filters import condition

            return condition(spec["filter"], scope).text
        case "and" | "or":
            return "(" + f" {kind.upper()} ".join(_having(part, scope) for part in spec["havingSpecs"]) + ")"
        case "not":
            return f"(NOT {_having(spec['havingSpec'], scope)})"
        case "greaterThan" | "lessThan" | "equalTo":
            value = scope.resolve(spec["aggregation"])
            bound = constant(spec["value"])
            if (value.type, bound.type) != ("LONG", "LONG"):
                value, bound = as_double(value), as_double(bound)
            operator = {"greaterThan": ">", "lessThan": "<", "equalTo": "="}[kind]
            return f"coalesce({value.text} {operator} {bound.text}, FALSE)"
        case "dimSelector":
            value = as_string(scope.resolve(spec["dimension"]))
            wanted = spec.get("value")
            return f"({value.text} IS NOT DISTINCT FROM {string(wanted).text})"
    raise DruidError(f"having specs of type '{kind}' are not supported by the embedded store")
