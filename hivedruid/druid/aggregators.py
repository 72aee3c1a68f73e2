"""Aggregate calls as native aggregators, if Druid's result is exactly Hive's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hivedruid.catalog.types import BOOLEAN
from hivedruid.druid import folds
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.expressions import druid_type, quote
from hivedruid.druid.inputs import Inputs
from hivedruid.plan.rex import Agg, Call, Literal, Rex, walk

Json = dict[str, Any]


class Aggregators:
    """The aggregators of one query, without duplicates, and the post-aggregations of calls that combine several."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.natives: list[Json] = []
        self._fields: dict[str, str] = {}
        """The field of each aggregator, by its identity."""
        self.posts: list[Json] = []

    def call(self, name: str, call: Agg) -> str:
        """The field of a call: `name`, or that of an equal aggregator. Raises NotExact if there is none."""
        if call.distinct:
            raise NotExact(f"{call.op}(DISTINCT …) of, or combined with, expressions that Druid cannot group by")
        if call.op == "avg":
            return self._average(name, call)
        if call.op == "count":
            return self.add(self._count(name, call))
        if call.op in folds.DEVIATIONS and call.args[0].type.name in _NUMBERS:
            return self._deviation(name, call)
        if call.op in folds.BITS and call.args[0].type.is_integer:
            return self._bits(name, call)
        if call.op in ("min", "max") and call.args[0].type.is_string:
            return self._extreme(name, call)
        if call.op in ("approx_distinct", BUILTIN_DISTINCT):
            return self._distinct(name, call)
        if call.op in _UNION_AGGREGATORS:
            return self.add(self._union(name, call))
        kind = AGGREGATORS.get((call.op, call.args[0].type.name))
        if kind is None:
            raise NotExact(f"Druid does not support {call.op}() of {call.args[0].type}")
        if call.op == "min" and _may_be_nan(call.args[0]):
            return self._least(name, call, kind)
        return self.add(self._simple(name, call, kind))

    def add(self, native: Json) -> str:
        """The field of an aggregator: its name, or that of an equivalent one."""
        body = json.dumps(_body(native), sort_keys=True)
        if body not in self._fields:
            self._fields[body] = str(native["name"])
            self.natives.append(native)
        return self._fields[body]

    def grouping(self, name: str, dimensions: list[str]) -> str:
        """The field of `grouping__id`: one bit per dimension, the first is the highest, 1 if a set omits it.
        GroupingAggregatorFactory uses the names of the dimensions in the source.
        """
        if len(set(dimensions)) != len(dimensions):
            raise NotExact("grouping sets with a repeated dimension")
        return self.add({"type": "grouping", "name": name, "groupings": dimensions})

    def _average(self, name: str, call: Agg) -> str:
        """The sum divided by the count; the sum of integers that cannot overflow a LONG is shared with sum()."""
        is_small = call.args[0].type.name in ("tinyint", "smallint", "int")
        total = self.add(self._simple(f"{name}:sum", call, "longSum" if is_small else "doubleSum"))
        rows = self.add(self._count(f"{name}:count", call))
        dividend = f"CAST(\"{total}\",'DOUBLE')" if is_small else f'"{total}"'
        return self._post(name, f'({dividend} / "{rows}")', "DOUBLE")

    def _post(self, name: str, expression: str, type_: str) -> str:
        """The field of a post-aggregation: its name, or that of an equal one."""
        same = next((p["name"] for p in self.posts if p.get("expression") == expression), None)
        if same is None:
            self.posts.append({"type": "expression", "name": name, "expression": expression, "outputType": type_})
        return str(same or name)

    def _least(self, name: str, call: Agg, kind: str) -> str:
        """The minimum of doubles that may be NaN, which is the greatest value in Hive and the least in Druid."""
        field = self.inputs.column(call.args[0]).name
        greatest = self.add(self._simple(f"{name}:max", call, kind.replace("Min", "Max")))
        numbers: Json = {"type": "expression", "expression": f"({quote(field)} == {quote(field)})"}
        least: Json = {"type": kind, "name": f"{name}:min", "fieldName": field}
        least_of_numbers = self.add(self._filtered(least, call.condition, [numbers]))
        return self._post(name, f'nvl("{least_of_numbers}","{greatest}")', druid_type(call.type))

    def _distinct(self, name: str, call: Agg) -> str:
        """An estimate of the number of distinct values. An HLL sketch does not count the empty string. Outer queries
        cannot use it."""
        if len(call.args) != 1:
            raise NotExact(f"Druid does not support {call.op}() of several expressions")
        (value,) = call.args
        column = self.inputs.key(value)
        if column.type == "STRING":
            column = self.inputs.computed(f"concat('_',{self.inputs.expressions.text(value)})", "STRING")
        if call.op == BUILTIN_DISTINCT:
            dimension = {"type": "default", "dimension": column.name, "outputName": column.name}
            native: Json = {
                "type": "cardinality", "name": f"{name}:values", "byRow": False, "round": True,
                "fields": [{**dimension, "outputType": column.type}],
            }  # fmt: skip
            return self._estimated(name, native, "hyperUniqueCardinality", call)
        native = {"type": SKETCH, "name": f"{name}:sketch", "fieldName": column.name, "round": True}
        return self._estimated(name, native, "HLLSketchEstimate", call)

    def _union(self, name: str, call: Agg) -> Json:
        """The union of the sketches of a column, which Druid returns in base64."""
        stored, *given = call.args
        column = self.inputs.expressions.scanned(stored)
        size = given[0].value if given and isinstance(given[0], Literal) else None
        if column is None:
            raise NotExact("sketches that are not a column")
        native = _UNION_AGGREGATORS[call.op](size)
        return self._filtered(
            {**native, "name": name, "fieldName": column.name, "shouldFinalize": False}, call.condition
        )

    def _estimated(self, name: str, native: Json, kind: str, call: Agg) -> str:
        """The estimate, by a post-aggregation of this kind, of a collection of values that an aggregator makes."""
        aggregator = self.add(self._filtered(native, call.condition))
        estimate = f"{aggregator}:estimate"
        if all(p["name"] != estimate for p in self.posts):
            field = {"type": "fieldAccess", "name": aggregator, "fieldName": aggregator}
            source = {"field": field, "round": True} if kind == "HLLSketchEstimate" else {"fieldName": aggregator}
            self.posts.append({"type": kind, "name": estimate, **source})
        return self._post(name, f"CAST(nvl(\"{estimate}\",0),'LONG')", "LONG")

    def _extreme(self, name: str, call: Agg) -> str:
        """The minimum or maximum string, in Hive's order."""
        if call.args[0].type.name == "char":
            raise NotExact("Druid does not support char")
        text = self.inputs.expressions.text(call.args[0])
        field = self.inputs.computed(folds.utf8_ordered(text), "STRING").name
        native = folds.extreme(f"{name}:{call.op}", call.op, field)
        aggregator = self.add(self._filtered(native, call.condition))
        return self._post(name, folds.utf8_restored(f'"{aggregator}"'), "STRING")

    def _bits(self, name: str, call: Agg) -> str:
        rows = self.add(self._count(f"{name}:count", call))
        native = folds.bits(f"{name}:bits", call.op, self.inputs.column(call.args[0]).name)
        aggregator = self.add(self._filtered(native, call.condition, self._not_null(call)))
        return self._post(name, f'if("{rows}" > 0,"{aggregator}",null)', "LONG")

    def _deviation(self, name: str, call: Agg) -> str:
        native = folds.moments(f"{name}:moments", self.inputs.column(call.args[0]).name)
        aggregator = self.add(self._filtered(native, call.condition, self._not_null(call)))
        return self._post(name, folds.deviation(call.op, aggregator), "DOUBLE")

    def _simple(self, name: str, call: Agg, kind: str) -> Json:
        if call.args[0].type.name not in _NUMBERS and kind.startswith("double"):
            raise NotExact(f"Druid does not support {call.op}() of {call.args[0].type}")
        native: Json = {"type": kind, "name": name, "fieldName": self.inputs.column(call.args[0]).name}
        return self._filtered(native, call.condition)

    def _count(self, name: str, call: Agg) -> Json:
        return self._filtered({"type": "count", "name": name}, call.condition, self._not_null(call))

    def _not_null(self, call: Agg) -> list[Json]:
        """The filters that exclude rows with a null argument."""
        return [self._is_present(a) for a in call.args if not self.inputs.never_null(a)]

    def _is_present(self, rex: Rex) -> Json:
        if rex.type.name == "array" or self.inputs.expressions.scanned(rex) is not None:
            return self.inputs.to_filter(Call(BOOLEAN, "is_not_null", (rex,)))
        return {"type": "not", "field": {"type": "null", "column": self.inputs.column(rex).name}}

    def _filtered(self, native: Json, condition: Rex | None, filters: list[Json] | None = None) -> Json:
        """The aggregator, filtered by all conditions."""
        fields = [*(filters or []), *([self.inputs.to_filter(condition)] if condition is not None else [])]
        if not fields:
            return native
        combined = fields[0] if len(fields) == 1 else {"type": "and", "fields": fields}
        return {"type": "filtered", "filter": combined, "aggregator": native, "name": native["name"]}


