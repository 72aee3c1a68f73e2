"""The types of Druid's responses: one for each endpoint, with only the fields that are read.

A response is converted to its type once, in `DruidClient`; `fitting` describes what may be missing or new in it. A
mismatch (a login page, `null`, a number instead of a list) is an `AnswerError` that names the URL. Fields with a
default are omitted by some versions of Druid or kinds of tasks.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from hivedruid.clients.fitting import Exact, Interval

JsonObject = dict[str, Any]
Number = int | float
Special = Literal["NaN", "Infinity", "-Infinity"]
"""Jackson's text for numbers that JSON does not support."""
Counts = JsonObject
"""The number of rows by outcome. Druid 36 adds `thrownAwayByReason`, which is not a number: see `overlord.rows_in`."""
Offsets = dict[str, int | None]
"""By partition."""


class Acknowledgement:
    """The response to a request that changes something, whose content is not read: a JSON object, or empty."""


class _Answer(msgspec.Struct, frozen=True, rename="camel"):
    pass


# --- all services ------------------------------------------------------------------------------------------------


class Module(_Answer, frozen=True):
    artifact: str | None = None


class Status(_Answer, frozen=True):
    version: str
    modules: list[Module] = []

    @property
    def artifacts(self) -> set[str]:
        return {module.artifact for module in self.modules if module.artifact}


# --- broker ------------------------------------------------------------------------------------------------------


class Location(_Answer, frozen=True):
    type: str | None = None
    host: str | None = None
    host_and_tls_port: str | None = None


class Candidate(_Answer, frozen=True):
    """LocatedSegmentDescriptor: a segment that queries read, or its visible part."""

    interval: Interval
    version: str
    partition_number: int
    size: int | None = None
    locations: list[Location] | None = None

    @property
    def kinds(self) -> list[str | None]:
        """The types of the servers that have it."""
        return [location.type for location in self.locations or ()]

    def servers(self, scheme: str) -> tuple[str, ...]:
        """The URLs of the servers that have it, for http or https."""
        hosts = [each.host_and_tls_port if scheme == "https" else each.host for each in self.locations or ()]
        return tuple(f"{scheme}://{host}" for host in hosts if host)


class TaskLock(_Answer, frozen=True):
    """A lock of the tasks of one group; `revoked`: a task with a higher priority has taken it away."""

    group_id: str
    interval: Interval
    version: str
    priority: int = 0
    revoked: Exact[bool] = False


class ActiveLocks(_Answer, frozen=True):
    """The locks of tasks (LockFilterPolicy), by data source."""

    datasource_to_locks: dict[str, list[TaskLock]]


class LockResult(_Answer, frozen=True):
    """The result of `lockTryAcquire`: null if other tasks hold the lock."""

    result: Exact[TaskLock | None] = None


class HeldLocks(_Answer, frozen=True):
    """The result of `lockList`: all locks of a task, including those that were taken away."""

    result: list[TaskLock]


class AllocatedSegment(_Answer, frozen=True):
    """SegmentIdWithShardSpec."""

    interval: Interval
    version: str
    shard_spec: JsonObject


class AllocationResult(_Answer, frozen=True):
    """The result of `segmentAllocate`: null if it cannot be allocated, for example because of the locks of others."""

    result: Exact[AllocatedSegment | None] = None


class PublishResult(_Answer, frozen=True):
    """SegmentPublishResult."""

    success: bool
    error_msg: str | None = None


class PublishedResult(_Answer, frozen=True):
    """The result of an action that publishes segments."""

    result: PublishResult


class LoadQueue(_Answer, frozen=True):
    """The ids of the segments that one historical was asked to load and to drop (LoadQueuePeon)."""

    segments_to_load: list[str]
    segments_to_drop: list[str]


class ColumnAnalysis(_Answer, frozen=True):
    type: str | None = None
    type_signature: str | None = None
    has_multiple_values: Exact[bool] = False
    has_nulls: bool | None = None
    cardinality: int | None = None
    error_message: str | None = None

    @property
    def druid_type(self) -> str:
        return self.type_signature or self.type or ""


class AggregatorAnalysis(_Answer, frozen=True):
    type: str | None = None


