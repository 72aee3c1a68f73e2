"""Queries of Kafka tables and INSERT with a real Kafka that requires TLS or SASL, with secrets that stay secret."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.request import urlopen

import pytest

from hivedruid.errors import ExecutionError, HiveDruidError, KafkaError, UnsupportedError
from hivedruid.local.processes import choose_port
from hivedruid.session import Session
from hivedruid.spark import server
from tests.support.job_homes import run
from tests.support.secured_kafka import PASSWORD, TLS, Secured, jaas, pem, secured_kafka, with_sasl, with_tls

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.usefixtures("own_spark")]

RECORDS = [{"n": n} for n in range(5)]
SCRAM = "scram.ScramLoginModule"
IN_PEM = {"ssl_keystore_type": "PEM", "ssl_truststore_type": "PEM"}
MakeTable = Callable[..., str]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured_kafka(tmp_path_factory.mktemp("secured")) as started:
        started.add_scram_user()
        yield started


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="module")
def ui() -> int:
    return choose_port(None, ())


@pytest.fixture
def session(tmp_path: Path, events: Path, ui: int) -> Iterator[Session]:
    """With everything that Spark can tell: its event log, its web UI, and a log of all levels but debug."""
    conf = {
        "druid.url": "embedded:",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(events),
        "spark.eventLog.compress": "false",
        "spark.ui.enabled": "true",
        "spark.ui.port": str(ui),
        "spark.log.level": "INFO",
    }
    with Session(tmp_path / "home", hiveconf=conf) as made:
        yield made


@pytest.fixture
def table(session: Session, monkeypatch: pytest.MonkeyPatch) -> MakeTable:
    """Creates the table of a topic, with the secrets of its properties in variables, and returns its name."""

    def create(bootstrap: str, topic: str, client: Mapping[str, str], role: str = "consumer") -> str:
        properties = {"kafka.topic": topic, "kafka.bootstrap.servers": bootstrap}
        for number, (key, value) in enumerate(client.items()):
            is_secret = PASSWORD in value or "-----" in value
            if is_secret:
                monkeypatch.setenv(f"KAFKA_SECRET_{number}", value)
            properties[f"kafka.{role}.{key}"] = f"env:KAFKA_SECRET_{number}" if is_secret else value
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        run(session, f"CREATE EXTERNAL TABLE {topic} (n bigint) STORED BY 'kafka' TBLPROPERTIES ({pairs})")
        return topic

    return create


def total(session: Session, name: str) -> list[object]:
    return [tuple(row.values()) for row in run(session, f"SELECT sum(n), count(*) FROM {name}")]


def files_of_tls(folder: Path) -> dict[str, str]:
    (folder / "client.pem").write_text(pem("client.key") + pem("client.pem"), encoding="ascii")
    return {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(TLS / "ca.pem"),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "client.pem"),
    }


@pytest.mark.parametrize("way", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "TLS", "TLS in files"])
def test_reads_and_writes(secured: Secured, session: Session, table: MakeTable, tmp_path: Path, way: str) -> None:
    if way.startswith("TLS"):
        server, client = secured.tls, with_tls(**IN_PEM) if way == "TLS" else files_of_tls(tmp_path)
    else:
        module = SCRAM if way.startswith("SCRAM") else "plain.PlainLoginModule"
        server, client = secured.sasl, with_sasl(way, jaas(module=module))
    name = table(server, secured.topics.new(RECORDS, partitions=2), client)
    assert total(session, name) == [(10, 5)]
    run(session, f"INSERT INTO {name} (n) SELECT n + 10 FROM {name} WHERE n > 2")
    assert total(session, name) == [(37, 7)]


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The requests of this test to Spark."""
    from pyspark.sql.connect.client import SparkConnectClient

    sent: list[bytes] = []
    for method in ("_execute", "_execute_and_fetch_as_iterator"):
        given = getattr(SparkConnectClient, method)

        def kept(client: Any, request: Any, *rest: Any, given: Any = given, **options: Any) -> Any:
            sent.append(request.SerializeToString())
            return given(client, request, *rest, **options)

        monkeypatch.setattr(SparkConnectClient, method, kept)
    return sent


