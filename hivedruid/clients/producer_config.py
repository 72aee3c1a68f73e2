"""The options of kafka-python's producer for the properties of a Java producer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.catalog.properties import is_security
from hivedruid.clients.kafka_security import client_config
from hivedruid.errors import SemanticError

LARGEST = 1 << 26
"""Bytes of the largest record that the client sends; the broker's and the topic's limits apply as well."""
DELIVERY = 120_000
"""Kafka's default of delivery.timeout.ms."""
DEFAULTS: Mapping[str, Any] = {"linger_ms": 20, "max_request_size": LARGEST}
NUMBERS = (
    "batch.size", "connections.max.idle.ms", "delivery.timeout.ms", "linger.ms", "max.block.ms", "max.request.size",
    "metadata.max.age.ms", "receive.buffer.bytes", "reconnect.backoff.max.ms", "reconnect.backoff.ms",
    "request.timeout.ms", "retries", "retry.backoff.ms", "send.buffer.bytes",
)  # fmt: skip
COMPRESSIONS = ("none", "gzip")
"""Those that Python's standard library has."""


def producer_config(properties: Mapping[str, str]) -> dict[str, Any]:
    """The options; every record is acknowledged by all in-sync replicas. Raises SemanticError for a property that has
    no effect here, or would weaken that guarantee, and KafkaError for invalid security properties."""
    given = {key: value for key, value in properties.items() if not is_security(key)}
    options = dict(_option(key, value) for key, value in given.items() if key not in ("acks", "enable.idempotence"))
    if given.get("acks", "all").lower() not in ("all", "-1") or given.get("enable.idempotence", "true") != "true":
        raise SemanticError(
            "records must be acknowledged by all in-sync replicas",
            hint="remove kafka.producer.acks and kafka.producer.enable.idempotence",
        )
    # a producer that is created while a broker restarts waits for it as long as one that already sends records
    first = {"bootstrap_timeout_ms": options.get("delivery_timeout_ms", DELIVERY)}
    return {**client_config(properties), **DEFAULTS, **first, **options, "acks": "all"}


def _option(key: str, value: str) -> tuple[str, Any]:
    if key in NUMBERS and value.isdecimal():
        return key.replace(".", "_"), int(value)
    if key == "client.id":
        return "client_id", value
    if key == "compression.type" and value in COMPRESSIONS:
        return "compression_type", None if value == "none" else value
    if key in NUMBERS:
        raise SemanticError(f"'{value}' is not a valid kafka.producer.{key}", hint="use a number")
    if key == "compression.type":
        raise SemanticError(f"compression '{value}' is not supported", hint=f"use {' or '.join(COMPRESSIONS)}")
    raise SemanticError(
        f"kafka.producer.{key} is not supported",
        hint=f"supported: {', '.join(('client.id', 'compression.type', *NUMBERS))}",
    )
