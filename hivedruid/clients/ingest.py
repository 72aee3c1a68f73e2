"""The load of staged rows on a cluster, resumable from any state: every step can be repeated.

    staged ── submit ──► submitted ── the task ends ──► published ── loaded, checked, settled ──► verified
       ▲                     └───────── rolled back ◄────────┘

It handles these pitfalls of Druid 33: a task without a readable file succeeds, and with dropExisting empties its
intervals; a successful task silently skips rows without a valid time; dropExisting is refused without intervals;
unbounded intervals make the overlord count their days endlessly; SUCCESS of a task does not mean that its rows can be
queried, and FAILED of a task that was shut down does not mean that it published nothing.

The notes of a load: `used` and `seen`, the earlier segments if any are replaced, and `rolls_back`, the reason of a
rollback that has started.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivedruid.clients import task_spec, wire
from hivedruid.clients.failures import AnswerError
from hivedruid.clients.published import Before, MismatchError, OverwrittenError, Published, TakenAwayError
from hivedruid.clients.segments import ETERNITY, Segments
from hivedruid.clients.tasks import IngestionTask, NoWorkerError, TaskReport
from hivedruid.druid.instants import millis
from hivedruid.engine.segments import Segment
from hivedruid.errors import ConnectError, DruidError, ExecutionError
from hivedruid.jobs.load import LoadReport

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.jobs.load import Journal, Load
    from hivedruid.jobs.staged import Interval

SAMPLER = "/druid/indexer/v1/sampler"
EXTENSIONS = {
    "s3": "druid-s3-extensions",
    "hdfs": "druid-hdfs-storage",
    "google": "druid-google-extensions",
    "azureStorage": "druid-azure-extensions",
}
"""The extensions that an overlord needs for remote input sources."""


def check_extension(cluster: DruidCluster, spec: Mapping[str, Any]) -> None:
    """Raises DruidError if the overlord lacks the extension for the spec's input source."""
    kind = str(spec["spec"]["ioConfig"]["inputSource"]["type"])
    needed = EXTENSIONS.get(kind)
    if needed is None:
        return
    if needed not in cluster.client.get("overlord", "/status", wire.Status).artifacts:
        raise DruidError(
            f"Druid's overlord cannot read the staged rows: input source '{kind}' needs the extension {needed}",
            hint=(
                f"add {needed} to druid.extensions.loadList, or set hivedruid.staging.root to a folder that all of"
                " Druid's machines share"
            ),
        )


def is_readable(
    cluster: DruidCluster, schema: Mapping[str, Any], source: Mapping[str, Any], form: Mapping[str, Any]
) -> bool:
    """Whether the overlord can read a row of an input source: it samples one."""
    io = {"type": "index", "inputSource": source, "inputFormat": form}
    spec = {"type": "index", "dataSchema": schema, "ioConfig": io}
    sampler = {"type": "index", "spec": spec, "samplerConfig": {"numRows": 1, "timeoutMs": 30_000}}
    return cluster.client.post("overlord", SAMPLER, wire.Sampled, sampler).num_rows_read > 0


