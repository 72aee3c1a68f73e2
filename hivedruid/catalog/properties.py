"""Every table property that means something: type, default, meaning and where it counts, in one table.

Names and defaults are those of Hive's Druid handler (DruidConstants, DruidKafkaUtils) and Kafka handler (KafkaTableProperties).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hivedruid.catalog.table import TableKind
from hivedruid.errors import SemanticError, did_you_mean
from hivedruid.secrets import ENVIRONMENT_PREFIX, is_secret
from hivedruid.settings import PERIOD

if TYPE_CHECKING:
    from hivedruid.parser.statements.ddl import Property

PropertyType = Literal["text", "int", "long", "bool", "period", "enum", "list", "mapping", "json"]

GRANULARITIES = (
    "SECOND", "MINUTE", "FIVE_MINUTE", "TEN_MINUTE", "FIFTEEN_MINUTE", "THIRTY_MINUTE", "HOUR", "SIX_HOUR", "EIGHT_HOUR",
    "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "ALL", "NONE",
)  # fmt: skip
"""Druid's GranularityType: what segment and query granularity take, in any case. ISO periods are no names."""

COLUMN_MAPPING = "druid.columns.mapping"
KAFKA_INGESTION = "druid.kafka.ingestion"
INGESTION_PREFIX = "druid.kafka.ingestion."
CONSUMER_PREFIX = "druid.kafka.ingestion.consumer."

KIND_NAMES: dict[TableKind, str] = {
    "druid": "a Druid table",
    "kafka": "a Kafka table",
    "files": "an external table of files",
    "iceberg": "a managed table",
    "view": "a view",
}

_DRUID: tuple[TableKind, ...] = ("druid",)
_KAFKA: tuple[TableKind, ...] = ("kafka",)
_BOTH: tuple[TableKind, ...] = ("druid", "kafka")
_FILES: tuple[TableKind, ...] = ("files",)
_ANY: tuple[TableKind, ...] = ("druid", "kafka", "files", "iceberg")


@dataclass(frozen=True)
class TableProperty:
    """One property. `key` ending in a point is a prefix: any key below it belongs here.

    `values` are those of an enum; `default` is None where there is none; `kinds` are the tables it counts for.
    """

    key: str
    type: PropertyType
    default: str | None
    doc: str
    kinds: tuple[TableKind, ...] = _DRUID
    values: tuple[str, ...] = ()


def _ingestion(name: str, kind: PropertyType, default: str | None, doc: str) -> TableProperty:
    return TableProperty(INGESTION_PREFIX + name, kind, default, doc)