class SegmentAnalysis(_Answer, frozen=True):
    """Of one segment, or of several as one."""

    id: str
    columns: dict[str, ColumnAnalysis]
    num_rows: int
    intervals: list[Interval] | None = None
    aggregators: dict[str, AggregatorAnalysis | None] | None = None
    rollup: bool | None = None


class Timeseries(_Answer, frozen=True):
    result: Exact[dict[str, Number | Special | None]]


class ScanResult(_Answer, frozen=True):
    events: list[list[Any]]


# --- coordinator -------------------------------------------------------------------------------------------------


class ShardSpec(_Answer, frozen=True):
    type: Exact[str | None] = None
    partition_num: Exact[int | None] = None


class MarkField(_Answer, frozen=True):
    dimension: str | None = None
    value: Any = None


class MarkFilter(_Answer, frozen=True):
    fields: list[MarkField] | None = None


class TransformSpec(_Answer, frozen=True):
    filter: MarkFilter | None = None


class CompactionState(_Answer, frozen=True):
    transform_spec: TransformSpec | None = None


class DataSegment(_Answer, frozen=True):
    """DataSegment, also with its status (DataSegmentPlus is one around it)."""

    identifier: str
    data_source: str
    interval: Interval
    version: str
    shard_spec: Exact[ShardSpec | None] = None
    size: int | None = None
    last_compaction_state: CompactionState | None = None
    indexing_state_fingerprint: str | None = None
    overshadowed: bool = False
    replication_factor: int | None = None
    load_spec: dict[str, Any] | None = None

    @property
    def number(self) -> int:
        return (self.shard_spec and self.shard_spec.partition_num) or 0

    @property
    def is_tombstone(self) -> bool:
        return self.shard_spec is not None and self.shard_spec.type == "tombstone"


class UnusedSegment(_Answer, frozen=True):
    """DataSegmentPlus."""

    data_segment: DataSegment
    used_status_last_updated_date: str | None = None


class Server(_Answer, frozen=True):
    type: str


class CompactionConfig(_Answer, frozen=True):
    data_source: str


class CompactionConfigs(_Answer, frozen=True):
    compaction_configs: list[CompactionConfig]


class CompactionStatus(_Answer, frozen=True):
    """AutoCompactionSnapshot."""

    data_source: str
    schedule_status: str
    message: str | None = None
    segment_count_awaiting_compaction: int | None = None
    interval_count_awaiting_compaction: int | None = None
    bytes_awaiting_compaction: int | None = None
    segment_count_compacted: int | None = None
    interval_count_compacted: int | None = None
    bytes_compacted: int | None = None
    segment_count_skipped: int | None = None
    interval_count_skipped: int | None = None
    bytes_skipped: int | None = None


class CompactionStatuses(_Answer, frozen=True):
    latest_status: list[CompactionStatus] | None


# --- overlord: supervisors ---------------------------------------------------------------------------------------


class DataSchema(_Answer, frozen=True):
    data_source: str | None = None


class IoConfig(_Answer, frozen=True):
    """`stream` is the topic, too."""

    topic: str | None = None
    topic_pattern: str | None = None
    stream: str | None = None
    task_count: int | None = None
    replicas: int | None = None
    consumer_properties: JsonObject | None = None
    auto_scaler_config: JsonObject | None = None


class InnerSpec(_Answer, frozen=True):
    data_schema: DataSchema | None = None
    io_config: IoConfig | None = None
    tuning_config: JsonObject | None = None


class SupervisorSpec(_Answer, frozen=True):
    """The parts of a spec that are read. Older clients, Hive among them, put them at the top level."""

    type: str
    spec: InnerSpec | None = None
    data_schema: DataSchema | None = None
    io_config: IoConfig | None = None
    tuning_config: JsonObject | None = None
    context: JsonObject | None = None
    suspended: bool | None = None


class SupervisorId(_Answer, frozen=True):
    id: str


class SupervisorVersion(_Answer, frozen=True):
    """An entry of the history of a supervisor: the time at which a spec was submitted."""

    version: str


