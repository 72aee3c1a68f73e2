"""The interfaces that an engine may have beside `DruidEngine`, each one a capability.

Which kind of engine has which is a table in `kinds`; `kinds.require` and `kinds.find` return an engine as a capability.
All methods raise DruidError or ConnectError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from hivedruid.engine.archiving import HOLD_LONGEST, HOLD_PATIENCE
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.druid.retention import Rule
    from hivedruid.engine.archiving import Held, Holding, Span
    from hivedruid.engine.compaction import AutomaticCompaction, CompactionLimits
    from hivedruid.engine.segments import Segment
    from hivedruid.filesystems import Access
    from hivedruid.ingestion.checks import Seen
    from hivedruid.ingestion.lifecycle import IngestionChange, IngestionFacts
    from hivedruid.ingestion.model import RowCounts, Task, UnparseableRecord, UnparsedValues
    from hivedruid.ingestion.offsets import Move
    from hivedruid.ingestion.overview import Known, Overview
    from hivedruid.jobs.load import Journal, Load, LoadReport
    from hivedruid.plan.physical import DruidRead
    from hivedruid.plan.segment_files import SegmentFiles, SegmentKey
    from hivedruid.plan.segment_queries import ServedSegments
    from hivedruid.responses.queries import DruidAccess
    from hivedruid.results import Row


@runtime_checkable
class Loading(Protocol):
    """Stores rows in data sources, and drops them."""

    def check(self, spec: Mapping[str, Any]) -> None:
        """Called before rows are staged. Raises DruidError for an input source that this engine does not support."""

    def ingest(self, load: Load, journal: Journal) -> LoadReport:
        """Run an `index_parallel` task over staged rows; returns when the rows can be queried and are verified.

        Afterwards either all rows are in Druid, each exactly once, or none. If an error leaves that undecided, the
        journal records it, and another call with its state and notes resumes from there. Without rows no task is
        submitted, and only the replacement requested by "all" is done. Ctrl-C shuts the task down.
        """

    def roll_back(self, load: Load, journal: Journal) -> None:
        """Roll back a load: shut its task down, drop the segments that it published, and restore those that it
        replaced."""

    def drop(self, data_source: str) -> None:
        """Drop all segments of a data source; returns when no query reads them any more.

        An engine with `DeepStorage` only marks them as unused.
        """


@runtime_checkable
class DeepStorage(Protocol):
    """Keeps the segments that are marked as unused."""

    def delete_unused(self, data_source: str, spans: Sequence[Span] = ()) -> None:
        """Delete the unused segments of a data source, or of intervals of it, also from deep storage; returns when they
        are deleted."""

    def unused_segments(self, data_source: str) -> tuple[Segment, ...]:
        """The segments that are marked as unused."""

    def restore(self, data_source: str, segments: Sequence[Segment]) -> None:
        """Mark segments as used again; returns when queries read them."""

    def kill_duty(self) -> str:
        """When the cluster itself deletes unused segments, as a clause of a message."""


@dataclass(frozen=True)
class SegmentRoot:
    """The root folder of deep storage, a path or URI, and the `problem` that prevents hivedruid from writing segments
    there; "" if there is none. `is_refused`: Druid refuses the requests that publish segments."""

    folder: str
    problem: str = ""
    is_refused: bool = False


@runtime_checkable
class SegmentPublishing(Protocol):
    """Loads segments that hivedruid wrote into deep storage; see `Loading.ingest`."""

    def segment_root(self, folder: str, access: Access) -> SegmentRoot:
        """Where segments can be written: `folder`, or the one that Druid is configured with. Checks that it exists, and
        that Druid accepts the requests that publish segments."""

    def publishing_problem(
        self, data_source: str, granularity: str, root: str, access: Access, *, appends: bool
    ) -> str:
        """Why segments of that granularity below `root` cannot be loaded into a data source, or ""; called before they
        are built."""


@runtime_checkable
class SegmentLists(Protocol):
    """Lists the segments of data sources."""

    def segments(self, data_source: str) -> tuple[Segment, ...]:
        """The segments that queries read now, ordered by time."""

    def listed_segments(self, data_sources: Sequence[str]) -> tuple[tuple[Segment, ...], ...]:
        """All segments of each data source, including those that queries do not read, ordered by time, version and
        number."""


@runtime_checkable
class Archiving(Protocol):
    """Removes segments whose rows are stored elsewhere, all of them in one transaction."""

    def hold(
        self,
        data_source: str,
        spans: Sequence[Span],
        task_id: str,
        *,
        patience: float = HOLD_PATIENCE,
        longest: float = HOLD_LONGEST,
    ) -> AbstractContextManager[Held]:
        """Hold the intervals of the segments within `spans` against other writers, where it is possible.

        The others are left out, with the reason: a segment reaches beyond the spans, a task writes there, a part is
        hidden by a newer segment, or cannot be queried. For the locks of batch tasks, and until the last written
        segments are loaded, it waits `patience` seconds at most. `task_id` is new, and begins with `hivedruid_`. What a
        killed process holds is free after `longest` seconds, or `was_removed`.
        """

    def was_removed(self, holding: Holding) -> bool:
        """Whether `Held.remove` has removed the segments of a holding; afterwards it cannot any more.

        For another process than the one that holds them. Raises UnknownRemovalError if it is not known any more.
        """

    def is_removed(self, holding: Holding) -> bool:
        """Whether they are removed now, without preventing it later: for queries that run meanwhile. Queries may still
        read them for a moment."""

    def settle(self, holding: Holding) -> None:
        """Wait until no query reads the removed segments any more, and ensure that none will: the last step of
        `Held.remove`, which can be repeated."""

    def loaded(self, load: Load) -> Literal["none", "some", "all"]:
        """How many segments of a load, which another process may be running, queries can read now: none if it has not
        published them, some while servers are loading them, and while queries still read segments that they replace."""

    def visible(self, data_source: str, spans: Sequence[Span]) -> tuple[Segment, ...]:
        """The segments, or parts of them, that a query of these intervals reads now, ordered by time; at least those
        that overlap the intervals. One request.

        Tombstones are listed only beside later rows, and not told apart from segments with rows.
        """


@runtime_checkable
class Retention(Protocol):
    """Drops old segments by rules."""

    def retention_rules(self, data_sources: Sequence[str]) -> Mapping[str, tuple[Rule, ...]]:
        """The rules of each data source, in the order in which they are tried, those of all data sources last."""

    def own_retention_rules(self) -> Mapping[str, tuple[Rule, ...]]:
        """The rules by the name of a data source that has some of its own, and those of all under `_default`."""

    def set_retention_rules(self, data_source: str, rules: Sequence[Rule], comment: str) -> None:
        """Set the rules of a data source's own; without any, those of all data sources alone apply. The coordinator's
        audit log has the `comment`."""


@runtime_checkable
class SegmentStorage(Protocol):
    """Keeps segments that other processes can read: as files, or by queries."""

    def segment_files(self, data_source: str) -> SegmentFiles:
        """The files of the segments that queries read now, and the segments that only tasks have."""

    def write_rows_of(
        self, read: DruidRead, segments: Sequence[SegmentKey], columns: Sequence[str], path: Path
    ) -> None:
        """The rows that a query returns of these segments alone, as `DruidEngine.write_parquet`.

        Raises SegmentReadError if queries no longer read one of the segments.
        """

    def rows_of(self, read: DruidRead, segments: Sequence[SegmentKey]) -> Iterator[Row]:
        """The rows that a query returns of these segments alone, as `DruidEngine.rows`. After the last row raises
        SegmentReadError if queries no longer read one of the segments."""

    def served_segments(self, data_source: str) -> ServedSegments:
        """The segments that queries read now, with the servers that have them, if these can be reached from here."""

    def access(self) -> DruidAccess:
        """What a process on this machine needs for queries: secrets and certificates."""


@runtime_checkable
class Merging(Protocol):
    """Merges segments itself, in one commit; others do so with tasks (`Compaction`)."""

    def merge(self, data_source: str) -> tuple[int, int]:
        """Merge the segments of each interval; returns how many segments there were, and how many there are.

        No row and no value changes.
        """


@runtime_checkable
class Tasks(Protocol):
    """Runs tasks that can be listed and stopped."""

    def tasks(self, data_source: str | None = None, state: str | None = None) -> tuple[Task, ...]:
        """Tasks, newest first. `state` is running, waiting, pending or complete."""

    def task(self, task_id: str) -> Task | None:
        """One task; None if it does not exist."""

    def task_report(self, task_id: str) -> tuple[RowCounts, tuple[UnparseableRecord, ...]] | None:
        """The row counts and parse errors of a running or completed task; None if it has no report."""

    def task_log(self, task_id: str, characters: int) -> str:
        """The end of a task's log; empty if it has none."""

    def stop_task(self, task: Task, patience: float) -> bool:
        """Stop a running task; returns when it has stopped, and whether a running supervisor will start another one.

        Raises DruidError if it is still running after `patience` seconds.
        """


