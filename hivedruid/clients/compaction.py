"""Compaction on a cluster: submit tasks, watch them and verify their results; and the coordinator's automatic
compaction.

Rows may be appended during compaction. So segments are compared by id: those that queries read when the tasks were
submitted, and those that the tasks have written. If other writes came in between, the rows cannot be compared.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.clients import wire
from hivedruid.clients.address import Service
from hivedruid.clients.failures import AnswerError, first_line
from hivedruid.clients.measured import COUNT, Measured, measured, measures_of
from hivedruid.clients.overlord import Overlord, rows_in
from hivedruid.clients.segment_list import listed
from hivedruid.clients.segments import ETERNITY, STORED, Patience, Segments, interval, segment_of, wait_until
from hivedruid.clients.task_spec import task_of
from hivedruid.clients.tasks import stopped
from hivedruid.druid.compaction import CONFIGS, OLD_CONFIGS, OLD_STATUS, STATUS, config_path, over
from hivedruid.druid.instants import millis
from hivedruid.druid.paths import path_of
from hivedruid.engine.compaction import AutomaticCompaction, CompactionAmount, CompactionError, CompactionLimits
from hivedruid.errors import ConnectError, DruidError
from hivedruid.ingestion.model import Task

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.engine.segments import Segment

KNOWN = 60.0
"""Seconds until the overlord lists a submitted task."""
STOPPED = 60.0
"""Seconds until a task has stopped."""
ISSUED = ("coordinator-issued_", "auto_", "auto-minor_")
"""How the ids of Druid's own compaction tasks begin, before Druid 37 and since then (CompactSegments); the last one is
of tasks that merge only segments that were not compacted yet."""


# --- automatic ---------------------------------------------------------------------------------------------------


def configure(cluster: DruidCluster, data_source: str, config: Mapping[str, Any] | None) -> None:
    """Set the configuration of a data source, or delete it."""
    if _is_old(cluster):
        if config is None:
            cluster.client.delete("coordinator", config_path(data_source, OLD_CONFIGS))
        else:
            cluster.client.post("coordinator", OLD_CONFIGS, wire.Acknowledgement, config)
    elif config is None:
        cluster.client.delete("overlord", config_path(data_source))
    else:
        cluster.client.post("overlord", config_path(data_source), wire.Acknowledgement, config)


def _is_old(cluster: DruidCluster) -> bool:
    """Whether the overlord has no configurations. One whose version is not known has them."""
    version = cluster.client.version
    return bool(version.text) and not version.has("compaction requests")


def automatic(cluster: DruidCluster) -> tuple[AutomaticCompaction, ...]:
    """The data sources with automatic compaction, by name."""
    is_old = _is_old(cluster)
    service: Service = "coordinator" if is_old else "overlord"
    configs = cluster.client.get(service, OLD_CONFIGS if is_old else CONFIGS, wire.CompactionConfigs, missing=None)
    if configs is None:
        return ()
    status = cluster.client.get(service, OLD_STATUS if is_old else STATUS, wire.CompactionStatuses, missing=None)
    known = {item.data_source: item for item in (status.latest_status if status is not None else None) or ()}
    names = sorted(config.data_source for config in configs.compaction_configs)
    return tuple(automatic_of(name, known.get(name)) for name in names)


def automatic_of(data_source: str, status: wire.CompactionStatus | None) -> AutomaticCompaction:
    """`status` is None if the coordinator, which checks every half hour, has not checked it yet."""
    if status is None:
        return AutomaticCompaction(data_source, "PENDING")
    awaiting = _amount(
        status.segment_count_awaiting_compaction, status.interval_count_awaiting_compaction,
        status.bytes_awaiting_compaction,
    )  # fmt: skip
    compacted = _amount(status.segment_count_compacted, status.interval_count_compacted, status.bytes_compacted)
    skipped = _amount(status.segment_count_skipped, status.interval_count_skipped, status.bytes_skipped)
    message = first_line(status.message or "")
    return AutomaticCompaction(data_source, status.schedule_status, awaiting, compacted, skipped, message)


def _amount(segments: int | None, intervals: int | None, size: int | None) -> CompactionAmount | None:
    """None if a part of it is missing."""
    if segments is None or intervals is None or size is None:
        return None
    return CompactionAmount(segments, intervals, size)


def compaction_tasks(cluster: DruidCluster, data_source: str | None) -> tuple[Task, ...]:
    """Compaction tasks, newest first."""
    return tuple(task for task in Overlord(cluster.client).tasks(data_source) if task.type == "compact")


# --- manual ------------------------------------------------------------------------------------------------------


def compact(
    cluster: DruidCluster,
    task: Mapping[str, Any],
    limits: CompactionLimits | None,
    on_submit: Callable[[tuple[str, ...]], object],
) -> tuple[str, ...]:
    """Submit compaction tasks by the template `task`; with `limits`, wait for them and verify the rows.

    Returns their ids; none if there is nothing to compact. `on_submit` is called with them before the first one is
    submitted. Raises CompactionError if a task fails, or if rows have changed.
    """
    run = _Compaction(cluster, str(task["dataSource"]), task)
    try:
        run.submit(limits, on_submit)
        if run.ids and limits is not None:
            run.wait(limits)
    finally:
        cluster.progress("")
    return tuple(run.ids)


def resume(cluster: DruidCluster, data_source: str, tasks: Sequence[str], limits: CompactionLimits) -> tuple[str, ...]:
    """Wait for the tasks of a process that has ended, and for their segments to be loaded.

    Returns the ids of those that Druid does not know: they were never submitted, or were forgotten. Raises
    CompactionError if a task fails.
    """
    run = _Compaction(cluster, data_source)
    run.ids = [task_id for task_id in tasks if run.overlord.task(task_id) is not None]
    try:
        run.wait_unverified(limits)
    finally:
        cluster.progress("")
    return tuple(task_id for task_id in tasks if task_id not in run.ids)


def cancel(cluster: DruidCluster, tasks: Sequence[str]) -> tuple[str, ...]:
    """Stop the tasks. Returns the ids of those that had already succeeded."""
    overlord = Overlord(cluster.client)
    succeeded: list[str] = []
    for task_id in tasks:
        task = stopped(overlord, task_id, STOPPED)
        if task is not None and not task.is_complete:
            raise DruidError(
                f"timed out after {STOPPED:g} s waiting for compaction task {task_id} to stop",
                hint=f"SHOW TASK '{task_id}' shows details",
            )
        if task is not None and task.state == "SUCCESS":
            succeeded.append(task_id)
    return tuple(succeeded)


class _Compaction:
    def __init__(self, cluster: DruidCluster, data_source: str, task: Mapping[str, Any] | None = None) -> None:
        self.cluster, self.client = cluster, cluster.client
        self.overlord = Overlord(cluster.client)
        self.data_source = data_source
        self.segments = Segments(cluster.client, self.data_source)
        self.task = dict(task or {})
        self.ids: list[str] = []
        self.inputs = 0
        """The number of segments that the tasks read, unless other writes come first."""
        self.known: frozenset[str] = frozenset()
        self.measures = COUNT
        self.before = Measured(0, {})

    def submit(self, limits: CompactionLimits | None, on_submit: Callable[[tuple[str, ...]], object]) -> None:
        there = self._segments(limits)
        spans = [(segment.start, segment.end) for segment in there if segment.state != "tombstone"]
        if not spans:
            return
        if limits is not None:
            self._measure()
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", self.data_source)
        tasks = {f"hivedruid_compact_{name}_{uuid4().hex}": task for task in over(self.task, spans)}
        on_submit(tuple(tasks))
        starts, ends = sorted(segment.start for segment in there), sorted(segment.end for segment in there)
        for task_id, task in tasks.items():
            self._post({**task, "id": task_id})
            self.ids.append(task_id)
            start, end = map(millis, task["ioConfig"]["inputSpec"]["interval"].split("/"))
            self.inputs += bisect_left(starts, end) - bisect_right(ends, start)

    def _segments(self, limits: CompactionLimits | None) -> list[Segment]:
        """The segments that a task reads, including tombstones. With `limits`, waits for segments that are being
        loaded: only loaded segments can be measured."""
        found: list[Segment] = []

        def are_loaded() -> bool:
            read = ("available", "loading", "tombstone")
            (there,) = listed(self.cluster, [self.data_source])
            found[:] = [segment for segment in there if segment.state in read]
            return all(segment.state != "loading" for segment in found)

        self.cluster.progress(f"Druid: waiting for the segments of {self.data_source} to be loaded")
        if not wait_until(are_loaded, limits.load if limits else 0) and limits is not None:
            raise DruidError(
                f"timed out after {limits.load:g} s waiting for the segments of {self.data_source} to be loaded;"
                " nothing was compacted",
                hint="SHOW SEGMENTS lists them; COMPACT without AND WAIT does not wait for them",
            )
        return found

    def _measure(self) -> None:
        self.known = frozenset(item.identifier for item in self._stored())
        rolls_up = (self.task.get("granularitySpec") or {}).get("rollup") is not False
        descriptors = [part.descriptor for part in self.segments.visible() if not part.is_growing]
        self.measures = measures_of(self.cluster, self.data_source, descriptors, rolls_up=rolls_up)
        self.before = measured(self.cluster, self.data_source, descriptors, self.measures)

    def _post(self, task: Mapping[str, Any]) -> None:
        """Submit a task once: without a response, its id shows whether the overlord has it."""
        self.cluster.progress(f"Druid: submitting task {task['id']}")
        try:
            self.overlord.submit(task, repeatable=False)
        except ConnectError:
            if self.overlord.task(str(task["id"])) is None:
                raise

    def _stored(self) -> list[wire.DataSegment]:
        """The used segments, from the metadata store."""
        path = path_of(STORED, self.data_source)
        return self.client.post("coordinator", path, list[wire.DataSegment], [interval(ETERNITY)])

    # --- the tasks ---------------------------------------------------------------------------------------------

    def wait(self, limits: CompactionLimits) -> None:
        for task_id in self.ids:
            self._watch(task_id, limits.slot)
        new = [item for item in self._stored() if item.identifier not in self.known and is_compacted(item)]
        self._wait_for(new, limits.load)
        self._verify(new)

    def wait_unverified(self, limits: CompactionLimits) -> None:
        for task_id in self.ids:
            self._watch(task_id, limits.slot)
        self._wait_for([item for item in self._stored() if is_compacted(item)], limits.load)

    def _watch(self, task_id: str, slot: float) -> None:
        """Wait for a task to complete. Raises DruidError if it fails, or gets no slot."""
        begun = monotonic()
        unknown, waiting = Patience(KNOWN), Patience(slot)
        while True:
            task = self.overlord.task(task_id)
            if task is None:
                if unknown.is_over(True):
                    raise DruidError(f"Druid has no compaction task {task_id}")
            elif task.is_complete:
                if task.state == "SUCCESS":
                    return
                raise self._failure(task)
            elif waiting.is_over(task.state in ("WAITING", "PENDING")):
                raise DruidError(
                    f"timed out after {slot:g} s waiting for compaction task {task_id} to get a slot or a lock; the"
                    " task is still waiting",
                    hint=f"SHOW TASKS lists the running tasks; KILL TASK '{task_id}' stops it",
                )
            state = task.state.lower() if task is not None else "submitted"
            self.cluster.progress(f"Druid: compacting {self.data_source}, {state} ({monotonic() - begun:.0f} s)")
            sleep(0.2)

    def _failure(self, task: Task) -> CompactionError:
        return CompactionError(
            f"the compaction of {self.data_source} failed: {task.error or 'Druid gives no reason'}",
            hint=f"SHOW TASK '{task.id}' shows details; no rows were changed, and COMPACT can be rerun",
        )

    def _wait_for(self, new: Sequence[wire.DataSegment], patience: float) -> None:
        self.cluster.progress(f"Druid: waiting for {len(new)} segment(s) of {self.data_source} to be loaded")
        if not self.segments.wait_for([segment_of(self.data_source, item) for item in new], patience):
            raise DruidError(
                f"{self.data_source} was compacted, but timed out after {patience:g} s waiting for its segments to be"
                " loaded",
                hint="queries read the old ones until then; check that the historical is running: hivedruid doctor",
            )

    # --- verification ------------------------------------------------------------------------------------------

    def _verify(self, new: Sequence[wire.DataSegment]) -> None:
        """Raises DruidError if the new segments do not contain the same rows as the old ones."""
        names = {item.identifier for item in new}
        parts = [part for part in self.segments.visible() if part.id in names]
        try:
            read, rows = self._reported()
        except (AnswerError, ConnectError) as error:
            raise type(error)(
                f"{self.data_source} was compacted, but its rows before and after were not compared: {error.message}",
                hint=error.hint,
            ) from error
        if len(parts) < len(names) or read != self.inputs:
            self.cluster.note(
                f"{self.data_source} was written to during its compaction: its rows before and after were not compared"
            )
            return
        after = measured(self.cluster, self.data_source, [part.descriptor for part in parts], self.measures)
        wrong = list(self.measures.differences(self.before, after))
        if rows is not None and rows != self.before.rows:
            wrong.insert(0, f"{rows} of {self.before.rows} rows were read")
        if wrong:
            raise CompactionError(
                f"{self.data_source} has changed during its compaction: {'; '.join(wrong)}",
                hint=f"Druid keeps the old segments as unused; SHOW TASK '{self.ids[0]}' shows details",
            )

    def _reported(self) -> tuple[int, int | None]:
        """The number of segments and rows that the tasks have read, from their reports; None without counts."""
        segments, rows = 0, None
        for task_id in self.ids:
            for name, part in self.overlord.reports(task_id).items():
                if name.startswith(wire.INGESTION) and part.payload is not None:
                    segments += part.payload.segments_read or 0
                    counts = (part.payload.row_stats or wire.RowStats()).counts
                    rows = (rows or 0) + rows_in(counts, "processed") if counts else rows
        return segments, rows


def is_compacted(segment: wire.DataSegment) -> bool:
    """Whether a compaction task has written it. Rows appended concurrently get the same version, but not that state, or
    one with the mark of an INSERT. Compaction supervisors of Druid 37 store the fingerprint of the state."""
    has_state = segment.last_compaction_state is not None or segment.indexing_state_fingerprint is not None
    return has_state and not task_of(segment) and not segment.is_tombstone
