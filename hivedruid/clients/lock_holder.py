"""A task without effect that holds locks: this process acts for it.

The overlord grants locks to active tasks alone, and performs actions for them. When the task has ended, it refuses its
actions: so after an interruption the task is stopped first, and then it is read what it has published.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hivedruid.clients import wire
from hivedruid.clients.fitting import Shape
from hivedruid.clients.overlord import Overlord
from hivedruid.clients.segments import interval, wait_until
from hivedruid.clients.tasks import IngestionTask
from hivedruid.errors import DruidError

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.jobs.staged import Interval

PRIORITY = 50
"""The priority of locks: that of Druid's own batch tasks. Streaming tasks have 75, compaction has 25."""


class LostLockError(DruidError):
    """A task with a higher priority has taken a lock away."""


class LockHolder:
    """All methods raise DruidError or ConnectError. `seconds`: how long the task runs, unless it is stopped."""

    def __init__(self, cluster: DruidCluster, task_id: str, data_source: str, seconds: float) -> None:
        self.task = IngestionTask(cluster, task_id, data_source, 0)
        self._cluster = cluster
        self._overlord = Overlord(cluster.client)
        self._data_source = data_source
        self._spec = {
            "type": "noop", "id": task_id, "dataSource": data_source, "runTime": int(seconds * 1000),
            "context": {"priority": PRIORITY},
        }  # fmt: skip

    def submit(self) -> None:
        self.task.submit(self._spec)

    def lock(self, span: Interval, lock_type: str = "EXCLUSIVE") -> str | None:
        """The version of a new lock; None if it is not granted."""
        action = {"type": "lockTryAcquire", "lockType": lock_type, "interval": interval(span)}
        lock = self.act(action, wire.LockResult).result
        return None if lock is None or lock.revoked else lock.version

    def release(self, spans: Iterable[Interval]) -> None:
        for span in spans:
            self.act({"type": "lockRelease", "interval": interval(span)}, wire.Acknowledgement)

    def others(self, span: Interval) -> list[wire.TaskLock]:
        """The locks of other tasks in an interval."""
        return [
            lock
            for lock in self._overlord.locks(self._data_source)
            if lock.group_id != self.task.id and lock.interval.span[0] < span[1] and span[0] < lock.interval.span[1]
        ]

    def publish(self, action: str, segments: Sequence[dict[str, Any]]) -> None:
        """Publish segments in one transaction of the overlord. Raises LostLockError if it refuses because a lock was
        taken away; after another error it may have taken place."""
        try:
            result = self.act({"type": action, "segments": [*segments]}, wire.PublishedResult, repeatable=False).result
        except DruidError as error:
            held = self.act({"type": "lockList"}, wire.HeldLocks).result
            if any(lock.revoked for lock in held):
                raise LostLockError(
                    "a task with a higher priority, such as one that ingests from Kafka, has taken a lock away",
                    hint="rerun the statement",
                ) from error
            raise
        if not result.success:
            raise DruidError(f"Druid did not publish the segments: {result.error_msg or 'it gives no reason'}")

    def act(self, action: dict[str, Any], shape: type[Shape], *, repeatable: bool = True) -> Shape:
        return self._overlord.act(self._spec, action, shape, repeatable=repeatable)

    def stop(self) -> None:
        """Ensure that nothing is published for the task, even if a request is still on its way."""
        self.task.shut_down()
        if not wait_until(lambda: not self._has_locks(), self._cluster.patience):
            raise DruidError(
                f"timed out after {self._cluster.patience:g} s waiting for task {self.task.id} to release its locks",
                hint="check the log of Druid's overlord",
            )

    def _has_locks(self) -> bool:
        return any(lock.group_id == self.task.id for lock in self._overlord.locks(self._data_source))
