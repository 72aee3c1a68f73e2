"""A DruidQuery node as one native JSON query: with its type, and its parts in Druid's documented order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hivedruid.catalog.stored_types import CAST
from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.catalog.types import BOOLEAN
from hivedruid.druid import intervals
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.expressions import PERIODS, DruidColumn, druid_type
from hivedruid.druid.inputs import Inputs
from hivedruid.druid.outputs import Outputs
from hivedruid.plan.bounds import bounded_values
from hivedruid.plan.fold import refold
from hivedruid.plan.nodes import DruidQuery
from hivedruid.plan.physical import DruidRead, Field
from hivedruid.plan.rex import Agg, Call, Literal, Ref, Rex, conjunction, conjuncts, substitute, walk

Json = dict[str, Any]

MAX_SECONDS = 1_000_000
"""The maximum time range of a timeseries by the second."""

MAX_TOPN = 1000
"""Maximum rows of a topN, and values that each segment returns (minTopNThreshold)."""


def native_query(query: DruidQuery, zone: str, *, whole: bool = False) -> DruidRead:
    """The JSON and the fields of its rows; raises NotExact if Druid's result would differ from Hive's. `whole`: with
    all columns of its joins, also those that it does not read.
    """
    read: DruidRead | None = query.rendered.get((zone, whole))
    if read is None:
        read = query.rendered[zone, whole] = _native_query(query, zone, whole)
    return read


def _native_query(query: DruidQuery, zone: str, whole: bool) -> DruidRead:
    if query.fetch == 0:
        raise NotExact("LIMIT 0")
    inputs = Inputs(query, zone, lambda inner: native_query(inner, zone), whole=whole)
    if query.grouped is None:
        return _scan(query, inputs)
    if query.total is not None:
        return replace(_group_by(query, inputs), over_nothing=_total_of_nothing(query, query.total, zone))
    if query.grouping_sets is not None:
        return _group_by(query, inputs)
    if _is_grand_total(query):
        return _group_by(query, inputs) if _needs_group_by(query, inputs) else _timeseries(query, inputs, None)
    bucket = _bucket(query, inputs)
    if bucket is not None:
        return _timeseries(query, inputs, bucket)
    return _top_n(query, inputs) if is_top_n(query, inputs) else _group_by(query, inputs)


def _total_of_nothing(query: DruidQuery, total: tuple[Literal, ...], zone: str) -> DruidRead | None:
    """The row of the set without keys if there are no rows: a timeseries returns it, a groupBy does not. If rows exist
    but HAVING removes all, it returns nothing, since its row is the removed one.
    """
    if query.offset:
        return None
    grouped = query.grouped or ()
    width = len(query.keys)
    calls, extra = grouped[width : width + len(query.calls)], grouped[width + len(query.calls) :]
    keys: dict[str, Rex] = dict(zip([c.id for c in (*grouped[:width], *extra)], total, strict=False))
    exprs = tuple(substitute(e, keys) for e in query.exprs)
    no_sort = replace(
        query, having=None, grouped=calls, keys=(), sort=(), fetch=None, grouping_sets=None, total=None,
        filter=_only_total(query, total),
    )  # fmt: skip
    having = refold(substitute(query.having, keys), zone) if query.having is not None else Literal(BOOLEAN, True)
    if isinstance(having, Literal):
        return native_query(replace(no_sort, exprs=exprs), zone) if having.value else None
    below = replace(no_sort, columns=calls, exprs=tuple(c.ref for c in calls))
    return native_query(DruidQuery(query.columns, below, exprs, having), zone)


def _only_total(query: DruidQuery, total: tuple[Literal, ...]) -> Rex | None:
    """The condition of the rows that make the total: all of them, unless the sets are in the query below."""
    if query.grouping_sets is not None:
        return query.filter
    marked = [(key, value) for key, value in zip(query.keys, total, strict=True) if value.value is not None]
    return conjunction([*conjuncts(query.filter), *(Call(BOOLEAN, "=", pair) for pair in marked)])


# --- scan ------------------------------------------------------------------------------------------------------------


def _scan(query: DruidQuery, inputs: Inputs) -> DruidRead:
    span, native_filter = inputs.filter()
    fields = [Field(_source(rex, inputs).name, c.type) for c, rex in zip(query.columns, query.exprs, strict=True)]
    order = _scan_order(query, inputs)
    names = list(dict.fromkeys(f.name for f in fields))
    if (order and TIME_COLUMN not in names) or not names:
        names.append(TIME_COLUMN)
    json: Json = {"queryType": "scan", "dataSource": inputs.data_source, "intervals": intervals.to_json(span)}
    json |= {"filter": native_filter} if native_filter else {}
    json |= inputs.virtual_columns()
    json |= {"columns": names, "resultFormat": "compactedList"}
    json |= {"order": order} if order else {}
    json |= {"offset": query.offset} if query.offset else {}
    json |= {"limit": query.fetch} if query.fetch is not None else {}
    return DruidRead(json, tuple(fields))


def _source(rex: Rex, inputs: Inputs) -> DruidColumn:
    stored = inputs.columns.get(rex.id) if isinstance(rex, Ref) else None
    return inputs.column(rex) if stored is None or stored.reading == CAST else stored


def exact_outputs(query: DruidQuery, exprs: Sequence[Rex], zone: str) -> list[bool]:
    """Whether Druid computes each of the expressions exactly in a scan with the rows of `query`, which is exact itself.
    A query for each of them would describe the columns of the source again and again."""
    inputs = Inputs(replace(query, exprs=tuple(exprs)), zone, lambda inner: native_query(inner, zone))

    def is_exact(rex: Rex) -> bool:
        try:
            _source(rex, inputs)
        except NotExact:
            return False
        return True

    return [is_exact(rex) for rex in exprs]


def _scan_order(query: DruidQuery, inputs: Inputs) -> str | None:
    if not query.sort:
        return None
    key = query.sort[0]
    if not _rises_with_time(key.rex, inputs) or len(query.sort) > 1:
        raise NotExact("Druid sorts scan results only by __time")
    return "descending" if key.descending else "ascending"


def _rises_with_time(rex: Rex, inputs: Inputs) -> bool:
    """Whether the order of `__time` implies the order of an expression."""
    if isinstance(rex, Ref):
        return rex.id == inputs.time_id
    if not isinstance(rex, Call) or len(rex.args) != 1 or not rex.args[0].type.is_time:
        return False
    kind, _, unit = rex.op.partition("_")
    rises = (kind in ("floor", "ceil") and unit in PERIODS) or (rex.op == "cast" and rex.type.name == "date")
    # local time is set back once a year, except in UTC
    rises |= rex.op == "cast" and rex.type.is_timestamp and inputs.expressions.is_utc
    # a repeated bucket is not contiguous
    disturbance = inputs.expressions.disturbance(unit if unit in PERIODS else "day", rex.args[0])
    rises &= disturbance is None or not disturbance.repeated
    return rises and _rises_with_time(rex.args[0], inputs)


# --- timeseries ------------------------------------------------------------------------------------------------------


def _is_grand_total(query: DruidQuery) -> bool:
    """No keys, or only constants, which form a group only if there are rows."""
    return all(isinstance(key, Literal) for key in query.keys)


def _needs_group_by(query: DruidQuery, inputs: Inputs) -> bool:
    """Whether a groupBy without dimensions is better than a timeseries: for HAVING and OFFSET, or over another groupBy.

    A timeseries would materialize the rows of the inner groupBy first, which the broker limits (maxSubqueryRows); over
    grouping sets it is used anyway, since those hold the merge buffers that a second groupBy needs.
    """
    if query.having is not None or query.offset:
        return True
    inner = inputs.data_source["query"] if isinstance(query.source, DruidQuery) else {}
    endless = (
        inner.get("queryType") == "groupBy" and bool(inner["dimensions"]) and "limit" not in inner.get("limitSpec", {})
    )
    return endless and "subtotalsSpec" not in inner and not query.keys and not _loses_join(inner)


def _loses_join(inner: Mapping[str, Any]) -> bool:
    """Whether Druid 33 returns wrong results for a groupBy over this groupBy: it ignores a join whose left side is a
    subquery."""
    if inner.get("queryType") != "groupBy" or not isinstance(inner["dataSource"], Mapping):
        return False
    source = inner["dataSource"]
    if source["type"] == "query":
        return _loses_join(source["query"])
    is_join = source["type"] == "join"
    while isinstance(source, Mapping) and source["type"] == "join":
        source = source["left"]
    return is_join and isinstance(source, Mapping) and source["type"] in ("query", "inline")


def _bucket(query: DruidQuery, inputs: Inputs) -> Call | None:
    """The single key, if it is equivalent to a floor of `__time`, and order and limit do not require another query
    type. A date is the floor to the day.
    """
    rex, key = query.keys[0], (query.grouped or ())[0].ref
    if len(query.keys) != 1 or not isinstance(rex, Call) or query.having is not None or query.offset:
        return None
    is_date = rex.op == "cast" and rex.type.name == "date"
    is_floor = rex.op.startswith("floor_") and rex.op[6:] in PERIODS
    if not (is_date or is_floor) or not isinstance(rex.args[0], Ref) or rex.args[0].id != inputs.time_id:
        return None
    sorts = query.sort
    if len(sorts) > 1 or (sorts and sorts[0].rex != key) or _is_too_fine(rex, inputs):
        return None
    bucket = rex if is_floor else Call(rex.args[0].type, "floor_day", rex.args)
    # a timeseries continues from a late start, and does not merge buckets with equal starts
    return None if inputs.expressions.disturbance(bucket.op[6:], bucket.args[0]) else bucket


def _is_too_fine(rex: Call, inputs: Inputs) -> bool:
    """Whether a timeseries would iterate over the seconds of years: it also visits empty buckets of every segment.

    Measured on Druid 33: 300 rows of eleven years by the second take minutes, a groupBy milliseconds.
    """
    if rex.op != "floor_second":
        return False
    return sum(end - start for start, end in inputs.span) // 1000 > MAX_SECONDS


def _computes_with(rex: Rex, key: Ref) -> bool:
    """Whether an output uses the key in an expression: post-aggregations cannot read a topN's dimension."""
    return not isinstance(rex, Ref) and any(n == key for n in walk(rex))


