"""Read the statistics of the tables that a statement reads. This never delays or fails a query."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.statistics import Statistics, StatisticsStore, TableStatistics, combined
from hivedruid.errors import HiveDruidError

if TYPE_CHECKING:
    from hivedruid.actions.facts import Facts
    from hivedruid.catalog.table import Table

MOST_FILES = 10_000
"""The maximum number of files whose sizes are summed."""


def gather_statistics(tables: Iterable[Table], facts: Facts, *, reachable: bool) -> Statistics:
    """The current statistics of each table, with the column statistics of ANALYZE TABLE."""
    found: dict[tuple[str, str], TableStatistics] = {}
    for table in tables:
        of_it = statistics_of(table, facts, reachable=reachable)
        if of_it is not None:
            found[(table.database, table.name)] = of_it
    return found


def statistics_of(table: Table, facts: Facts, *, reachable: bool) -> TableStatistics | None:
    """The statistics of one table."""
    store = StatisticsStore(facts.catalog)
    if table.has_data_source:
        now: TableStatistics | None = None
        if reachable:
            with suppress(HiveDruidError):
                now = facts.druid().statistics(table.data_source)
        return combined(now, store.find(facts.settings["druid.url"], table.data_source))
    if table.has_folder:
        return combined(stored_files(table, facts.home), store.find("", table.table_id))
    return None


def stored_files(table: Table, home: Path) -> TableStatistics | None:
    """The size of a Hive-side table on this machine, and the number of rows of an Iceberg table."""
    folder = folder_of(table, home)
    if folder is None or not folder.exists():
        return TableStatistics(0, 0, of="nothing") if table.has_snapshots else None
    rows = iceberg_rows(folder) if table.has_snapshots else None
    data = folder / "data" if table.has_snapshots else folder
    count, size, newest = _weighed(data)
    if count > MOST_FILES:
        return None
    return TableStatistics(rows, size, of=f"{count} files, {size} bytes, {newest}")


def folder_of(table: Table, home: Path) -> Path | None:
    """The folder of its files; None if they are not on this machine."""
    if table.has_snapshots:
        return home / "warehouse" / "tables" / table.table_id
    location = (table.location or "").removeprefix("file://").removeprefix("file:")
    return Path(location) if location and ":" not in location.partition("/")[0] else None


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


def iceberg_rows(folder: Path) -> int | None:
    """`total-records` of the current snapshot, which every commit writes (Iceberg's SnapshotSummary)."""
    import json

    with suppress(OSError, ValueError, KeyError, StopIteration, TypeError):
        version = (folder / "metadata" / "version-hint.text").read_text().strip()
        metadata = json.loads((folder / "metadata" / f"v{version}.metadata.json").read_text())
        current = metadata.get("current-snapshot-id")
        if current in (None, -1):
            return 0
        summary = next(s["summary"] for s in metadata["snapshots"] if s["snapshot-id"] == current)
        return int(summary["total-records"])
    return None