PROPERTIES: dict[str, TableProperty] = {
    item.key: item
    for item in (
        TableProperty("druid.datasource", "text", None, "Name of the Druid data source; `<database>.<table>` where it is not given."),
        TableProperty("druid.segment.granularity", "enum", None, "Time span of a segment; hive.druid.indexer.segments.granularity where it is not given.", values=GRANULARITIES),
        TableProperty("druid.query.granularity", "enum", "NONE", "What __time is rounded down to when rows are written.", values=GRANULARITIES),
        TableProperty("druid.rollup", "bool", None, "Whether rows with equal time and dimensions are summed when written; hive.druid.rollup where it is not given."),
        TableProperty("druid.segment.targetShardsPerGranularity", "int", "0", "Number of segments per time span; 0 leaves it to the number of rows."),
        TableProperty("druid.storage.storageDirectory", "text", None, "Accepted for old scripts; Druid knows its deep storage."),
        TableProperty(COLUMN_MAPPING, "mapping", None, "Names of columns whose field differs otherwise than in case: `field:column, …` (cityName:city)."),
        TableProperty(KAFKA_INGESTION, "enum", None, "START, STOP or RESET the ingestion from Kafka; done, never stored.", values=("START", "STOP", "RESET")),
        TableProperty("druid.timestamp.column", "text", "__time", "Field of the Kafka messages that holds the time."),
        TableProperty("druid.timestamp.format", "text", "auto", "Format of that field: iso, posix, millis, auto, or a Joda pattern."),
        TableProperty("druid.parseSpec.format", "enum", "json", "Format of the Kafka messages.", values=("JSON", "CSV", "DELIMITED", "AVRO")),
        TableProperty("druid.parseSpec.columns", "list", None, "Names of the fields of csv and delimited messages, in order."),
        TableProperty("druid.parseSpec.delimiter", "text", None, "What separates the fields of delimited messages; a tab where it is not given."),
        TableProperty("druid.parseSpec.listDelimiter", "text", None, "What separates several values in one field of csv and delimited messages."),
        TableProperty("druid.parseSpec.hasHeaderRows", "bool", "false", "Whether csv and delimited messages begin with field names."),
        TableProperty("druid.parseSpec.skipHeaderRows", "int", "0", "Rows to skip at the beginning of csv and delimited messages."),
        _ingestion("maxRowsInMemory", "int", "1000000", "Most rows in memory before they are persisted."),
        _ingestion("maxBytesInMemory", "long", "0", "Most bytes in memory before rows are persisted; 0: a sixth of the heap."),
        _ingestion("maxRowsPerSegment", "int", "5000000", "Most rows in one segment."),
        _ingestion("maxTotalRows", "long", None, "Most rows in all segments that wait for publishing."),
        _ingestion("intermediatePersistPeriod", "period", "PT10M", "How often rows in memory are persisted."),
        _ingestion("maxPendingPersists", "int", "0", "Most persists that may wait."),
        _ingestion("reportParseExceptions", "bool", "false", "Whether a message that cannot be parsed stops the task."),
        _ingestion("handoffConditionTimeout", "long", "0", "Milliseconds to wait for segments to be handed off; 0: for ever."),
        _ingestion("resetOffsetAutomatically", "bool", "false", "Whether offsets that Kafka has no more are reset."),
        _ingestion("workerThreads", "int", None, "Threads of the supervisor."),
        _ingestion("chatThreads", "int", None, "Threads for talking to tasks."),
        _ingestion("chatRetries", "long", "8", "Tries of a call to a task."),
        _ingestion("httpTimeout", "period", "PT10S", "How long a call to a task may take."),
        _ingestion("shutdownTimeout", "period", "PT80S", "How long the supervisor waits for tasks when it shuts down."),
        _ingestion("offsetFetchPeriod", "period", "PT30S", "How often offsets are fetched from Kafka."),
        _ingestion("intermediateHandoffPeriod", "period", "P2147483647D", "How often segments are handed off."),
        _ingestion("logParseExceptions", "bool", "false", "Whether messages that cannot be parsed are logged."),
        _ingestion("maxParseExceptions", "int", "2147483647", "Most messages that cannot be parsed before the task stops."),
        _ingestion("maxSavedParseExceptions", "int", "0", "Most messages that cannot be parsed kept for the task's report."),
        _ingestion("replicas", "int", "1", "Tasks that read the same partitions."),
        _ingestion("taskCount", "int", "1", "Tasks that share the partitions."),
        _ingestion("taskDuration", "period", "PT3600S", "How long a task reads before it publishes."),
        _ingestion("startDelay", "period", "PT5S", "How long the supervisor waits before it manages tasks."),
        _ingestion("period", "period", "PT30S", "How often the supervisor looks after its tasks."),
        _ingestion("useEarliestOffset", "bool", "false", "Whether ingestion begins at the earliest offset of the topic."),
        _ingestion("completionTimeout", "period", "PT1800S", "How long publishing may take."),
        _ingestion("lateMessageRejectionPeriod", "period", None, "Messages older than this, seen from the task's start, are left out."),
        _ingestion("earlyMessageRejectionPeriod", "period", None, "Messages later than this, seen from the task's end, are left out."),
        _ingestion("skipOffsetGaps", "bool", "false", "Accepted for old scripts; Druid does so by itself."),
        TableProperty(CONSUMER_PREFIX, "text", None, "Any property of the Kafka consumer that Druid's tasks use."),
        TableProperty("avro.schema.literal", "json", None, "Schema of Avro messages.", _BOTH),
        TableProperty("kafka.topic", "text", None, "The topic; on a Druid table it makes it one that is fed from Kafka.", _BOTH),
        TableProperty("kafka.bootstrap.servers", "text", None, "Kafka brokers as host:port, …", _BOTH),
        TableProperty("kafka.serde.class", "text", "org.apache.hadoop.hive.serde2.JsonSerDe", "How messages are read and written.", _KAFKA),
        TableProperty("kafka.write.semantic", "enum", "AT_LEAST_ONCE", "Guarantee of INSERT.", _KAFKA, ("AT_LEAST_ONCE", "EXACTLY_ONCE")),
        TableProperty("kafka.consumer.", "text", None, "Any property of the Kafka consumer.", _KAFKA),
        TableProperty("kafka.producer.", "text", None, "Any property of the Kafka producer.", _KAFKA),
        TableProperty("hive.kafka.poll.timeout.ms", "long", "5000", "How long one poll may take.", _KAFKA),
        TableProperty("hive.kafka.max.retries", "int", "6", "Tries of a Kafka call.", _KAFKA),
        TableProperty("hive.kafka.metadata.poll.timeout.ms", "long", "30000", "How long fetching metadata may take.", _KAFKA),
        TableProperty("hive.kafka.optimistic.commit", "bool", "false", "Whether writers commit without the two-phase protocol.", _KAFKA),
        TableProperty("hive.kafka.ssl.", "text", None, "Stores and passwords for TLS.", _KAFKA),
        TableProperty("avro.serde.type", "enum", "none", "Framing of Avro messages: skip leaves the first bytes out.", _KAFKA, ("NONE", "SKIP")),
        TableProperty("avro.serde.skip.bytes", "int", "5", "Bytes to leave out with avro.serde.type=skip.", _KAFKA),
        TableProperty("external.table.purge", "bool", None, "Whether DROP of an EXTERNAL table also removes its data; hive.external.table.purge.default where it is not given.", _ANY),
        TableProperty("skip.header.line.count", "int", "0", "Lines to skip at the beginning of each text file.", _FILES),
        TableProperty("hivedruid.malformed.rows", "enum", "fail", "What a malformed row of a json, csv or text file does; the setting of that name where it is not given.", _FILES, ("FAIL", "SKIP")),
    )
}  # fmt: skip
"""Every property by key. Keys are case-sensitive, as in Hive."""

