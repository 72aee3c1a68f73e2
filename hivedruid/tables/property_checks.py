"""Validates table properties: names, values, secrets, and the kinds of tables they apply to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from hivedruid.catalog.druid_columns import parse_aggregators, parse_multi_values, parse_paths, parse_stored_as
from hivedruid.catalog.kinds import KINDS, TableKind
from hivedruid.catalog.properties import (
    CHECKED_PREFIXES,
    CONSUMER_PREFIX,
    INGESTION_PREFIX,
    KAFKA_INGESTION,
    MALFORMED_ROWS,
    PROPERTIES,
    REJECT,
    SPEC_PREFIX,
    TASK_DURATION,
    PropertyType,
    TableProperty,
    find,
    parse_mapping,
)
from hivedruid.catalog.spec_paths import problem_of_path, problem_of_value
from hivedruid.catalog.time_references import FORMAT, parse_time_reference
from hivedruid.errors import SemanticError, did_you_mean
from hivedruid.secrets import ENVIRONMENT_PREFIX, hides, is_kept, is_secret, masked, referenced, secret_in
from hivedruid.setting_types import PERIOD, seconds

if TYPE_CHECKING:
    from hivedruid.parser.statements.ddl import Property

_INTERNAL = ("druid.query.json", "druid.query.type", "druid.fieldNames", "druid.fieldTypes", "druid.segment.version")
_SET_BY_TABLE = ("enable.auto.commit", "auto.offset.reset", "key.deserializer", "value.deserializer",
                 "key.serializer", "value.serializer", "transactional.id")  # fmt: skip
_ELSEWHERE = {
    "topic": "kafka.topic",
    "consumerProperties": CONSUMER_PREFIX + "…",
    "bootstrap.servers": "kafka.bootstrap.servers",
    "timestampSpec": "druid.timestamp.column",
    "flattenSpec": "druid.parseSpec.flattenSpec",
    "transformSpec": "druid.transformSpec",
    "metricsSpec": "druid.metricsSpec",
}
"""The properties for supervisor spec keys that users may expect below `druid.kafka.ingestion.`."""
_AT_LEAST_A_MINUTE = "a period of PT1M or more"
_MAX_INT = 2**31 - 1
_MAX_LONG = 2**63 - 1


def validate(properties: Iterable[Property], kind: TableKind | None = None) -> dict[str, str]:
    """The properties to store for a table of that kind. Raises SemanticError, at the key or the value, for an unknown
    key below CHECKED_PREFIXES, a key that does not apply to such a table, and an invalid value. Types are those of
    Hive's handler, but stricter: a boolean is true or false, nothing is trimmed. Secrets must have the form
    `env:NAME`.
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
        name = referenced(item.value) if is_secret(item.key) or item.key.startswith(CONSUMER_PREFIX) else None
        result[item.key] = item.value if name is None else ENVIRONMENT_PREFIX + name
    return result


def check_secret(item: Property) -> None:
    """Reject plain-text secrets: the catalog stores only the name of the environment variable."""
    if not item.value or (is_kept(item.value) and item.key.startswith(CONSUMER_PREFIX)):
        return
    known = find(item.key)
    if is_secret(item.key):
        is_json = known is not None and known.type == "json"
        if hides(item.key, item.value) if is_json else referenced(item.value) is None:
            _refuse_secret(item, f"the value of '{item.key}' is a secret")
        return
    if known is not None and known.type in ("object", "array", "json"):
        if (inner := secret_in(item.value)) is not None:
            _refuse_secret(item, f"'{inner}' in '{item.key}' is a secret")
    elif masked(item.key, item.value) != item.value:
        _refuse_secret(item, f"the value of '{item.key}' contains a password")


