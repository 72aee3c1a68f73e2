"""The source that a supervisor reads, from its spec: ours, and as Druid returns it."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.errors import KafkaError
from hivedruid.ingestion.feed import Feed, feed_of


def spec(**io: Any) -> dict[str, Any]:
    consumer = {"bootstrap.servers": "h:1", **io.pop("consumer", {})}
    return {"type": "kafka", "spec": {"ioConfig": {"consumerProperties": consumer, **io}}}


def test_a_topic() -> None:
    found = feed_of(spec(topic="t", consumer={"client.id": "me", "check.crcs": True, "fetch.min.bytes": 5}))
    properties = (("check.crcs", "true"), ("client.id", "me"), ("fetch.min.bytes", "5"))
    assert found == Feed("h:1", properties, "t")
    assert found.variables == ()
    assert found.kafka == feed_of(spec(topic="u", consumer=dict(properties))).kafka


def test_a_pattern() -> None:
    assert feed_of(spec(topicPattern="t.*")) == Feed("h:1", (), "t.*", is_pattern=True)
    assert feed_of(spec(topicPattern=None, topic="t")) == Feed("h:1", (), "t")


def test_as_druid_gives_it_back() -> None:
    given = spec(topic="t")
    assert feed_of({**given["spec"], "spec": None}) == feed_of(given)
    assert feed_of({"type": "NoopSupervisorSpec"}) == Feed("", (), "")


def test_what_druid_takes_from_its_environment() -> None:
    provider = {"type": "environment", "variables": {"sasl.jaas.config": "JAAS"}}
    password = {"type": "environment", "variable": "KEY"}
    found = feed_of(spec(topic="t", consumer={"druid.dynamic.config.provider": provider, "ssl.key.password": password}))
    assert found.properties == (("sasl.jaas.config", "env:JAAS"), ("ssl.key.password", "env:KEY"))
    assert found.variables == ("JAAS", "KEY")


def test_what_stands_in_the_spec_in_clear() -> None:
    consumer = {
        "druid.dynamic.config.provider": {"type": "mapString", "config": {"sasl.jaas.config": "hunter2"}},
        "ssl.key.password": {"type": "default", "password": "hunter2"},
    }
    found = feed_of(spec(topic="t", consumer=consumer))
    assert found.properties == (("sasl.jaas.config", "hunter2"), ("ssl.key.password", "hunter2"))
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize("key", ["druid.dynamic.config.provider", "ssl.key.password"])
def test_providers_that_only_druid_has(key: str) -> None:
    with pytest.raises(KafkaError, match="a provider of type 'vault'"):
        feed_of(spec(topic="t", consumer={key: {"type": "vault", "path": "x"}}))