class Supervisor(_Answer, frozen=True):
    """A supervisor that ends while it is listed has no state. A state of another type than text is one, too."""

    id: str
    state: Any = None
    detailed_state: str | None = None
    healthy: bool | None = None
    spec: JsonObject | None = None


class SupervisorError(_Answer, frozen=True):
    timestamp: str | None = None
    message: str | None = None
    exception_class: str | None = None


class ReadingTask(_Answer, frozen=True):
    id: str
    starting_offsets: Offsets | None = None
    current_offsets: Offsets | None = None
    start_time: str | None = None
    remaining_seconds: int | None = None


class SupervisorReport(_Answer, frozen=True):
    state: str
    detailed_state: str | None = None
    suspended: bool = False
    healthy: bool | None = None
    partitions: int | None = None
    active_tasks: list[ReadingTask] | None = None
    publishing_tasks: list[ReadingTask] | None = None
    latest_offsets: Offsets | None = None
    minimum_lag: Offsets | None = None
    aggregate_lag: int | None = None
    offsets_last_updated: str | None = None
    recent_errors: list[SupervisorError] | None = None


class SupervisorStatus(_Answer, frozen=True):
    payload: SupervisorReport


class Phase(_Answer, frozen=True):
    build_segments: Counts | None = None


class AveragesOfPhase(_Answer, frozen=True):
    build_segments: dict[str, Counts] | None = None


class RowStats(_Answer, frozen=True):
    """`totals` where the task runs, or has several phases; else the counts themselves."""

    totals: Phase | None = None
    moving_averages: AveragesOfPhase | None = None
    build_segments: Counts | None = None

    @property
    def counts(self) -> Counts:
        return (self.totals.build_segments if self.totals is not None else self.build_segments) or {}


class ParseExceptionReport(_Answer, frozen=True):
    """ParseExceptionReport."""

    input: Any = None
    details: list[str] | None = None
    error_type: str | None = None
    time_of_exception_millis: int | None = None


# --- overlord: tasks and workers ---------------------------------------------------------------------------------


class TaskLocation(_Answer, frozen=True):
    host: str | None = None
    port: int | None = None
    tls_port: int | None = None


class Task(_Answer, frozen=True):
    """TaskStatusPlus."""

    id: str
    type: str | None = None
    data_source: str | None = None
    group_id: str | None = None
    status_code: str | None = None
    status: str | None = None
    runner_status_code: str | None = None
    created_time: str | None = None
    duration: int | None = None
    location: TaskLocation | None = None
    error_msg: str | None = None


class TaskStatus(_Answer, frozen=True):
    status: Task


class TaskId(_Answer, frozen=True):
    task: str


class SequenceNumbers(_Answer, frozen=True):
    partition_sequence_number_map: Offsets | None = None


class TaskIo(_Answer, frozen=True):
    start_sequence_numbers: SequenceNumbers | None = None


class TaskPayload(_Answer, frozen=True):
    io_config: TaskIo | None = None


class TaskDefinition(_Answer, frozen=True):
    payload: TaskPayload


class IngestionPayload(_Answer, frozen=True):
    """IngestionStatsAndErrors; of other reports none of these is there."""

    ingestion_state: str | None = None
    row_stats: RowStats | None = None
    unparseable_events: dict[str, list[ParseExceptionReport] | None] | None = None
    error_msg: str | None = None
    records_processed: dict[str, int] | None = None
    segments_read: int | None = None
    segments_published: int | None = None


class Report(_Answer, frozen=True):
    payload: IngestionPayload | None = None


Reports = dict[str, Report | str]
"""Reports, or the `error` of a process that has none yet, which the overlord passes on as a successful answer."""
INGESTION = "ingestionStatsAndErrors"
"""The report of a task about its rows."""


class WorkerAddress(_Answer, frozen=True):
    host: str
    capacity: int


class Worker(_Answer, frozen=True):
    worker: WorkerAddress
    curr_capacity_used: int


class SampledRow(_Answer, frozen=True):
    input: Any = None
    unparseable: bool | None = None
    error: str | None = None
    parsed: JsonObject | None = None


class Sampled(_Answer, frozen=True):
    num_rows_read: int
    num_rows_indexed: int | None = None
    data: list[SampledRow] = []
