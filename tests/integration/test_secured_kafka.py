"""A real Kafka with authentication: over SASL and TLS, from this machine and from Druid's, with secrets that stay
secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.clients.kafka import Kafka
from hivedruid.errors import ConnectError, ExecutionError, KafkaError, SemanticError
from hivedruid.ingestion.model import TopicOffsets
from hivedruid.kept_secrets import KeptSecrets
from hivedruid.local import services
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.processes import choose_port
from hivedruid.local.state import HOST
from hivedruid.session import Session
from tests.support.kafka import Topics, topics_of

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

TLS = Path(__file__).parents[1] / "unit" / "clients" / "tls"
MODULES = "org.apache.kafka.common.security"
PASSWORD = "hunter2"
GOOD = {"time": "2024-01-01T00:00:00Z", "page": "a"}
CONSUMER = "druid.kafka.ingestion.consumer."


def jaas(password: str = PASSWORD, module: str = "plain.PlainLoginModule") -> str:
    return f'{MODULES}.{module} required username="me" password="{password}";'


def pem(name: str) -> str:
    return (TLS / name).read_text(encoding="ascii")


@dataclass(frozen=True)
class Secured:
    """The addresses of one Kafka: `open` is for the tests' own topics, the others require credentials."""

    open: str
    sasl: str
    tls: str
    topics: Topics


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    first = choose_port(None, ())
    sasl, tls = f"{HOST}:{first}", f"{HOST}:{choose_port(None, (first,))}"
    plain = services._kafka

    def with_listeners(*arguments: Any) -> dict[str, object]:
        found = plain(*arguments)
        return found | {
            "listeners": f"{found['listeners']},SASL_PLAINTEXT://{sasl},SSL://{tls}",
            "advertised.listeners": f"{found['advertised.listeners']},SASL_PLAINTEXT://{sasl},SSL://{tls}",
            "listener.security.protocol.map": (
                f"{found['listener.security.protocol.map']},SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL"
            ),
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
                f'{MODULES}.plain.PlainLoginModule required user_me="{PASSWORD}";'
            ),
            "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": (
                f"{MODULES}.scram.ScramLoginModule required;"
            ),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": pem("server.key"),
            "ssl.keystore.certificate.chain": pem("server.pem"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": pem("ca.pem"),
            "ssl.client.auth": "required",
        }

    local = LocalCluster(tmp_path_factory.mktemp("secured"), heap="small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "_kafka", with_listeners)
        try:
            started = local.up(druid=False)
            with topics_of(started.kafka) as topics:
                yield Secured(started.kafka, sasl, tls, topics)
        finally:
            local.down(clean=True)


def sasl(mechanism: str = "PLAIN", config: str = "") -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": config or jaas(),
    }


def tls(**changed: str) -> dict[str, str]:
    given = {
        "security.protocol": "SSL",
        "ssl.truststore.certificates": pem("ca.pem"),
        "ssl.keystore.key": pem("client.key"),
        "ssl.keystore.certificate.chain": pem("client.pem"),
    }
    return given | {key.replace("_", "."): value for key, value in changed.items()}


def offsets(bootstrap: str, properties: Mapping[str, str], topic: str) -> TopicOffsets | KafkaError:
    with Kafka(bootstrap, properties) as kafka:
        return kafka.offsets([topic])[topic]


