"""Compute the statistics of a table and store them in the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.actions.statistics.model import ComputeStatistics
from hivedruid.catalog.druid_columns import paths_of
from hivedruid.catalog.statistics import ColumnStatistics, StatisticsStore, TableStatistics
from hivedruid.catalog.table import Table


def run(action: Action, services: Services) -> None:
    """Compute and store them; statistics of other columns are kept while the table is unchanged."""
    assert isinstance(action, ComputeStatistics)
    table = action.table
    if table.has_data_source:
        key = (services.setting("druid.url"), table.data_source)
        statistics = _of_druid(action, services)
    else:
        key = ("", table.table_id)
        statistics = _of_files(action, services)
    store = StatisticsStore(services.catalog)
    before = store.find(*key)
    known: Mapping[str, ColumnStatistics] = before.columns if before and before.of == statistics.of else {}
    store.keep(*key, replace(statistics, columns={**known, **statistics.columns}, taken_at=action.taken_at))


def _of_druid(action: ComputeStatistics, services: Services) -> TableStatistics:
    druid = services.druid()
    types = druid.schema(action.table.data_source)
    paths = paths_of(action.table.properties)
    stored = [c.field_name for c in action.columns if c.name not in paths]
    columns = {name: types[name] for name in stored if name in types}
    return druid.analysed(action.table.data_source, columns)


def _of_files(action: ComputeStatistics, services: Services) -> TableStatistics:
    statistics = _stored(action.table, services) or TableStatistics()
    if action.job is None:
        return statistics
    row = _only(services.spark().rows(action.job))
    values = dict(zip([c.name for c in action.job.columns], row, strict=True))
    columns = {c.field_name: _column(i, values) for i, c in enumerate(action.columns)}
    return replace(statistics, rows=values["n"], columns=columns)


def _stored(table: Table, services: Services) -> TableStatistics | None:
    """The statistics that the table's storage provides."""
    from hivedruid.actions.statistics import files

    if not table.has_snapshots:
        return files.stored_files(table)
    spark = services.spark()
    if spark.iceberg.is_own(table):
        return files.home_iceberg(table, services.home)
    return files.iceberg_elsewhere(spark.iceberg_state(table))


def _only(rows: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    values = list(rows)
    return values[0]


def _column(position: int, values: Mapping[str, Any]) -> ColumnStatistics:
    nulls = values[f"n{position}"] < values["n"]
    distinct = values[f"d{position}"]
    return ColumnStatistics(
        None if distinct is None else distinct + nulls,
        nulls,
        low=values[f"min{position}"],
        high=values[f"max{position}"],
    )
