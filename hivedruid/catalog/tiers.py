"""Tiered tables: Druid tables whose archived rows are in an Iceberg table of ORC files, the cold part.

The cold part is not a table of the catalog. It has the tiered table's columns and id, and a column with the batch that
archived a row; rows that other tools add have none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

from hivedruid.catalog.druid_columns import sketch_columns
from hivedruid.catalog.layout import PartitionField, SortField
from hivedruid.catalog.properties import PROPERTIES, TIER_GRANULARITY, TIER_PERIOD
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.catalog.types import STRING

BATCH_COLUMN = "__batch"
SKETCHED = "hivedruid.sketches"
"""The property of the Iceberg table with the kind of sketch of each BINARY column: `column:thetaSketch, …`."""
Transform = Literal["hour", "day", "month", "year"]
LOST_BY_ORC = (-999, 0)
"""The times in milliseconds that ORC cannot store."""


def cold_part(table: Table) -> Table:
    """The Iceberg table with the archived rows, partitioned by the granularity of archiving and sorted by time."""
    columns = (*(replace(column, field=None) for column in table.columns), Column(BATCH_COLUMN, STRING))
    kinds = sketch_columns(table.columns, table.properties)
    sketches = ", ".join(f"{name}:{kind.build}" for name, kind in kinds.items())
    return Table(
        table.database, f"{table.name}__cold", "iceberg", columns, format="orc", table_id=table.table_id,
        is_written=table.is_written, partition_spec=(PartitionField(TIME_COLUMN, granularity(table)),),
        sort_order=(SortField(TIME_COLUMN, nulls_first=True),), properties={SKETCHED: sketches} if sketches else {},
    )  # fmt: skip


def fits_orc(start: int, end: int) -> bool:
    """Whether ORC stores all times of an interval (milliseconds, half open): it adds a second to those of the last
    second before 1970, since it stores seconds rounded towards zero (TimestampTreeWriter)."""
    return end <= LOST_BY_ORC[0] or start >= LOST_BY_ORC[1]


def granularity(table: Table) -> Transform:
    """The unit of the spans that are archived as a whole."""
    return cast("Transform", _property(table, TIER_GRANULARITY).lower())


def hot_period(table: Table) -> str:
    """How long rows stay in Druid, as an ISO 8601 period."""
    return _property(table, TIER_PERIOD)


def _property(table: Table, key: str) -> str:
    return table.properties.get(key) or PROPERTIES[key].default or ""
