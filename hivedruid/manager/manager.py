"""The manager of the streams of a home: starts and stops their threads as the catalog desires."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from threading import Event
from time import monotonic, time
from uuid import uuid4

from hivedruid.actions.streaming import manager as background
from hivedruid.catalog.database import FILE_NAME
from hivedruid.catalog.streams import StreamRecord, Streams
from hivedruid.errors import HiveDruidError
from hivedruid.locks import Lock
from hivedruid.manager.maintenance import Maintenance
from hivedruid.manager.turns import Turns
from hivedruid.manager.worker import Report, Worker
from hivedruid.private import private_folder
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

    def stop(self) -> None:
        """Ask `run` to return, after the running batches."""
        self._stopped.set()

    def run(self) -> None:
        """Run streams until `stop` is called, or the home is deleted."""
        private_folder(background.lock_file(self._home).parent)
        with Lock(background.lock_file(self._home)) as lock, Session(self._home, background="manager") as session:
            streams, busy, first = Streams(session.catalog), monotonic(), False
            self._report(f"manager {self.id} is running")
            maintenance = Maintenance(self._home, self._report)
            try:
                while not self._stopped.is_set() and (self._home / FILE_NAME).exists():
                    first = first or background.take(lock)
                    self._follow(streams)
                    written = [(each.stream.target, each.stream.rejects) for each in self._workers.values()]
                    maintenance.watch(name for names in written for name in names if name)
                    busy = monotonic() if self._workers else busy
                    if self._until_idle and (monotonic() - busy > IDLE or not first):
                        break
                    self._stopped.wait(BEAT)
            finally:
                maintenance.stop()
                self._end(streams)
                maintenance.join(LAST_BATCH)

    def _follow(self, streams: Streams) -> None:
        """Start and stop threads as desired. A lease that is lost ends the thread: another manager runs the stream."""
        try:
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
        except HiveDruidError as error:
            self._report(error.message)

    def _start(self, record: StreamRecord, streams: Streams) -> None:
        is_wanted = record.desired == "running" and record.stream.id not in self._workers
        if is_wanted and (self._most is None or len(self._workers) < self._most) and self._lease(record, streams):
            self._report(f"{record.stream.full_name}: running")
            self._workers[record.stream.id] = Worker(self._home, record.stream, self._report, self._turns)

    def _lease(self, record: StreamRecord, streams: Streams) -> bool:
        dead = record.manager if _is_dead(record.manager) else ""
        return streams.lease(record.stream, self.id, time(), ALIVE, dead)

    def _end(self, streams: Streams) -> None:
        """Wait for the running batches, and give the streams up."""
        for worker in self._workers.values():
            worker.stop()
        end = monotonic() + LAST_BATCH
        for worker in self._workers.values():
            if not worker.join(max(0.0, end - monotonic())):
                self._report(f"{worker.stream.full_name}: the last batch was not awaited; it is read again")
        if (self._home / FILE_NAME).exists():
            streams.release(self.id)
        self._report(f"manager {self.id} has ended")
