"""One Druid task by its id: submit it once, watch it, shut it down, and read its report; stop any task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

from hivedruid.clients import wire
from hivedruid.clients.failures import AnswerError, first_line
from hivedruid.clients.overlord import Overlord, rows_in
from hivedruid.clients.segments import COORDINATOR, Patience, interval, wait_until
from hivedruid.druid.paths import path_of
from hivedruid.errors import ConnectError, DruidError
from hivedruid.ingestion.model import STREAMS
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.engine.archiving import Span
    from hivedruid.ingestion.model import Task

ALL_TIME = "0000-01-01T00:00:00Z/5000-01-01T00:00:00Z"
"""The interval of a kill task: for an unbounded interval the overlord counts its days endlessly."""
LOST_WORKER = 20.0
"""Seconds to wait for a task without a worker."""
OVERLORD_AWAY = 60.0
"""Seconds to wait for an overlord that restarts, or for the election of a leader."""
LOCKED = 3.0
"""Seconds after which a waiting task is waiting for its locks, not for the overlord to schedule it."""
_FENCE_MILLIS = 60_000
"""Milliseconds for which a task without effect takes an id, if nobody stops it."""
TASK_PREFIX = "hivedruid_"
"""How the ids of hivedruid's ingestion tasks begin; the id is also the group of their locks."""
LOOK_AGAIN = 1.0
"""Seconds between two reads of the row counts of a running task."""


@dataclass(frozen=True)
class TaskReport:
    """The report of a completed task: processed rows, lost rows by reason, published segments, and the error.

    `processed` is None if the report has no row counts, `published` if it has no number of segments.
    """

    processed: int | None = None
    lost: Mapping[str, int] | None = None
    published: int | None = None
    problem: str = ""


class NoWorkerError(DruidError):
    """No worker runs the task, or will in time."""


