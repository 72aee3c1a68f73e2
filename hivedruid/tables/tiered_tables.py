"""The rules of tiered tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hivedruid.catalog.druid_columns import SKETCHES, STORED_AS, parse_aggregators, parse_stored_as, sketch_columns
from hivedruid.catalog.properties import TIER_COLD, TIER_HOT
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.tiers import BATCH_COLUMN
from hivedruid.catalog.types import BINARY
from hivedruid.errors import SemanticError, Span, UnsupportedError
from hivedruid.sketches.kinds import AGGREGATORS


def check_tiered(properties: Mapping[str, str], columns: Iterable[Column], span: Span | None) -> None:
    """Check the columns of a table with the properties of a tiered one. Raises SemanticError for an incomplete set of
    properties, and UnsupportedError for a column whose values cannot be archived exactly."""
    if (TIER_HOT in properties) != (TIER_COLD in properties):
        missing = TIER_COLD if TIER_HOT in properties else TIER_HOT
        raise SemanticError(
            f"the property {missing} of a tiered table is missing", span=span, hint="use STORED AS TIERED or SET TIERED"
        )
    if TIER_COLD not in properties:
        return
    columns = tuple(columns)
    aggregators, _ = parse_aggregators(properties.get("druid.columns.aggregators", ""))
    sketches = sketch_columns(columns, properties)
    for column in columns:
        if column.name == BATCH_COLUMN:
            raise SemanticError(
                f"the column {BATCH_COLUMN} of a tiered table is reserved", span=span, hint="choose another name"
            )
        if column.type == BINARY and column.name not in sketches:
            raise UnsupportedError(
                f"column {column.name} cannot be archived: its sketches are only read", span=span,
                hint="create a table over the same data source without this column",
            )  # fmt: skip
        aggregator = aggregators.get(column.name)
        if aggregator is not None and aggregator.function in AGGREGATORS and column.name not in sketches:
            is_kept = aggregator.function in SKETCHES
            raise UnsupportedError(
                f"column {column.name} cannot be archived: it is {column.type}, not the {aggregator.function}",
                span=span,
                hint="declare it as BINARY" if is_kept else "remove the column, or keep the table in Druid",
            )


def check_change(before: Table, after: Mapping[str, str], span: Span | None, *, is_empty: bool) -> None:
    """Refuse changes of the properties of a tiered table that would lose its archived rows. `is_empty`: it has none."""
    if not before.is_tiered or is_empty:
        return
    if TIER_COLD not in after:
        raise UnsupportedError(
            f"{before.full_name} has archived rows", span=span,
            hint=f"UNARCHIVE TABLE {before.name} brings them back into Druid; TRUNCATE TABLE removes all rows",
        )  # fmt: skip
    if after.get("druid.datasource", before.data_source) != before.data_source:
        raise UnsupportedError(
            f"cannot change the data source of {before.full_name}: it has archived rows of the present one", span=span,
            hint="create another table with that data source",
        )  # fmt: skip


def kept_in_druid(table: Table, schema: Mapping[str, Any]) -> str:
    """Why rows that are added to a tiered table go to Druid, whatever their time; "" if they do not have to.

    `schema` is the dataSchema of the write: values that Druid stores in another way than Iceberg would differ.
    """
    granularity = schema.get("granularitySpec") or {}
    if granularity.get("rollup"):
        return "Druid sums rows that are equal"
    if str(granularity.get("queryGranularity") or "NONE").upper() != "NONE":
        return "Druid truncates their times"
    if sketches := [*sketch_columns(table.columns, table.properties)]:
        return f"Druid builds the sketches of column {sketches[0]}"
    others = [column.name for column in table.columns if column.type.name == "array" or column.name in _encoded(table)]
    return f"Druid stores the values of column {others[0]} in its own way" if others else ""


def _encoded(table: Table) -> Iterable[str]:
    return parse_stored_as(table.properties.get(STORED_AS, ""))[0]
