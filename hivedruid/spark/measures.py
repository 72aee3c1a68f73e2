"""Measures of rows being staged for Druid: Spark SQL aggregates and the interpretation of their values. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.druid import granularities
from hivedruid.druid.interval_sets import merged
from hivedruid.jobs.staged import Interval, NumberType, Sum, granularity_of, summed_fields
from hivedruid.lazy_dataclass import dataclass
from hivedruid.spark.cells import identifier
from hivedruid.tables.druid_tables import GRANULARITY_KEY

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

TIME = identifier(TIME_COLUMN)
KEY = identifier(GRANULARITY_KEY)
SPAN = 32_768
"""The bits of Spark's bitmap_construct_agg: the maximum range of consecutive numbers."""

_INTEGERS = ("byte", "short", "integer", "long")
_FRACTIONS = ("float", "double", "decimal")


@dataclass(frozen=True)
class Measures:
    """`values`: for each field, the type in which Druid sums it, and SQL for the number that Druid reads from it."""

    granularity: str
    values: Mapping[str, tuple[NumberType, str]]

    @classmethod
    def of(cls, schema: Mapping[str, Any], fields: StructType) -> Measures:
        """The measures for a dataSchema. Numeric fields with strings or arrays are excluded: Druid parses them with
        its own rules."""
        types = {field.name: field.dataType.typeName() for field in fields}
        values = {
            name: (number, value)
            for name, number in summed_fields(schema).items()
            if (value := _value(identifier(name), types.get(name, ""), number)) is not None
        }
        return cls(granularity_of(schema), values)

    @property
    def aggregates(self) -> dict[str, str]:
        """The SQL aggregates by name, over rows with `number_of` as GRANULARITY_KEY. Rows without a time only count in
        `timeless`."""
        result = {
            "rows": f"count({TIME})",
            "timeless": f"count_if({TIME} IS NULL)",
            "low": f"min({KEY})",
            "high": f"max({KEY})",
            "buckets": f"bitmap_construct_agg(pmod({KEY}, {SPAN}))",
        }
        for index, (number, value) in enumerate(self.values.values()):
            timed = f"IF({KEY} IS NULL, NULL, {value})"
            result[f"sum_{index}"] = f"sum({timed})"
            if number != "LONG":
                result[f"magnitude_{index}"] = f"sum(abs({timed}))"
        return result

    def sums(self, values: Mapping[str, Any]) -> dict[str, Sum]:
        """From the values of the aggregates."""
        return {
            name: Sum(values[f"sum_{index}"] or 0, values.get(f"magnitude_{index}") or 0.0)
            for index, name in enumerate(self.values)
        }

    def staged_intervals(self, values: Mapping[str, Any]) -> tuple[Interval, ...] | None:
        """Computed from the aggregates; None if the times are too far apart for a bitmap."""
        if not values["rows"]:
            return ()
        low, high = int(values["low"]), int(values["high"])
        if high - low >= SPAN:
            return None
        bits: bytes = values["buckets"]
        return self.intervals((n, n) for n in range(low, high + 1) if bits[n % SPAN // 8] >> n % 8 & 1)

    def intervals(self, runs: Iterable[tuple[int, int]]) -> tuple[Interval, ...]:
        """The intervals of buckets, from the first and last number of each run."""
        return merged(
            (granularities.interval(first, self.granularity)[0], granularities.interval(last, self.granularity)[1])
            for first, last in runs
        )


def number_of(granularity: str) -> str:
    """`granularities.number` of `__time` in SQL; null where that is."""
    if width := granularities.WIDTHS.get(granularity):
        time = f"({TIME} - {granularities.ORIGINS.get(granularity, 0)}L)"
        return f"(({time} - pmod({time}, {width}L)) div {width}L)"
    if months := granularities.MONTHS.get(granularity):
        day = f"date_from_unix_date(CAST(floor({TIME} / {granularities.DAY}) AS INT))"
        month = f"(year({day}) * 12L + month({day}) - 1L)"
        return f"(({month} - pmod({month}, {months}L)) div {months}L)"
    return f"IF({TIME} IS NULL, NULL, 0L)"  # ALL


def _value(field: str, stored: str, number: NumberType) -> str | None:
    """SQL for the number that Druid parses from a JSON field, as BIGINT or DOUBLE; None if unknown."""
    if number == "LONG":
        return f"CAST({field} AS BIGINT)" if stored in _INTEGERS else None
    if stored not in (*_INTEGERS, *_FRACTIONS):
        return None
    if number == "FLOAT":
        return f"CAST(CAST({field} AS FLOAT) AS DOUBLE)"
    text = f"CAST({field} AS STRING)" if stored == "float" else field  # the shortest representation is written
    return f"CAST({text} AS DOUBLE)"
