"""Brokers that are not there; what Kafka itself answers is in tests/integration/test_kafka_client.py."""

from __future__ import annotations

import pytest

from hivedruid.clients.kafka import Kafka
from hivedruid.errors import ConnectError, KafkaError


@pytest.mark.parametrize("server", ["localhost", "localhost:", ":9092", "localhost:x", "localhost:99999"])
def test_brokers_are_host_and_port(server: str) -> None:
    with Kafka(server, {}) as kafka, pytest.raises(KafkaError, match="is not the host:port of a Kafka broker"):
        kafka.topics()


@pytest.mark.parametrize(
    ("servers", "reason"),
    [
        ("127.0.0.1:1", "connection refused"),
        ("127.0.0.1:1,127.0.0.1:2", "connection refused"),
        ("", "kafka.bootstrap.servers is empty"),
    ],
)
def test_nobody_there(servers: str, reason: str) -> None:
    with Kafka(servers, {}) as kafka, pytest.raises(ConnectError) as error:
        kafka.offsets(["t"])
    assert error.value.message == f"cannot reach Kafka at {servers} from this machine: {reason}"


def test_no_topics_need_no_kafka() -> None:
    assert Kafka("127.0.0.1:1", {}).offsets([]) == {}