def _timeseries(query: DruidQuery, inputs: Inputs, bucket: Call | None) -> DruidRead:
    outputs = Outputs(query, inputs)
    granularity: Any = "all"
    if bucket is not None:
        outputs.bucket(bucket)
        period, place = PERIODS[bucket.op[6:]], inputs.expressions.zone(bucket.args[0])
        granularity = {"type": "period", "period": period, "timeZone": place}
    outputs.aggregate()
    fields = outputs.fields()
    span, native_filter = inputs.filter()
    json: Json = {"queryType": "timeseries", "dataSource": inputs.data_source}
    json |= {"descending": bool(query.sort and query.sort[0].descending) if bucket is not None else False}
    json |= {"granularity": granularity}
    json |= {"filter": native_filter} if native_filter else {}
    json |= inputs.virtual_columns()
    json |= {"aggregations": outputs.aggregators.natives}
    json |= {"postAggregations": outputs.posts} if outputs.posts else {}
    json |= {"intervals": intervals.to_json(span)}
    json |= {"limit": query.fetch} if query.fetch is not None and bucket is not None else {}
    json |= {"context": {"skipEmptyBuckets": bool(query.keys)}}
    return DruidRead(json, tuple(fields))


# --- topN ------------------------------------------------------------------------------------------------------------


