"""EXPLAIN of ingestion changes: the spec, its differences from the running one, slots, offsets, requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from hivedruid.actions.ingesting.check import SAMPLER, WORKERS
from hivedruid.actions.ingesting.model import ChangeIngestion, CheckIngestion, CheckTopic, ForgetSpecs, IngestingAction
from hivedruid.actions.model import Action
from hivedruid.actions.operators import Explainer, Fields, document_of, lines_of
from hivedruid.catalog.properties import SUPERVISOR_ID
from hivedruid.ingestion.lifecycle import IngestionChange, Json
from hivedruid.ingestion.model import offset_list
from hivedruid.ingestion.offsets import Move, summary
from hivedruid.ingestion.supervisor import OWNER_HOME, OWNER_ID
from hivedruid.redaction import redact_spec
from hivedruid.secrets import masked


def _change_lines(action: ChangeIngestion) -> list[str]:
    """In the shape of Hive's DDL operators. Secrets are shown as stars."""
    change = action.change
    found = ["Stage-0", f"  Kafka Ingestion Operator ({change.verb}):", *_fields(_change_document(action))]
    if change.spec is not None:
        found += [
            f"    {line}"
            for line in ("supervisor: " + json.dumps(_shown(change.spec), indent=2, ensure_ascii=False)).split("\n")
        ]
    return found


def _fields(found: dict[str, Any]) -> list[str]:
    result = []
    for key in ("table", "data source", "supervisor id", "extensions", "task slots", "read up to"):
        if found.get(key):
            value = found[key]
            result.append(f"    {key}: {', '.join(value) if isinstance(value, list) else value}")
    for key in ("differs from the running spec", "offsets", "steps"):
        if found.get(key):
            result += [f"    {key}:", *(f"      {line}" for line in found[key])]
    return result


def _change_document(action: ChangeIngestion) -> dict[str, Any]:
    """The same as one JSON value, for EXPLAIN FORMATTED."""
    from hivedruid.druid.supervisor import extensions

    change = action.change
    found: dict[str, Any] = {
        "operator": f"Kafka Ingestion Operator ({change.verb})",
        "table": change.table.full_name,
        "data source": change.table.data_source,
        "supervisor id": change.table.properties.get(SUPERVISOR_ID),
        "task slots": _slots(change),
        "differs from the running spec": ["{} {} -> {}".format(item.path, *item.texts) for item in change.differences],
        "read up to": offset_list(change.read),
        "offsets": [*map(_move, change.moves), *([summary(change.moves)] if change.moves else [])],
        "steps": [step.text for step in change.steps] or ["nothing to do"],
    }
    if change.spec is not None:
        found |= {"extensions": list(extensions(change.spec)), "supervisor": _shown(change.spec)}
    return {key: value for key, value in found.items() if value}


def _slots(change: IngestionChange) -> str:
    slots = change.slots
    return f"{slots.needed} needed, {slots.free} of {slots.capacity} free" if slots else ""


def _move(move: Move) -> str:
    return f"partition {move.partition}: {'unknown' if move.before is None else move.before} -> {move.after}"


def _shown(spec: Json) -> Json:
    """The spec without the keys that identify this home, and without secrets."""
    context = {key: value for key, value in spec.get("context", {}).items() if key not in (OWNER_ID, OWNER_HOME)}
    shown: Json = redact_spec({**spec, "context": context})
    return shown


def _check(action: CheckIngestion) -> tuple[str, Fields]:
    """The operator and its fields, for EXPLAIN."""
    from hivedruid.druid.supervisor import extensions

    io = action.spec["spec"]["ioConfig"]
    return "Check Ingestion Operator", [
        ("name", action.table.full_name),
        ("brokers", masked("kafka.bootstrap.servers", io["consumerProperties"]["bootstrap.servers"])),
        ("topic", io.get("topic")),
        ("topic pattern", io.get("topicPattern")),
        ("extensions", list(extensions(action.spec))),
        ("calls", ["Kafka's topics and offsets", "GET /status", f"GET {WORKERS}", f"POST {SAMPLER}"]),
        ("if it cannot start", "refuse" if action.mode == "REFUSE" else "warn"),
    ]


def _check_topic(action: CheckTopic) -> tuple[str, Fields]:
    properties = action.table.properties
    return "Check Topic Operator", [
        ("name", action.table.full_name),
        ("brokers", properties["kafka.bootstrap.servers"]),
        ("topic", properties["kafka.topic"]),
        ("if it does not exist", "refuse" if action.mode == "REFUSE" else "warn"),
    ]


def _lines(action: Action, settings: Mapping[str, str]) -> list[str]:
    del settings
    assert isinstance(action, IngestingAction)
    match action:
        case ChangeIngestion():
            return _change_lines(action)
        case CheckIngestion():
            return lines_of(*_check(action))
        case CheckTopic():
            return lines_of(*_check_topic(action))
        case ForgetSpecs():
            return lines_of(*_forget(action))
        case _:
            assert_never(action)


def _document(action: Action, settings: Mapping[str, str]) -> dict[str, Any]:
    del settings
    assert isinstance(action, IngestingAction)
    match action:
        case ChangeIngestion():
            return _change_document(action)
        case CheckIngestion():
            return document_of(*_check(action))
        case CheckTopic():
            return document_of(*_check_topic(action))
        case ForgetSpecs():
            return document_of(*_forget(action))
        case _:
            assert_never(action)


def _forget(action: ForgetSpecs) -> tuple[str, Fields]:
    return "Rollback Ingestion Operator", [("name", action.table.full_name)]


EXPLAINER = Explainer(_lines, _document)
