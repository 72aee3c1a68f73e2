"""The number of rows of segments and the sums of their numeric columns, which stay the same when they are rewritten."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import TYPE_CHECKING, Any

from hivedruid.clients import wire
from hivedruid.druid.syntax import quote
from hivedruid.errors import DruidError
from hivedruid.jobs.staged import NumberType, Sum
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

NUMBERS: Mapping[str, NumberType] = {"LONG": "LONG", "DOUBLE": "DOUBLE", "FLOAT": "FLOAT"}
SUMS = frozenset({"longSum", "doubleSum", "count"})
"""Aggregators of metrics whose sum does not change when rows are merged; floatSum does: see `summed_fields`."""
TOLERANCE: Mapping[NumberType, float] = {"LONG": 0.0, "DOUBLE": 1e-9, "FLOAT": 1e-5}
"""The tolerance of sums of the same numbers in another order, relative to the sum of their absolute values."""


@dataclass(frozen=True)
class Measured:
    rows: int
    sums: Mapping[str, Sum]


@dataclass(frozen=True)
class Measures:
    """The summed fields with their types; `merges`: rows with equal dimensions are merged."""

    fields: Mapping[str, NumberType]
    merges: bool

    def differences(self, before: Measured, after: Measured) -> Iterator[str]:
        if not self.merges and before.rows != after.rows:
            yield f"the number of rows was {before.rows} and is {after.rows}"
        for field, kind in self.fields.items():
            old, new = before.sums[field], after.sums[field]
            scale = max(old.magnitude, new.magnitude)
            if not _is_same(float(old.total), float(new.total), scale * TOLERANCE[kind]) or (
                kind == "LONG" and old.total != new.total
            ):
                yield f"the sum of {field} was {old.total} and is {new.total}"


COUNT = Measures({}, merges=False)


def _is_same(old: float, new: float, distance: float) -> bool:
    """NaN equals NaN here, and infinities equal themselves."""
    return (old != old and new != new) or isclose(old, new, rel_tol=0, abs_tol=distance)  # noqa: PLR0124


def measures_of(
    cluster: DruidCluster, data_source: str, segments: Sequence[Mapping[str, Any]], *, rolls_up: bool
) -> Measures:
    """The measures that can be compared for these segments, including times.

    If rows may be merged (all were written with rollup, and `rolls_up`), only sum metrics can be compared.
    """
    query = {
        "queryType": "segmentMetadata", "dataSource": data_source, "intervals": _only(segments), "merge": True,
        "lenientAggregatorMerge": True, "analysisTypes": ["aggregators", "rollup"],
    }  # fmt: skip
    found = cluster.answer(query, wire.SegmentAnalysis)
    if not found:
        return Measures({}, merges=False)
    analysis = found[0]
    merges = rolls_up and analysis.rollup is True
    fields: dict[str, NumberType] = {}
    for name, column in sorted(analysis.columns.items()):
        kind = NUMBERS.get(column.druid_type)
        aggregator = (analysis.aggregators or {}).get(name)
        is_sum = aggregator is not None and aggregator.type in SUMS
        if kind and not column.error_message and (is_sum or not merges):
            fields[name] = kind
    return Measures(fields, merges)


def measured(
    cluster: DruidCluster, data_source: str, segments: Sequence[Mapping[str, Any]], measures: Measures
) -> Measured:
    """The measures of exactly these segments, given as descriptors."""
    aggregations: list[dict[str, Any]] = [{"type": "count", "name": "rows"}]
    for number, (field, kind) in enumerate(measures.fields.items()):
        if kind == "LONG":
            aggregations.append({"type": "longSum", "name": f"sum{number}", "fieldName": field})
        else:
            aggregations.append({"type": "doubleSum", "name": f"sum{number}", "fieldName": field})
            size = {"type": "doubleSum", "name": f"size{number}", "expression": f"abs({quote(field)})"}
            aggregations.append(size)
    query = {
        "queryType": "timeseries", "dataSource": data_source, "granularity": "all", "intervals": _only(segments),
        "aggregations": aggregations,
    }  # fmt: skip
    found = cluster.answer(query, wire.Timeseries)
    result = found[0].result if found else {"rows": 0}
    sums = {
        field: Sum(
            _number(result.get(f"sum{number}"), kind), float(_number(result.get(f"size{number}"), "DOUBLE"))
        )
        for number, (field, kind) in enumerate(measures.fields.items())
    }  # fmt: skip
    return Measured(_rows(result), sums)


def _only(segments: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """MultipleSpecificSegmentSpec: exactly these segments."""
    return {"type": "segments", "segments": list(segments)}


def _rows(result: Mapping[str, Any]) -> int:
    """Rows are rolled back if their number differs, so that another answer than a number is not one."""
    rows = result.get("rows")
    if not isinstance(rows, int):
        raise DruidError(f"the number of rows in Druid cannot be read: the answer has {json.dumps(rows)}")
    return rows


def _number(value: Any, kind: NumberType) -> int | float:
    """Sums of no rows are null; NaN and infinities come as text."""
    if kind == "LONG" and value is not None and not isinstance(value, int):
        raise DruidError(f"the sum of a column in Druid cannot be read: the answer has {json.dumps(value)}")
    return value or 0 if kind == "LONG" else float(value or 0)
