"""All known table properties: type, default, description and the kinds of tables they apply to.

Names are those of Hive's Druid handler (DruidConstants, DruidKafkaUtils) and Kafka handler (KafkaTableProperties);
below `druid.kafka.ingestion.` also those of Druid 33 (KafkaSupervisorTuningConfig, KafkaSupervisorIOConfig), with its
defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from hivedruid.catalog.kinds import TableKind
from hivedruid.lazy_dataclass import dataclass
from hivedruid.setting_types import seconds

PropertyType = Literal[
    "text", "int", "positive", "long", "bool", "period", "duration", "datetime", "enum", "list", "mapping",
    "aggregators", "multivalue", "storedas", "paths", "object", "array", "json", "schema", "table",
    "timereference", "id",
]  # fmt: skip
Section = Literal["", "tuningConfig", "ioConfig", "removed"]

GRANULARITIES = (
    "SECOND", "MINUTE", "FIVE_MINUTE", "TEN_MINUTE", "FIFTEEN_MINUTE", "THIRTY_MINUTE", "HOUR", "SIX_HOUR",
    "EIGHT_HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "ALL", "NONE",
)  # fmt: skip
"""Druid's GranularityType: the valid segment and query granularities, case-insensitive. ISO periods are not included.
"""

COLUMN_MAPPING = "druid.columns.mapping"
KAFKA_INGESTION = "druid.kafka.ingestion"
INGESTION_PREFIX = "druid.kafka.ingestion."
KAFKA_CHECK = INGESTION_PREFIX + "check"
TOPIC_CHECK = "kafka.topic.check"
CONSUMER_PREFIX = "druid.kafka.ingestion.consumer."
TOPIC_PATTERN = INGESTION_PREFIX + "topicPattern"
TOPIC_KEYS = ("kafka.topic", TOPIC_PATTERN)
"""Each of them makes a Druid table ingest from Kafka."""
SUPERVISOR_ID = INGESTION_PREFIX + "supervisor.id"
SPEC_PREFIX = "druid.spec."
DIMENSIONS = "druid.dimensionsSpec"
HEADER_FILTER = INGESTION_PREFIX + "headerBasedFilterConfig"
SEGMENT_RANGES = "druid.segment.ranges"
COMPACTION_PREFIX = "druid.compaction."
AUTO_COMPACTION = COMPACTION_PREFIX + "auto"
RETENTION_RULES = "druid.retention.rules"
COMPACTION_OFFSET = COMPACTION_PREFIX + "skipOffsetFromLatest"
REGISTRY = "avro.schema.registry.url"
REGISTRY_CREDENTIALS = "avro.schema.registry.credentials"
TARGET_SIZE = "write.target-file-size-bytes"
COMPACTION_AUTO = "hivedruid.compaction.auto"
RETENTION = "hivedruid.snapshots.retention"
TIER_HOT, TIER_COLD = "tiered.hot", "tiered.cold"
TIER_PERIOD = "tiered.hot.period"
TIER_GRANULARITY = "tiered.granularity"
TIER_AUTO = "tiered.archive.auto"
TIERED = (TIER_HOT, TIER_COLD, TIER_PERIOD, TIER_GRANULARITY, TIER_AUTO)
"""The properties of tiered tables."""
TASK_DURATION = INGESTION_PREFIX + "taskDuration"
MALFORMED_ROWS = "hivedruid.malformed.rows"
MALFORMED_TABLE = "hivedruid.malformed.table"
SKIP, REJECT = "SKIP", "REJECT"

_DRUID: tuple[TableKind, ...] = ("druid",)
_KAFKA: tuple[TableKind, ...] = ("kafka",)
_BOTH: tuple[TableKind, ...] = ("druid", "kafka")
_FILES: tuple[TableKind, ...] = ("files", "temporary")
_ICEBERG: tuple[TableKind, ...] = ("iceberg",)
_ANY: tuple[TableKind, ...] = ("druid", "kafka", "files", "iceberg", "temporary")


@dataclass(frozen=True)
class TableProperty:
    """One property. `key` ending in a point is a prefix: any key below it belongs here.

    `values` are those of an enum; `default` is None if there is none; `kinds` are the tables it applies to;
    `section` is the part of the Kafka supervisor's spec that holds it under its own name ("removed": no longer any).
    """

    key: str
    type: PropertyType
    default: str | None
    doc: str
    kinds: tuple[TableKind, ...] = _DRUID
    values: tuple[str, ...] = ()
    section: Section = ""


def _tuning(name: str, kind: PropertyType, default: str | None, doc: str) -> TableProperty:
    return TableProperty(INGESTION_PREFIX + name, kind, default, doc, section="tuningConfig")


def _io(name: str, kind: PropertyType, default: str | None, doc: str) -> TableProperty:
    return TableProperty(INGESTION_PREFIX + name, kind, default, doc, section="ioConfig")


def _removed(name: str, kind: PropertyType, doc: str) -> TableProperty:
    return TableProperty(INGESTION_PREFIX + name, kind, None, doc, section="removed")


PROPERTIES: dict[str, TableProperty] = {
    item.key: item
    for item in (
        TableProperty("druid.datasource", "text", None,
            "Name of the Druid data source; `<database>.<table>` if not set."),
        TableProperty("druid.segment.granularity", "enum", None,
            "Time span of a segment; hive.druid.indexer.segments.granularity if not set.", values=GRANULARITIES),
        TableProperty("druid.query.granularity", "enum", "NONE",
            "Granularity to which __time is rounded down when rows are written.", values=GRANULARITIES),
        TableProperty("druid.rollup", "bool", None,
            "Whether rows with equal time and dimensions are summed when written; hive.druid.rollup if not set."),
        TableProperty("druid.segment.targetShardsPerGranularity", "int", "0",
            "Number of hash partitions per time span when a statement replaces rows; 0: determined by the number of "
            "rows."),
        TableProperty(SEGMENT_RANGES, "list", None,
            "STRING columns by whose values statements that replace rows divide the rows of a time span into segments "
            "of druid.segment.targetRowsPerSegment rows: Druid reads only those with the values of a condition."),
        TableProperty("druid.segment.targetRowsPerSegment", "positive", None,
            "Maximum number of rows in one segment; hive.druid.indexer.partition.size.max if not set."),
        TableProperty(AUTO_COMPACTION, "bool", "false",
            "Whether Druid compacts the segments automatically."),
        TableProperty(COMPACTION_OFFSET, "duration", "P1D",
            "Period before the newest row that automatic compaction skips."),
        TableProperty(RETENTION_RULES, "text", None,
            "Druid's retention rules of the data source, in the order in which they are tried: `load P30D hot:2 "
            "_default_tier:1, drop forever`. Those of all data sources follow them."),
        TableProperty("druid.storage.storageDirectory", "text", None,
            "Accepted for compatibility; deep storage is configured in Druid."),
        TableProperty(COLUMN_MAPPING, "mapping", None,
            "Names of columns whose field, in Druid and in Kafka records, differs in more than case: `field:column, …` "
            "(cityName:city)."),
        TableProperty("druid.columns.dimensions", "list", None,
            "Numeric columns that are dimensions although the table has rollup: `column, …`."),
        TableProperty("druid.columns.aggregators", "aggregators", None,
            "Columns that are not a sum of their field: `column:function(field), …`, with min, max, sum, count, "
            "hyperUnique, thetaSketch, HLLSketchBuild or quantilesDoublesSketch; a BINARY column stores the last three "
            "as sketches."),
        TableProperty("druid.columns.multivalue", "multivalue", None,
            "How text columns keep several values: `column:handling, …` with SORTED_ARRAY, SORTED_SET or ARRAY."),
        TableProperty("druid.columns.as", "storedas", None,
            "Storage types of columns whose types Druid does not support: `column:type, …` (price:double), a DECIMAL as"
            " double or string, a BINARY as string (base64), a DATE as string."),
        TableProperty("druid.columns.path", "paths", None,
            "Columns that are values in nested data: `column:field.path, …` (city:payload.address.city), with the "
            "results of CAST(get_json_object(…))."),
        TableProperty("hivedruid.time.references", "timereference", None,
            "`column: table(key, date)`: a row whose column equals a key of the table has a time on that row's date, in"
            " UTC, so that joins on the key read only these days."),
        TableProperty("druid.metricsSpec", "array", None,
            "Aggregators in Druid's JSON, for what druid.columns.aggregators does not cover; each `name` is a column's "
            "field."),
        TableProperty(DIMENSIONS, "array", None,
            "Dimensions in Druid's JSON, for what the types of columns and druid.columns.multivalue do not cover; each "
            "`name` is a column's field."),
        TableProperty("druid.projections", "array", None,
            "Druid's projections: aggregated copies of the rows in each segment, from which Druid answers queries."),
        TableProperty("druid.transformSpec", "object", None,
            "Druid's transformSpec: expressions over records, and a filter of records."),
        TableProperty(KAFKA_INGESTION, "enum", None,
            "START, STOP, RESET, SUSPEND, RESUME or HANDOFF the ingestion from Kafka; executed, never stored.",
            values=("START", "STOP", "RESET", "SUSPEND", "RESUME", "HANDOFF")),
        TableProperty(KAFKA_CHECK, "enum", None,
            "What CREATE TABLE on a cluster does if the ingestion cannot start: WARN, REFUSE, or OFF for no check; "
            "hivedruid.kafka.check if not set.", values=("WARN", "REFUSE", "OFF")),
        TableProperty("druid.timestamp.column", "text", "__time", "Field of the Kafka messages that holds the time."),
        TableProperty("druid.timestamp.format", "text", "auto",
            "Format of that field: iso, posix, millis, auto, or a Joda pattern."),
        TableProperty("druid.parseSpec.format", "enum", "json", "Format of the Kafka messages.",
            values=("JSON", "CSV", "DELIMITED", "TSV", "AVRO")),
        TableProperty("druid.parseSpec.flattenSpec", "object", None,
            "Druid's flattenSpec: fields from nested JSON or Avro by path."),
        TableProperty("druid.parseSpec.columns", "list", None,
            "Names of the fields of csv and delimited messages, in order."),
        TableProperty("druid.parseSpec.delimiter", "text", None,
            "Field delimiter of delimited messages; a tab if not set."),
        TableProperty("druid.parseSpec.listDelimiter", "text", None,
            "Delimiter of multiple values in one field of csv and delimited messages."),
        TableProperty("druid.parseSpec.hasHeaderRows", "bool", "false",
            "Whether csv and delimited messages start with a header of field names."),
        TableProperty("druid.parseSpec.skipHeaderRows", "int", "0",
            "Rows to skip at the beginning of csv and delimited messages."),
        _tuning("appendableIndexSpec", "object", None, "Format of rows in memory."),
        _tuning("maxRowsInMemory", "int", "150000", "Maximum number of rows in memory before they are persisted."),
        _tuning("maxBytesInMemory", "long", "0",
            "Maximum number of bytes in memory before rows are persisted; 0: a sixth of the heap, -1: no limit."),
        _tuning("skipBytesInMemoryOverheadCheck", "bool", "false",
            "Whether maxBytesInMemory ignores the overhead of objects."),
        _tuning("maxRowsPerSegment", "int", "5000000", "Maximum number of rows in one segment."),
        _tuning("maxTotalRows", "long", "20000000", "Maximum number of rows in all segments waiting to be published."),
        _tuning("intermediatePersistPeriod", "period", "PT10M", "How often rows in memory are persisted."),
        _tuning("maxPendingPersists", "int", "0", "Maximum number of pending persists."),
        _tuning("numPersistThreads", "int", "1", "Threads that persist rows."),
        _tuning("maxColumnsToMerge", "int", "-1",
            "Maximum number of columns merged at a time when a segment is built; -1: no limit."),
        _tuning("indexSpec", "object", None, "Compression and bitmaps of segments."),
        _tuning("indexSpecForIntermediatePersists", "object", None, "The same for intermediate persists."),
        _tuning("segmentWriteOutMediumFactory", "object", None, "Where segments are built: files or memory."),
        _tuning("reportParseExceptions", "bool", "false", "Whether a record that cannot be parsed stops the task."),
        _tuning("logParseExceptions", "bool", "true",
            "Whether records that cannot be parsed are logged; always given to Druid, whose own default is false."),
        _tuning("maxParseExceptions", "int", "2147483647",
            "Maximum number of records that cannot be parsed before the task stops."),
        _tuning("maxSavedParseExceptions", "int", "10",
            "Maximum number of records that cannot be parsed kept for the task's report; always given to Druid, whose "
            "own default is 0."),
        _tuning("handoffConditionTimeout", "long", "900000",
            "Milliseconds to wait for segments to be handed off; 0: no limit."),
        _tuning("resetOffsetAutomatically", "bool", "false",
            "Whether offsets that are no longer available in Kafka are reset."),
        _tuning("workerThreads", "int", None, "Threads of the supervisor; by default as many as tasks, up to 10."),
        _tuning("chatRetries", "long", "8", "Number of attempts for a call to a task."),
        _tuning("httpTimeout", "duration", "PT10S", "Timeout of a call to a task."),
        _tuning("shutdownTimeout", "duration", "PT80S", "How long the supervisor waits for tasks when it shuts down."),
        _tuning("offsetFetchPeriod", "duration", "PT30S", "How often offsets are fetched from Kafka."),
        _tuning("intermediateHandoffPeriod", "period", "P2147483647D", "How often segments are handed off."),
        TableProperty(SUPERVISOR_ID, "id", None,
            "The id of the supervisor, with Druid 34 or later; the name of the data source if not set. Several "
            "supervisors with their own ids may feed one data source."),
        _io("topicPattern", "text", None,
            "A regular expression for the names of several topics, instead of kafka.topic."),
        _io("headerBasedFilterConfig", "object", None,
            "Druid's filter of records by a header, with Druid 39 or later."),
        _io("inputFormat", "object", None, "Druid's inputFormat, for what druid.parseSpec.* does not cover."),
        _io("replicas", "int", "1", "Number of tasks that read the same partitions."),
        _io("taskCount", "int", "1", "Number of tasks that share the partitions."),
        _io("taskDuration", "duration", "PT1H", "How long a task reads before it publishes; at least PT1M."),
        _io("stopTaskCount", "int", None, "Maximum number of tasks stopped at a time; by default all."),
        _io("autoScalerConfig", "object", None, "Autoscaling of taskCount."),
        _io("idleConfig", "object", None, "When the supervisor of a topic without new records goes idle."),
        _io("pollTimeout", "long", "100", "Timeout of a poll of Kafka in milliseconds."),
        _io("startDelay", "duration", "PT5S", "How long the supervisor waits before it manages tasks."),
        _io("period", "duration", "PT30S", "How often the supervisor manages its tasks."),
        _io("useEarliestOffset", "bool", "false", "Whether ingestion begins at the earliest offset of the topic."),
        _io("completionTimeout", "duration", "PT30M", "Timeout of publishing."),
        _io("lateMessageRejectionPeriod", "duration", None,
            "Records older than this, relative to the task's start, are rejected."),
        _io("lateMessageRejectionStartDateTime", "datetime", None, "Records before this time are rejected."),
        _io("earlyMessageRejectionPeriod", "duration", None,
            "Records later than this, relative to the task's end, are rejected."),
        _io("configOverrides", "object", None, "Configuration overrides of a Druid extension."),
        _io("emitTimeLagMetrics", "bool", "false", "Whether the lag is also emitted as a time."),
        _removed("skipOffsetGaps", "bool", "Accepted for compatibility; Druid skips gaps by itself."),
        _removed("chatThreads", "int", "Accepted for compatibility; Druid chooses the threads itself."),
        _removed("buildV9Directly", "bool", "Accepted for compatibility; Druid always does so."),
        _removed("basePersistDirectory", "text", "Accepted for compatibility; Druid's tasks have their own folder."),
        TableProperty(CONSUMER_PREFIX, "text", None,
            "Any property of the Kafka consumer that Druid's tasks use; `env:NAME` refers to an environment variable of"
            " Druid's hosts."),
        TableProperty(SPEC_PREFIX, "json", None,
            "A part of the supervisor's spec in JSON, by its path (druid.spec.dataSchema.timestampSpec.missingValue), "
            "for what has no property of its own: it replaces what the other properties say there; null removes it."),
        TableProperty("avro.schema.literal", "schema", None, "Schema of Avro messages, or `none`.", _BOTH),
        TableProperty(REGISTRY, "text", None, "Schema registry with the schemas of Avro messages.", _KAFKA),
        TableProperty(REGISTRY_CREDENTIALS, "text", None, "user:password for the registry, as `env:NAME`.", _KAFKA),
        TableProperty("avro.schema.url", "text", None, "URL or path of the schema of Avro messages or `none`.", _KAFKA),
        TableProperty("kafka.topic", "text", None,
            "The topic; a Druid table with this property ingests from Kafka.", _BOTH),
        TableProperty("kafka.bootstrap.servers", "text", None, "Kafka brokers as host:port, …", _BOTH),
        TableProperty(TOPIC_CHECK, "enum", "REFUSE",
            "What CREATE TABLE does if the topic does not exist: WARN, REFUSE, or OFF for no check.", _KAFKA,
            ("WARN", "REFUSE", "OFF")),
        TableProperty("kafka.serde.class", "text", "org.apache.hadoop.hive.serde2.JsonSerDe",
            "How messages are read and written.", _KAFKA),
        TableProperty("kafka.write.semantic", "enum", "AT_LEAST_ONCE", "Guarantee of INSERT.",
            _KAFKA, ("AT_LEAST_ONCE", "EXACTLY_ONCE")),
        TableProperty("kafka.consumer.", "text", None, "Any property of the Kafka consumer.", _KAFKA),
        TableProperty("kafka.producer.", "text", None, "A property of the Kafka producer of INSERT.", _KAFKA),
        TableProperty("hive.kafka.poll.timeout.ms", "long", "5000",
            "How long Spark waits for records; at least 120 seconds.", _KAFKA),
        TableProperty("hive.kafka.max.retries", "int", "6", "Accepted for compatibility.", _KAFKA),
        TableProperty("hive.kafka.metadata.poll.timeout.ms", "long", "30000", "Accepted for compatibility.", _KAFKA),
        TableProperty("hive.kafka.optimistic.commit", "bool", "false",
            "Accepted for compatibility.", _KAFKA),
        TableProperty("hive.kafka.ssl.", "text", None,
            "Stores and passwords for TLS in Hive; has no effect: set kafka.consumer.ssl.*.", _KAFKA),
        TableProperty("avro.serde.type", "enum", "none",
            "Bytes before Avro messages: confluent for a zero and a schema id in 4 bytes, skip for others.", _KAFKA,
            ("NONE", "CONFLUENT", "SKIP")),
        TableProperty("avro.serde.skip.bytes", "int", "5",
            "Number of bytes to skip with avro.serde.type=skip.", _KAFKA),
        TableProperty("auto.purge", "bool", "false",
            "Whether DROP and TRUNCATE delete the segments of the table's own data source instead of only marking them "
            "as unused.", _DRUID),
        TableProperty("external.table.purge", "bool", None,
            "Whether DROP of an EXTERNAL table also removes its data; hive.external.table.purge.default if not set.",
            _ANY),
        TableProperty("skip.header.line.count", "int", "0",
            "Lines to skip at the beginning of each text file.", _FILES),
        TableProperty("skip.footer.line.count", "int", "0",
            "Lines to skip at the end of each text file; Spark then reads all lines of a file in order.", _FILES),
        TableProperty("discover.partitions", "bool", None,
            "Whether queries find the partitions of the table at its LOCATION, without MSCK; "
            "hivedruid.discover.partitions if not set.", _FILES),
        TableProperty(TARGET_SIZE, "positive", "536870912",
            "Size in bytes of the files that COMPACT and automatic compaction write.", _ICEBERG),
        TableProperty(COMPACTION_AUTO, "bool", "false",
            "Whether the manager of a running stream compacts the table and expires its snapshots. CREATE STREAM sets "
            "it for a table that it creates.", _ICEBERG),
        TableProperty(RETENTION, "duration", "PT1H",
            "How long automatic compaction keeps snapshots: as long as the longest query runs.", _ICEBERG),
        TableProperty(TIER_HOT, "enum", None,
            "Where a tiered table has its new rows.", values=("DRUID",)),
        TableProperty(TIER_COLD, "enum", None,
            "Where a tiered table has its archived rows: an Iceberg table of ORC files.", values=("ORC",)),
        TableProperty(TIER_PERIOD, "period", "P30D",
            "How long rows stay in Druid before ARCHIVE TABLE moves them."),
        TableProperty(TIER_GRANULARITY, "enum", "DAY",
            "The spans of time that are archived as a whole, which also partition the archived files.",
            values=("HOUR", "DAY", "MONTH", "YEAR")),
        TableProperty(TIER_AUTO, "bool", "false",
            "Whether the manager of streams (hivedruid streams run) archives the table once an hour, if rows are due."),
        TableProperty(MALFORMED_ROWS, "enum", "fail",
            "How a malformed row of a file, or record of a topic, is handled: fail; skip; null for a row of nulls "
            "beside the metadata columns of a record; reject for a record that is added to another table. The setting "
            "of the same name if not set.",
            (*_FILES, *_KAFKA), ("FAIL", "NULL", SKIP, REJECT)),
        TableProperty(MALFORMED_TABLE, "table", None,
            "The managed table to which hivedruid.malformed.rows=reject adds malformed records.", _KAFKA),
    )
}  # fmt: skip
"""Every property by key. Keys are case-sensitive, as in Hive."""

CHECKED_PREFIXES = ("druid.", "kafka.", "hive.kafka.", "hivedruid.", "tiered.")
"""Keys with these prefixes must be in the table; other keys are user-defined."""


def find(key: str) -> TableProperty | None:
    """The definition of a key: its own entry, or that of its prefix."""
    if (item := PROPERTIES.get(key)) is not None:
        return item
    for prefix in (CONSUMER_PREFIX, SPEC_PREFIX, "kafka.consumer.", "kafka.producer.", "hive.kafka.ssl."):
        if key.startswith(prefix) and len(key) > len(prefix):
            return PROPERTIES[prefix]
    return None


def has_ingestion(properties: Mapping[str, str]) -> bool:
    """Whether a Druid table ingests from Kafka: it has a topic, or a pattern of topics."""
    return any(key in properties for key in TOPIC_KEYS)


def names_by_field(properties: Mapping[str, str]) -> dict[str, str]:
    """druid.columns.mapping: the column's name (lower case) by the field's name."""
    return parse_mapping(properties.get(COLUMN_MAPPING, "")) or {}


def parse_mapping(text: str) -> dict[str, str] | None:
    """Parse `field:column, …`; None if it is malformed, or names a field or a column twice."""
    result: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        field, colon, column = (part.strip() for part in pair.rpartition(":"))
        if not (field and colon and column) or field in result:
            return None
        result[field] = column.lower()
    return result if len(set(result.values())) == len(result) else None


def target_size(properties: Mapping[str, str]) -> int:
    """The size in bytes of the compacted files of a managed table."""
    return int(properties.get(TARGET_SIZE) or PROPERTIES[TARGET_SIZE].default or 0)


def snapshot_retention(properties: Mapping[str, str]) -> float:
    """How long automatic compaction keeps the snapshots of a managed table, in seconds."""
    return seconds(properties.get(RETENTION) or PROPERTIES[RETENTION].default or "PT0S")


def consumer_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties of the consumer of a table that reads from Kafka, without the prefix."""
    return _below(("kafka.consumer.", CONSUMER_PREFIX), properties)


def producer_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties of a Kafka table's producer, without the prefix; the security is the consumer's if it has none."""
    own = _below(("kafka.producer.",), properties)
    if any(map(is_security, own)):
        return own
    return {**{key: value for key, value in consumer_properties(properties).items() if is_security(key)}, **own}


def is_security(key: str) -> bool:
    return key.startswith(("security.", "sasl.", "ssl."))


def _below(prefixes: tuple[str, ...], properties: Mapping[str, str]) -> dict[str, str]:
    found = ((key, prefix) for key in properties for prefix in prefixes if key.startswith(prefix))
    return {key.removeprefix(prefix): properties[key] for key, prefix in found}