@runtime_checkable
class KafkaIngestion(Protocol):
    """Ingests from Kafka with supervisors."""

    def ingestion_facts(
        self,
        data_source: str,
        supervisor: str,
        *,
        whole: bool,
        wait_for_offsets: bool = False,
        feed: Mapping[str, Any] | None = None,
        moment: int | None = None,
    ) -> IngestionFacts:
        """The state of a supervisor of a data source, by its id, with the other supervisors of the data source.

        `whole` adds its status and the workers. With `wait_for_offsets` the call waits, for some seconds if needed,
        until the supervisor knows the offsets of its tasks. With `feed`, a supervisor spec, the offsets of the topic
        are read from Kafka, and those at `moment` (ms); they are omitted if Kafka cannot be reached.
        """

    def running_spec(self, supervisor: str) -> Mapping[str, Any] | None:
        """The spec of a supervisor, with Druid's defaults; None if there is no such supervisor."""

    def check_feed(self, spec: Mapping[str, Any]) -> None:
        """Raises KafkaError if no topic exists that a supervisor's spec reads, which is not checked if Kafka cannot be
        queried from this machine, or if an environment variable of its consumer is not set on the overlord."""

    def change_ingestion(
        self,
        change: IngestionChange,
        *,
        patience: float,
        on_offsets: Callable[[tuple[Move, ...]], None],
        on_accepted: Callable[[Mapping[str, Any]], None],
        on_step: Callable[[], None],
    ) -> tuple[Move, ...]:
        """Run the steps and wait for their effect; returns the changed offsets.

        `on_offsets` is called before offsets change, and may raise to prevent it.
        """

    def inspect_feed(self, spec: Mapping[str, Any]) -> Seen:
        """Inspect Kafka and Druid for a supervisor's spec, before it is submitted.

        The topic is sampled only if it exists; an empty topic is not waited for.
        """

    def unparsed_values(self, data_source: str) -> UnparsedValues | None:
        """The numeric dimensions of which running tasks have values that they could not parse, as known some seconds
        ago; None if there are none, if no segment grows, or if Druid does not tell."""

    def ingestions(self, known: Known) -> Overview:
        """All ingestions, for SHOW INGESTIONS."""

    def ingestions_with_causes(self, known: Known) -> Overview:
        """All ingestions with the evidence for SHOW PROBLEMS. A service that does not respond is part of the result."""


