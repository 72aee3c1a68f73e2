"""The producer's options from kafka.producer.* properties."""

from __future__ import annotations

import pytest

from hivedruid.clients.kafka import kafka_python
from hivedruid.clients.producer_config import NUMBERS, producer_config
from hivedruid.errors import SemanticError


def test_properties_become_options() -> None:
    given = {"linger.ms": "5", "compression.type": "gzip", "client.id": "me", "acks": "all"}
    assert producer_config(given) == {
        "security_protocol": "PLAINTEXT", "linger_ms": 5, "compression_type": "gzip", "client_id": "me", "acks": "all",
        "max_request_size": 1 << 26, "bootstrap_timeout_ms": 120_000,
    }  # fmt: skip


def test_a_producer_waits_for_a_broker_that_restarts_as_long_as_for_the_delivery_of_a_record() -> None:
    assert producer_config({"delivery.timeout.ms": "7000"})["bootstrap_timeout_ms"] == 7000


def test_every_number_is_an_option_of_the_producer() -> None:
    assert producer_config(dict.fromkeys(NUMBERS, "1")).keys() <= kafka_python().KafkaProducer.DEFAULT_CONFIG.keys()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("acks", "1", "records must be acknowledged by all in-sync replicas"),
        ("enable.idempotence", "false", "records must be acknowledged by all in-sync replicas"),
        ("linger.ms", "soon", "'soon' is not a valid kafka.producer.linger.ms"),
        ("compression.type", "zstd", "compression 'zstd' is not supported"),
        ("interceptor.classes", "x.Y", "kafka.producer.interceptor.classes is not supported"),
    ],
)
def test_properties_that_cannot_be_used(key: str, value: str, message: str) -> None:
    with pytest.raises(SemanticError) as refused:
        producer_config({key: value})
    assert refused.value.message == message