def _refuse_secret(item: Property, message: str) -> None:
    hint = f"store it in an environment variable and use {ENVIRONMENT_PREFIX}NAME_OF_THE_VARIABLE as the value"
    is_json = item.key.startswith(INGESTION_PREFIX) and not item.key.startswith(CONSUMER_PREFIX)
    if is_json or item.key.startswith(SPEC_PREFIX):
        hint = 'use a reference: {"type": "environment", "variable": "NAME_OF_THE_VARIABLE"}'
    raise SemanticError(
        f"{message}, which would be stored in plain text in the catalog", span=item.value_span, hint=hint
    )


def check_value(known: TableProperty, item: Property) -> None:
    problem = (
        problem_of_value(item.key.removeprefix(SPEC_PREFIX), item.value)
        if known.type == "json"
        else _CHECKS[known.type](known, item.value)
    )
    if problem is None:
        return
    shown = "the value given" if is_secret(item.key) else f"'{item.value}'"
    hint = did_you_mean(item.value.upper(), known.values) if known.values else None
    if known.key == KAFKA_INGESTION:
        problem = "START, STOP, RESET, SUSPEND, RESUME or HANDOFF"
    if problem == _AT_LEAST_A_MINUTE:
        hint = "Druid rounds it down to whole minutes, so with less every task fails and is restarted"
    raise SemanticError(f"property '{item.key}' must be {problem}, not {shown}", span=item.value_span, hint=hint)


def _check_unknown(item: Property) -> None:
    if not item.key.startswith(CHECKED_PREFIXES):
        folded = {key.lower(): key for key in PROPERTIES if not key.endswith(".")}
        if item.key.lower() in folded or item.key.lower().startswith(CHECKED_PREFIXES):
            _raise_unknown(item)
        return
    _raise_unknown(item)


def _raise_unknown(item: Property) -> None:
    if item.key in _INTERNAL:
        raise SemanticError(f"property '{item.key}' is reserved for the planner", span=item.key_span, hint="remove it")
    folded = {key.lower(): key for key in PROPERTIES}
    same = _ELSEWHERE.get(item.key.removeprefix(INGESTION_PREFIX)) or folded.get(item.key.lower())
    hint = f"did you mean '{same}'?" if same else did_you_mean(item.key, PROPERTIES)
    raise SemanticError(f"unknown table property '{item.key}'", span=item.key_span, hint=hint)


def _check_kind(known: TableProperty, item: Property, kind: TableKind | None) -> None:
    if known.key == MALFORMED_ROWS and item.value.upper() == REJECT and kind not in (None, "kafka"):
        raise SemanticError(
            f"'{item.value}' of '{item.key}' only applies to Kafka tables",
            span=item.value_span,
            hint="use fail or skip",
        )
    if kind is None or kind in known.kinds or not item.key.startswith(CHECKED_PREFIXES):
        return
    hint = "remove it"
    if kind == "druid" and item.key.startswith("kafka.consumer."):
        hint = f"did you mean '{CONSUMER_PREFIX}{item.key.removeprefix('kafka.consumer.')}'?"
    raise SemanticError(f"property '{item.key}' does not apply to {KINDS[kind].noun}", span=item.key_span, hint=hint)


def _check_name(item: Property) -> None:
    """Reject properties that are set automatically (KafkaUtils.FORBIDDEN_PROPERTIES)."""
    name = item.key.removeprefix("kafka.consumer.").removeprefix("kafka.producer.")
    if name != item.key and name in _SET_BY_TABLE:
        raise SemanticError(
            f"Kafka property '{name}' cannot be set", span=item.key_span, hint="remove it: it is set automatically"
        )
    if item.key == CONSUMER_PREFIX + "druid.dynamic.config.provider":
        raise SemanticError(
            f"property '{item.key}' cannot be set",
            span=item.key_span,
            hint=f"use {ENVIRONMENT_PREFIX}NAME_OF_THE_VARIABLE as the value of the consumer property",
        )
    if item.key.startswith(SPEC_PREFIX) and (problem := problem_of_path(item.key.removeprefix(SPEC_PREFIX))):
        raise SemanticError(problem[0], span=item.key_span, hint=problem[1])
    if item.key == CONSUMER_PREFIX + "bootstrap.servers":
        raise SemanticError(
            f"property '{item.key}' conflicts with kafka.bootstrap.servers",
            span=item.key_span,
            hint="use only kafka.bootstrap.servers",
        )


