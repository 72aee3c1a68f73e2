"""The Kafka feed of a supervisor, extracted from its spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hivedruid.druid.supervisor import DYNAMIC_PROVIDER
from hivedruid.errors import KafkaError
from hivedruid.ingestion.supervisor import spec_part
from hivedruid.lazy_dataclass import dataclass
from hivedruid.secrets import ENVIRONMENT_PREFIX


@dataclass(frozen=True)
class Feed:
    """A Kafka cluster, the consumer's properties, and the topic; with `is_pattern` a regular expression for topics.

    `properties` are sorted pairs without the brokers; values from Druid's environment are `env:NAME`.
    Feeds with the same `kafka` can share one connection.
    """

    bootstrap: str
    properties: tuple[tuple[str, str], ...] = field(repr=False)
    topic: str
    is_pattern: bool = False

    @property
    def kafka(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        return self.bootstrap, self.properties

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that the consumer's properties refer to."""
        values = (value for _, value in self.properties)
        return tuple(sorted({v.removeprefix(ENVIRONMENT_PREFIX) for v in values if v.startswith(ENVIRONMENT_PREFIX)}))


def feed_of(spec: Mapping[str, Any]) -> Feed:
    """The feed of a supervisor's spec, as submitted or as returned by Druid.

    Raises KafkaError if a property comes from a provider that only Druid can read.
    """
    io = spec_part(spec, "ioConfig")
    consumer = dict(io.get("consumerProperties") or {})
    pattern = io.get("topicPattern")
    topic = str(pattern or io.get("topic") or io.get("stream") or "")
    provider = consumer.pop(DYNAMIC_PROVIDER, None)
    values = {name: _value(name, item) for name, item in consumer.items()}
    if provider is not None:
        values |= _provided(provider)
    bootstrap = values.pop("bootstrap.servers", "")
    return Feed(bootstrap, tuple(sorted(values.items())), topic, pattern is not None)


def _provided(provider: Any) -> dict[str, str]:
    kind = provider.get("type") if isinstance(provider, Mapping) else None
    if kind == "environment":
        return {str(name): f"{ENVIRONMENT_PREFIX}{variable}" for name, variable in provider["variables"].items()}
    if kind == "mapString":
        return {str(name): str(value) for name, value in provider["config"].items()}
    raise KafkaError(f"the consumer properties come from a provider of type '{kind}', which only Druid can read")


def _value(name: str, item: Any) -> str:
    """A property; TLS passwords may be Druid password providers (KafkaRecordSupplier)."""
    if isinstance(item, bool):
        return str(item).lower()
    if not isinstance(item, Mapping):
        return str(item)
    kind = item.get("type")
    if kind == "environment":
        return f"{ENVIRONMENT_PREFIX}{item.get('variable')}"
    if kind == "default":
        return str(item.get("password"))
    raise KafkaError(f"'{name}' comes from a provider of type '{kind}', which only Druid can read")