def _body(native: Json) -> Json:
    """The identity of an aggregator: everything except its name, which also occurs in `combine`."""
    inner = {"aggregator": _body(native["aggregator"])} if "aggregator" in native else {}
    return {key: value for key, value in native.items() if key not in ("name", "combine")} | inner


SKETCH = "HLLSketchBuild"
"""The aggregator of approx_distinct, of the extension druid-datasketches."""
UNIONS = {"ds_theta_union": "theta_union", "ds_hll_union": "hll_union"}
"""Hive's unions, and the aggregates of plans only that return those of Druid in base64."""
_UNION_AGGREGATORS: dict[str, Callable[[Any], Json]] = {
    "theta_union": lambda size: {"type": "thetaSketch", "size": 1 << ((size or 4096) - 1).bit_length()},
    "hll_union": lambda size: {"type": "HLLSketchMerge", "lgK": size or 12, "tgtHllType": "HLL_4"},
}
"""The aggregators of unions, with Hive's default sizes. A theta sketch has a power of 2 as its size."""
SKETCHES = frozenset({SKETCH, "thetaSketch", "HLLSketchMerge"})
"""The aggregators of that extension."""
BUILTIN_DISTINCT = "builtin_distinct"
"""An aggregate of plans only: count(DISTINCT …) estimated with Druid's own HyperLogLog."""