class IngestionTask:
    """All methods raise DruidError or ConnectError."""

    def __init__(self, cluster: DruidCluster, task_id: str, data_source: str, rows: int) -> None:
        self.id = task_id
        self._cluster = cluster
        self._client = cluster.client
        self._overlord = Overlord(cluster.client)
        self._data_source = data_source
        self._rows = rows

    def status(self) -> Task | None:
        """None if the overlord does not know the task."""
        return self._overlord.task(self.id)

    def submit(self, task: Mapping[str, Any]) -> None:
        """Submit it once: without a response, or after a duplicate, its id shows that the overlord has it."""
        self._cluster.progress(f"Druid: submitting task {self.id}")
        for attempt in range(self._client.address.tries):
            try:
                self._overlord.submit(task, repeatable=False)
            except (ConnectError, DruidError) as error:
                if self.status() is not None:
                    return
                if isinstance(error, DruidError) or attempt == self._client.address.tries - 1:
                    raise
            else:
                return

    def shut_down(self) -> Task | None:
        """Stop it, and return its final status; None if the overlord does not know it.

        After it the overlord does not start the task any more, even if a request that submits it arrives later.
        """
        if self.status() is None:
            self._take_id()
        found = stopped(self._overlord, self.id, OVERLORD_AWAY)
        if found is not None and not found.is_complete:
            raise DruidError(
                f"timed out after {OVERLORD_AWAY:g} s waiting for ingestion task {self.id} to stop",
                hint=f"SHOW TASK '{self.id}'",
            )
        self._release_locks()
        return found

    def _take_id(self) -> None:
        """Submit a task without effect under this id. A request that was sent before an interruption may still arrive:
        the overlord then refuses it as a duplicate. It runs until it is stopped: if it ended before, its success would
        be taken for that of the other one. NoopTask runs for 2.5 s with a `runTime` of 0.
        """
        fence = {"type": "noop", "id": self.id, "dataSource": self._data_source, "runTime": _FENCE_MILLIS}
        with suppress(DruidError):  # the other request arrived first
            self._overlord.submit(fence, repeatable=False)

    def _release_locks(self) -> None:
        """Release the locks that completed ingestion tasks of hivedruid still hold on the data source.

        Druid 33 leaks a lock if a task is shut down while it allocates a segment: the lock is added after all locks of
        the task were removed (SegmentAllocationQueue), and blocks other tasks until the overlord restarts.
        """
        with suppress(DruidError, ConnectError):
            for lock in self._overlord.locks(self._data_source):
                task = self._overlord.task(lock.group_id) if lock.group_id.startswith(TASK_PREFIX) else None
                if task is not None and task.is_complete:
                    self._overlord.release_lock(self._data_source, lock)

    # --- until it has ended ------------------------------------------------------------------------------------

    def watch(self) -> Task:
        """Wait for its completion or failure. Raises NoWorkerError if no worker runs it, or will in time."""
        begun = monotonic()
        pause, lost, slots = 0.05, Patience(LOST_WORKER), Patience(self._cluster.slot_patience)
        locked = Patience(LOCKED)
        looked = 0.0
        while True:
            sleep(pause)
            pause = min(pause * 1.2, 0.5)
            task = self._reliable_status()
            if task.is_complete:
                return task
            if monotonic() - looked < LOOK_AGAIN:
                continue
            looked = monotonic()
            workers = self._workers()
            if lost.is_over(not _has_worker(task, workers)):
                raise NoWorkerError(
                    f"no Druid worker is running ingestion task {self.id}",
                    hint="check that the indexer or middle manager is running: hivedruid doctor",
                )
            if locked.is_over(task.state == "WAITING"):
                self._release_locks()
            if slots.is_over(not task.location):
                self._raise_not_begun(task, workers)
            self._cluster.progress(f"Druid: {self._doing(task, workers, monotonic() - begun)}")

    def _reliable_status(self) -> Task:
        """The status, retried while the overlord is unavailable: a restart, a new leader."""
        end = monotonic() + min(self._cluster.patience, OVERLORD_AWAY)
        while True:
            try:
                task = self.status()
            except ConnectError as error:
                if monotonic() >= end:
                    raise ConnectError(
                        f"{error.message}; the ingestion task {self.id} may still run", hint=error.hint
                    ) from error
            else:
                if task is not None:
                    return task
                if monotonic() >= end:
                    raise DruidError(f"ingestion task {self.id} no longer exists in Druid")
            sleep(0.5)

    def _workers(self) -> dict[str, tuple[int, int]] | None:
        """Used and total slots by worker; None if they are not accessible."""
        try:
            return {worker.host: (worker.used, worker.capacity) for worker in self._overlord.workers()}
        except (DruidError, ConnectError):
            return None

    def _raise_not_begun(self, task: Task, workers: Mapping[str, tuple[int, int]] | None) -> NoReturn:
        lacks = "lock" if task.state == "WAITING" else f"task slot{_in_use(workers)}"
        raise NoWorkerError(
            f"timed out after {self._cluster.slot_patience:g} s waiting for ingestion task {self.id} to get a {lacks}",
            hint="SHOW TASKS lists the running tasks; hivedruid.task.slot.timeout sets how long a task waits",
        )

    def _doing(self, task: Task, workers: Mapping[str, tuple[int, int]] | None, seconds: float) -> str:
        if not task.location:
            is_full = bool(workers) and all(used >= most for used, most in (workers or {}).values())
            waits_for = f"a free task slot{_in_use(workers)}" if is_full else "a worker"
            if task.state == "WAITING" and not is_full and seconds > LOCKED:
                waits_for = "other tasks' locks"
            return f"waiting for {waits_for} to ingest into {self._data_source} ({seconds:.0f} s)"
        try:
            counts = self._overlord.report(self.id)
        except (DruidError, ConnectError):
            counts = None
        done = counts[0].processed if counts is not None else 0
        if not done:
            return f"ingesting {self._rows:,} rows into {self._data_source} ({seconds:.0f} s)"
        rest = f"about {seconds * (self._rows - done) / done:.0f} s more" if done < self._rows else "publishing"
        return f"ingesting into {self._data_source}: {done:,} of {self._rows:,} rows ({seconds:.0f} s, {rest})"

    # --- afterwards --------------------------------------------------------------------------------------------

    def report(self) -> TaskReport:
        """The report of the task; empty if it has none."""
        try:
            payload = self._overlord.ingestion_report(self.id)
        except AnswerError:
            raise
        except DruidError:
            return TaskReport()
        return TaskReport() if payload is None else _report(payload)

    def failure(self, task: Task) -> DruidError:
        """The error for a failed task, with Druid's own message."""
        try:
            problem = self.report().problem
        except (AnswerError, ConnectError):
            problem = ""
        reason = problem or task.error or "Druid gives no reason"
        return DruidError(f"the ingestion task failed: {reason}", hint=f"task {self.id}; nothing was changed")