def test_who_is_known_may_ask(secured: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = secured.topics.new([GOOD] * 3)
    seen = TopicOffsets(topic, {0: 0}, {0: 3})
    from kafka.admin import ScramMechanism, UserScramCredentialUpsertion

    user = UserScramCredentialUpsertion("me", ScramMechanism.SCRAM_SHA_256, PASSWORD, iterations=4096)
    assert secured.topics.admin.alter_user_scram_credentials([user]) == {"me": None}
    monkeypatch.setenv("KAFKA_JAAS_OF_TEST", jaas())
    store = tmp_path / "client.pem"
    store.write_text(pem("client.key") + pem("client.pem"), encoding="ascii")
    in_files = {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(TLS / "ca.pem"),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
    }
    assert offsets(secured.sasl, sasl(), topic) == seen
    assert offsets(secured.sasl, sasl(config="env:KAFKA_JAAS_OF_TEST"), topic) == seen
    assert offsets(secured.sasl, sasl("SCRAM-SHA-256", jaas(module="scram.ScramLoginModule")), topic) == seen
    assert offsets(secured.tls, tls(), topic) == seen
    assert offsets(secured.tls, in_files, topic) == seen


def test_a_wrong_password(secured: Secured) -> None:
    """The broker closes the connection right after its response: kafka-python does not always receive the response."""
    with Kafka(secured.sasl, sasl(config=jaas("wrong"))) as kafka, pytest.raises(ExecutionError) as error:
        kafka.topics()
    answered, broken_off = "refused the request: sasl authentication failed", "does not respond to SASL_PLAINTEXT"
    assert error.value.message.startswith(
        (f"Kafka at {secured.sasl} {answered}", f"Kafka at {secured.sasl} {broken_off}")
    )
    assert "wrong" not in str(error.value)


def test_a_certificate_that_is_not_trusted(secured: Secured) -> None:
    kafka = Kafka(secured.tls, {"security.protocol": "SSL"})
    with kafka, pytest.raises(ConnectError, match="its certificate is not trusted"):
        kafka.topics()


def run(session: Session, text: str) -> str:
    return "\n".join(str(row) for statement in session.statements(text) for row in session.execute(statement).rows)


@pytest.fixture
def conf(cluster: Cluster) -> dict[str, str]:
    return {
        "druid.url": cluster.services.broker,
        "druid.coordinator.url": cluster.services.coordinator,
        "hivedruid.clear.text.secrets": "true",
        "hivedruid.kafka.check": "refuse",
    }


def create(session: Session, secured: Secured, name: str, topic: str, config: str) -> None:
    properties = {"kafka.topic": topic, "kafka.bootstrap.servers": secured.sasl, "druid.timestamp.column": "time"}
    properties |= {CONSUMER + key: value for key, value in sasl(config=config).items()}
    properties |= {"druid.datasource": topic, "druid.kafka.ingestion.useEarliestOffset": "true"}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    run(
        session,
        f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, page string) STORED BY 'druid' TBLPROPERTIES ({pairs})",
    )


def test_clear_text_goes_to_druid_and_nowhere_else(
    secured: Secured, conf: dict[str, str], tmp_path: Path, task_slot: None
) -> None:
    """The overlord reads a sample, and its tasks the topic, with a password that only the session's memory contains."""
    topic = secured.topics.new([GOOD] * 3)
    shown: list[str] = []
    with Session(tmp_path, hiveconf=conf, note=shown.append) as session:
        create(session, secured, "good", topic, jaas())
        assert shown == []
        with pytest.raises(ExecutionError, match="cannot start") as error:
            create(session, secured, "bad", topic, jaas(f"not-{PASSWORD}"))
        shown += [str(error.value), error.value.hint or ""]
        reference = session.catalog.get("default", "good").properties[CONSUMER + "sasl.jaas.config"]
        try:
            for text in ("EXPLAIN START INGESTION good", "START INGESTION good", "SHOW CREATE TABLE good"):
                shown.append(run(session, text))
            shown += [run(session, text) for text in ("SHOW TBLPROPERTIES good", "SHOW INGESTIONS", "SHOW PROBLEMS")]
            before = run(session, "SHOW TASKS FOR good")
            assert "RUNNING" in before
            run(session, "START INGESTION good")
            assert before.split(",")[0] in run(session, "SHOW TASKS FOR good"), "nothing has changed, nothing restarts"
            with Session(tmp_path, hiveconf=conf, note=shown.append) as other:
                run(other, "START INGESTION good")  # nothing has to be sent
                assert before.split(",")[0] in run(other, "SHOW TASKS FOR good")
                with pytest.raises(SemanticError, match="was given in plain text in another session") as foreign:
                    run(
                        other,
                        "ALTER TABLE good SET TBLPROPERTIES ('druid.kafka.ingestion.maxRowsInMemory' = '1000')",
                    )
                shown.append(run(other, "SHOW TBLPROPERTIES good"))
                assert "maxRowsInMemory" not in shown[-1], "the table is as it was"
            shown.append(str(foreign.value))
        finally:
            run(session, "DROP TABLE good")
    assert reference in shown[2]
    assert PASSWORD not in "".join(shown)
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert PASSWORD.encode() not in path.read_bytes(), path


def test_a_reference_of_another_session(secured: Secured, conf: dict[str, str], tmp_path: Path) -> None:
    with Session(tmp_path, hiveconf=conf) as session, pytest.raises(SemanticError, match="in another session"):
        create(session, secured, "later", "any", KeptSecrets().keep(jaas()))
