"""The load of segments that hivedruid built itself: it publishes them in one transaction of the overlord, under locks.

    staged ── a task that only holds locks ──► submitted ── the transaction ──► published ── as in `ingest` ──► verified

A task without effect holds the locks (`lock_holder`). An interrupted load first stops that task, and then looks for
segments with its mark. They are all there, or none of them is.

The notes of a load: those of `ingest`, and `publisher`, the id of the task that holds the locks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.clients import task_spec, wire
from hivedruid.clients.ingest import Ingestion
from hivedruid.clients.load_specs import load_spec
from hivedruid.clients.lock_holder import LockHolder, LostLockError
from hivedruid.clients.segments import wait_until
from hivedruid.clients.tasks import TaskReport
from hivedruid.druid.ingestion import CONCURRENT_LOCKS
from hivedruid.druid.interval_sets import Cover, iso, merged
from hivedruid.engine.segments import Segment
from hivedruid.errors import ConnectError, DruidError
from hivedruid.filesystems import child
from hivedruid.jobs.staged import BuiltSegment, Interval, granularity_of

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.jobs.load import Journal, Load

SPARE = 300
"""Seconds that the task which holds the locks runs longer than they are waited for."""
TRIES = 3
"""The maximum number of transactions: a task with a higher priority may take the locks away."""


class SegmentIngestion(Ingestion):
    """All methods raise DruidError or ConnectError."""

    def __init__(self, cluster: DruidCluster, load: Load, journal: Journal) -> None:
        super().__init__(cluster, load, journal)
        self._set_publisher(str(load.notes.get("publisher") or load.task))
        is_concurrent = bool((load.spec.get("context") or {}).get(CONCURRENT_LOCKS))
        self._replaces = load.replaces != "nothing"
        concurrent = "REPLACE" if self._replaces else "APPEND"
        self._lock_type = concurrent if is_concurrent else "EXCLUSIVE"
        self._action = f"segmentTransactional{concurrent.capitalize() if is_concurrent else 'Insert'}"

    def _set_publisher(self, task_id: str) -> None:
        seconds = self._cluster.slot_patience + SPARE
        self._holder = LockHolder(self._cluster, task_id, self._load.data_source, seconds)
        self._task = self._holder.task

    def _notes(self) -> dict[str, Any]:
        return {**super()._notes(), "publisher": self._task.id}

    # --- publishing --------------------------------------------------------------------------------------------

    def _is_published(self) -> bool:
        """Whether an earlier process has published the segments; afterwards it cannot publish them any more."""
        if self._load.state == "published":
            self._stop()
            return True
        if self._load.state == "submitted":
            if self._is_committed():
                self._journal.published(self._notes())
                return True
            self._set_publisher(f"{self._load.task}_{uuid4().hex[:8]}")
        return False

    def _is_committed(self) -> bool:
        """Whether the transaction has taken place; afterwards it cannot."""
        self._stop()
        return bool(self._published.ever(None))

    def _stop(self) -> None:
        """Ensure that nothing is published for the task, even if a request is still on its way."""
        self._holder.stop()

    def _publish(self) -> None:
        self._set_before(self._replaceable(self._there()))
        for left in reversed(range(TRIES)):
            self._journal.submitted(self._notes())
            self._holder.submit()
            try:
                segments = self._locked()
                self._commit(segments)
            except DruidError as error:
                if self._is_committed():  # the response was lost
                    break
                if not left or not isinstance(error, LostLockError):
                    self._fail(error)
                self._set_publisher(f"{self._load.task}_{uuid4().hex[:8]}")
            else:
                break
        self._journal.published(self._notes())
        self._task.shut_down()

    def _report(self) -> TaskReport:
        return TaskReport(published=len(self._load.staged.segments))

    def _commit(self, segments: Sequence[dict[str, Any]]) -> None:
        self._progress(f"publishing {len(segments)} segments")
        try:
            self._holder.publish(self._action, segments)
        except ConnectError as error:
            raise DruidError(error.message, hint=error.hint) from error

    # --- locks -------------------------------------------------------------------------------------------------

    def _locked(self) -> list[dict[str, Any]]:
        """Wait for the locks; returns the segments to publish under them.

        Either all locks are held or none, so that loads never wait for each other.
        """
        begun = monotonic()
        found: list[dict[str, Any]] | None = None

        def is_granted() -> bool:
            nonlocal found
            found = self._try_lock()
            if found is None:
                self._progress(f"waiting for other tasks' locks ({monotonic() - begun:.0f} s)")
            return found is not None

        if not wait_until(is_granted, self._cluster.slot_patience) or found is None:
            raise DruidError(
                f"timed out after {self._cluster.slot_patience:g} s waiting for the locks of other tasks on"
                f" {self._load.data_source}",
                hint="SHOW TASKS lists the running tasks; hivedruid.task.slot.timeout sets how long a write waits",
            )
        return found

    def _try_lock(self) -> list[dict[str, Any]] | None:
        """The segments to publish, if all locks are granted; otherwise none is held."""
        spans = self._spans()
        versions: dict[Interval, str] = {}
        for span in spans:
            version = self._holder.lock(span, self._lock_type)
            if version is None:
                self._holder.release(versions)
                return None
            versions[span] = version
        if self._spans() != spans:  # others have published in between
            self._holder.release(versions)
            return None
        if not self._replaces:
            segments = self._allocated()
            if segments is None:
                self._holder.release(versions)
            return segments
        before = self._replaceable(self._there())
        if before != self._before:
            self._set_before(before)
            self._journal.submitted(self._notes())
        return list(self._replacing(versions))

    def _spans(self) -> tuple[Interval, ...]:
        """The intervals to lock: those of the new rows, those that are replaced, and those of wider segments there."""
        there = [(s.start, s.end) for s in self._there()]
        return merged([*self._load.staged.intervals, *there, *self._given()])

    # --- segments ----------------------------------------------------------------------------------------------

    def _allocated(self) -> list[dict[str, Any]] | None:
        """The segments with numbers after those that are there; None if a lock was lost."""
        segments: list[dict[str, Any]] = []
        for number, built in enumerate(self._load.staged.segments):
            action = {
                "type": "segmentAllocate", "dataSource": self._load.data_source, "timestamp": iso(built.start),
                "queryGranularity": {"type": "none"},
                "preferredSegmentGranularity": granularity_of(self._load.spec["spec"]["dataSchema"]),
                "sequenceName": f"{self._task.id}_{number}", "skipSegmentLineageCheck": True,
                "partialShardSpec": {"type": "numbered"}, "lockGranularity": "TIME_CHUNK",
                "taskLockType": self._lock_type,
            }  # fmt: skip
            found = self._holder.act(action, wire.AllocationResult).result
            if found is None:
                return None
            if not Cover([found.interval.span]).contains(built.start, built.end):
                raise DruidError(
                    f"{self._load.data_source} has segments of {found.interval.text}, which are shorter than its"
                    " segment granularity",
                    hint="SET hivedruid.druid.write=native, and run the statement again",
                )
            segments.append(self._segment(found.interval.span, found.version, found.shard_spec, built))
        return segments

    def _replacing(self, versions: dict[Interval, str]) -> Iterator[dict[str, Any]]:
        """The segments, and tombstones for replaced intervals without new rows."""

        def version_of(span: Interval) -> str:
            return next(version for (start, end), version in versions.items() if start <= span[0] and span[1] <= end)

        buckets: dict[Interval, list[BuiltSegment]] = {}
        for built in self._load.staged.segments:
            buckets.setdefault((built.start, built.end), []).append(built)
        for span, parts in buckets.items():
            for number, built in enumerate(parts):
                yield self._segment(span, version_of(span), self._shard(number, len(parts), built), built)
        for span in task_spec.empty_buckets(self._load, self._emptied()):
            yield self._segment(span, version_of(span), {"type": "tombstone"}, None)

    def _shard(self, number: int, parts: int, built: BuiltSegment) -> dict[str, Any]:
        """The shardSpec of a segment of an interval with so many. The ranges of segments that several Spark tasks have
        built may overlap: Druid compares those of each segment with a condition."""
        partitions = self._load.spec["spec"].get("tuningConfig", {}).get("partitionsSpec") or {}
        if partitions.get("type") != "range":
            return {"type": "numbered", "partitionNum": number, "partitions": parts}
        return {
            "type": "range", "dimensions": partitions["partitionDimensions"], "partitionNum": number,
            "numCorePartitions": parts, "start": built.first, "end": built.until,
        }  # fmt: skip

    def _emptied(self) -> list[Interval]:
        """The intervals that lose their rows: those of earlier segments, as far as they are replaced."""
        if self._load.replaces == "intervals" and not self._given():
            return []
        cover = Cover(self._given())
        spans = [(s.start, s.end) for s in self._before.used]
        return [span for span in spans if self._load.replaces == "all" or cover.contains(*span)]

    def _segment(
        self, span: Interval, version: str, shard: dict[str, Any], built: BuiltSegment | None
    ) -> dict[str, Any]:
        """A DataSegment; a tombstone without `built`."""
        schema = self._load.spec["spec"]["dataSchema"]
        segment = Segment(self._load.data_source, *span, version, int(shard.get("partitionNum") or 0))
        place = load_spec(child(self._load.staged.folder, built.path)) if built is not None else task_spec.TOMBSTONE
        dimensions = [item["name"] for item in (schema.get("dimensionsSpec") or {}).get("dimensions") or ()]
        metrics = [item["name"] for item in schema.get("metricsSpec") or ()]
        size = built.size if built is not None else 1
        return task_spec.data_segment(
            segment, place, shard, task_spec.state_of(self._load), dimensions=dimensions, metrics=metrics, size=size
        )

    def _progress(self, text: str) -> None:
        self._cluster.progress(f"Druid: {self._load.data_source}: {text}")
