"""Secrets of Kafka clients in files."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hivedruid.catalog.properties import producer_properties
from hivedruid.errors import KafkaError
from hivedruid.kafka_secrets import OnlyDruidError, in_files, resolved
from hivedruid.kept_secrets import KeptSecrets

JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="hunter2";'


def test_secrets_are_in_private_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAAS_OF_TEST", JAAS)
    monkeypatch.setenv("KEY_OF_TEST", "-----\nline\n")
    given = {"sasl.jaas.config": "env:JAAS_OF_TEST", "ssl.keystore.key": "${env:KEY_OF_TEST}", "group.id": "g"}
    folder = tmp_path / "secrets"
    changed = in_files(given, folder)
    assert changed == {
        "sasl.jaas.config": f"${{hivedruid:{folder}:sasl.jaas.config}}",
        "ssl.keystore.key": f"${{hivedruid:{folder}:ssl.keystore.key}}",
        "group.id": "g",
    }
    assert {name: resolved(name, value) for name, value in changed.items()} == {
        "sasl.jaas.config": JAAS,
        "ssl.keystore.key": "-----\nline\n",
        "group.id": "g",
    }
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_without_references_there_are_no_files(tmp_path: Path) -> None:
    assert in_files({"group.id": "g"}, tmp_path / "secrets") == {"group.id": "g"}
    assert not (tmp_path / "secrets").exists()


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"sasl.jaas.config": "env:JAAS_OF_TEST"}
    monkeypatch.delenv("JAAS_OF_TEST", raising=False)
    with pytest.raises(OnlyDruidError, match="JAAS_OF_TEST"):
        in_files(given, tmp_path / "unset")
    monkeypatch.setenv("JAAS_OF_TEST", "com.sun.security.auth.module.JndiLoginModule required;")
    with pytest.raises(KafkaError, match="JndiLoginModule, which is not allowed"):
        in_files(given, tmp_path / "forbidden")
    with pytest.raises(KafkaError, match="cannot read secrets from"):
        in_files(given, tmp_path / "a:b")
    with pytest.raises(OnlyDruidError, match="in plain text to another session"):
        in_files({"sasl.jaas.config": KeptSecrets().keep(JAAS)}, tmp_path / "kept")


def test_a_producer_has_the_security_of_the_consumer_or_its_own() -> None:
    consumer = {"kafka.consumer.security.protocol": "SSL", "kafka.consumer.fetch.min.bytes": "5"}
    assert producer_properties({**consumer, "kafka.producer.linger.ms": "5"}) == {
        "security.protocol": "SSL",
        "linger.ms": "5",
    }
    assert producer_properties({**consumer, "kafka.producer.sasl.mechanism": "PLAIN"}) == {"sasl.mechanism": "PLAIN"}
