"""A real Kafka with authentication: over SASL and TLS, from this machine and from Druid's, with secrets that stay
secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid.clients.kafka import Kafka
from hivedruid.errors import ConnectError, ExecutionError, KafkaError, SemanticError
from hivedruid.ingestion.model import TopicOffsets
from hivedruid.kept_secrets import KeptSecrets
from hivedruid.session import Session
from tests.integration.test_create_checks import set_timeouts
from tests.support.ingestion import until
from tests.support.secured_kafka import PASSWORD, TLS, Secured, jaas, pem, secured_kafka, with_sasl, with_tls

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

pytestmark = pytest.mark.kafka

GOOD = {"time": "2024-01-01T00:00:00Z", "page": "a"}
CONSUMER = "druid.kafka.ingestion.consumer."


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured_kafka(tmp_path_factory.mktemp("secured")) as started:
        yield started


def offsets(bootstrap: str, properties: Mapping[str, str], topic: str) -> TopicOffsets | KafkaError:
    with Kafka(bootstrap, properties) as kafka:
        return kafka.offsets([topic])[topic]


def test_who_is_known_may_ask(secured: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = secured.topics.new([GOOD] * 3)
    with Kafka(secured.open, {}) as kafka:
        seen = TopicOffsets(topic, {0: 0}, {0: 3}, topic_id=kafka.topic_id(topic))
    secured.add_scram_user()
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
    assert offsets(secured.sasl, with_sasl(), topic) == seen
    assert offsets(secured.sasl, with_sasl(config="env:KAFKA_JAAS_OF_TEST"), topic) == seen

    def scram_is_known() -> bool:
        """The broker learns of new credentials a moment later."""
        given = with_sasl("SCRAM-SHA-256", jaas(module="scram.ScramLoginModule"))
        with suppress(ConnectError, KafkaError):
            return offsets(secured.sasl, given, topic) == seen
        return False

    until(scram_is_known, "the credentials of SCRAM")
    assert offsets(secured.tls, with_tls(), topic) == seen
    assert offsets(secured.tls, in_files, topic) == seen


def test_a_wrong_password(secured: Secured) -> None:
    """The broker closes the connection right after its response: kafka-python does not always receive the response."""
    with Kafka(secured.sasl, with_sasl(config=jaas("wrong"))) as kafka, pytest.raises(ExecutionError) as error:
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
    properties |= {CONSUMER + key: value for key, value in with_sasl(config=config).items()}
    properties |= {"druid.datasource": topic, "druid.kafka.ingestion.useEarliestOffset": "true"}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    run(
        session,
        f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, page string) STORED BY 'druid' TBLPROPERTIES ({pairs})",
    )


def test_clear_text_goes_to_druid_and_nowhere_else(
    secured: Secured, conf: dict[str, str], tmp_path: Path, task_slot: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The overlord reads a sample, and its tasks the topic, with a password that only the session's memory contains."""
    set_timeouts(monkeypatch, read=60, kafka=45)
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
