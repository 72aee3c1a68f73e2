"""The manager of the streams of a home: starts and stops their threads as the catalog desires."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from time import monotonic
from uuid import uuid4

from hivedruid.actions.streaming import manager as background
from hivedruid.catalog.failures import read_only_home
from hivedruid.catalog.named_locks import named_locks
from hivedruid.catalog.opening import is_shared, still_exists
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.streams import StreamRecord, Streams
from hivedruid.errors import HiveDruidError
from hivedruid.locks import Lock
from hivedruid.manager.maintenance import Maintenance
from hivedruid.manager.turns import Turns
from hivedruid.manager.worker import Report, Worker
from hivedruid.private import is_read_only, private_folder
from hivedruid.processes import is_running
from hivedruid.session import Session
from hivedruid.streams.overview import ALIVE, ManagerId

BEAT = 0.5
"""Seconds between two looks at the catalog, in which the manager also renews its leases."""
IDLE = 60.0
"""Seconds without a stream to run after which a manager that a statement started ends."""
LAST_BATCH = 60.0
"""Seconds that a manager which ends waits for the running batches. They are read again if it does not wait."""


def _is_dead(manager: str) -> bool:
    """Whether the process of a manager has ended, as far as that is known: one that hangs, or runs on another machine,
    loses its streams when it does not renew their leases."""
    known = ManagerId.of(manager)
    return known is not None and known.host == socket.gethostname() and not is_running(known.process)


class _First:
    """Whether this manager is the first one of its home, and of all homes with the same catalog: others stand by."""

    def __init__(self, home: Path, catalog: Catalog, lock: Lock) -> None:
        self._lock = lock
        self._locks = named_locks(home, catalog) if is_shared(catalog) else None
        self._held = ExitStack()
        self._is_taken = False

    def take(self) -> bool:
        """Take the locks, unless this manager has them; whether it has them now."""
        if self._is_taken:
            return True
        if not background.take(self._lock):
            return False
        if self._locks is not None and not self._held.enter_context(self._locks.exclusive(background.LOCK)):
            self._held.close()
            return False
        self._is_taken = True
        return True

    def end(self) -> None:
        """Give the lock of the catalog back."""
        self._held.close()
        self._is_taken = False


class Manager:
    """Runs the streams whose desired state is running, each with a lease that it renews.

    It also takes over the streams of another manager that has died, or hangs and does not renew their leases. Should
    both run the same stream, each batch is committed by one of them (`spark/streams.append_batch`).
    """

    def __init__(self, home: Path, report: Report, *, until_idle: bool = False, most: int | None = None) -> None:
        self.id = str(ManagerId(socket.gethostname(), os.getpid(), uuid4().hex[:8], is_sharing=most is not None))
        self._home = home
        self._report = report
        self._until_idle = until_idle
        self._most = most
        self._workers: dict[str, Worker] = {}
        self._turns = Turns()
        self._stopped = Event()
        self._problem = ""

    def stop(self) -> None:
        """Ask `run` to return, after the running batches."""
        self._stopped.set()

    def run(self) -> None:
        """Run streams until `stop` is called, or the home is deleted. Raises ExecutionError if it is read-only."""
        if is_read_only(self._home):
            raise read_only_home(self._home)
        private_folder(background.lock_file(self._home).parent)
        with Lock(background.lock_file(self._home)) as lock, Session(self._home, background="manager") as session:
            streams, busy, first = Streams(session.catalog), monotonic(), _First(self._home, session.catalog, lock)
            self._report(f"manager {self.id} is running")
            maintenance = Maintenance(self._home, self._report)
            try:
                while not self._stopped.is_set() and still_exists(self._home, session.catalog):
                    is_first = self._look(streams, first)
                    written = [(each.stream.target, each.stream.rejects) for each in self._workers.values()]
                    maintenance.watch(name for names in written for name in names if name)
                    busy = monotonic() if self._workers else busy
                    if self._until_idle and (monotonic() - busy > IDLE or not is_first):
                        break
                    self._stopped.wait(BEAT)
            finally:
                maintenance.stop()
                self._end(streams, session.catalog)
                first.end()
                maintenance.join(LAST_BATCH)

    def _look(self, streams: Streams, first: _First) -> bool:
        """Follow the catalog once; whether this manager is the first one, as far as that is known. A session with the
        catalog that was lost is replaced by another one."""
        try:
            is_first = first.take()
            self._follow(streams)
        except HiveDruidError as error:
            if error.message != self._problem:
                self._report(error.message)
            self._problem = error.message
            first.end()
            return True
        self._problem = ""
        return is_first

    def _follow(self, streams: Streams) -> None:
        """Start and stop threads as desired. A lease that is lost ends the thread: another manager runs the stream."""
        records = {record.stream.id: record for record in streams.all()}
        for key, worker in list(self._workers.items()):
            record = records.get(key)
            if record is None or record.desired != "running" or not self._lease(record, streams):
                worker.stop()
            if not worker.is_alive:
                del self._workers[key]
                streams.release(self.id, [worker.stream])
            elif record is not None and record.desired != "running":
                self._lease(record, streams)
            elif record is not None:
                worker.follow(record.stream)
        for record in records.values():
            self._start(record, streams)

    def _start(self, record: StreamRecord, streams: Streams) -> None:
        is_wanted = record.desired == "running" and record.stream.id not in self._workers
        if is_wanted and (self._most is None or len(self._workers) < self._most) and self._lease(record, streams):
            self._report(f"{record.stream.full_name}: running")
            self._workers[record.stream.id] = Worker(self._home, record.stream, self._report, self._turns)

    def _lease(self, record: StreamRecord, streams: Streams) -> bool:
        dead = record.manager if _is_dead(record.manager) else ""
        return streams.lease(record.stream, self.id, streams.now(), ALIVE, dead)

    def _end(self, streams: Streams, catalog: Catalog) -> None:
        """Wait for the running batches, and give the streams up."""
        for worker in self._workers.values():
            worker.stop()
        end = monotonic() + LAST_BATCH
        for worker in self._workers.values():
            if not worker.join(max(0.0, end - monotonic())):
                self._report(f"{worker.stream.full_name}: the last batch was not awaited; it is read again")
        if still_exists(self._home, catalog):
            try:
                streams.release(self.id)
            except HiveDruidError as error:  # the leases expire
                self._report(error.message)
        self._report(f"manager {self.id} has ended")