class Ingestion:
    """All methods raise DruidError or ConnectError."""

    def __init__(self, cluster: DruidCluster, load: Load, journal: Journal) -> None:
        if load.spec.get("type") != "index_parallel":
            raise DruidError(f"tasks of type '{load.spec.get('type')}' are not supported")
        self._cluster = cluster
        self._load = load
        self._journal = journal
        self._segments = Segments(cluster.client, load.data_source)
        self._task = IngestionTask(cluster, load.task, load.data_source, load.staged.rows)
        self._is_resumed = load.state == "published"
        self._set_before(Before.of_notes(load.data_source, load.notes))

    def _set_before(self, before: Before) -> None:
        self._before = before
        self._published = Published(self._cluster, self._load, before)

    def run(self) -> LoadReport:
        """Complete the load from its current state. Ctrl-C rolls it back."""
        if reason := self._load.notes.get("rolls_back"):
            self.roll_back(str(reason))
            raise DruidError(f"the rows were rolled back: {reason}")
        try:
            report = self._write() if self._load.staged.rows else self._write_nothing()
        except KeyboardInterrupt:
            self._interrupt()
            raise
        try:
            self._journal.verified(report)
        except Exception as error:  # but not for Ctrl-C, which may come after the commit
            self.roll_back(str(error))
            raise
        return report

    def _write(self) -> LoadReport:
        if not self._is_published():
            self._publish()
        return self._finish()

    def _publish(self) -> None:
        """Bring the segments of the load into Druid's metadata, and record `published`."""
        self._submit_unless_known()
        self._watch()

    def _write_nothing(self) -> LoadReport:
        """Replace rows by none, without a task."""
        if self._load.replaces == "all" or (self._load.replaces == "intervals" and self._given()):
            is_first = self._load.state == "staged"
            if is_first:
                self._set_before(self._replaceable(self._there()))
                self._journal.submitted(self._notes())
            if self._load.replaces == "all" and is_first:
                self._cluster.drop(self._load.data_source)
            else:  # later segments of other writes are kept
                self._published.let_go()
        return LoadReport("", 0, 0)

    # --- the task ----------------------------------------------------------------------------------------------

    def _is_published(self) -> bool:
        """Whether the task has published; if the overlord no longer knows the task, its segments show it."""
        if self._load.state == "submitted" and self._task.status() is None and self._published.ever(None):
            self._journal.published(self._notes())
            return True
        return self._load.state == "published"

    def _submit_unless_known(self) -> None:
        if self._load.state == "submitted" and self._task.status() is not None:
            return
        check_extension(self._cluster, self._load.spec)
        there = self._there()
        self._set_before(self._replaceable(there))
        task = task_spec.completed(
            self._load, [(s.start, s.end) for s in (there if self._load.replaces == "nothing" else self._before.used)]
        )
        if task["spec"]["ioConfig"].get("dropExisting"):
            self._check_readable(task)
        self._journal.submitted(self._notes())
        try:
            self._task.submit(task)
        except DruidError as error:  # refused: the task does not exist
            self._journal.rolled_back(error.message)
            raise

    def _there(self) -> list[Segment]:
        """The existing segments in the intervals that are written or replaced."""
        spans = self._given() or self._load.staged.intervals
        return self._segments.used(spans if spans and self._load.replaces != "all" else (ETERNITY,))

    def _replaceable(self, there: Sequence[Segment]) -> Before:
        if self._load.replaces == "nothing":
            return Before()
        used = tuple(segment for segment in there if not segment.is_tombstone)
        return Before(used, tuple(self._segments.seen(used)))

    def _given(self) -> tuple[Interval, ...]:
        """The intervals that the spec itself names."""
        granularity = self._load.spec["spec"]["dataSchema"].get("granularitySpec") or {}
        return tuple(
            (millis(a), millis(b)) for a, b in (text.split("/") for text in granularity.get("intervals") or ())
        )

    def _notes(self) -> dict[str, Any]:
        return self._before.notes()

    def _check_readable(self, task: dict[str, Any]) -> None:
        """Check that the overlord's machine sees the files: otherwise the task would drop all rows and succeed."""
        schema, io = task["spec"]["dataSchema"], task["spec"]["ioConfig"]
        if not is_readable(self._cluster, schema, io["inputSource"], io["inputFormat"]):
            raise DruidError(
                f"Druid cannot read the staged rows in {self._load.staged.folder}",
                hint="choose a --home, or set hivedruid.staging.root, on a file system that Druid's machines share; if"
                " Druid runs as another user, also SET hivedruid.staging.shared=true",
            )

    def _watch(self) -> None:
        try:
            ended = self._task.watch()
        except NoWorkerError as error:
            self._fail(error)
        else:
            if ended.state == "FAILED":
                self._fail(self._task.failure(ended))
        self._journal.published(self._notes())

    def _fail(self, error: DruidError) -> None:
        """Roll back the segments of the task, if any, and raise the error.

        If they were replaced by a later write they cannot be rolled back: the error is noted, and the job completes.
        """
        try:
            self.roll_back(error.message)
        except OverwrittenError as kept:
            self._cluster.note(f"{error.message}; {kept.message}")
        else:
            raise error

    # --- its segments ------------------------------------------------------------------------------------------

    def _finish(self) -> LoadReport:
        report = self._report()
        segments = self._published.ever(report.published)
        if len(segments) < (report.published or 0):
            raise DruidError(
                f"task {self._load.task} published {report.published} segment(s), of which {len(segments)} are found in"
                " Druid: the rows cannot be verified, and are not rolled back",
                hint="run SHOW SEGMENTS to list those of the table; CANCEL JOB ends the job, and leaves the rows",
            )
        try:
            self._published.wait(segments)
            self._published.check(segments, report)
        except (MismatchError, TakenAwayError) as error:
            self._fail(error)
        self._published.settle(segments)
        rows = [segment for segment in segments if not segment.is_tombstone]
        return LoadReport(self._load.task, self._load.staged.rows, len(rows), sum(s.size for s in rows))

    def _report(self) -> TaskReport:
        """The report of the task. A load that is resumed after its task does without it: queries verify its rows."""
        try:
            return self._task.report()
        except (AnswerError, ConnectError) as error:
            if self._is_resumed:
                self._cluster.note(f"the report of task {self._load.task} cannot be read; queries verify its rows")
                return TaskReport()
            raise type(error)(
                f"the rows are in Druid, but the report of task {self._load.task} cannot be read: {error.message}",
                hint=error.hint,
            ) from error

    def _interrupt(self) -> None:
        try:
            self.roll_back("interrupted")
        except OverwrittenError as kept:
            self._cluster.note(kept.message)
        except ExecutionError as error:
            self._cluster.note(f"the ingestion task {self._load.task} may still run: {error.message}")
        else:
            ended = f"the ingestion task {self._load.task} was shut down; " if self._load.staged.rows else ""
            self._cluster.note(f"{ended}nothing was changed")

    def _stop(self) -> None:
        """Ensure that the task publishes nothing from now on."""
        self._task.shut_down()

    def roll_back(self, reason: str) -> None:
        """Shut the task down and roll back its segments, if any; finally the journal records `rolled_back`.

        Raises OverwrittenError, without a record, if its segments were replaced by a later write.
        """
        if self._load.staged.rows:  # otherwise there is no task
            self._stop()
        was_begun = "rolls_back" in self._load.notes  # some may be marked as unused, but still be loaded
        if not was_begun:
            self._published.check_not_overwritten()
        segments = self._published.ever(None) if was_begun else self._published.used()
        if segments or was_begun or (self._before.used and not self._load.staged.rows):
            notes = {**self._notes(), "rolls_back": reason}
            self._load = replace(self._load, notes=notes)
            self._journal.published(notes)
            self._published.take_back(segments)
        self._journal.rolled_back(reason)
