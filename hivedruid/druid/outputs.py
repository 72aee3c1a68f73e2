"""The output side of a native query with aggregates: names of keys and aggregators, post-aggregations, order,
having."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count
from typing import Any, NamedTuple

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.catalog.types import BIGINT, DOUBLE
from hivedruid.druid.aggregators import Aggregators
from hivedruid.druid.expressions import DruidColumn, DruidExpressions, druid_type, may_be_negative_zero
from hivedruid.druid.filters import to_filter
from hivedruid.druid.inputs import Inputs
from hivedruid.plan.nodes import DruidQuery, PlanColumn
from hivedruid.plan.physical import Field
from hivedruid.plan.rex import Agg, Call, Literal, Ref, Rex, SortKey, refs, substitute

Json = dict[str, Any]

TIMESTAMP = "timestamp"
"""The field of a timeseries' bucket."""


class Output(NamedTuple):
    """The field and Druid type of an output value."""

    name: str
    type: str


class Outputs:
    """The values of a group by plan id; aggregators and post-aggregations are created on demand."""

    def __init__(self, query: DruidQuery, inputs: Inputs) -> None:
        assert query.grouped is not None
        self.query = query
        self.inputs = inputs
        self.zone = inputs.zone
        width = len(query.keys)
        self.keys = list(zip(query.grouped, query.keys, strict=False))
        self.calls = list(zip(query.grouped[width:], query.calls, strict=False))
        self.grouping_id = query.grouped[width + len(query.calls) :]
        self.by_id: dict[str, Output] = {}
        self.bucket_keys: dict[str, Rex] = {}
        self.aggregators = Aggregators(inputs)
        self.posts = self.aggregators.posts
        asked = [*query.exprs, *([query.having] if query.having is not None else []), *(k.rex for k in query.sort)]
        self.used = {i for rex in asked for i in refs(rex)}

    # --- keys and aggregators ----------------------------------------------------------------------------------

    def bucket(self, bucket: Rex) -> None:
        """The single key is the timeseries bucket, or computed from any time in it. Post-aggregations cannot read the
        time of a bucket, but can read the earliest time of its rows.
        """
        (column, key), time_id = self.keys[0], self.inputs.time_id
        if key == bucket:
            self.by_id[column.id] = Output(TIMESTAMP, "LONG")
        computed = [e for e in self.query.exprs if e != column.ref or key != bucket]
        if time_id is not None and any(column.id in refs(e) for e in computed):
            self.bucket_keys[column.id] = key
            name = self.aggregators.add({"type": "longMin", "name": "$t", "fieldName": TIME_COLUMN})
            self.by_id[time_id] = Output(name, "LONG")

    def dimensions(self) -> list[Json]:
        """The keys as dimensions."""
        dimensions: list[Json] = []
        taken: set[str] = set()
        for column, rex in self.keys:
            source = self.inputs.key(rex)
            called = self.inputs.column(rex).name if isinstance(rex, Ref) else source.name
            own = called != TIME_COLUMN and not called.startswith("$")
            name = _fresh(called if own else f"d{len(dimensions)}", taken)
            taken.add(name)
            self.by_id[column.id] = Output(name, source.type)
            dimensions.append(
                {"type": "default", "dimension": source.name, "outputName": name, "outputType": source.type}
            )
        return dimensions

    def aggregate(self) -> None:
        """Add the required calls as `$f<position>`, Hive's names for them."""
        for position, (column, call) in enumerate(self.calls, start=len(self.keys)):
            if column.id in self.used:
                field = self.aggregators.call(f"$f{position}", call)
                self.by_id[column.id] = Output(field, druid_type(column.type))

    def subtotals(self, dimensions: list[Json]) -> Json:
        """The `subtotalsSpec` part, empty for the single set of all keys."""
        sets = self.query.grouping_sets
        if sets is None:
            return {}
        for column in self.grouping_id:
            if column.id in self.used:
                field = self.aggregators.grouping("$g", [d["dimension"] for d in dimensions])
                self.by_id[column.id] = Output(field, "LONG")
        names = [d["outputName"] for d in dimensions]
        return {"subtotalsSpec": [[names[i] for i in sorted(kept)] for kept in sets]}

    # --- post-aggregations -------------------------------------------------------------------------------------

    def fields(self) -> list[Field]:
        """The fields of the output columns; expressions become post-aggregations."""
        pairs = zip(self.query.columns, self.query.exprs, strict=True)
        return [Field(self.post(rex), column.type) for column, rex in pairs]

    def post(self, rex: Rex) -> str:
        """The field of an expression over the groups."""
        if isinstance(rex, Ref) and rex.id in self.by_id:
            return self.by_id[rex.id].name
        text = self._expressions().text(substitute(rex, self.bucket_keys))
        same = next((p["name"] for p in self.posts if p.get("expression") == text), None)
        if same is not None:
            return str(same)
        taken = {o.name for o in self.by_id.values()} | {p["name"] for p in self.posts}
        name = next(n for n in (f"p{i}" for i in count(len(self.posts))) if n not in taken)
        self.posts.append({"type": "expression", "name": name, "expression": text, "outputType": druid_type(rex.type)})
        return name

    def having(self) -> Json:
        """The `having` part, empty without a condition on the groups."""
        if self.query.having is None:
            return {}
        return {"having": {"type": "filter", "filter": to_filter(self.query.having, self._expressions())}}

    def limit_spec(self) -> Json:
        """The `limitSpec` part, empty without order and limit."""
        query = self.query
        if not query.sort and not query.is_limited:
            return {}
        spec: Json = {"type": "default"}
        columns = [c for key in query.sort for c in self._order_columns(key)]
        spec |= {"columns": columns} if columns else {}
        spec |= {"offset": query.offset} if query.offset else {}
        spec |= {"limit": query.fetch} if query.fetch is not None else {}
        return {"limitSpec": spec}

    def _expressions(self) -> DruidExpressions:
        columns = {k: DruidColumn(o.name, o.type) for k, o in self.by_id.items()}
        return DruidExpressions(columns, self.zone, self.inputs.expressions.times)

    # --- order -------------------------------------------------------------------------------------------------

    def _order_columns(self, key: SortKey) -> list[Json]:
        """The sort columns of one key; if Hive's null order differs from Druid's, which sorts nulls lowest, a flag
        column is added first."""
        direction = "descending" if key.descending else "ascending"
        order = "lexicographic" if key.rex.type.is_string else "numeric"
        name = self.post(self._ordered(key.rex))
        columns = [{"dimension": name, "direction": direction, "dimensionOrder": order}]
        if key.nulls_first != key.descending or self._never_null(key.rex):
            return columns
        flag = self.post(Call(BIGINT, "is_null", (key.rex,)))
        return [{"dimension": flag, "direction": direction, "dimensionOrder": "numeric"}, *columns]

    def _ordered(self, rex: Rex) -> Rex:
        """The sort value: -0.0 is replaced by 0.0 for expressions, min() and max(); keys and sums are never -0.0."""
        if isinstance(rex, Ref):
            call = self._behind(rex)
            if not isinstance(call, Agg) or call.op not in ("min", "max"):
                return rex
        return Call(DOUBLE, "+", (rex, Literal(DOUBLE, 0.0))) if may_be_negative_zero(rex) else rex

    def _never_null(self, rex: Rex) -> bool:
        source = self._behind(rex) if isinstance(rex, Ref) else None
        if isinstance(source, Agg):
            return source.op == "count"
        if self.query.grouping_sets is not None:  # a key omitted from a set is null
            return isinstance(rex, Ref) and rex.id in {c.id for c in self.grouping_id}
        return source is not None and self.inputs.never_null(source)

    def _behind(self, ref: Ref) -> Rex | None:
        """The key or call of an output column."""
        pairs: list[tuple[PlanColumn, Rex]] = [*self.keys, *self.calls]
        return next((source for column, source in pairs if column.id == ref.id), None)


def _fresh(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken: Druid rejects duplicate output names and `__time`."""
    number = 1
    fresh = name
    while fresh in taken:
        number += 1
        fresh = f"{name}_{number}"
    return fresh