CHECKED_PREFIXES = ("druid.", "kafka.", "hive.kafka.", "hivedruid.")
"""Below these only what the table holds is allowed; other keys are the user's own."""

_INTERNAL = ("druid.query.json", "druid.query.type", "druid.fieldNames", "druid.fieldTypes", "druid.segment.version")
_SET_BY_TABLE = ("enable.auto.commit", "auto.offset.reset", "key.deserializer", "value.deserializer", "key.serializer", "value.serializer", "transactional.id")  # fmt: skip
_MAX_INT = 2**31 - 1
_MAX_LONG = 2**63 - 1


def find(key: str) -> TableProperty | None:
    """What a key means: its own entry, or that of its prefix."""
    if (item := PROPERTIES.get(key)) is not None:
        return item
    for prefix in (CONSUMER_PREFIX, "kafka.consumer.", "kafka.producer.", "hive.kafka.ssl."):
        if key.startswith(prefix) and len(key) > len(prefix):
            return PROPERTIES[prefix]
    return None


def validate(properties: Iterable[Property], kind: TableKind | None = None) -> dict[str, str]:
    """The properties as they are stored, for a table of that kind.

    Raises SemanticError, at the key or the value, for an unknown key below CHECKED_PREFIXES, one that means nothing for
    such a table, and a value that is not of its type. Types are those of Hive's handler, only stricter: a boolean is
    true or false, nothing is trimmed. A secret has to be given as `env:NAME`.
    """
    result: dict[str, str] = {}
    for item in properties:
        known = find(item.key)
        if known is None:
            _check_unknown(item)
        else:
            _check_name(item)
            _check_kind(known, item, kind)
            check_value(known, item)
        check_secret(item)
        result[item.key] = item.value
    return result


def check_secret(item: Property) -> None:
    """A secret does not go into the catalog, only the name of the environment variable that holds it."""
    if not is_secret(item.key) or not item.value:
        return
    name = item.value.removeprefix(ENVIRONMENT_PREFIX)
    if name == item.value or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise SemanticError(
            f"the value of '{item.key}' is a secret and would stand in the catalog in clear",
            span=item.value_span,
            hint=f"put it into an environment variable, and give {ENVIRONMENT_PREFIX}NAME_OF_THE_VARIABLE as the value",
        )


