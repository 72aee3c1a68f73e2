"""A Druid cluster as an engine with all capabilities: native queries to its broker, tasks to its overlord."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from hivedruid.clients.address import DruidAddress
from hivedruid.clients.native_queries import NativeQueries
from hivedruid.clients.side_by_side import SideBySide
from hivedruid.clients.task_reader import TaskReader
from hivedruid.clients.unparsed_values import RecentUnparsedValues
from hivedruid.druid.limits import DruidLimits
from hivedruid.engine.archiving import HOLD_LONGEST, HOLD_PATIENCE
from hivedruid.engine.capabilities import (
    Archiving,
    Compaction,
    DeepStorage,
    KafkaIngestion,
    Loading,
    Retention,
    SegmentLists,
    SegmentPublishing,
    SegmentRoot,
    SegmentStorage,
)
from hivedruid.engine.engine import DruidEngine
from hivedruid.engine.segments import Segment
from hivedruid.kept_secrets import KeptSecrets

if TYPE_CHECKING:
    from hivedruid.catalog.statistics import TableStatistics
    from hivedruid.catalog.stored_types import Schema
    from hivedruid.clients.analyses import Analyses
    from hivedruid.clients.ingest import Ingestion
    from hivedruid.clients.status import ServiceStatus
    from hivedruid.druid.retention import Rule
    from hivedruid.engine.archiving import Held, Holding, Span
    from hivedruid.engine.compaction import AutomaticCompaction, CompactionLimits
    from hivedruid.filesystems import Access
    from hivedruid.ingestion.checks import Seen
    from hivedruid.ingestion.lifecycle import IngestionChange, IngestionFacts
    from hivedruid.ingestion.model import Task, UnparsedValues
    from hivedruid.ingestion.offsets import Move
    from hivedruid.ingestion.overview import Known, Overview
    from hivedruid.jobs.load import Journal, Load, LoadReport
    from hivedruid.plan.physical import DruidRead
    from hivedruid.plan.segment_files import SegmentFiles, SegmentKey
    from hivedruid.plan.segment_queries import ServedSegments
    from hivedruid.responses.queries import DruidAccess

T = TypeVar("T")

PATIENCE, SLOT_PATIENCE = 300.0, 600.0
"""Seconds to wait for segments to be loaded or dropped, and for a free task slot."""
QUERIES_AT_ONCE = 4
"""Maximum number of concurrent native queries of a statement."""


class DruidCluster(
    NativeQueries,
    DruidEngine,
    Loading, DeepStorage, SegmentPublishing, SegmentLists, Archiving, Retention, SegmentStorage, TaskReader,
    KafkaIngestion, Compaction,
):  # fmt: skip
    """`progress` receives status lines during long operations, and "" at their end; `note` receives notes for the user.

    `kept` are the session's secrets, which are filled into submitted specs.
    """

    def __init__(
        self,
        address: DruidAddress,
        *,
        progress: Callable[[str], None],
        note: Callable[[str], None],
        patience: float = PATIENCE,
        slot_patience: float = SLOT_PATIENCE,
        kept: KeptSecrets | None = None,
    ) -> None:
        super().__init__(address, note)
        self.kept = kept or KeptSecrets()
        self.patience, self.slot_patience = patience, slot_patience
        self.progress = progress
        self._limits: DruidLimits | None = None
        self._analyses: dict[str, Analyses] = {}
        """Those of the last `schema` of each data source, which are also the source of its statistics."""
        self._files: dict[str, tuple[str, SegmentFiles]] = {}
        """The broker's timeline of each data source, and the files of its segments."""
        self._unparsed = RecentUnparsedValues()
        self._others = SideBySide(self._other, QUERIES_AT_ONCE)

    @property
    def url(self) -> str:
        return self.address.url

    def each(self, asked: Sequence[Callable[[DruidEngine], T]]) -> list[T]:
        """The results of independent requests, sent concurrently; see `DruidEngine.each`."""
        if len(asked) < 2:
            return [ask(self) for ask in asked]
        self._check()
        return self._others.each(asked)

    def _other(self) -> DruidCluster:
        """The same cluster over other connections."""
        other = DruidCluster(self.address, progress=self.progress, note=self.note, kept=self.kept)
        other._broker, other._limits = self._broker, self._limits
        other._analyses, other._files = self._analyses, self._files
        return other

    def interrupt(self) -> None:
        self.client.interrupt()
        self._others.interrupt()

    def close(self) -> None:
        self.client.close()
        self._others.close()

    # --- reading -----------------------------------------------------------------------------------------------

    def segments(self, data_source: str) -> tuple[Segment, ...]:
        """The segments that queries read now; see `SegmentLists.segments`."""
        from hivedruid.clients.segments import Segments

        self._check()
        return Segments(self.client, data_source).visible()

    def listed_segments(self, data_sources: Sequence[str]) -> tuple[tuple[Segment, ...], ...]:
        """All segments with their states; see `SegmentLists.listed_segments`."""
        from hivedruid.clients.segment_list import listed

        self._check()
        return listed(self, data_sources)

    def segment_files(self, data_source: str) -> SegmentFiles:
        """The files of the segments that queries read; see `SegmentStorage.segment_files`."""
        from hivedruid.clients.segment_files import segment_files

        self._check()
        analyses = self._last_analyses(data_source)
        found = segment_files(self, data_source, self._files)
        return replace(found, types=analyses.types, statistics=analyses.statistics)

    def served_segments(self, data_source: str) -> ServedSegments:
        """The segments that queries read, with their servers; see `SegmentStorage.served_segments`."""
        from hivedruid.clients.served_segments import served_segments

        self._check()
        return served_segments(self, data_source, self._last_analyses(data_source))

    def access(self) -> DruidAccess:
        """See `SegmentStorage.access`."""
        return self.client.access()

    def write_rows_of(
        self, read: DruidRead, segments: Sequence[SegmentKey], columns: Sequence[str], path: Path
    ) -> None:
        """The rows of some segments as one Parquet file; see `SegmentStorage.write_rows_of`."""
        from hivedruid.clients.segment_files import write_rows_of

        write_rows_of(self, read, segments, columns, path)

    def write_parquet(self, read: DruidRead, columns: Sequence[str], path: Path) -> None:
        """The rows of a native query as one Parquet file; see `DruidEngine.write_parquet`."""
        from hivedruid.clients.parquet import write

        query = read.query
        source = query.get("dataSource")
        stored: Mapping[str, str] = {}
        if query.get("queryType") == "scan" and isinstance(source, str):
            stored = self._last_analyses(source).types
        write(self.rows(read), read, columns, stored, path)

    def data_sources(self) -> tuple[str, ...]:
        """The names of all data sources that the broker knows, sorted."""
        self._check()
        return tuple(sorted(self.client.get("broker", "/druid/v2/datasources", list[str])))

    def schema(self, data_source: str) -> Schema:
        """See `DruidEngine.schema`."""
        from hivedruid.clients.analyses import read

        self._check()
        found = self._analyses[data_source] = read(self, data_source, self._analyses.get(data_source))
        return found.schema

    def refusal_of_name(self, data_source: str) -> str:
        """Why requests about a data source are refused; see `DruidEngine.refusal_of_name`."""
        from hivedruid.clients.segments import refusal_of_name

        return refusal_of_name(self.client, data_source)

    def _last_analyses(self, data_source: str) -> Analyses:
        if data_source not in self._analyses:
            self.schema(data_source)
        return self._analyses[data_source]

    def statistics(self, data_source: str) -> TableStatistics | None:
        """Statistics as of the last `schema`; see `DruidEngine.statistics`."""
        return self._last_analyses(data_source).statistics

    def countable(self, data_source: str) -> frozenset[str]:
        """See `Analyses.countable`."""
        return self._last_analyses(data_source).countable

    def analysed(self, data_source: str, columns: Mapping[str, str]) -> TableStatistics:
        """Statistics from a scan of all rows; see `DruidEngine.analysed`."""
        from hivedruid.clients.statistics import analysed

        return analysed(self, data_source, columns)

    # --- limits and version ------------------------------------------------------------------------------------

    def limits(self) -> DruidLimits:
        """From the broker's properties; unknown if they are not accessible, or behind a router."""
        if self._limits is None:
            from hivedruid.clients.limits import read_limits

            self._limits = read_limits(self.client, self._check().sketches)
        return self._limits

    def status(self) -> tuple[ServiceStatus, ...]:
        """The status of each service. Never raises: a service that does not respond has a `problem`."""
        from hivedruid.clients.status import SERVICES, service_status

        return tuple(service_status(self.client, service, self.address.base(service)) for service in SERVICES)

    # --- writing -----------------------------------------------------------------------------------------------

    def check(self, spec: Mapping[str, Any]) -> None:
        """Refuse input sources that this Druid cannot read; see `Loading.check`."""
        from hivedruid.clients.ingest import check_extension

        check_extension(self, spec)

    def ingest(self, load: Load, journal: Journal) -> LoadReport:
        """Load staged rows, and wait until they can be queried and are verified; see `Loading.ingest`."""
        self._check()
        try:
            return self._ingestion(load, journal).run()
        finally:
            self.progress("")

    def _ingestion(self, load: Load, journal: Journal) -> Ingestion:
        if load.staged.segments:
            from hivedruid.clients.publish import SegmentIngestion

            return SegmentIngestion(self, load, journal)
        from hivedruid.clients.ingest import Ingestion

        return Ingestion(self, load, journal)

    def roll_back(self, load: Load, journal: Journal, reason: str = "cancelled") -> None:
        """Roll back a load; see `Loading.roll_back`."""
        self._check()
        try:
            self._ingestion(load, journal).roll_back(reason)
        finally:
            self.progress("")

    def segment_root(self, folder: str, access: Access) -> SegmentRoot:
        """See `SegmentPublishing.segment_root`."""
        from hivedruid.clients.deep_storage import segment_root

        return segment_root(self, folder, access)

    def publishing_problem(
        self, data_source: str, granularity: str, root: str, access: Access, *, appends: bool
    ) -> str:
        """See `SegmentPublishing.publishing_problem`."""
        from hivedruid.clients.deep_storage import publishing_problem

        return publishing_problem(self, data_source, granularity, root, access, appends=appends)

    def drop(self, data_source: str) -> None:
        """Mark all segments of a data source as unused; returns when the broker has unloaded them."""
        from hivedruid.clients.tasks import drop

        self._check()
        drop(self, data_source)

    def delete_unused(self, data_source: str, spans: Sequence[Span] = ()) -> None:
        """Delete the unused segments with kill tasks."""
        from hivedruid.clients.tasks import delete_unused

        delete_unused(self, data_source, spans)

    def unused_segments(self, data_source: str) -> tuple[Segment, ...]:
        """See `DeepStorage.unused_segments`."""
        from hivedruid.clients.segments import ETERNITY, Segments

        return tuple(Segments(self.client, data_source).unused(ETERNITY))

    def restore(self, data_source: str, segments: Sequence[Segment]) -> None:
        """See `DeepStorage.restore`."""
        from hivedruid.clients.retention import restore

        restore(self, data_source, segments)

    def kill_duty(self) -> str:
        """See `DeepStorage.kill_duty`."""
        from hivedruid.clients.retention import kill_duty

        return kill_duty(self.client)

    # --- archiving ---------------------------------------------------------------------------------------------

    def hold(
        self, data_source: str, spans: Sequence[Span], task_id: str, *, patience: float = HOLD_PATIENCE,
        longest: float = HOLD_LONGEST,
    ) -> AbstractContextManager[Held]:  # fmt: skip
        """See `Archiving.hold`."""
        from hivedruid.clients.archiving import hold

        self._check()
        return hold(self, data_source, spans, task_id, patience, longest)

    def was_removed(self, holding: Holding) -> bool:
        """See `Archiving.was_removed`."""
        from hivedruid.clients.archiving import was_removed

        return was_removed(self, holding)

    def is_removed(self, holding: Holding) -> bool:
        """See `Archiving.is_removed`."""
        from hivedruid.clients.archiving import is_removed

        return is_removed(self, holding)

    def settle(self, holding: Holding) -> None:
        """See `Archiving.settle`."""
        from hivedruid.clients.archiving import settle

        settle(self, holding)

    def loaded(self, load: Load) -> Literal["none", "some", "all"]:
        """See `Archiving.loaded`."""
        from hivedruid.clients.archiving import loaded

        return loaded(self, load)

    def visible(self, data_source: str, spans: Sequence[Span]) -> tuple[Segment, ...]:
        """See `Archiving.visible`."""
        from hivedruid.clients.segments import Segments

        return Segments(self.client, data_source).visible(spans)

    def retention_rules(self, data_sources: Sequence[str]) -> Mapping[str, tuple[Rule, ...]]:
        """See `Retention.retention_rules`."""
        from hivedruid.clients.retention import retention_rules

        return retention_rules(self.client, data_sources)

    def own_retention_rules(self) -> Mapping[str, tuple[Rule, ...]]:
        """See `Retention.own_retention_rules`."""
        from hivedruid.clients.retention import own_rules

        self._check()
        return own_rules(self.client)

    def set_retention_rules(self, data_source: str, rules: Sequence[Rule], comment: str) -> None:
        """See `Retention.set_retention_rules`."""
        from hivedruid.clients.retention import set_rules

        set_rules(self.client, data_source, rules, comment)

    # --- compaction --------------------------------------------------------------------------------------------

    def configure_compaction(self, data_source: str, config: Mapping[str, Any] | None) -> None:
        """See `Compaction.configure_compaction`."""
        from hivedruid.clients.compaction import configure

        configure(self, data_source, config)

    def automatic_compactions(self) -> tuple[AutomaticCompaction, ...]:
        """The data sources with automatic compaction, by name."""
        from hivedruid.clients.compaction import automatic

        return automatic(self)

    def compaction_tasks(self, data_source: str | None) -> tuple[Task, ...]:
        """Compaction tasks, newest first."""
        from hivedruid.clients.compaction import compaction_tasks

        return compaction_tasks(self, data_source)

    def compact(
        self, task: Mapping[str, Any], limits: CompactionLimits | None, on_submit: Callable[[tuple[str, ...]], object]
    ) -> tuple[str, ...]:
        """Submit compaction tasks; see `Compaction.compact`."""
        from hivedruid.clients.compaction import compact

        return compact(self, task, limits, on_submit)

    def resume_compaction(self, data_source: str, tasks: Sequence[str], limits: CompactionLimits) -> tuple[str, ...]:
        """Wait for the tasks of a process that has ended; see `Compaction.resume_compaction`."""
        from hivedruid.clients.compaction import resume

        return resume(self, data_source, tasks, limits)

    def cancel_compaction(self, tasks: Sequence[str]) -> tuple[str, ...]:
        """Stop compaction tasks, and return the ids of those that had already succeeded."""
        from hivedruid.clients.compaction import cancel

        return cancel(self, tasks)

    # --- tasks -------------------------------------------------------------------------------------------------

    def stop_task(self, task: Task, patience: float) -> bool:
        """Stop a running task; see `Tasks.stop_task`."""
        from hivedruid.clients.tasks import stop

        return stop(self, task, patience)

    # --- ingestion from Kafka ----------------------------------------------------------------------------------

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
        """The state of a supervisor; see `KafkaIngestion.ingestion_facts`."""
        from hivedruid.clients.lifecycle import read_facts

        self._check()
        return read_facts(
            self, data_source, supervisor, whole=whole, wait_for_offsets=wait_for_offsets, feed=feed, moment=moment
        )

    def running_spec(self, supervisor: str) -> Mapping[str, Any] | None:
        """See `KafkaIngestion.running_spec`."""
        from hivedruid.clients.lifecycle import running_spec

        return running_spec(self, supervisor)

    def unparsed_values(self, data_source: str) -> UnparsedValues | None:
        """See `KafkaIngestion.unparsed_values`."""
        has_growing = self._last_analyses(data_source).timeline is None
        return self._unparsed.of(data_source, self.client, self.note) if has_growing else None

    def check_feed(self, spec: Mapping[str, Any]) -> None:
        """See `KafkaIngestion.check_feed`."""
        from hivedruid.clients.feed_offsets import check_topics
        from hivedruid.clients.sampler import check_variables

        filled = self.kept.filled(spec)
        check_variables(self.client, filled)
        check_topics(filled)

    def change_ingestion(
        self,
        change: IngestionChange,
        *,
        patience: float,
        on_offsets: Callable[[tuple[Move, ...]], None],
        on_accepted: Callable[[Mapping[str, Any]], None],
        on_step: Callable[[], None],
    ) -> tuple[Move, ...]:
        """Start, stop or change a supervisor; see `KafkaIngestion.change_ingestion`."""
        from hivedruid.clients.lifecycle import IngestionRunner

        runner = IngestionRunner(self, patience, on_offsets, on_accepted)
        runner.run(change, on_step)
        return runner.moved

    def inspect_feed(self, spec: Mapping[str, Any]) -> Seen:
        """Inspect Kafka and Druid for a supervisor's spec; see `KafkaIngestion.inspect_feed`."""
        from hivedruid.clients.inspection import inspect

        return inspect(self, spec)

    def ingestions(self, known: Known) -> Overview:
        """All ingestions, for SHOW INGESTIONS."""
        from hivedruid.clients.observe import Observer

        with Observer(self.address) as observer:
            return observer.ingestions(known)

    def ingestions_with_causes(self, known: Known) -> Overview:
        """All ingestions, for SHOW PROBLEMS."""
        from hivedruid.clients.observe import Observer

        with Observer(self.address) as observer:
            return observer.everything(known)
