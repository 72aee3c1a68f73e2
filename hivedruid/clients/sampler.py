"""Druid's sampler: the overlord reads some records of a topic with a supervisor's spec, and returns the result."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.clients import wire
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.failures import AnswerError
from hivedruid.druid.ingestion import Json
from hivedruid.druid.supervisor import DYNAMIC_PROVIDER
from hivedruid.errors import DruidError, KafkaError
from hivedruid.ingestion.checks import Sample
from hivedruid.ingestion.feed import feed_of
from hivedruid.ingestion.model import UnparseableRecord
from hivedruid.redaction import redact

SAMPLER = "/druid/indexer/v1/sampler"
ROWS = 50
"""Records in a sample."""
READ_TIMEOUT = 3000
"""The timeout of reading in milliseconds, which is used up if a topic has fewer records than requested."""

_HASTE: dict[str, str] = {
    "default.api.timeout.ms": "6000",
    "request.timeout.ms": "5000",
    "socket.connection.setup.timeout.ms": "3000",
    "allow.auto.create.topics": "false",
}
"""Consumer properties that report a wrong address within seconds, and prevent Kafka from creating the topic."""

_NO_SUPPLIER = "Unable to create RecordSupplier: null"
"""The message of Druid 33 if its environment provider finds a variable unset: a null consumer property."""

_PLAIN_FORMATS = ("json", "csv", "tsv", "avro_stream")
"""Formats whose records are the input in a sample, as objects."""

_BEFORE_1970 = "because it is below the minTimestamp[1970-01-01"
"""The message of IncrementalIndex for a record before 1970."""

_CAUSES = (
    (r"Consumer is not subscribed to any topics", "Druid cannot find topic {topic}",
     "create the topic, or set kafka.topic"),
    (r"No resolvable bootstrap urls", "Druid cannot resolve kafka.bootstrap.servers {servers}",
     "use host names that Druid's hosts can resolve"),
    (r"Timeout expired while fetching topic metadata|Timeout of \d+ms expired|Failed to get offsets by times",
     "Druid cannot reach Kafka at {servers}", "check that it is running and that Druid's hosts can connect to it"),
    (r"type '([\w$-]+)' on '[^']*' service", "Druid does not know the type '{0}'",
     "add its extension to druid.extensions.loadList of all services"),
)  # fmt: skip
"""A pattern of Druid's messages, its meaning, and the next step."""


def sample(client: DruidClient, spec: Mapping[str, Any], *, rows: int = ROWS) -> Sample:
    """Sample the oldest `rows` records of the topic; 0 reads none, and only checks the spec.

    Raises DruidError, with an explanation, if Druid cannot read the topic with this spec, and ConnectError.
    """
    inner = spec["spec"]
    io = {**inner["ioConfig"], "useEarliestOffset": True}
    io["consumerProperties"] = {**io["consumerProperties"], **_HASTE}
    asked = {**inner, "ioConfig": io}
    unfiltered = _without_filter(asked)
    try:
        answer = _sampled(client, unfiltered or asked, max(1, rows), READ_TIMEOUT if rows else 1)
        kept = _filtered(client, asked, answer) if unfiltered is not None else answer
    except DruidError as error:
        raise _explained(client, spec, error) from error
    errors = tuple(_parse_error(row) for row in answer.data if row.unparseable)
    indexed = kept.num_rows_indexed
    count = kept.num_rows_read - len(errors) if indexed is None else indexed
    return Sample(answer.num_rows_read, count, errors, _fields(inner, answer), _times(answer))


def _times(answer: wire.Sampled) -> tuple[int, ...]:
    """The times of the rows, without 1970 itself: see `_from_1970`."""
    found = ((row.parsed or {}).get(TIME_COLUMN) for row in answer.data if not row.unparseable)
    return tuple(time for time in found if isinstance(time, int) and time != 0)


