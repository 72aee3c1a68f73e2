"""Compacts the tables of running streams, and expires their snapshots, beside the streams."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread

from hivedruid.catalog.properties import COMPACTION_AUTO, snapshot_retention, target_size
from hivedruid.catalog.table import Table
from hivedruid.errors import HiveDruidError
from hivedruid.iceberg import catalog, home_catalog
from hivedruid.iceberg.compaction import MANY, is_worthwhile
from hivedruid.iceberg.history import TableHistory
from hivedruid.manager.worker import Report
from hivedruid.script import SourceStatement
from hivedruid.session import Session

PERIOD = 10.0
"""Seconds between two looks at the tables."""
EXPIRED = 100
"""The number of snapshots that expire at once, at least: each expiry reads all manifests."""


class Maintenance:
    """A thread that executes ALTER TABLE … COMPACT 'minor' and EXECUTE EXPIRE_SNAPSHOTS, as a user would, for tables
    with `hivedruid.compaction.auto`. Only the home's own Iceberg catalog is looked after: it is read without Spark."""

    def __init__(self, home: Path, report: Report) -> None:
        self._home = home
        self._report = report
        self._tables: frozenset[str] = frozenset()
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
                try:
                    self._look_after(name)
                except Exception as error:  # noqa: BLE001 - the next look tries again
                    text = error.message if isinstance(error, HiveDruidError) else f"{type(error).__name__}: {error}"
                    self._report(f"{name}: {text}")

    def _look_after(self, name: str) -> None:
        with Session(self._home, hiveconf={"hive.local.time.zone": "UTC"}, background="maintenance") as session:
            database, _, table_name = name.partition(".")
            table = session.catalog.find(database, table_name)
            if table is None or not catalog.is_own(session.settings):
                return
            if table.properties.get(COMPACTION_AUTO, "").lower() == "true":
                for text in self._due(table):
                    session.execute(SourceStatement(text))
                    self._report(f"{name}: {text}")

    def _due(self, table: Table) -> Iterable[str]:
        """The statements that the table needs now."""
        history = home_catalog.history(self._home, table.table_id)
        if history is None or self._stopped.is_set():
            return
        if _has_many_files(history):
            files = home_catalog.files(self._home, table.table_id)
            if is_worthwhile(files, target_size(table.properties)):
                yield f"ALTER TABLE {table.full_name} COMPACT 'minor'"
        before = datetime.now(UTC) - timedelta(seconds=snapshot_retention(table.properties))
        if sum(each.at < before.timestamp() * 1000 for each in history.snapshots.values()) >= EXPIRED:
            yield f"ALTER TABLE {table.full_name} EXECUTE EXPIRE_SNAPSHOTS('{before:%Y-%m-%d %H:%M:%S}')"


def _has_many_files(history: TableHistory) -> bool:
    current = history.snapshots.get(history.current or 0)
    return current is not None and int(current.summary.get("total-data-files", 0)) >= MANY
