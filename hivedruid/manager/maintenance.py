"""Compacts the tables of running streams, expires their snapshots, and archives tiered tables, beside the streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from time import monotonic

from hivedruid.actions.tiering.problems import WatchedTier
from hivedruid.actions.tiering.watch import tiered_tables
from hivedruid.catalog.properties import COMPACTION_AUTO, TIER_AUTO, snapshot_retention, target_size
from hivedruid.catalog.table import Table
from hivedruid.engine.capabilities import SegmentLists
from hivedruid.engine.kinds import require
from hivedruid.errors import HiveDruidError
from hivedruid.iceberg import catalog
from hivedruid.iceberg.compaction import MANY, is_worthwhile
from hivedruid.iceberg.files import read_files
from hivedruid.iceberg.history import TableHistory, read_history
from hivedruid.ingestion.repairs import sql_name
from hivedruid.manager.worker import Report
from hivedruid.script import SourceStatement
from hivedruid.session import Session

PERIOD = 10.0
"""Seconds between two looks at the tables."""
ARCHIVING = 3600.0
"""Seconds between two looks at the tiered tables."""
EXPIRED = 100
"""The number of snapshots that expire at once, at least: each expiry reads all manifests."""


class Maintenance:
    """A thread that executes ALTER TABLE … COMPACT 'minor' and EXECUTE EXPIRE_SNAPSHOTS, as a user would, for tables
    with `hivedruid.compaction.auto`. Only Iceberg catalogs that are read without Spark are looked after. All
    tiered tables with `tiered.archive.auto` are archived."""

    def __init__(self, home: Path, report: Report) -> None:
        self._home = home
        self._report = report
        self._tables: frozenset[str] = frozenset()
        self._next_archiving = monotonic()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="maintenance", daemon=True)
        self._thread.start()

    def watch(self, tables: Iterable[str]) -> None:
        """Look after the tables of these full names."""
        self._tables = frozenset(tables)

    def stop(self) -> None:
        """Ask the thread to end after its statement."""
        self._stopped.set()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stopped.wait(PERIOD):
            for name in sorted(self._tables):
                self._try(name, self._look_after)
            if monotonic() >= self._next_archiving:
                self._next_archiving = monotonic() + ARCHIVING
                self._try("tiered tables", lambda _: self._archive_all())

    def _archive_all(self) -> None:
        with self._session() as session:
            names = [each.full_name for each in tiered_tables(session.catalog) if _archives(each)]
        for name in names:
            self._try(name, self._archive)

    def _try(self, name: str, work: Callable[[str], None]) -> None:
        """Report a failure; the next look tries again."""
        if self._stopped.is_set():
            return
        try:
            work(name)
        except Exception as error:  # noqa: BLE001 - the thread goes on
            text = error.message if isinstance(error, HiveDruidError) else f"{type(error).__name__}: {error}"
            self._report(f"{name}: {text}")

    def _session(self) -> Session:
        return Session(self._home, hiveconf={"hive.local.time.zone": "UTC"}, background="maintenance")

    def _archive(self, name: str) -> None:
        with self._session() as session:
            table = session.catalog.find(*name.split(".", 1))
            if table is None or not _archives(table):
                return
            segments = require(session.druid(), SegmentLists).segments(table.data_source)
            if WatchedTier(table, datetime.now(UTC), segments=segments).due:
                text = f"ARCHIVE TABLE {sql_name(table.database, table.name)}"
                session.execute(SourceStatement(text))
                self._report(f"{name}: {text}")

    def _look_after(self, name: str) -> None:
        with self._session() as session:
            database, _, table_name = name.partition(".")
            table = session.catalog.find(database, table_name)
            if table is None or table.properties.get(COMPACTION_AUTO, "").lower() != "true":
                return
            metadata = catalog.current_metadata(session.settings, self._home, session.catalog, table.table_id)
            if metadata is not None:
                for text in self._due(table, metadata):
                    session.execute(SourceStatement(text))
                    self._report(f"{name}: {text}")

    def _due(self, table: Table, metadata: Path) -> Iterable[str]:
        """The statements that the table needs now."""
        history = read_history(metadata)
        if self._stopped.is_set():
            return
        if _has_many_files(history):
            files = read_files(metadata)
            if is_worthwhile(files, target_size(table.properties)):
                yield f"ALTER TABLE {table.full_name} COMPACT 'minor'"
        before = datetime.now(UTC) - timedelta(seconds=snapshot_retention(table.properties))
        if sum(each.at < before.timestamp() * 1000 for each in history.snapshots.values()) >= EXPIRED:
            yield f"ALTER TABLE {table.full_name} EXECUTE EXPIRE_SNAPSHOTS('{before:%Y-%m-%d %H:%M:%S}')"


def _archives(table: Table) -> bool:
    return table.is_tiered and table.properties.get(TIER_AUTO, "").lower() == "true"


def _has_many_files(history: TableHistory) -> bool:
    current = history.snapshots.get(history.current or 0)
    return current is not None and int(current.summary.get("total-data-files", 0)) >= MANY