def is_top_n(query: DruidQuery, inputs: Inputs) -> bool:
    """One key, ordered and limited, where a topN is exact and not slower than a groupBy.

    Over another native query it is slower: a topN would materialize its rows first (maxSubqueryRows).
    """
    if len(query.keys) != 1 or len(query.sort) != 1 or query.offset or query.having is not None:
        return False
    if query.fetch is None or query.fetch > MAX_TOPN or isinstance(query.source, DruidQuery):
        return False
    column = (query.grouped or ())[0].ref
    if any(_computes_with(e, column) for e in query.exprs):
        return False
    return _is_by_key(query, inputs) if query.sort[0].rex == column else top_n_values(query) is not None


def _is_by_key(query: DruidQuery, inputs: Inputs) -> bool:
    """A topN ordered by its dimension is exact; it sorts nulls first in both directions."""
    key = query.sort[0]
    return (key.nulls_first and not key.descending) or inputs.never_null(query.keys[0])


def top_n_values(query: DruidQuery) -> int | None:
    """The maximum number of key values for a topN by an aggregate; None if a topN is not possible. Each segment
    returns its top MAX_TOPN values, so it is exact if there cannot be more. Only for computed keys: over stored
    columns a groupBy is vectorized and faster. Null aggregates come last in both directions.
    """
    key, call = query.keys[0], _ordering_call(query)
    if call is None or not isinstance(key, Call) or druid_type(call.type) != "LONG":
        return None
    if query.sort[0].nulls_first and call.op != "count":
        return None
    values = bounded_values(key, query.filter)
    return values if values is not None and values <= MAX_TOPN else None


