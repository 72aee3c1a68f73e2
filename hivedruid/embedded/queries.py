"""Native Druid queries, JSON to SQL: scan, timeseries, topN, timeBoundary (groupBy has its own module)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.embedded import intervals as time
from hivedruid.embedded.aggregators import Aggregate, aggregate, post_aggregate
from hivedruid.embedded.buckets import bucketed
from hivedruid.embedded.granularity import Granularity
from hivedruid.embedded.keys import Key, dimension, grouped, ordered_dimension
from hivedruid.embedded.plan import Plan
from hivedruid.embedded.relations import TIME, Relation, Scope, Tables, output_type, selected
from hivedruid.embedded.sources import check_buckets, source, where
from hivedruid.embedded.sql import Sql, as_long, cast, identifier, string
from hivedruid.errors import DruidError

Query = Mapping[str, Any]
ORDER_TIME, ORDER_ROW = "$time", "$row"
"""Hidden columns of a scan that is ordered by time."""


def plan(query: Query, tables: Tables) -> Plan:
    """The plan of a native query. Raises DruidError for queries that the embedded store does not support."""
    kind = query.get("queryType", "")
    if kind == "groupBy":
        from hivedruid.embedded.groupby import plan_group_by

        return plan_group_by(query, tables)
    build = _PLANNERS.get(kind)
    if build is None:
        raise DruidError(f"queries of type '{kind}' are not supported by the embedded store")
    return build(query, tables)


def post_aggregated(sql: str, columns: dict[str, str], specs: Any, *hidden: str) -> str:
    """A SELECT around `sql` that adds the post-aggregators; they are added to `columns`, and `hidden` columns are
    kept."""
    for spec in specs or ():
        name = spec["name"]
        value = post_aggregate(spec, Scope(columns))
        kept = [identifier(column) for column in (*columns, *hidden) if column != name]
        sql = f"SELECT {', '.join([*kept, selected(value, name)])} FROM ({sql}) AS a"
        columns[name] = output_type(value)
    from hivedruid.embedded.sketches import finalized

    return finalized(sql, columns, *hidden)


def _scan(query: Query, tables: Tables) -> Plan:
    relation, spans = source(query, tables)
    scope = Scope(relation.columns, query.get("virtualColumns") or ())
    names = list(query.get("columns") or [])
    if not names:
        names = [*relation.columns, *(name for name in scope.virtual_names if name not in relation.columns)]
    values = {name: scope.resolve(name) for name in names}
    columns = {name: output_type(value) for name, value in values.items()}
    items = [selected(value, name) for name, value in values.items()]
    order = _scan_order(query)
    if order and relation.spans is None:
        raise DruidError("a scan over a query or inline rows cannot be ordered by time")
    if order and TIME not in names:
        raise DruidError("The __time column must be selected if the results are time-ordered.")
    if order:
        items += [f"{identifier(TIME)} AS {identifier(ORDER_TIME)}", f"row_number() OVER () AS {identifier(ORDER_ROW)}"]
    sql = f"SELECT {', '.join(items)} FROM ({relation.sql}) AS t{where(query, scope, spans, relation)}"
    limit = query.get("limit") or None
    multiple = [name for name, type_ in columns.items() if type_ == "ARRAY<STRING>" and name not in scope.virtual_names]
    return Plan(sql, columns, order=order, limit=limit, offset=query.get("offset") or 0, multiple=multiple)


def _scan_order(query: Query) -> tuple[str, ...]:
    order = str(query.get("order") or "none").lower()
    by = query.get("orderBy") or []
    if by:
        if len(by) > 1 or by[0]["columnName"] != TIME:
            raise DruidError("a scan is ordered by __time only")
        order = by[0]["order"].lower()
    if order == "none":
        return ()
    direction = "DESC" if order == "descending" else "ASC"
    return (f"{identifier(ORDER_TIME)} {direction}", f"{identifier(ORDER_ROW)} {direction}")


def aggregates(query: Query, scope: Scope) -> list[Aggregate]:
    return [aggregate(spec, scope) for spec in query.get("aggregations") or ()]


def _skips_empty(query: Query) -> bool:
    value = (query.get("context") or {}).get("skipEmptyBuckets", False)
    return value is True or str(value).lower() == "true"


def _timeseries(query: Query, tables: Tables) -> Plan:
    relation, spans = source(query, tables)
    scope = Scope(relation.columns, query.get("virtualColumns") or ())
    granularity = Granularity(query.get("granularity", "all"))
    check_buckets(granularity, relation, spans)
    computed = aggregates(query, scope)
    columns = {agg.name: agg.type for agg in computed}
    items = [f"{agg.sql} AS {identifier(agg.name)}" for agg in computed]
    limit = query.get("limit") or None
    if granularity.is_all:
        having = " HAVING count(*) > 0" if _skips_empty(query) else ""
        rows = f"FROM ({relation.sql}) AS t{where(query, scope, spans, relation)}"
        sql = f"SELECT {', '.join(items) or 'count(*) AS rows'} {rows}{having}"
        sql = post_aggregated(sql, columns, query.get("postAggregations"))
        stamp = all_bucket_start(relation, spans)
        return Plan(sql, {"timestamp": "LONG", **columns}, limit=limit, stamp=stamp)
    buckets = bucketed(granularity, relation, spans)
    rows = f"FROM ({buckets.rows.sql}) AS t{where(query, scope, spans, buckets.rows)}"
    columns = {"timestamp": "LONG", **columns}
    items.insert(0, f'{buckets.start} AS "timestamp"')
    sql = f"SELECT {', '.join(items)} {rows} GROUP BY 1"
    if not _skips_empty(query):
        listed = buckets.listed or _listed(granularity, buckets.rows, spans)
        sql = _with_empty_buckets(sql, computed, listed) if listed else sql
    sql = post_aggregated(sql, columns, query.get("postAggregations"))
    direction = "DESC" if query.get("descending") else "ASC"
    return Plan(sql, columns, order=(f'"timestamp" {direction}',), limit=limit)


def all_bucket_start(relation: Relation, spans: tuple[tuple[int, int], ...]) -> str:
    """SQL for the time of the single bucket of `all`: the start of the data, but not before that of the interval."""
    start = spans[0][0] if spans else time.MIN_INSTANT
    first = f"(SELECT greatest(min(lo), {start}) FROM ({relation.spans}) AS s)" if relation.spans else "NULL"
    return f"coalesce({first}, CAST({start} AS BIGINT))"


def _listed(granularity: Granularity, relation: Relation, spans: tuple[tuple[int, int], ...]) -> str | None:
    """SQL for the buckets between the first and last instant of each segment.

    Rows without segments count as one segment of the length of the intervals.
    """
    lone = (f"SELECT CAST({start} AS BIGINT) AS lo, CAST({end - 1} AS BIGINT) AS hi" for start, end in spans)
    segments = relation.spans or " UNION ALL ".join(lone)
    if not segments:
        return None
    if granularity.is_none:
        raise DruidError(
            "a timeseries with granularity 'none' has a bucket for every millisecond",
            hint="set skipEmptyBuckets in the query context",
        )
    lows = []
    for start, end in spans:
        low, high = f"greatest(lo, {start})", f"least(hi, {end - 1})"
        steps = f"unnest(list_append(range({low}, {high}, {granularity.step}), {high}))"
        lows.append(f"SELECT {steps} AS t FROM ({segments}) AS s WHERE {low} <= {high}")
    return f'SELECT DISTINCT {granularity.floor("t")} AS "timestamp" FROM ({" UNION ALL ".join(lows)}) AS u'


def _with_empty_buckets(sql: str, computed: list[Aggregate], listed: str) -> str:
    """Adds the buckets without rows."""
    items = "".join(
        f', CASE WHEN g."timestamp" IS NULL THEN {agg.of_nothing} ELSE g.{identifier(agg.name)} END'
        f" AS {identifier(agg.name)}"
        for agg in computed
    )
    return f'SELECT b."timestamp"{items} FROM ({listed}) AS b LEFT JOIN ({sql}) AS g USING ("timestamp")'


def _top_n(query: Query, tables: Tables) -> Plan:
    relation, spans = source(query, tables)
    scope = Scope(relation.columns, query.get("virtualColumns") or ())
    granularity = Granularity(query.get("granularity", "all"))
    check_buckets(granularity, relation, spans)
    keys = [dimension(query["dimension"], scope, counts_empty=False)]
    name = keys[0].name
    if query["threshold"] < 1:
        raise DruidError("Threshold cannot be equal to 0.")
    computed = aggregates(query, scope)
    for agg in computed:
        if agg.type == "FLOAT":  # a topN returns float metrics as doubles
            agg.sql, agg.type = f"CAST({agg.sql} AS DOUBLE)", "DOUBLE"
    if not granularity.is_all:
        relation, start, _ = bucketed(granularity, relation, spans)
        keys.insert(0, Key("timestamp", Sql(start, "LONG")))
    sql = grouped(relation, where(query, scope, spans, relation), keys, computed)
    columns = {key.name: key.type for key in keys} | {agg.name: agg.type for agg in computed}
    sql = post_aggregated(sql, columns, query.get("postAggregations"))
    kept, order = _top_n_order(query["metric"], name, columns)
    sql = f"SELECT * FROM ({sql}) AS m{kept}"
    if granularity.is_all:
        columns = {"timestamp": "LONG", **columns}
        stamp, bucket = all_bucket_start(relation, spans), _empty_bucket(relation, spans)
        return Plan(sql, columns, order=order, limit=query["threshold"], stamp=stamp, bucket=bucket)
    ranked = f'row_number() OVER (PARTITION BY "timestamp" ORDER BY {", ".join(order)})'
    sql = f"SELECT * FROM ({sql}) AS m QUALIFY {ranked} <= {query['threshold']}"
    return Plan(sql, columns, order=('"timestamp"', *order))


def _empty_bucket(relation: Relation, spans: tuple[tuple[int, int], ...]) -> str | None:
    """SQL for the time of the bucket of `all` if a segment has data within the intervals, otherwise no row."""
    if relation.spans is None:
        return None
    within = " OR ".join(f"(hi >= {start} AND lo < {end})" for start, end in spans) or "FALSE"
    start = all_bucket_start(relation, spans)
    return f"SELECT {start} WHERE EXISTS (SELECT 1 FROM ({relation.spans}) AS s WHERE {within})"


def _top_n_order(metric: Any, name: str, columns: Mapping[str, str], inverted: bool = False) -> tuple[str, list[str]]:
    """A WHERE clause and the order of a topN's metric spec: null metrics come last, null dimensions first, always."""
    direction = "ASC NULLS LAST" if inverted else "DESC NULLS LAST"
    if isinstance(metric, Mapping) and metric.get("type") == "inverted":
        return _top_n_order(metric["metric"], name, columns, not inverted)
    if isinstance(metric, str) or metric.get("type") == "numeric":
        by = metric if isinstance(metric, str) else metric["metric"]
        if by not in columns:
            raise DruidError(f"topN metric '{by}' is neither an aggregator nor a post-aggregator of the query")
        return "", [f"{identifier(by)} {direction}", f"{identifier(name)} ASC NULLS FIRST"]
    kind = metric.get("type")
    if kind not in ("dimension", "lexicographic"):
        raise DruidError(f"topN metrics of type '{kind}' are not supported by the embedded store")
    ordering = metric.get("ordering", "lexicographic")
    ordering = ordering["type"] if isinstance(ordering, Mapping) else ordering
    direction = "DESC NULLS FIRST" if inverted else "ASC NULLS FIRST"
    terms = ordered_dimension(name, columns[name], ordering, direction)
    kept = ""
    if metric.get("previousStop") is not None:
        stop = cast(string(str(metric["previousStop"])), columns[name]).text
        kept = f" WHERE {identifier(name)} {'<' if inverted else '>'} {stop}"
    return kept, terms


def _time_boundary(query: Query, tables: Tables) -> Plan:
    relation, spans = source(query, tables)
    scope = Scope(relation.columns, query.get("virtualColumns") or ())
    t = as_long(scope.resolve(TIME)).text
    bound = query.get("bound") or ""
    wanted = [bound] if bound else ["minTime", "maxTime"]
    items = ", ".join(f"{'min' if name == 'minTime' else 'max'}({t}) AS {identifier(name)}" for name in wanted)
    sql = f"SELECT {items} FROM ({relation.sql}) AS t{where(query, scope, spans, relation)} HAVING count(*) > 0"
    return Plan(sql, dict.fromkeys(wanted, "LONG"))


_PLANNERS = {"scan": _scan, "timeseries": _timeseries, "topN": _top_n, "timeBoundary": _time_boundary}
