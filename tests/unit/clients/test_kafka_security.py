"""Java's consumer properties as kafka-python's."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any, cast

import pytest

from hivedruid.clients.kafka_security import client_config
from hivedruid.errors import KafkaError
from hivedruid.kafka_secrets import OnlyDruidError
from hivedruid.kept_secrets import KeptSecrets

TLS = Path(__file__).parent / "tls"
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
JAAS = f'{MODULE} required username="me" password="hunter2";'
SASL = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": JAAS}


def test_plain_text_is_the_default() -> None:
    properties = {"group.id": "me", "fetch.min.bytes": "5", "sasl.jaas.config": "env:NOT_LOOKED_AT"}
    assert client_config(properties) == {"security_protocol": "PLAINTEXT"}


def test_sasl() -> None:
    assert client_config(SASL) == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "me",
        "sasl_plain_password": "hunter2",
    }


def test_a_reference_is_this_machine_s_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_JAAS_HERE", JAAS)
    for value in ("env:KAFKA_JAAS_HERE", "${env:KAFKA_JAAS_HERE}"):
        assert client_config({**SASL, "sasl.jaas.config": value}) == client_config(SASL)
    monkeypatch.delenv("KAFKA_JAAS_HERE")
    with pytest.raises(OnlyDruidError, match="the environment variable KAFKA_JAAS_HERE, which"):
        client_config({**SASL, "sasl.jaas.config": "env:KAFKA_JAAS_HERE"})


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"security.protocol": "SSH"}, "is not a valid security.protocol"),
        ({"sasl.jaas.config": "com.sun.security.auth.module.JndiLoginModule required;"}, "JndiLoginModule"),
        ({"sasl.jaas.config": f"{MODULE} required;"}, "missing a username or password"),
        ({"sasl.jaas.config": ""}, "does not have the form"),
        ({"security.protocol": "SASL_SSL", "ssl.truststore.certificates": "no PEM"}, "cannot be used"),
    ],
)
def test_what_is_wrong_anywhere(changed: dict[str, str], problem: str) -> None:
    with pytest.raises(KafkaError, match=problem) as error:
        client_config({**SASL, **changed})
    assert not isinstance(error.value, OnlyDruidError)


def test_sasl_without_a_configuration() -> None:
    with pytest.raises(KafkaError, match="SCRAM-SHA-512 needs"):
        client_config({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512"})


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"sasl.mechanism": "OAUTHBEARER"}, "sasl.mechanism OAUTHBEARER is not supported by hivedruid"),
        ({"sasl.client.callback.handler.class": "x.Y"}, "names a Java class"),
        ({"security.protocol": "SSL", "ssl.truststore.location": "/x.jks"}, "a Java key store"),
        (
            {"security.protocol": "SSL", "ssl.keystore.location": "/x.p12", "ssl.keystore.type": "PKCS12"},
            "a Java key store",
        ),
        (
            {"security.protocol": "SSL", "ssl.truststore.location": "/not/there.pem", "ssl.truststore.type": "PEM"},
            "cannot be read on this machine: No such file",
        ),
        ({"sasl.jaas.config": KeptSecrets().keep(JAAS)}, "was given in plain text to another session"),
    ],
)
def test_what_only_druid_can_use(changed: dict[str, str], problem: str) -> None:
    with pytest.raises(OnlyDruidError, match=problem):
        client_config({**SASL, **changed})


def test_kerberos_is_what_java_takes_for_granted() -> None:
    with pytest.raises(OnlyDruidError, match="GSSAPI"):
        client_config({"security.protocol": "SASL_PLAINTEXT"})


def test_certificates_in_files_and_in_properties() -> None:
    trusted, key = (TLS / "ca.pem").read_text(), (TLS / "client.key").read_text()
    chain = (TLS / "client.pem").read_text()
    inline = {
        "security.protocol": "SSL",
        "ssl.truststore.certificates": trusted,
        "ssl.keystore.certificate.chain": chain,
        "ssl.keystore.key": key,
    }
    files = {"security.protocol": "SSL", "ssl.truststore.location": str(TLS / "ca.pem"), "ssl.truststore.type": "PEM"}
    for properties in (inline, files):
        context = client_config(properties)["ssl_context"]
        assert isinstance(context, ssl.SSLContext)
        assert context.check_hostname
        assert [dict(part[0] for part in cast("Any", c["subject"])) for c in context.get_ca_certs()] == [
            {"commonName": "hivedruid tests"}
        ]
    lenient = client_config({**inline, "ssl.endpoint.identification.algorithm": ""})["ssl_context"]
    assert not lenient.check_hostname
    assert lenient.verify_mode is ssl.CERT_REQUIRED
