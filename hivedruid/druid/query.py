"""A DruidQuery node as one native JSON query: its type chosen, its parts in Druid's documented order."""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.catalog.types import BIGINT as _BIGINT
from hivedruid.catalog.types import DOUBLE as _DOUBLE
from hivedruid.druid import intervals
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.expressions import (
    PERIODS,
    DruidColumn,
    DruidExpressions,
    druid_type,
    may_be_negative_zero,
)
from hivedruid.druid.filters import to_filter
from hivedruid.druid.intervals import IntervalSet
from hivedruid.plan.nodes import DruidQuery, PlanColumn, TableScan
from hivedruid.plan.physical import DruidRead, Field
from hivedruid.plan.rex import Agg, Call, Literal, Ref, Rex, SortKey, conjunction, conjuncts

Json = dict[str, Any]

MAX_TOPN = 1000
"""A topN ordered by its dimension is exact; this only bounds how many rows one may ask of it."""


def native_query(query: DruidQuery, zone: str) -> DruidRead:
    """The JSON and the fields of its rows; NotExact where Druid cannot answer as Hive means it."""
    return _Renderer(query, zone).render()


class _Output(NamedTuple):
    """Where an output value stands in the rows: its field and Druid type."""

    name: str
    type: str


class _Renderer:
    def __init__(self, query: DruidQuery, zone: str) -> None:
        self.q = query
        self.zone = zone
        self.virtual: dict[tuple[str, str], str] = {}
        self.time_id: str | None = None
        self.columns: dict[str, DruidColumn] = {}
        self.data_source: Any = self._source(query.source)
        self.expressions = DruidExpressions(self.columns, zone)

    def render(self) -> DruidRead:
        return self._scan() if self.q.grouped is None else self._aggregate()

    # --- source, filter ----------------------------------------------------------------------------------------

    def _source(self, source: TableScan | DruidQuery) -> Any:
        if isinstance(source, TableScan):
            for column in source.columns:
                stored = source.table.column(column.name)
                name = stored.field_name if stored else column.name
                self.columns[column.id] = DruidColumn(name, _stored_type(column))
                if name == TIME_COLUMN:
                    self.time_id = column.id
            return source.table.data_source
        inner = native_query(source, self.zone)
        for column, field in zip(source.columns, inner.fields, strict=True):
            name = TIME_COLUMN if field.name == "timestamp" and inner.query["queryType"] == "timeseries" else field.name
            self.columns[column.id] = DruidColumn(name, druid_type(column.type))
        return {"type": "query", "query": dict(inner.query)}

    def _filter(self) -> tuple[IntervalSet, Json | None]:
        """What the condition says about time as intervals, and the rest as a filter."""
        span, rest = intervals.ALL, []
        for term in conjuncts(self.q.filter) if self.q.filter is not None else []:
            times = intervals.of_predicate(term, self.time_id, self.zone) if self.time_id else None
            if times is None:
                rest.append(term)
            else:
                span = intervals.intersection(span, times)
        condition = conjunction(rest)
        native = to_filter(condition, self.columns, self.zone) if condition is not None else None
        if not span:  # no time at all: the grand total still has its one row
            return intervals.ALL, {"type": "false"}
        return span, native

    def _virtual(self, rex: Rex) -> DruidColumn:
        """A virtual column that computes an expression; the same expression twice is one column."""
        return self._computed(self.expressions.text(rex), druid_type(rex.type))

    def _computed(self, text: str, type_: str) -> DruidColumn:
        if (text, type_) not in self.virtual:
            taken = {c.name for c in self.columns.values()}
            taken |= set(self.virtual.values())
            self.virtual[(text, type_)] = next(n for n in (f"vc{i}" for i in count()) if n not in taken)
        return DruidColumn(self.virtual[(text, type_)], type_)

    def _virtual_columns(self) -> list[Json]:
        return [
            {"type": "expression", "name": name, "expression": text, "outputType": type_}
            for (text, type_), name in self.virtual.items()
        ]

    def _input(self, rex: Rex) -> DruidColumn:
        """A column of the source, or a virtual column for an expression."""
        return self.expressions.column(rex) if isinstance(rex, Ref) else self._virtual(rex)

    def _key(self, rex: Rex) -> DruidColumn:
        """What groups by an expression: 0.0 and -0.0 are one group to Hive, two to Druid."""
        if not may_be_negative_zero(rex):
            return self._input(rex)
        return self._computed(self.expressions.without_negative_zero(rex), druid_type(rex.type))

    # --- scan --------------------------------------------------------------------------------------------------

    def _scan(self) -> DruidRead:
        span, native_filter = self._filter()
        fields = []
        for column, rex in zip(self.q.columns, self.q.exprs, strict=True):
            source = self.columns[rex.id] if isinstance(rex, Ref) and rex.id in self.columns else self._input(rex)
            fields.append(Field(source.name, column.type))
        order = self._scan_order()
        names = list(dict.fromkeys(f.name for f in fields))
        if (order and TIME_COLUMN not in names) or not names:
            names.append(TIME_COLUMN)
        json: Json = {"queryType": "scan", "dataSource": self.data_source, "intervals": intervals.to_json(span)}
        json |= {"filter": native_filter} if native_filter else {}
        json |= {"virtualColumns": self._virtual_columns()} if self.virtual else {}
        json |= {"columns": names, "resultFormat": "compactedList"}
        json |= {"order": order} if order else {}
        json |= {"offset": self.q.offset} if self.q.offset else {}
        json |= {"limit": self.q.fetch} if self.q.fetch is not None else {}
        if self.q.fetch == 0:
            raise NotExact("LIMIT 0")
        return DruidRead(json, tuple(fields))

    def _scan_order(self) -> str | None:
        if not self.q.sort:
            return None
        key = self.q.sort[0]
        if not isinstance(key.rex, Ref) or key.rex.id != self.time_id or len(self.q.sort) > 1:
            raise NotExact("Druid sorts scanned rows by __time only")
        return "descending" if key.descending else "ascending"

    # --- aggregation -------------------------------------------------------------------------------------------

    def _aggregate(self) -> DruidRead:
        assert self.q.grouped is not None
        keys = list(zip(self.q.grouped, self.q.keys, strict=False))
        calls = list(zip(self.q.grouped[len(self.q.keys) :], self.q.calls, strict=True))
        if self.q.fetch == 0:
            raise NotExact("LIMIT 0")
        if not keys:
            return self._timeseries(None, calls)
        bucket = self._bucket(keys)
        if bucket is not None:
            try:
                return self._timeseries(bucket, calls)
            except NotExact:
                self.virtual.clear()
        if self._is_top_n(keys):
            return self._top_n(keys, calls)
        return self._group_by(keys, calls)

    def _bucket(self, keys: list[tuple[PlanColumn, Rex]]) -> Call | None:
        """The single key, where it is a floor of `__time` and nothing but that key orders or limits the result."""
        rex = keys[0][1]
        if (
            len(keys) != 1
            or not isinstance(rex, Call)
            or self.q.having is not None
            or self.q.offset
            or self.time_id is None
        ):
            return None
        floor = rex.op.startswith("floor_") and rex.op[6:] in PERIODS
        if not floor or not isinstance(rex.args[0], Ref) or rex.args[0].id != self.time_id:
            return None
        sorts = self.q.sort
        if len(sorts) > 1 or (sorts and sorts[0].rex != keys[0][0].ref):
            return None
        return rex

    def _timeseries(self, bucket: Call | None, calls: list[tuple[PlanColumn, Agg]]) -> DruidRead:
        if bucket is None and (self.q.having is not None or self.q.offset):
            raise NotExact("HAVING or OFFSET over the one row of a grand total")
        outputs = {c.id: _Output("timestamp", "LONG") for c in (self.q.grouped or ())[: len(self.q.keys)]}
        aggregations, posts = self._aggregations(calls, outputs)
        if bucket is not None and any(
            isinstance(n, Ref) and n.id in outputs and outputs[n.id].name == "timestamp"
            for e in self.q.exprs
            if not isinstance(e, Ref)
            for n in _walk(e)
        ):
            raise NotExact("a timeseries cannot compute with its own time")
        fields = self._post_project(outputs, posts)
        span, native_filter = self._filter()
        granularity: Any = "all"
        if bucket is not None:
            zone = self.expressions.zone(bucket.args[0])
            granularity = {"type": "period", "period": PERIODS[bucket.op[6:]], "timeZone": zone}
        json: Json = {"queryType": "timeseries", "dataSource": self.data_source}
        json |= {"descending": bool(self.q.sort and self.q.sort[0].descending) if bucket is not None else False}
        json |= {"granularity": granularity}
        json |= {"filter": native_filter} if native_filter else {}
        json |= {"virtualColumns": self._virtual_columns()} if self.virtual else {}
        json |= {"aggregations": aggregations}
        json |= {"postAggregations": posts} if posts else {}
        json |= {"intervals": intervals.to_json(span)}
        json |= {"limit": self.q.fetch} if self.q.fetch is not None and bucket is not None else {}
        json |= {"context": {"skipEmptyBuckets": bucket is not None}}
        return DruidRead(json, tuple(fields))

    def _is_top_n(self, keys: list[tuple[PlanColumn, Rex]]) -> bool:
        """One key, ordered by itself, limited: the one case in which topN is exact. It has nulls first in either order."""
        q = self.q
        if (
            len(keys) != 1
            or len(q.sort) != 1
            or q.fetch is None
            or q.offset
            or q.having is not None
            or q.fetch > MAX_TOPN
        ):
            return False
        key = q.sort[0]
        if key.rex != keys[0][0].ref or any(not isinstance(e, Ref) and keys[0][0].id in _ids(e) for e in q.exprs):
            return False
        return (key.nulls_first and not key.descending) or self._never_null(keys[0][1])

    def _top_n(self, keys: list[tuple[PlanColumn, Rex]], calls: list[tuple[PlanColumn, Agg]]) -> DruidRead:
        outputs: dict[str, _Output] = {}
        dimension = self._dimensions(keys, outputs)[0]
        aggregations, posts = self._aggregations(calls, outputs)
        fields = self._post_project(outputs, posts)
        span, native_filter = self._filter()
        ordering = "lexicographic" if dimension["outputType"] == "STRING" else "numeric"
        metric: Json = {"type": "dimension", "ordering": ordering}
        if self.q.sort[0].descending:
            metric = {"type": "inverted", "metric": metric}
        json: Json = {"queryType": "topN", "dataSource": self.data_source, "granularity": "all", "dimension": dimension}
        json |= {"virtualColumns": self._virtual_columns()} if self.virtual else {}
        json |= {"metric": metric}
        json |= {"filter": native_filter} if native_filter else {}
        json |= {"aggregations": aggregations} if aggregations else {}
        json |= {"postAggregations": posts} if posts else {}
        json |= {"intervals": intervals.to_json(span), "threshold": self.q.fetch}
        return DruidRead(json, tuple(fields))

    def _group_by(self, keys: list[tuple[PlanColumn, Rex]], calls: list[tuple[PlanColumn, Agg]]) -> DruidRead:
        outputs: dict[str, _Output] = {}
        dimensions = self._dimensions(keys, outputs)
        aggregations, posts = self._aggregations(calls, outputs)
        fields = self._post_project(outputs, posts)
        limit_spec = self._limit_spec(outputs, posts)
        having = self._having(outputs)
        span, native_filter = self._filter()
        json: Json = {
            "queryType": "groupBy",
            "dataSource": self.data_source,
            "granularity": "all",
            "dimensions": dimensions,
        }
        json |= {"virtualColumns": self._virtual_columns()} if self.virtual else {}
        json |= {"limitSpec": limit_spec} if limit_spec else {}
        json |= {"filter": native_filter} if native_filter else {}
        json |= {"aggregations": aggregations} if aggregations else {}
        json |= {"postAggregations": posts} if posts else {}
        json |= {"intervals": intervals.to_json(span)}
        json |= {"having": having} if having else {}
        return DruidRead(json, tuple(fields))

    def _dimensions(self, keys: list[tuple[PlanColumn, Rex]], outputs: dict[str, _Output]) -> list[Json]:
        dimensions: list[Json] = []
        for column, rex in keys:
            source = self._key(rex)
            called = self._input(rex).name if isinstance(rex, Ref) else source.name
            own = called != TIME_COLUMN and not called.startswith("$")
            name = _fresh(called if own else f"d{len(dimensions)}", {d["outputName"] for d in dimensions})
            outputs[column.id] = _Output(name, source.type)
            dimensions.append(
                {"type": "default", "dimension": source.name, "outputName": name, "outputType": source.type}
            )
        return dimensions

    def _aggregations(
        self, calls: list[tuple[PlanColumn, Agg]], outputs: dict[str, _Output]
    ) -> tuple[list[Json], list[Json]]:
        aggregations: list[Json] = []
        posts: list[Json] = []
        width = len(self.q.keys)
        for position, (column, call) in enumerate(calls):
            name = f"$f{width + position}"
            if call.op == "avg" and not call.distinct:
                aggregations += [self._sum(f"{name}:sum", call, "doubleSum"), self._count(f"{name}:count", call)]
                expression = f'("{name}:sum" / "{name}:count")'
                posts.append({"type": "expression", "name": name, "expression": expression, "outputType": "DOUBLE"})
            else:
                aggregations.append(self._aggregation(name, call))
            outputs[column.id] = _Output(name, druid_type(column.type))
        return aggregations, posts

    def _aggregation(self, name: str, call: Agg) -> Json:
        if call.distinct:
            raise NotExact(f"{call.op}(DISTINCT …) beside other aggregates")
        if call.op == "count":
            return self._count(name, call)
        kind = _AGGREGATORS.get((call.op, call.args[0].type.name))
        if kind is None:
            raise NotExact(f"Druid has no {call.op}() of {call.args[0].type}")
        return self._sum(name, call, kind)

    def _sum(self, name: str, call: Agg, kind: str) -> Json:
        if call.args[0].type.name not in _NUMBERS and kind.startswith("double"):
            raise NotExact(f"Druid has no {call.op}() of {call.args[0].type}")
        native: Json = {"type": kind, "name": name, "fieldName": self._input(call.args[0]).name}
        return self._filtered(native, [call.condition] if call.condition else [])

    def _count(self, name: str, call: Agg) -> Json:
        conditions = [call.condition] if call.condition else []
        native: Json = {"type": "count", "name": name}
        nulls: list[Json] = [
            {"type": "not", "field": {"type": "null", "column": self._input(a).name}}
            for a in call.args
            if not self._never_null(a)
        ]
        return self._filtered(native, conditions, nulls)

    def _filtered(self, native: Json, conditions: list[Rex], filters: list[Json] | None = None) -> Json:
        """The aggregator over the rows that meet all conditions."""
        fields = [*(filters or []), *(to_filter(c, self.columns, self.zone) for c in conditions)]
        if not fields:
            return native
        condition = fields[0] if len(fields) == 1 else {"type": "and", "fields": fields}
        return {"type": "filtered", "filter": condition, "aggregator": native, "name": native["name"]}

    def _post_project(self, outputs: dict[str, _Output], posts: list[Json]) -> list[Field]:
        """The fields of the output columns; expressions become post-aggregations."""
        fields = []
        for column, rex in zip(self.q.columns, self.q.exprs, strict=True):
            fields.append(Field(self._post(rex, outputs, posts), column.type))
        return fields

    def _post(self, rex: Rex, outputs: dict[str, _Output], posts: list[Json]) -> str:
        if isinstance(rex, Ref) and rex.id in outputs:
            return outputs[rex.id].name
        text = DruidExpressions({k: DruidColumn(o.name, o.type) for k, o in outputs.items()}, self.zone).text(rex)
        same = next((p["name"] for p in posts if p["expression"] == text), None)
        if same is not None:
            return str(same)
        taken = {o.name for o in outputs.values()} | {p["name"] for p in posts}
        name = next(n for n in (f"p{i}" for i in count(len(posts))) if n not in taken)
        posts.append({"type": "expression", "name": name, "expression": text, "outputType": druid_type(rex.type)})
        return name

    def _limit_spec(self, outputs: dict[str, _Output], posts: list[Json]) -> Json | None:
        if not self.q.sort and not self.q.is_limited:
            return None
        spec: Json = {"type": "default"}
        columns = [c for key in self.q.sort for c in self._order_columns(key, outputs, posts)]
        spec |= {"columns": columns} if columns else {}
        spec |= {"offset": self.q.offset} if self.q.offset else {}
        spec |= {"limit": self.q.fetch} if self.q.fetch is not None else {}
        return spec

    def _order_columns(self, key: SortKey, outputs: dict[str, _Output], posts: list[Json]) -> list[Json]:
        """The sort columns of one key; where Hive wants nulls elsewhere than Druid, which has them lowest, a flag goes first."""
        direction = "descending" if key.descending else "ascending"
        order = "lexicographic" if key.rex.type.is_string else "numeric"
        name = self._post(self._ordered(key.rex), outputs, posts)
        columns = [{"dimension": name, "direction": direction, "dimensionOrder": order}]
        if key.nulls_first != key.descending or self._output_never_null(key.rex):
            return columns
        flag = self._post(Call(_BIGINT, "is_null", (key.rex,)), outputs, posts)
        return [{"dimension": flag, "direction": direction, "dimensionOrder": "numeric"}, *columns]

    def _ordered(self, rex: Rex) -> Rex:
        """What to sort by: as 0.0, where an expression, min() or max() may be -0.0; keys and sums never are."""
        if isinstance(rex, Ref):
            sources = zip(self.q.grouped or (), [*self.q.keys, *self.q.calls], strict=False)
            call = next((source for column, source in sources if column.id == rex.id), None)
            if not isinstance(call, Agg) or call.op not in ("min", "max"):
                return rex
        return Call(_DOUBLE, "+", (rex, Literal(_DOUBLE, 0.0))) if may_be_negative_zero(rex) else rex

    def _having(self, outputs: dict[str, _Output]) -> Json | None:
        if self.q.having is None:
            return None
        columns = {k: DruidColumn(o.name, o.type) for k, o in outputs.items()}
        return {"type": "filter", "filter": to_filter(self.q.having, columns, self.zone)}

    # --- nulls -------------------------------------------------------------------------------------------------

    def _never_null(self, rex: Rex) -> bool:
        """Whether an expression over the source's rows that pass the filter is certainly not null."""
        if isinstance(rex, Literal):
            return rex.value is not None
        if isinstance(rex, Ref):
            return rex.id == self.time_id or any(
                _proves_not_null(term, rex) for term in conjuncts(self.q.filter or Literal(_BIGINT, 1))
            )
        strict = isinstance(rex, Call) and (
            rex.op.startswith(("floor_", "extract_")) or rex.op in ("upper", "lower", "concat")
        )
        return isinstance(rex, Call) and strict and all(self._never_null(a) for a in rex.args)

    def _output_never_null(self, rex: Rex) -> bool:
        if not isinstance(rex, Ref):
            return False
        for column, source in zip(self.q.grouped or (), [*self.q.keys, *self.q.calls], strict=False):
            if column.id == rex.id:
                return source.op == "count" if isinstance(source, Agg) else self._never_null(source)
        return False