_NEVER_NAN = frozenset(
    [
        "cast",
        "case",
        "coalesce",
        "abs",
        "negative",
        "round",
        "floor",
        "ceil",
        "greatest",
        "least",
        "+",
        "-",
        "*",
        "/",
        "%",
        "sqrt",
        "ln",
    ]
)


def _may_be_nan(rex: Rex) -> bool:
    """Whether a double is NaN without being stored: the result of a function, or a string."""
    return rex.type.is_approximate and any(isinstance(n, Call) and not _keeps_numbers(n) for n in walk(rex))


def _keeps_numbers(call: Call) -> bool:
    return call.op in _NEVER_NAN and not (
        call.op == "cast" and call.type.is_approximate and call.args[0].type.is_string
    )


_NUMBERS = frozenset({"tinyint", "smallint", "int", "bigint", "float", "double"})
_LONGS = ("tinyint", "smallint", "int", "bigint")
_WHOLE = (*_LONGS, "timestamp", "timestamp with local time zone", "date", "boolean")
AGGREGATORS: dict[tuple[str, str], str] = {
    **{("sum", name): "longSum" for name in _LONGS},
    **{("min", name): "longMin" for name in _WHOLE},
    **{("max", name): "longMax" for name in _WHOLE},
    ("sum", "double"): "doubleSum",
    ("sum", "float"): "doubleSum",
    ("min", "double"): "doubleMin",
    ("max", "double"): "doubleMax",
    ("min", "float"): "floatMin",
    ("max", "float"): "floatMax",
}
"""Aggregate and argument type → the exact native aggregator."""
