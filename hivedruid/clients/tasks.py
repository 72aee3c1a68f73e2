"""One `index_parallel` task on a cluster: submitted, watched, checked, waited for; undone where it did not do all of it.

Traps of Druid 33 that this module is for: a task over no readable file succeeds, and with dropExisting empties its
intervals; rows without a readable time vanish from a task that succeeds; dropExisting is refused without intervals;
intervals without end make the overlord count their days for ever; a task's SUCCESS says nothing of what can be queried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from hivedruid.clients.failures import first_line
from hivedruid.clients.segments import ETERNITY, Patience, Segment, Segments, interval
from hivedruid.clients.staged import DAY, FINER, Staged, look_through, merged
from hivedruid.errors import ConnectError, DruidError

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

TASKS = "/druid/indexer/v1/task"
MOST_BUCKETS, MOST_TOMBSTONES = 20_000, 500
"""Segment intervals that one task may lock, and how many of them it may leave empty, which takes 25 ms for each; what
is more is emptied afterwards, by segment."""
ALL_TIME = "0000-01-01T00:00:00Z/5000-01-01T00:00:00Z"
"""What a kill task may be given: of an interval without end the overlord counts the days."""
LOST_WORKER = 20.0
"""Seconds without a worker after which a task is given up."""


@dataclass(frozen=True)
class IngestReport:
    """`processed` rows read and kept; `segments` that are new, those that only hide others (tombstones) among them."""

    task: str
    processed: int
    segments: int


def ingest(cluster: DruidCluster, spec: Mapping[str, Any], also: Callable[[], object] | None) -> IngestReport:
    return _Ingestion(cluster, spec).run(also)


class _Ingestion:
    def __init__(self, cluster: DruidCluster, spec: Mapping[str, Any]) -> None:
        if spec.get("type") != "index_parallel":
            raise DruidError(f"tasks of type '{spec.get('type')}' are not run here")
        self.cluster = cluster
        self.client = cluster.client
        inner = spec["spec"]
        self.schema, self.io = dict(inner["dataSchema"]), dict(inner["ioConfig"])
        self.tuning = {"type": "index_parallel", "maxSavedParseExceptions": 1, **(inner.get("tuningConfig") or {})}
        self.data_source: str = self.schema["dataSource"]
        self.granularity = dict(self.schema.get("granularitySpec") or {})
        self.overwrites = bool(self.io.get("dropExisting"))
        self.id = f"hivedruid_{re.sub(r'[^A-Za-z0-9_.-]', '_', self.data_source)}_{uuid4().hex}"
        self.segments = Segments(self.client, self.data_source)

    def run(self, also: Callable[[], object] | None) -> IngestReport:
        staged = self._staged()
        if not staged.rows:  # Druid would succeed over no file, too
            if self.overwrites:
                self.cluster.drop(self.data_source)
            if also is not None:
                also()
            return IngestReport("", 0, 0)
        before = self.segments.used()
        seen = self.segments.seen(before)
        left_over = self._set_intervals(staged, before) if self.overwrites else ()
        if self.io.get("dropExisting"):
            self._check_readable()
        try:
            self._submit()
            self._watch()
        except KeyboardInterrupt:
            self._shut_down()
            raise
        report = self._report()
        known = set(before)
        try:
            processed = _check_counts(report, staged.rows, self.id)
            self.segments.mark_unused(left_over)
            new = [segment for segment in self.segments.used() if segment not in known]
            self._wait_for(new, left_over)
            if also is not None:
                also()
        except BaseException as error:
            if also is not None or isinstance(error, _WrongCountsError):
                self._undo(before, seen, report)
            raise
        return IngestReport(self.id, processed, len(new))

    # --- before ------------------------------------------------------------------------------------------------

    def _staged(self) -> Staged:
        stamp = self.schema.get("timestampSpec") or {}
        wants_times = self.overwrites and not self.granularity.get("intervals")
        if wants_times and stamp.get("format") != "millis":
            raise DruidError("an overwriting task needs intervals, or times in milliseconds to find them in")
        segment = str(self.granularity.get("segmentGranularity") or "DAY")
        return look_through(
            self.io["inputSource"], stamp.get("column") or "timestamp", segment if wants_times else None
        )

    def _set_intervals(self, staged: Staged, before: Sequence[Segment]) -> Sequence[Segment]:
        """Give the task the intervals it replaces; what is too wide for that comes back, to be unused afterwards.

        A real Druid refuses dropExisting without intervals.
        """
        if self.granularity.get("intervals"):
            return ()
        data = [segment for segment in before if not segment.is_tombstone]
        if not data:  # nothing to drop, and any number of intervals to write
            self.io["dropExisting"] = False
            return ()
        segment = str(self.granularity.get("segmentGranularity") or "DAY").upper()
        if segment == "ALL":
            self._replace((ETERNITY,))
            return ()
        width = FINER.get(segment, DAY)
        wide = [s for s in data if s.end - s.start > MOST_BUCKETS * width]
        found = merged([*staged.intervals, *((s.start, s.end) for s in data if s not in wide)])
        buckets = _length(found) // width
        if buckets > MOST_BUCKETS or buckets - _length(staged.intervals) // width > MOST_TOMBSTONES:
            self._replace(staged.intervals)
            return data
        self._replace(found)
        return wide

    def _replace(self, intervals: tuple[tuple[int, int], ...]) -> None:
        self.granularity["intervals"] = [interval(span) for span in intervals]

    def _check_readable(self) -> None:
        """Let the overlord read a row: over files that its machine does not see, the task would drop all and succeed."""
        spec = {
            "type": "index",
            "dataSchema": self.schema,
            "ioConfig": {"type": "index", **{key: self.io[key] for key in ("inputSource", "inputFormat")}},
        }
        sampler = {"type": "index", "spec": spec, "samplerConfig": {"numRows": 1, "timeoutMs": 30_000}}
        sampled = self.client.post("overlord", "/druid/indexer/v1/sampler", sampler)
        if not isinstance(sampled, dict) or not sampled.get("numRowsRead"):
            raise DruidError(
                f"Druid cannot read the staged rows: {self.io['inputSource'].get('baseDir')} is not there on its machines",
                hint="choose a --home on a file system that Druid's machines share",
            )

    # --- the task ----------------------------------------------------------------------------------------------

    def _task(self) -> dict[str, Any]:
        schema = {**self.schema, "granularitySpec": self.granularity}
        spec = {"dataSchema": schema, "ioConfig": self.io, "tuningConfig": self.tuning}
        return {"type": "index_parallel", "id": self.id, "spec": spec}

    def _submit(self) -> None:
        """Hand the task over once: where no answer came, its id tells whether the overlord has it."""
        self.cluster.progress(f"Druid: task {self.id} is submitted")
        task = self._task()
        for attempt in range(self.client.address.tries):
            try:
                self.client.post("overlord", TASKS, task, repeatable=False)
            except ConnectError:
                if self._status() is not None:
                    return
                if attempt == self.client.address.tries - 1:
                    raise
            else:
                return

    def _status(self) -> dict[str, Any] | None:
        found = self.client.get("overlord", f"{TASKS}/{quote(self.id, safe='')}/status", missing={})
        return found.get("status") if isinstance(found, dict) else None

    def _watch(self) -> None:
        """Wait for the task's end. Raises DruidError with Druid's own words where it fails."""
        begun = monotonic()
        pause, lost = 0.05, Patience(LOST_WORKER)
        while True:
            sleep(pause)
            pause = min(pause * 1.2, 0.5)
            status = self._reliable_status()
            code = status.get("statusCode")
            if code == "SUCCESS":
                return
            if code == "FAILED":
                raise self._failure(status)
            has_worker = self._has_worker(status)
            doing = "ingesting into" if has_worker else "waiting for a worker to ingest into"
            self.cluster.progress(f"Druid: {doing} {self.data_source} ({monotonic() - begun:.0f} s)")
            if lost.is_over(not has_worker):
                self._shut_down()
                raise DruidError(
                    f"no worker of Druid's runs the ingestion task {self.id}",
                    hint="see whether the indexer or middle manager runs: hivedruid doctor",
                )

    def _reliable_status(self) -> dict[str, Any]:
        """The status, from an overlord that may be away for a moment: a restart, a new leader."""
        end = monotonic() + min(self.cluster.patience, 60.0)
        while True:
            try:
                status = self._status()
            except ConnectError as error:
                if monotonic() >= end:
                    raise ConnectError(
                        f"{error.message}; the ingestion task {self.id} may still run", hint=error.hint
                    ) from error
            else:
                if status is not None:
                    return status
                if monotonic() >= end:
                    raise DruidError(f"Druid does not know the ingestion task {self.id} any more")
            sleep(0.5)

    def _has_worker(self, status: Mapping[str, Any]) -> bool:
        """Whether the machine that the task is on, or any while it waits for one, is there."""
        try:
            workers = self.client.get("overlord", "/druid/indexer/v1/workers")
            hosts = {str(worker["worker"]["host"]) for worker in workers}
        except (DruidError, ConnectError, TypeError, KeyError):
            return True  # not for us to see
        place = status.get("location") or {}
        machines = {host.rpartition(":")[0] for host in hosts}
        return place["host"] in machines if place.get("host") else bool(hosts)

    def _failure(self, status: Mapping[str, Any]) -> DruidError:
        reason = first_line(str(status.get("errorMsg") or ""))
        payload = self._report()
        reason = first_line(str(payload.get("errorMsg") or "")) or reason
        unparseable = payload.get("unparseableEvents") or {}
        bad = [event for events in unparseable.values() if isinstance(events, list) for event in events]
        if bad and isinstance(bad[0], dict):
            detail = (bad[0].get("details") or [""])[0]
            reason = f"a row cannot be stored: {first_line(str(detail))}"
        return DruidError(
            f"the ingestion task failed: {reason or 'Druid does not say why'}",
            hint=f"task {self.id}; nothing was changed",
        )

    def _report(self) -> dict[str, Any]:
        try:
            report = self.client.get("overlord", f"{TASKS}/{quote(self.id, safe='')}/reports", missing={})
            payload = report["ingestionStatsAndErrors"]["payload"]
        except (DruidError, TypeError, KeyError):
            return {}
        return payload if isinstance(payload, dict) else {}

    def _shut_down(self) -> None:
        """Stop the task, and say what has become of it."""
        try:
            if self._status() is None:
                return
            self.client.post("overlord", f"{TASKS}/{quote(self.id, safe='')}/shutdown")
            code = (self._status() or {}).get("statusCode")
        except (DruidError, ConnectError) as error:
            self.cluster.note(f"the ingestion task {self.id} may still run: {error.message}")
            return
        if code == "SUCCESS":
            self.cluster.note(f"the ingestion task {self.id} had already finished: its rows are stored")
        else:
            self.cluster.note(f"the ingestion task {self.id} was shut down; nothing was changed")

    # --- after -------------------------------------------------------------------------------------------------

    def _wait_for(self, new: Sequence[Segment], gone: Sequence[Segment]) -> None:
        self.cluster.progress(f"Druid: waiting for {len(new)} segment(s) of {self.data_source} to be loaded")
        patience = self.cluster.patience
        try:
            loaded = self.segments.wait_for(new, gone, patience)
        except ConnectError as error:
            raise ConnectError(f"{error.message}; the rows are stored", hint=error.hint) from error
        if not loaded:
            raise DruidError(
                f"the rows are stored, and after {patience:g} s not all of their segments are loaded",
                hint="see whether the historical runs, and has room: hivedruid doctor",
            )

    def _undo(self, before: Sequence[Segment], seen: Sequence[Segment], report: Mapping[str, Any]) -> None:
        """Take back what the task wrote, unless others wrote meanwhile: then nobody can tell which segments are whose."""
        try:
            known = set(before)
            new = [segment for segment in self.segments.used() if segment not in known]
            published = report.get("segmentsPublished")
            if published is None or published == sum(not segment.is_tombstone for segment in new):
                self.segments.restore(before, seen, new)
                return
            problem = "others wrote at the same time"
        except (DruidError, ConnectError) as error:
            problem = error.message
        self.cluster.note(f"what the ingestion task {self.id} wrote was not taken back: {problem}")


def delete_unused(cluster: DruidCluster, data_source: str) -> None:
    """Delete the segments of a data source that are marked as unused, from deep storage, too: a kill task."""
    from hivedruid.clients.overlord import Overlord

    overlord = Overlord(cluster.client)
    task_id = f"hivedruid_kill_{uuid4().hex}"
    task = {"type": "kill", "id": task_id, "dataSource": data_source, "interval": ALL_TIME}
    cluster.client.post("overlord", TASKS, task)
    end = monotonic() + cluster.patience
    while True:
        found = overlord.task(task_id)
        if found is not None and found.is_complete:
            break
        if monotonic() >= end:
            raise DruidError(f"the segments of {data_source} are not deleted yet", hint=f"SHOW TASK '{task_id}'")
        cluster.progress(f"Druid: deleting the segments of {data_source}")
        sleep(0.2)
    cluster.progress("")
    if found.state != "SUCCESS":
        raise DruidError(f"the segments of {data_source} were not deleted: {found.error or task_id}")


def _check_counts(report: Mapping[str, Any], expected: int, task: str) -> int:
    """The rows that the task says it read and kept. Raises _WrongCountsError unless it did so with every one."""
    stats = report.get("rowStats") or {}
    counts = stats.get("totals", stats).get("buildSegments") or {}
    if not counts:
        return expected  # some tasks leave no report; a row that cannot be parsed has failed the task
    lost = {name: counts.get(name, 0) for name in ("processedWithError", "unparseable", "thrownAway")}
    processed = int(counts.get("processed", 0))
    if processed != expected or any(lost.values()):
        details = ", ".join(f"{count} {name}" for name, count in lost.items() if count)
        raise _WrongCountsError(
            f"Druid took {processed} of {expected} rows{f' ({details})' if details else ''}", hint=f"task {task}"
        )
    return processed


def _length(intervals: Sequence[tuple[int, int]]) -> int:
    return sum(end - start for start, end in intervals)


class _WrongCountsError(DruidError):
    pass
