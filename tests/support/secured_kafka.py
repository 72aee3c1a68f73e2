"""A real Kafka that requires TLS or SASL, and the properties of clients that it accepts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hivedruid.local import services
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.processes import choose_port
from hivedruid.local.state import HOST
from tests.support.kafka import Topics, topics_of
from tests.support.token_endpoint import AUDIENCE, keys

TLS = Path(__file__).parents[1] / "unit" / "clients" / "tls"
MODULES = "org.apache.kafka.common.security"
OAUTH = f"{MODULES}.oauthbearer"
PASSWORD = "hunter2"


def jaas(password: str = PASSWORD, module: str = "plain.PlainLoginModule") -> str:
    return f'{MODULES}.{module} required username="me" password="{password}";'


def pem(name: str) -> str:
    return (TLS / name).read_text(encoding="ascii")


@dataclass(frozen=True)
class Secured:
    """The addresses of one Kafka: `open` is for the tests' own topics, the others require credentials; `unsigned` accepts
    tokens without signature."""

    open: str
    sasl: str
    tls: str
    unsigned: str
    topics: Topics

    def add_scram_user(self) -> None:
        from kafka.admin import ScramMechanism, UserScramCredentialUpsertion

        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            user = UserScramCredentialUpsertion("me", mechanism, PASSWORD, iterations=4096)
            assert self.topics.admin.alter_user_scram_credentials([user]) == {"me": None}


@contextmanager
def secured_kafka(home: Path) -> Iterator[Secured]:
    first = choose_port(None, ())
    second = choose_port(None, (first,))
    third = choose_port(None, (first, second))
    sasl, tls, unsigned = (f"{HOST}:{port}" for port in (first, second, third))
    served = home / "jwks.json"
    listeners = f"SASL_PLAINTEXT://{sasl},SSL://{tls},UNSIGNED://{unsigned}"
    plain = services._kafka

    def with_listeners(*arguments: Any) -> dict[str, object]:
        found = plain(*arguments)
        return found | {
            "listeners": f"{found['listeners']},{listeners}",
            "advertised.listeners": f"{found['advertised.listeners']},{listeners}",
            "listener.security.protocol.map": (
                f"{found['listener.security.protocol.map']},SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,UNSIGNED:SASL_PLAINTEXT"
            ),
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
            "listener.name.unsigned.sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.unsigned.oauthbearer.sasl.jaas.config": f"{OAUTH}.OAuthBearerLoginModule required;",
            "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config": f"{OAUTH}.OAuthBearerLoginModule required;",
            "listener.name.sasl_plaintext.oauthbearer.sasl.server.callback.handler.class": (
                f"{OAUTH}.OAuthBearerValidatorCallbackHandler"
            ),
            "sasl.oauthbearer.jwks.endpoint.url": served.as_uri(),
            "sasl.oauthbearer.expected.audience": AUDIENCE,
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
                f'{MODULES}.plain.PlainLoginModule required user_me="{PASSWORD}";'
            ),
            **{
                f"listener.name.sasl_plaintext.scram-sha-{size}.sasl.jaas.config": (
                    f"{MODULES}.scram.ScramLoginModule required;"
                )
                for size in (256, 512)
            },
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": pem("server.key"),
            "ssl.keystore.certificate.chain": pem("server.pem"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": pem("ca.pem"),
            "ssl.client.auth": "required",
        }

    local = LocalCluster(home, heap="small")
    try:
        with pytest.MonkeyPatch.context() as of_broker:  # and not of the tests' other clusters
            of_broker.setattr(services, "_kafka", with_listeners)
            allowed = "-Dorg.apache.kafka.sasl.oauthbearer.allowed"
            of_broker.setenv("JAVA_TOOL_OPTIONS", f"{allowed}.urls={served.as_uri()} {allowed}.files={served}")
            home.mkdir(parents=True, exist_ok=True)
            served.write_text(keys(), encoding="ascii")
            started = local.up(druid=False)
        with topics_of(started.kafka) as topics:
            yield Secured(started.kafka, sasl, tls, unsigned, topics)
    finally:
        local.down(clean=True)


def with_sasl(mechanism: str = "PLAIN", config: str = "") -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": config or jaas(),
    }


def with_tokens(endpoint: str = "", login: str = "") -> dict[str, str]:
    """The properties for tokens of an endpoint, or without signature."""
    options = login or f'clientId="me" clientSecret="{PASSWORD}" scope="read write"'
    given = {"sasl.oauthbearer.token.endpoint.url": endpoint} if endpoint else {}
    return given | with_sasl("OAUTHBEARER", f"{OAUTH}.OAuthBearerLoginModule required {options};")


def with_tls(**changed: str) -> dict[str, str]:
    given = {
        "security.protocol": "SSL",
        "ssl.truststore.certificates": pem("ca.pem"),
        "ssl.keystore.key": pem("client.key"),
        "ssl.keystore.certificate.chain": pem("client.pem"),
    }
    return given | {key.replace("_", "."): value for key, value in changed.items()}