@runtime_checkable
class Compaction(Protocol):
    """Merges segments, when told to and automatically."""

    def configure_compaction(self, data_source: str, config: Mapping[str, Any] | None) -> None:
        """Set the configuration of the automatic compaction of a data source, or delete it."""

    def automatic_compactions(self) -> tuple[AutomaticCompaction, ...]:
        """The data sources with automatic compaction, by name."""

    def compaction_tasks(self, data_source: str | None) -> tuple[Task, ...]:
        """Compaction tasks, newest first."""

    def compact(
        self, task: Mapping[str, Any], limits: CompactionLimits | None, on_submit: Callable[[tuple[str, ...]], object]
    ) -> tuple[str, ...]:
        """Submit compaction tasks by the template `task`; with `limits`, wait for them and verify the rows.

        Returns their ids; none if there is nothing to compact. `on_submit` is called with them before the first one is
        submitted. Raises CompactionError if a task fails, or if rows have changed.
        """

    def resume_compaction(self, data_source: str, tasks: Sequence[str], limits: CompactionLimits) -> tuple[str, ...]:
        """Wait for the tasks of a process that has ended, and for their segments to be loaded.

        Returns the ids of those that Druid does not know: they were never submitted, or were forgotten. Raises
        CompactionError if a task fails.
        """

    def cancel_compaction(self, tasks: Sequence[str]) -> tuple[str, ...]:
        """Stop the tasks, and return the ids of those that had already succeeded."""