def _number(limit: int) -> Callable[[TableProperty, str], str | None]:
    def check(_: TableProperty, value: str) -> str | None:
        if re.fullmatch(r"[+-]?\d{1,19}", value, re.ASCII) and -limit - 1 <= int(value) <= limit:
            return None
        return "an integer" if not re.fullmatch(r"[+-]?\d+", value, re.ASCII) else f"an integer up to {limit}"

    return check


def _json(kind: type, problem: str) -> Callable[[TableProperty, str], str | None]:
    def check(_: TableProperty, value: str) -> str | None:
        import json

        try:
            return None if isinstance(json.loads(value), kind) else problem
        except (ValueError, RecursionError):
            return problem

    return check


def _duration(known: TableProperty, value: str) -> str | None:
    """A period without years and months: Druid converts it to a duration of fixed length (Joda's
    toStandardDuration)."""
    match = PERIOD.fullmatch(value)
    if match is None or match[1] or match[2]:
        return "an ISO 8601 period such as PT10M" + (" without years and months" if match else "")
    if known.key == TASK_DURATION and seconds(value) < 60:
        return _AT_LEAST_A_MINUTE
    return None


def _datetime(_: TableProperty, value: str) -> str | None:
    from datetime import datetime

    try:
        datetime.fromisoformat(value)
    except ValueError:
        return "an ISO 8601 time such as 2024-01-01T00:00:00Z"
    return None


def problem_of_id(name: str) -> str | None:
    """What Druid does not accept in a name (IdUtils.validateId)."""
    if not name or name.isspace():
        return "is empty"
    if "/" in name:
        return "contains a /"
    if name.startswith("."):
        return "starts with a dot"
    if any(c.isspace() and c != " " for c in name) or any(ord(c) < 32 for c in name):
        return "contains a control character"
    return None


_CHECKS: dict[PropertyType, Callable[[TableProperty, str], str | None]] = {
    "text": lambda *_: None,
    "id": lambda _, value: "a name without '/' that does not start with a dot" if problem_of_id(value) else None,
    "int": _number(_MAX_INT),
    "positive": lambda known, value: _number(_MAX_INT)(known, value) or (None if int(value) > 0 else "greater than 0"),
    "long": _number(_MAX_LONG),
    "bool": lambda _, value: None if value.lower() in ("true", "false") else "true or false",
    "period": lambda _, value: None if PERIOD.fullmatch(value) else "an ISO 8601 period such as PT10M",
    "duration": _duration,
    "datetime": _datetime,
    "enum": lambda known, value: None if value.upper() in known.values else f"one of {', '.join(known.values)}",
    "list": lambda _, value: (
        None if any(part.strip() for part in value.split(",")) else "a list of names separated by commas"
    ),
    "mapping": lambda _, value: (
        None if parse_mapping(value) is not None else "a list of field:column with each name at most once"
    ),
    "aggregators": lambda _, value: parse_aggregators(value)[1],
    "multivalue": lambda _, value: parse_multi_values(value)[1],
    "storedas": lambda _, value: parse_stored_as(value)[1],
    "paths": lambda _, value: parse_paths(value)[1],
    "object": _json(dict, "a JSON object"),
    "array": _json(list, "a JSON array"),
    "json": lambda *_: None,
    "schema": lambda known, value: None if value == "none" else _json(dict, "a JSON object, or none")(known, value),
    "timereference": lambda _, value: None if parse_time_reference(value, "") else f"of the form '{FORMAT}'",
    "table": lambda _, value: None if re.fullmatch(r"(\w+\.)?\w+", value, re.ASCII) else "the name of a table",
}
"""Checks that return a description of valid values, or None if the value is valid."""
