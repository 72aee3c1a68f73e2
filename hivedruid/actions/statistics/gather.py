"""Read the statistics of the tables that a statement reads. This never delays or fails a query."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from hivedruid.catalog.statistics import Statistics, StatisticsStore, TableStatistics, combined
from hivedruid.errors import HiveDruidError

if TYPE_CHECKING:
    from hivedruid.actions.facts import Facts
    from hivedruid.catalog.table import Table


def gather_statistics(tables: Iterable[Table], facts: Facts, *, reachable: bool) -> Statistics:
    """The current statistics of each table, with the column statistics of ANALYZE TABLE."""
    found: dict[tuple[str, str], TableStatistics | None] = {}
    outside: list[Table] = []
    store = StatisticsStore(facts.catalog)
    for table in tables:
        if not table.has_data_source:
            outside.append(table)
            continue
        now: TableStatistics | None = None
        if reachable:
            with suppress(HiveDruidError):
                now = facts.druid().statistics(table.data_source)
        kept = store.find(facts.settings["druid.url"], table.data_source)
        found[(table.database, table.name)] = combined(now, kept)
    if any(table.has_folder or table.has_snapshots for table in outside):
        from hivedruid.actions.statistics.files import statistics_outside

        for table, now in statistics_outside(outside, facts):
            found[(table.database, table.name)] = combined(now, store.find("", table.table_id))
    return {key: statistics for key, statistics in found.items() if statistics is not None}
