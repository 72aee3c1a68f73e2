"""Read the statistics of the tables that a statement reads. This never delays or fails a query."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.statistics import Statistics, StatisticsStore, TableStatistics, combined
from hivedruid.errors import HiveDruidError
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.catalog import is_own

if TYPE_CHECKING:
    from hivedruid.actions.facts import Facts
    from hivedruid.catalog.table import Table
    from hivedruid.iceberg.metadata import TableState

MOST_FILES = 10_000
"""The maximum number of files whose sizes are summed."""


def gather_statistics(tables: Iterable[Table], facts: Facts, *, reachable: bool) -> Statistics:
    """The current statistics of each table, with the column statistics of ANALYZE TABLE."""
    result: dict[tuple[str, str], TableStatistics] = {}
    for table in tables:
        of_it = statistics_of(table, facts, reachable=reachable)
        if of_it is not None:
            result[(table.database, table.name)] = of_it
    return result


def statistics_of(table: Table, facts: Facts, *, reachable: bool) -> TableStatistics | None:
    """The statistics of one table."""
    store = StatisticsStore(facts.catalog)
    if table.has_data_source:
        now: TableStatistics | None = None
        if reachable:
            with suppress(HiveDruidError):
                now = facts.druid().statistics(table.data_source)
        return combined(now, store.find(facts.settings["druid.url"], table.data_source))
    if table.has_snapshots:
        # a query does not wait for another catalog
        now = home_iceberg(table, facts.home) if is_own(facts.settings) else None
        return combined(now, store.find("", table.table_id))
    if table.has_folder:
        return combined(stored_files(table), store.find("", table.table_id))
    return None


def stored_files(table: Table) -> TableStatistics | None:
    """The size of the files at a LOCATION on this machine."""
    location = (table.location or "").removeprefix("file://").removeprefix("file:")
    folder = Path(location) if location and ":" not in location.partition("/")[0] else None
    return None if folder is None or not folder.exists() else _of_files(folder, rows=None)


def home_iceberg(table: Table, home: Path) -> TableStatistics | None:
    """The number of rows and bytes of a table in the home's own Iceberg catalog."""
    folder = home_catalog.folder(home, table.table_id)
    if not folder.exists():
        return TableStatistics(0, 0, of="nothing")
    rows = None
    with suppress(OSError, ValueError, HiveDruidError):
        state = home_catalog.state(home, table.table_id)
        rows = None if state is None else state.rows
    return _of_files(folder / "data", rows)


def iceberg_elsewhere(state: TableState | None) -> TableStatistics:
    """The same for a table in another catalog, from its snapshot."""
    if state is None:
        return TableStatistics(0, 0, of="nothing")
    return TableStatistics(state.rows, state.bytes, of=state.token)


def _of_files(folder: Path, rows: int | None) -> TableStatistics | None:
    count, size, newest = _weighed(folder)
    return None if count > MOST_FILES else TableStatistics(rows, size, of=f"{count} files, {size} bytes, {newest}")


def _weighed(folder: Path) -> tuple[int, int, int]:
    """The number of files, their bytes, and the newest modification time (ns), without hidden files, as in Hadoop."""
    count, size, newest = 0, 0, 0
    with suppress(OSError):
        if folder.is_file():
            status = folder.stat()
            return 1, status.st_size, status.st_mtime_ns
        for path, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if not name.startswith(("_", "."))]
            for name in names:
                if name.startswith(("_", ".")):
                    continue
                status = Path(path, name).stat()
                count, size, newest = count + 1, size + status.st_size, max(newest, status.st_mtime_ns)
            if count > MOST_FILES:
                break
    return count, size, newest