def _format_of(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The inputFormat; empty for a spec with a parser, of old clients."""
    return spec["ioConfig"].get("inputFormat") or {}


def _without_filter(spec: Mapping[str, Any]) -> Json | None:
    """The spec without the filter of its transformSpec; None if it has none, or if the input in a sample is not what
    its format reads, such as Kafka's headers.

    The sampler ignores records that a filter removes, and would read until its timeout.
    """
    schema = spec["dataSchema"]
    given = schema.get("transformSpec") or {}
    if not given.get("filter") or _format_of(spec).get("type") not in _PLAIN_FORMATS:
        return None
    rest = {key: item for key, item in given.items() if key != "filter"}
    return {**spec, "dataSchema": {**schema, "transformSpec": rest}}


def _filtered(client: DruidClient, spec: Mapping[str, Any], answer: wire.Sampled) -> wire.Sampled:
    """The sample again, with the filter: the sampled records themselves are sent."""
    records = [json.dumps(row.input) for row in answer.data if isinstance(row.input, dict) and not row.unparseable]
    if not records:
        return answer
    format_ = _format_of(spec)
    io = {
        "type": "index", "inputSource": {"type": "inline", "data": "\n".join(records)},
        "inputFormat": format_ if format_.get("type") == "json" else {"type": "json"},
    }  # fmt: skip
    whole = {"dataSchema": spec["dataSchema"], "ioConfig": io}
    return _sampled(client, whole, len(records), READ_TIMEOUT, kind="index")


def _fields(spec: Mapping[str, Any], answer: wire.Sampled) -> frozenset[str] | None:
    """The fields of the sampled records, at their top level or by a flattenSpec; None if there are no records, or if
    the input in a sample is not what their format reads."""
    format_ = _format_of(spec)
    records = [row.input for row in answer.data if isinstance(row.input, dict)]
    if format_.get("type") not in _PLAIN_FORMATS or not records:
        return None
    flattened = (format_.get("flattenSpec") or {}).get("fields") or ()
    named = {item if isinstance(item, str) else str(item.get("name")) for item in flattened}
    return frozenset(named.union(*records))


def _sampled(
    client: DruidClient, spec: Mapping[str, Any], rows: int, timeout: int, kind: str = "kafka"
) -> wire.Sampled:
    """The sample. The sampler stops at the first record before 1970, which tasks read: its index in memory begins in
    1970 (the default minTimestamp of IncrementalIndexSchema), theirs with the segment. It then samples the records
    again, with the time 1970 instead."""
    try:
        return _ask(client, spec, rows, timeout, kind)
    except DruidError as error:
        if isinstance(error, AnswerError) or _BEFORE_1970 not in error.message:
            raise
    return _ask(client, _from_1970(spec), rows, timeout, kind)


def _from_1970(spec: Mapping[str, Any]) -> Json:
    """The spec with a transform of the time, in addition to the table's own."""
    schema = spec["dataSchema"]
    given = schema.get("transformSpec") or {}
    transforms = given.get("transforms") or []
    times = [item["expression"] for item in transforms if item.get("name") == TIME_COLUMN and "expression" in item]
    time = f"({times[-1]})" if times else TIME_COLUMN
    bounded = {"type": "expression", "name": TIME_COLUMN, "expression": f"if({time} < 0, 0, {time})"}
    others = [item for item in transforms if item.get("name") != TIME_COLUMN]
    return {**spec, "dataSchema": {**schema, "transformSpec": {**given, "transforms": [*others, bounded]}}}


def unset_variables(client: DruidClient, names: Iterable[str]) -> tuple[str, ...]:
    """The environment variables that are not set on Druid's overlord. One request each; Kafka is not involved."""
    return tuple(name for name in sorted(set(names)) if not _is_set(client, name))


def check_variables(client: DruidClient, spec: Mapping[str, Any]) -> None:
    """Raises KafkaError if an environment variable to which the consumer of a spec refers is not set on the overlord:
    the supervisor would fail with a NullPointerException. Providers that only Druid can read are not checked."""
    try:
        variables = feed_of(spec).variables
    except KafkaError:
        return
    if unset := unset_variables(client, variables):
        raise KafkaError(_not_set(unset), hint=_SET_IT)


def _not_set(variables: Sequence[str]) -> str:
    is_or_are = "variable {} is" if len(variables) == 1 else "variables {} are"
    return f"the environment {is_or_are.format(', '.join(variables))} not set on Druid's overlord"


_SET_IT = "set it on all of Druid's hosts and restart its services"


def _is_set(client: DruidClient, variable: str) -> bool:
    """Let the overlord create a consumer without brokers: it fails, but with another error if the variable is not set.

    The variable is used for a password property of Kafka, so that its value is not logged by Druid.
    """
    provider = {"type": "environment", "variables": {"ssl.key.password": variable}}
    schema = {
        "dataSource": "hivedruid",
        "timestampSpec": {},
        "dimensionsSpec": {},
        "granularitySpec": {"segmentGranularity": "ALL"},
    }
    io = {
        "topic": "hivedruid",
        "consumerProperties": {"bootstrap.servers": "", DYNAMIC_PROVIDER: provider},
        "inputFormat": {"type": "json"},
    }
    try:
        _ask(client, {"dataSchema": schema, "ioConfig": io}, 1, 1)
    except AnswerError:
        raise
    except DruidError as error:
        return _NO_SUPPLIER not in error.message
    return True


def _ask(client: DruidClient, spec: Mapping[str, Any], rows: int, timeout: int, kind: str = "kafka") -> wire.Sampled:
    config = {"numRows": rows, "timeoutMs": timeout}
    body = {"type": kind, "spec": {**spec, "type": kind}, "samplerConfig": config}
    return client.post("overlord", SAMPLER, wire.Sampled, body)


def _explained(client: DruidClient, spec: Mapping[str, Any], error: DruidError) -> DruidError:
    """The error with an explanation, if known."""
    if isinstance(error, AnswerError):
        return error
    feed = feed_of(spec)
    if _NO_SUPPLIER in error.message and (unset := unset_variables(client, feed.variables)):
        return DruidError(_not_set(unset), hint=_SET_IT)
    for pattern, meaning, hint in _CAUSES:
        if match := re.search(pattern, error.message):
            groups = [group for group in match.groups() if group]
            return DruidError(meaning.format(*groups, topic=feed.topic, servers=feed.bootstrap), hint=hint)
    return DruidError(f"Druid cannot read the topic: {redact(error.message)}", hint=error.hint)


def _parse_error(row: wire.SampledRow) -> UnparseableRecord:
    details = row.error or ""
    if found := re.search(r"exceptions: \[(.*)\]\Z", details, re.S):
        details = found[1]
    details = re.sub(r" Event: \{.*\Z", "", details, flags=re.S)
    given = row.input
    unread = re.search(r"row \[(.*)\] into", details, re.S)
    text = json.dumps(given, ensure_ascii=False) if given is not None else unread[1] if unread else ""
    return UnparseableRecord(text, details)