def check_value(known: TableProperty, item: Property) -> None:
    problem = _CHECKS[known.type](known, item.value)
    if problem is None:
        return
    shown = "the value given" if is_secret(item.key) else f"'{item.value}'"
    hint = did_you_mean(item.value.upper(), known.values) if known.values else None
    if known.key == KAFKA_INGESTION:
        problem = "START, STOP or RESET"
    raise SemanticError(f"property '{item.key}' takes {problem}, not {shown}", span=item.value_span, hint=hint)


def _check_unknown(item: Property) -> None:
    if not item.key.startswith(CHECKED_PREFIXES):
        folded = {key.lower(): key for key in PROPERTIES if not key.endswith(".")}
        if item.key.lower() in folded or item.key.lower().startswith(CHECKED_PREFIXES):
            _raise_unknown(item)
        return
    _raise_unknown(item)


def _raise_unknown(item: Property) -> None:
    if item.key in _INTERNAL:
        raise SemanticError(f"property '{item.key}' is the planner's own", span=item.key_span, hint="leave it out")
    folded = {key.lower(): key for key in PROPERTIES}
    same = folded.get(item.key.lower())
    hint = f"did you mean '{same}'?" if same else did_you_mean(item.key, PROPERTIES)
    raise SemanticError(f"unknown table property '{item.key}'", span=item.key_span, hint=hint)


def _check_kind(known: TableProperty, item: Property, kind: TableKind | None) -> None:
    if kind is None or kind in known.kinds or not item.key.startswith(CHECKED_PREFIXES):
        return
    hint = "leave it out"
    if kind == "druid" and item.key.startswith("kafka.consumer."):
        hint = f"did you mean '{CONSUMER_PREFIX}{item.key.removeprefix('kafka.consumer.')}'?"
    raise SemanticError(f"property '{item.key}' means nothing for {KIND_NAMES[kind]}", span=item.key_span, hint=hint)


def _check_name(item: Property) -> None:
    """What the table sets itself cannot be set for it (KafkaUtils.FORBIDDEN_PROPERTIES)."""
    name = item.key.removeprefix("kafka.consumer.").removeprefix("kafka.producer.")
    if name != item.key and name in _SET_BY_TABLE:
        raise SemanticError(
            f"Kafka property '{name}' cannot be set", span=item.key_span, hint="leave it out: the table sets it"
        )
    if item.key == CONSUMER_PREFIX + "bootstrap.servers":
        raise SemanticError(
            f"property '{item.key}' would be given twice", span=item.key_span, hint="use kafka.bootstrap.servers alone"
        )


def names_by_field(properties: Mapping[str, str]) -> dict[str, str]:
    """druid.columns.mapping: the column's name (lower case) by the field's name."""
    return parse_mapping(properties.get(COLUMN_MAPPING, "")) or {}


def parse_mapping(text: str) -> dict[str, str] | None:
    """`field:column, …`; None where the text is none, or names a field or a column twice."""
    result: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        field, colon, column = (part.strip() for part in pair.rpartition(":"))
        if not (field and colon and column) or field in result:
            return None
        result[field] = column.lower()
    return result if len(set(result.values())) == len(result) else None


def _number(limit: int) -> Callable[[TableProperty, str], str | None]:
    def check(_: TableProperty, value: str) -> str | None:
        if re.fullmatch(r"[+-]?\d{1,19}", value, re.ASCII) and -limit - 1 <= int(value) <= limit:
            return None
        return "a whole number" if not re.fullmatch(r"[+-]?\d+", value, re.ASCII) else f"a whole number up to {limit}"

    return check


def _json(_: TableProperty, value: str) -> str | None:
    import json

    try:
        json.loads(value)
    except ValueError:
        return "JSON text"
    return None


_CHECKS: dict[PropertyType, Callable[[TableProperty, str], str | None]] = {
    "text": lambda *_: None,
    "int": _number(_MAX_INT),
    "long": _number(_MAX_LONG),
    "bool": lambda _, value: None if value.lower() in ("true", "false") else "true or false",
    "period": lambda _, value: None if PERIOD.fullmatch(value) else "an ISO 8601 period such as PT10M",
    "enum": lambda known, value: None if value.upper() in known.values else f"one of {', '.join(known.values)}",
    "list": lambda _, value: None if any(part.strip() for part in value.split(",")) else "names separated by commas",
    "mapping": lambda _, value: None if parse_mapping(value) is not None else "field:column, … with every name once",
    "json": _json,
}
"""Answer what a value should have been, or None where it is right."""