def test_secrets_are_not_told(
    secured: Secured, session: Session, table: MakeTable, events: Path, ui: int, requests: list[bytes]
) -> None:
    """Neither requests to Spark, its events, its web UI and its log contain a secret, nor the home, nor what statements
    print."""
    name = table(secured.sasl, secured.topics.new(RECORDS), with_sasl())
    told = [str(total(session, name))]
    run(session, f"INSERT INTO {name} (n) VALUES (1)")
    queries = (f"SELECT * FROM {name} WHERE n > 1", f"INSERT INTO {name} (n) VALUES (1)")
    told += [str(run(session, f"{verb} {query}")) for verb in ("EXPLAIN", "EXPLAIN EXTENDED") for query in queries]
    told += [str(run(session, statement)) for statement in (f"SHOW CREATE TABLE {name}", f"SHOW TBLPROPERTIES {name}")]
    assert sum(b"sasl.jaas.config" in request for request in requests) >= 2, "the options and the writing function"
    assert not any(PASSWORD.encode() in request for request in requests)
    log = (server.shared_home(session.home) / server.LOG_FILE).read_text(encoding="utf-8")
    assert "ConsumerConfig values" in log, "the log has the consumer's configuration"
    told += [log, *pages_of_ui(ui)]
    logged = [path.read_text(encoding="utf-8") for path in events.rglob("*") if path.is_file()]
    assert any(name in text for text in logged), "the event log has the queries"
    for text in [*told, *logged]:
        assert PASSWORD not in text
    for path in (path for path in session.home.rglob("*") if path.is_file()):
        assert PASSWORD.encode() not in path.read_bytes(), path


def pages_of_ui(port: int) -> Iterator[str]:
    """The settings and the queries of Spark's web UI."""
    base = f"http://127.0.0.1:{port}"
    (app,) = json.loads(page(f"{base}/api/v1/applications"))
    queries = page(f"{base}/api/v1/applications/{app['id']}/sql?details=true&planDescription=true&length=1000")
    assert "kafka" in queries
    yield queries
    yield page(f"{base}/api/v1/applications/{app['id']}/environment")
    for query in json.loads(queries):
        yield page(f"{base}/SQL/execution/?id={query['id']}")


def page(address: str) -> str:
    with urlopen(address, timeout=30) as answer:  # noqa: S310 - an address of this machine
        return str(answer.read(), "utf-8")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_wrong_password(secured: Secured, session: Session, table: MakeTable, mechanism: str) -> None:
    module = SCRAM if mechanism.startswith("SCRAM") else "plain.PlainLoginModule"
    name = table(secured.sasl, secured.topics.new(RECORDS), with_sasl(mechanism, jaas(f"not-{PASSWORD}", module)))
    for statement in (f"SELECT n FROM {name}", f"INSERT INTO {name} (n) VALUES (1)"):
        begun = monotonic()
        with pytest.raises(ExecutionError, match=r"authentication failed|does not respond to SASL_PLAINTEXT") as error:
            run(session, statement)
        assert PASSWORD not in f"{error.value} {error.value.hint}"
        assert monotonic() - begun < 20


def test_a_producer_of_its_own(secured: Secured, session: Session, table: MakeTable) -> None:
    """A consumer without security reads; the producer has credentials of its own, or wrong ones."""
    name = table(secured.open, secured.topics.new(RECORDS), {})
    run(session, f"ALTER TABLE {name} SET TBLPROPERTIES ('kafka.producer.security.protocol' = 'SASL_PLAINTEXT')")
    with pytest.raises(HiveDruidError, match="GSSAPI"):
        run(session, f"INSERT INTO {name} (n) VALUES (1)")
    assert total(session, name) == [(10, 5)]


def test_refusals(secured: Secured, session: Session, table: MakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    name = table(secured.sasl, secured.topics.new(RECORDS), with_sasl())
    run(session, "SET spark.master=spark://localhost:1")
    with pytest.raises(UnsupportedError, match=r"need its secrets on the machines of Spark \(spark\.master="):
        run(session, f"SELECT n FROM {name}")
    run(session, "RESET spark.master")
    monkeypatch.setenv("KAFKA_SECRET_2", "com.sun.security.auth.module.JndiLoginModule required;")
    with pytest.raises(KafkaError, match="JndiLoginModule, which is not allowed"):
        run(session, f"SELECT n FROM {name}")
    monkeypatch.delenv("KAFKA_SECRET_2")
    with pytest.raises(KafkaError, match="the environment variable KAFKA_SECRET_2"):
        run(session, f"SELECT n FROM {name}")
