"""Java's consumer properties as kafka-python's."""

from __future__ import annotations

import json
import ssl
from base64 import urlsafe_b64decode
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

OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
CLIENT = 'clientId="me" clientSecret="hunter2"'


def tokens(options: str, **more: str) -> dict[str, str]:
    given = {**SASL, "sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": f"{OAUTH} required {options};"}
    return given | {key.replace("_", "."): value for key, value in more.items()}


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
        ({"sasl.mechanism": "OAUTHBEARER2"}, "sasl.mechanism OAUTHBEARER2 is not supported by hivedruid"),
        ({"sasl.login.callback.handler.class": "x.Y"}, "names a Java class"),
        (tokens(CLIENT, **{ENDPOINT: "http://h/t"}), "would be sent to h over plain http"),
        (tokens(f'{CLIENT} ssl.protocol="TLS"', **{ENDPOINT: "https://h/t"}), "has the option 'ssl.protocol'"),
        (tokens("", **{ENDPOINT: "file:///not/there"}), "cannot be read on this machine: No such file"),
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


def test_a_token_without_signature() -> None:
    claims = 'unsecuredLoginStringClaim_sub="me" unsecuredLoginNumberClaim_n="1" unsecuredLoginListClaim_scope=",a,b"'
    extension = ' unsecuredLoginExtension_team="x"'
    config = client_config(tokens(claims + extension))
    provider = config["sasl_oauth_token_provider"]
    header, body, signature = provider.token().split(".")
    found = json.loads(urlsafe_b64decode(body + "=="))
    assert (json.loads(urlsafe_b64decode(header + "==")), signature) == ({"alg": "none"}, "")
    assert (found["sub"], found["n"], found["scope"], found["exp"] - found["iat"]) == ("me", 1, ["a", "b"], 3600)
    assert (provider.extensions(), provider.token()) == ({"team": "x"}, f"{header}.{body}.")


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        (tokens(CLIENT), f"sasl.mechanism OAUTHBEARER requires {ENDPOINT}"),
        (tokens('clientId="me"', **{ENDPOINT: "https://h/t"}), "missing a clientId or clientSecret"),
        (tokens(CLIENT, **{ENDPOINT: "ftp://h/t"}), "is not a URL of http, https or a file"),
        (tokens('unsecuredLoginNumberClaim_n="x"'), "an invalid value of an option unsecuredLogin"),
        (tokens("", sasl_jaas_config=JAAS), "requires the login module .*OAuthBearerLoginModule"),
    ],
)
def test_invalid_properties_of_tokens(properties: dict[str, str], problem: str) -> None:
    with pytest.raises(KafkaError, match=problem) as error:
        client_config(properties)
    assert "hunter2" not in f"{error.value} {error.value.hint}"


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