def _ordering_call(query: DruidQuery) -> Agg | None:
    """The aggregate that orders the groups."""
    pairs = zip((query.grouped or ())[len(query.keys) :], query.calls, strict=False)
    return next((call for column, call in pairs if column.ref == query.sort[0].rex), None)


def _top_n(query: DruidQuery, inputs: Inputs) -> DruidRead:
    outputs = Outputs(query, inputs)
    dimension = outputs.dimensions()[0]
    outputs.aggregate()
    fields = outputs.fields()
    span, native_filter = inputs.filter()
    json: Json = {"queryType": "topN", "dataSource": inputs.data_source, "granularity": "all", "dimension": dimension}
    json |= inputs.virtual_columns()
    json |= {"metric": _metric(query, outputs, dimension)}
    json |= {"filter": native_filter} if native_filter else {}
    json |= {"aggregations": outputs.aggregators.natives} if outputs.aggregators.natives else {}
    json |= {"postAggregations": outputs.posts} if outputs.posts else {}
    json |= {"intervals": intervals.to_json(span), "threshold": query.fetch}
    if _ordering_call(query) is not None:  # Druid's default, which its operators may lower
        json |= {"context": {"minTopNThreshold": MAX_TOPN}}
    return DruidRead(json, tuple(fields))


def _metric(query: DruidQuery, outputs: Outputs, dimension: Json) -> Json:
    """The metric of a topN. Aggregates are sorted descending by default, dimensions ascending."""
    key = query.sort[0]
    if _ordering_call(query) is not None:
        metric: Json = {"type": "numeric", "metric": outputs.post(key.rex)}
        return metric if key.descending else {"type": "inverted", "metric": metric}
    metric = {"type": "dimension", "ordering": "lexicographic" if dimension["outputType"] == "STRING" else "numeric"}
    return {"type": "inverted", "metric": metric} if key.descending else metric


# --- groupBy ---------------------------------------------------------------------------------------------------------


def _group_by(query: DruidQuery, inputs: Inputs) -> DruidRead:
    if isinstance(query.source, DruidQuery) and _loses_join(inputs.data_source["query"]):
        raise NotExact("Druid ignores a join of two subqueries below nested groupBy queries")
    outputs = Outputs(query, inputs)
    dimensions = outputs.dimensions()
    outputs.aggregate()
    subtotals = outputs.subtotals(dimensions)
    fields = outputs.fields()
    limit_spec = outputs.limit_spec()
    having = outputs.having()
    span, native_filter = inputs.filter()
    json: Json = {"queryType": "groupBy", "dataSource": inputs.data_source, "granularity": "all"}
    json |= {"dimensions": dimensions}
    json |= inputs.virtual_columns()
    json |= limit_spec
    json |= {"filter": native_filter} if native_filter else {}
    json |= {"aggregations": outputs.aggregators.natives} if outputs.aggregators.natives else {}
    json |= {"postAggregations": outputs.posts} if outputs.posts else {}
    json |= {"intervals": intervals.to_json(span)}
    json |= having
    json |= subtotals
    return DruidRead(json, tuple(fields))