def _report(payload: wire.IngestionPayload) -> TaskReport:
    counts = (payload.row_stats or wire.RowStats()).counts
    lost = {name: rows_in(counts, name) for name in ("processedWithError", "unparseable", "thrownAway")}
    problem = first_line(payload.error_msg or "")
    bad = [event for events in (payload.unparseable_events or {}).values() for event in events or ()]
    if bad:
        problem = f"a row cannot be stored: {first_line((bad[0].details or [''])[0])}"
    processed = rows_in(counts, "processed") if counts else None
    return TaskReport(processed, {name: n for name, n in lost.items() if n}, payload.segments_published, problem)


def _has_worker(task: Task, workers: Mapping[str, tuple[int, int]] | None) -> bool:
    """Whether the task's worker is registered; for a waiting task, whether any worker is."""
    if workers is None:
        return True
    machines = {host.rpartition(":")[0] for host in workers}
    return task.location.rpartition(":")[0] in machines if task.location else bool(workers)


def _in_use(workers: Mapping[str, tuple[int, int]] | None) -> str:
    if not workers:
        return ""
    used, most = (sum(numbers) for numbers in zip(*workers.values(), strict=True))
    return f" ({used} of {most} in use)"


def drop(cluster: DruidCluster, data_source: str) -> None:
    """Mark all segments of a data source as unused; returns when the broker has unloaded them."""
    cluster.client.delete("coordinator", path_of(f"{COORDINATOR}/{{}}", data_source))
    try:
        cluster.progress(f"Druid: dropping {data_source}")
        gone = wait_until(lambda: data_source not in cluster.data_sources(), cluster.patience)
    finally:
        cluster.progress("")
    if not gone:
        raise DruidError(
            f"{data_source} was dropped, but timed out after {cluster.patience:g} s waiting for the broker to unload"
            " its segments",
            hint="check the logs of Druid's coordinator and historicals",
        )


def delete_unused(cluster: DruidCluster, data_source: str, spans: Sequence[Span] = ()) -> None:
    """Delete the unused segments of a data source, also from deep storage, with a kill task for each interval."""
    try:
        for each in [interval(span) for span in spans] or [ALL_TIME]:
            _kill_unused(cluster, data_source, each)
    finally:
        cluster.progress("")


def _kill_unused(cluster: DruidCluster, data_source: str, each: str) -> None:
    overlord = Overlord(cluster.client)
    task_id = f"hivedruid_kill_{uuid4().hex}"
    overlord.submit({"type": "kill", "id": task_id, "dataSource": data_source, "interval": each})
    end = monotonic() + cluster.patience
    while True:
        found = overlord.task(task_id)
        if found is not None and found.is_complete:
            break
        if monotonic() >= end:
            raise DruidError(
                f"timed out after {cluster.patience:g} s waiting for the segments of {data_source} to be deleted",
                hint=f"SHOW TASK '{task_id}'",
            )
        cluster.progress(f"Druid: deleting the segments of {data_source}")
        sleep(0.2)
    if found.state != "SUCCESS":
        raise DruidError(f"the segments of {data_source} were not deleted: {found.error or task_id}")


def stopped(overlord: Overlord, task_id: str, patience: float) -> Task | None:
    """Stop a task, and return it when it is complete, or as it is after `patience` seconds.

    None if the overlord does not know it.
    """
    task = overlord.task(task_id)

    def has_ended() -> bool:
        nonlocal task
        task = overlord.task(task_id)
        return task is None or task.is_complete

    if task is not None and not task.is_complete:
        overlord.kill(task_id)
        wait_until(has_ended, patience)
    return task


def stop(cluster: DruidCluster, task: Task, patience: float) -> bool:
    """Stop a running task; see `Tasks.stop_task`."""
    overlord = Overlord(cluster.client)
    cluster.progress(f"Druid: stopping task {task.id}")
    try:
        now = stopped(overlord, task.id, patience)
        if now is not None and not now.is_complete:
            raise DruidError(
                f"timed out after {patience:g} s waiting for task {task.id} to stop",
                hint="check the logs of its worker",
            )
    finally:
        cluster.progress("")
    running = overlord.spec(task.supervisor) if task.type.removeprefix("index_") in STREAMS else None
    return running is not None and not running.get("suspended")
