"""Specs of Kafka supervisors as other programs post them, of the kinds that Druid's documentation describes."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def posted(
    schema: Json | None = None,
    io: Json | None = None,
    tuning: Json | None = None,
    *,
    keep_topic: bool = True,
    **top: Any,
) -> Json:
    """A spec with these parts, over a small one that leaves out what has a default."""
    data_schema: Json = {
        "dataSource": "theirs", "timestampSpec": {"column": "ts", "format": "iso"},
        "dimensionsSpec": {"dimensions": ["page"]}, "granularitySpec": {"rollup": False}, **(schema or {}),
    }  # fmt: skip
    feed: Json = {
        **({"topic": "clicks"} if keep_topic else {}), "inputFormat": {"type": "json"},
        "consumerProperties": {"bootstrap.servers": "kafka:9092"}, **(io or {}),
    }  # fmt: skip
    spec: Json = {"dataSchema": data_schema, "ioConfig": feed}
    return {"type": "kafka", "spec": spec | ({"tuningConfig": tuning} if tuning is not None else {}), **top}


def dimensions(*items: Any, rollup: bool = False, **more: Any) -> Json:
    return {"dimensionsSpec": {"dimensions": [*items], **more}, "granularitySpec": {"rollup": rollup}}


def metrics(*items: Json, rollup: bool = True) -> Json:
    return {"metricsSpec": [*items], "granularitySpec": {"rollup": rollup}}


def consumer(**given: Any) -> Json:
    keys = {key.replace("_", "."): value for key, value in given.items()}
    return {"consumerProperties": {"bootstrap.servers": "kafka:9092", **keys}}


def inputs(**format_: Any) -> Json:
    return {"inputFormat": format_}


PATHS = [
    {"type": "path", "name": "user", "expr": "$.who.name"}, {"type": "jq", "name": "n", "expr": ".list | length"},
    {"type": "root", "name": "kind"}, {"type": "tree", "name": "deep", "nodes": ["a", "b"]}, "plain",
]  # fmt: skip
EXPRESSION = {"type": "expression", "name": "sum2", "fields": ["a"], "accumulatorIdentifier": "__acc", "initialValue": "0",
              "fold": "__acc + a", "combine": "__acc + sum2"}  # fmt: skip
SELECTED = {"type": "selector", "dimension": "page", "value": "x"}
AVRO = {
    "type": "record",
    "name": "Click",
    "fields": [{"name": "ts", "type": "long"}, {"name": "Page", "type": "string"}],
}
SCALER = {"enableTaskAutoScaler": True, "taskCountMin": 1, "taskCountMax": 4, "scaleOutThreshold": 5000}

SPECS: dict[str, Json] = {
    # dimensions
    "the smallest": posted(),
    "no part of a default": posted({"granularitySpec": {}}),
    "typed dimensions": posted(dimensions("page", {"type": "long", "name": "n"}, {"type": "double", "name": "d"}, {"type": "float", "name": "f"})),
    "numbers with rollup": posted(dimensions("page", {"type": "long", "name": "n"}, {"type": "float", "name": "f"}, rollup=True)),
    "multiple values": posted(dimensions({"name": "tags", "multiValueHandling": "SORTED_SET"}, {"type": "string", "name": "list", "multiValueHandling": "ARRAY"})),
    "no bitmap": posted(dimensions({"type": "string", "name": "id", "createBitmapIndex": False}, {"type": "long", "name": "n", "createBitmapIndex": True})),
    "no bitmap of several values": posted(dimensions({"type": "string", "name": "id", "createBitmapIndex": False, "multiValueHandling": "ARRAY"})),
    "nested data": posted(dimensions("page", {"type": "json", "name": "payload", "formatVersion": 4})),
    "automatic types": posted(dimensions({"type": "auto", "name": "a"}, {"type": "auto", "name": "n", "castToType": "LONG"}, {"type": "auto", "name": "l", "castToType": "ARRAY<STRING>"}, rollup=True)),
    "names in capitals": posted(dimensions("Page", "userId", {"type": "long", "name": "ms"}, {"type": "string", "name": "PAGE"}, "page")),
    "names with signs": posted(dimensions("a-b", "a b", "x:y", "(z)", "`q`", "größe", "a.b")),
    "a name with a comma": posted(dimensions("a,b", "c", rollup=True)),
    "spaces around a name": posted(dimensions(" a", "a")),
    "without dimensions": posted(dimensions()),
    "discovery of types": posted(dimensions(useSchemaDiscovery=True, dimensionExclusions=["secretive", "raw"])),
    "discovery beside others": posted(dimensions("page", {"type": "long", "name": "n"}, includeAllDimensions=True, dimensionExclusions=["raw"])),
    "spatial": posted({"dimensionsSpec": {"dimensions": ["page", {"type": "spatial", "name": "place", "dims": ["lat", "lon"]}]}}),
    "an order of its own": posted(dimensions("page", {"type": "long", "name": "__time"}, "user", forceSegmentSortByTime=False)),
    # times and granularities
    "millis": posted({"timestampSpec": {"column": "at", "format": "millis"}}),
    "a pattern and a missing value": posted({"timestampSpec": {"column": "at", "format": "yyyy-MM-dd'T'HH:mm:ss", "missingValue": "2024-01-01T00:00:00.000Z"}}),
    "timestamp by default": posted({"timestampSpec": {}}),
    "granularities by name": posted({"granularitySpec": {"type": "uniform", "segmentGranularity": "hour", "queryGranularity": "MINUTE", "rollup": True}}),
    "granularities as objects": posted({"granularitySpec": {"segmentGranularity": {"type": "period", "period": "P1D", "timeZone": "Europe/Berlin"}, "queryGranularity": {"type": "duration", "duration": 7200000}}}),
    "no granularity": posted({"granularitySpec": {"segmentGranularity": {"type": "all"}, "queryGranularity": {"type": "none"}, "rollup": False}}),
    "arbitrary intervals": posted({"granularitySpec": {"type": "arbitrary", "queryGranularity": "DAY", "intervals": ["2024-01-01/2025-01-01"]}}),
    # metrics
    "sums": posted(metrics({"type": "longSum", "name": "n", "fieldName": "n"}, {"type": "doubleSum", "name": "total", "fieldName": "price"}, {"type": "floatSum", "name": "F", "fieldName": "F"})),
    "sums without rollup": posted(metrics({"type": "longSum", "name": "n", "fieldName": "n"}, {"type": "count", "name": "rows"}, rollup=False)),
    "extremes": posted(metrics({"type": "longMin", "name": "low", "fieldName": "n"}, {"type": "doubleMax", "name": "High", "fieldName": "n"}, {"type": "floatMin", "name": "f", "fieldName": "f"}, {"type": "count", "name": "cnt"})),
    "sketches": posted(metrics({"type": "thetaSketch", "name": "users", "fieldName": "user"}, {"type": "HLLSketchBuild", "name": "h", "fieldName": "user", "lgK": 12, "tgtHllType": "HLL_4"}, {"type": "quantilesDoublesSketch", "name": "q", "fieldName": "ms", "k": 128}, {"type": "hyperUnique", "name": "hu", "fieldName": "user"})),
    "sketches with options": posted(metrics({"type": "thetaSketch", "name": "users", "fieldName": "user", "size": 4096}, {"type": "HLLSketchMerge", "name": "h", "fieldName": "h", "lgK": 14, "round": True}, {"type": "quantilesDoublesSketch", "name": "q", "fieldName": "ms", "k": 256}, {"type": "thetaSketch", "name": "ready", "fieldName": "ready", "isInputThetaSketch": True})),
    "a filtered aggregator": posted(metrics({"type": "filtered", "filter": SELECTED, "aggregator": {"type": "longSum", "name": "xs", "fieldName": "n"}}, {"type": "count", "name": "cnt"})),
    "a filtered sketch": posted(metrics({"type": "filtered", "name": "u", "filter": {"type": "not", "field": SELECTED}, "aggregator": {"type": "thetaSketch", "name": "u", "fieldName": "user"}})),
    "aggregators of expressions": posted(metrics(EXPRESSION, {"type": "longSum", "name": "twice", "expression": "n * 2"})),
    "first and last": posted(metrics({"type": "stringLast", "name": "s", "fieldName": "page", "maxStringBytes": 64}, {"type": "longFirst", "name": "n", "fieldName": "n", "timeColumn": "__time"}, {"type": "doubleAny", "name": "any", "fieldName": "d"})),
    "histograms": posted(metrics({"type": "fixedBucketsHistogram", "name": "b", "fieldName": "ms", "numBuckets": 10, "lowerLimit": 0, "upperLimit": 100, "outlierHandlingMode": "ignore"}, {"type": "variance", "name": "v", "fieldName": "ms"})),
    "metrics that all tables read": posted({**dimensions("page", {"type": "long", "name": "n"}), **metrics({"type": "longMax", "name": "most", "fieldName": "n"}, {"type": "count", "name": "Count"})}),
    "an expression that Druid misreads": posted(metrics({"type": "longSum", "name": "n", "expression": "n = 3"})),
    # transforms
    "transforms": posted({"transformSpec": {"transforms": [{"type": "expression", "name": "shout", "expression": "upper(page)"}]}, **dimensions("shout")}),
    "a filter": posted({"transformSpec": {"filter": {"type": "and", "fields": [SELECTED, {"type": "bound", "dimension": "n", "lower": "3", "ordering": "numeric"}]}}}),
    "a filter that Druid misreads": posted({"transformSpec": {"filter": {"type": "expression", "expression": "v = 3"}}}),
    "a transformed time": posted({"transformSpec": {"transforms": [{"type": "expression", "name": "__time", "expression": "timestamp_parse(concat(d, 'T', t))"}]}, "timestampSpec": {"column": "none", "missingValue": "1970-01-01"}}),
    "projections": posted({**dimensions("page", {"type": "long", "name": "n"}), "projections": [{"name": "daily", "type": "aggregate", "groupingColumns": [{"type": "string", "name": "page"}], "aggregators": [{"type": "longSum", "name": "n_sum", "fieldName": "n"}]}]}),
    # formats
    "flattened": posted(io=inputs(type="json", flattenSpec={"useFieldDiscovery": False, "fields": PATHS})),
    "json with features": posted(io=inputs(type="json", featureSpec={"ALLOW_COMMENTS": True}, keepNullColumns=True, useJsonNodeReader=True)),
    "csv": posted(io=inputs(type="csv", columns=["ts", "page", "n"], listDelimiter="|", skipHeaderRows=1)),
    "csv without time": posted(io=inputs(type="csv", columns=["at", "page"], tryParseNumbers=True)),
    "csv with a header": posted(io=inputs(type="csv", findColumnsFromHeader=True)),
    "tsv": posted(io=inputs(type="tsv", columns=["ts", "page"], delimiter=";")),
    "columns with commas": posted(io=inputs(type="csv", columns=["ts", "a,b", " c"])),
    "regular expressions": posted(io=inputs(type="regex", pattern="^(\\S+) '(.*)'$", columns=["ts", "page"])),
    "avro": posted(dimensions("Page"), inputs(type="avro_stream", avroBytesDecoder={"type": "schema_inline", "schema": AVRO}, flattenSpec={"fields": PATHS[:1]})),
    "avro by registry": posted(io=inputs(type="avro_stream", avroBytesDecoder={"type": "schema_registry", "url": "http://registry:8081"}, binaryAsString=True)),
    "protobuf": posted(io=inputs(type="protobuf", protoBytesDecoder={"type": "file", "descriptor": "file:///tmp/clicks.desc", "protoMessageType": "Click"})),
    "kafka": posted(dimensions("page", "kafka.key", "kafka.header.env", "kafka.topic", {"type": "long", "name": "kafka.timestamp"}), inputs(type="kafka", valueFormat={"type": "json"}, headerFormat={"type": "string", "encoding": "UTF-8"}, keyFormat={"type": "tsv", "findColumnsFromHeader": False, "columns": ["x"]})),
    "kafka with its own names": posted(io=inputs(type="kafka", valueFormat={"type": "json", "flattenSpec": {"fields": PATHS}}, headerColumnPrefix="h_", keyColumnName="k", timestampColumnName="at", topicColumnName="t"), schema={"timestampSpec": {"column": "at", "format": "millis"}}),
    # what is read
    "several topics": posted(io={"topicPattern": "clicks-\\d+\\.(eu|us)'"}, keep_topic=False),
    "consumer": posted(io=consumer(group_id="g", isolation_level="read_committed", max_poll_records=500, allow_auto_create_topics=False, client_rack="")),
    "variables": posted(io=consumer(security_protocol="SASL_SSL", druid_dynamic_config_provider={"type": "environment", "variables": {"sasl.jaas.config": "KAFKA_JAAS", "ssl.truststore.password": "TRUST"}})),
    "a provider of one's own": posted(io=consumer(druid_dynamic_config_provider={"type": "vault", "path": "kv/kafka", "names": ["a"]})),
    "passwords of stores": posted(io=consumer(ssl_keystore_password={"type": "environment", "variable": "KEYS"}, ssl_keystore_location="/etc/k.jks")),
    "values like references": posted(io=consumer(client_id="env:NAME", group_id="session:0123456789ab")),
    "tasks": posted(io={"replicas": 2, "taskCount": 3, "taskDuration": "PT10M", "startDelay": "PT1S", "period": "PT10S", "useEarliestOffset": True, "completionTimeout": "PT45M", "pollTimeout": 250, "stopTaskCount": 1, "emitTimeLagMetrics": True}),
    "times that are rejected": posted(io={"lateMessageRejectionPeriod": "PT1H", "earlyMessageRejectionPeriod": "P1D"}),
    "a start time": posted(io={"lateMessageRejectionStartDateTime": "2024-01-01T00:00:00Z"}),
    "scaled": posted(io={"autoScalerConfig": SCALER, "taskCount": 3, "idleConfig": {"enabled": True, "inactiveAfterMillis": 600000}}),
    "configuration overrides": posted(io={"configOverrides": {"type": "other", "x": 1}}),
    # tuning
    "memory and partitions": posted(tuning={"type": "kafka", "maxRowsInMemory": 50000, "maxBytesInMemory": -1, "maxRowsPerSegment": 1000000, "maxTotalRows": 3000000, "intermediatePersistPeriod": "PT5M", "maxPendingPersists": 2, "numPersistThreads": 2, "intermediateHandoffPeriod": "PT2H", "handoffConditionTimeout": 0, "maxColumnsToMerge": 100}),
    "compression": posted(tuning={"type": "kafka", "indexSpec": {"bitmap": {"type": "roaring"}, "dimensionCompression": "zstd", "metricCompression": "none", "longEncoding": "auto", "stringDictionaryEncoding": {"type": "frontCoded", "bucketSize": 4, "formatVersion": 1}}}),
    "compression of persists": posted(tuning={"type": "kafka", "indexSpec": {"dimensionCompression": "zstd"}, "indexSpecForIntermediatePersists": {"dimensionCompression": "lz4"}}),
    "parse errors": posted(tuning={"type": "kafka", "reportParseExceptions": True, "logParseExceptions": True, "maxParseExceptions": 100, "maxSavedParseExceptions": 5}),
    "threads": posted(tuning={"type": "kafka", "workerThreads": 4, "chatRetries": 3, "httpTimeout": "PT30S", "shutdownTimeout": "PT2M", "offsetFetchPeriod": "PT5S", "resetOffsetAutomatically": True, "segmentWriteOutMediumFactory": {"type": "offHeapMemory"}, "appendableIndexSpec": {"type": "onheap", "preserveExistingMetrics": True}}),
    "keys of later versions": posted({"later": {"a.b": 1}}, {"boundedStream": {"x": [1, None]}}, {"type": "kafka", "releaseLocksOnHandoff": True}),
    # beside the spec
    "a context": posted(context={"priority": 80, "taskLockTimeout": 600000, "forceTimeChunkLock": False, "tags": {"team": "a"}, "a.b": "c"}),
    "concurrent locks": posted(context={"useConcurrentLocks": True}),
    "suspended": posted(suspended=True),
    "a supervisor with an id": posted(id="second"),
    "a data source with signs": posted({"dataSource": "Their Clicks-2"}),
}  # fmt: skip
"""By what is special in each."""