def _fresh(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken: Druid refuses two outputs of one name, and one called `__time`."""
    count = 1
    fresh = name
    while fresh in taken:
        count += 1
        fresh = f"{name}_{count}"
    return fresh


def _proves_not_null(term: Rex, ref: Ref) -> bool:
    """A comparison, IN, LIKE or IS NOT NULL of the column holds for no null."""
    if not isinstance(term, Call) or not term.args or term.args[0] != ref:
        return False
    return term.op in ("is_not_null", "in", "=", "<>", "<", "<=", ">", ">=", "like")


def _stored_type(column: PlanColumn) -> str:
    if column.type.name == "array":
        return "ARRAY<STRING>"
    return druid_type(column.type)


def _walk(rex: Rex) -> list[Rex]:
    from hivedruid.plan.rex import walk

    return list(walk(rex))


def _ids(rex: Rex) -> set[str]:
    return {n.id for n in _walk(rex) if isinstance(n, Ref)}


_NUMBERS = frozenset({"tinyint", "smallint", "int", "bigint", "float", "double"})
_LONGS = ("tinyint", "smallint", "int", "bigint")
_AGGREGATORS: dict[tuple[str, str], str] = {
    **{("sum", name): "longSum" for name in _LONGS},
    **{
        ("min", name): "longMin" for name in (*_LONGS, "timestamp", "timestamp with local time zone", "date", "boolean")
    },
    **{
        ("max", name): "longMax" for name in (*_LONGS, "timestamp", "timestamp with local time zone", "date", "boolean")
    },
    ("sum", "double"): "doubleSum",
    ("sum", "float"): "doubleSum",
    ("min", "double"): "doubleMin",
    ("max", "double"): "doubleMax",
    ("min", "float"): "floatMin",
    ("max", "float"): "floatMax",
}
"""Aggregate and argument type → the native aggregator that is exact for it."""
