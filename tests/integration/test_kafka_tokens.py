"""Kafka tables with a real Kafka that requires tokens (SASL OAUTHBEARER), from an endpoint or without signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest

from hivedruid.clients import kafka_tokens
from hivedruid.clients.kafka import Kafka
from hivedruid.errors import ConnectError, ExecutionError, KafkaError
from hivedruid.oauth import TokenSource
from hivedruid.session import Session
from hivedruid.spark import server
from tests.support.ingestion import until
from tests.support.job_homes import run
from tests.support.secured_kafka import PASSWORD, Secured, secured_kafka, with_tokens
from tests.support.token_endpoint import TokenEndpoint, token, token_endpoint

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.usefixtures("own_spark")]

RECORDS = [{"n": n} for n in range(5)]
CreateTable = Callable[[str, str, dict[str, str]], str]
UNSIGNED = 'unsecuredLoginStringClaim_sub="me"'


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured_kafka(tmp_path_factory.mktemp("tokens")) as started:
        yield started


@pytest.fixture
def endpoint() -> Iterator[TokenEndpoint]:
    with token_endpoint("me", PASSWORD) as started:
        yield started


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    conf = {"druid.url": "embedded:", "spark.log.level": "INFO"}
    with Session(tmp_path / "home", hiveconf=conf) as made:
        yield made


@pytest.fixture
def create(session: Session, monkeypatch: pytest.MonkeyPatch) -> CreateTable:
    """Creates the table of a topic, and returns its name; the JAAS configuration is in a variable."""

    def made(bootstrap: str, topic: str, client: dict[str, str]) -> str:
        monkeypatch.setenv("KAFKA_JAAS", client["sasl.jaas.config"])
        properties = {"kafka.topic": topic, "kafka.bootstrap.servers": bootstrap}
        properties |= {f"kafka.consumer.{key}": value for key, value in client.items()}
        properties["kafka.consumer.sasl.jaas.config"] = "env:KAFKA_JAAS"
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        run(session, f"CREATE EXTERNAL TABLE {topic} (n bigint) STORED BY 'kafka' TBLPROPERTIES ({pairs})")
        return topic

    return made


def total(session: Session, name: str) -> tuple[object, ...]:
    (row,) = run(session, f"SELECT sum(n), count(*) FROM {name}")
    return tuple(row.values())


@pytest.mark.parametrize("way", ["endpoint", "file", "unsigned"])
def test_reads_and_writes(
    secured: Secured, session: Session, create: CreateTable, endpoint: TokenEndpoint, tmp_path: Path, way: str
) -> None:
    """hivedruid's own client and Spark's both log in; nothing that is told or stored has a secret or a token."""
    address = secured.unsigned if way == "unsigned" else secured.sasl
    match way:
        case "endpoint":
            client = with_tokens(endpoint.url)
        case "file":
            (tmp_path / "token").write_text(token(), encoding="ascii")
            client = with_tokens((tmp_path / "token").as_uri(), 'extension_team="x"')
        case _:
            client = with_tokens(login=UNSIGNED)
    name = create(address, secured.topics.new(RECORDS, partitions=2), client)
    assert total(session, name) == (10, 5)
    run(session, f"INSERT INTO {name} (n) SELECT n + 10 FROM {name} WHERE n > 2")
    run(session, f"ALTER TABLE {name} SET TBLPROPERTIES ('kafka.write.semantic' = 'EXACTLY_ONCE')")
    run(session, f"INSERT INTO {name} (n) VALUES (100)")
    assert total(session, name) == (137, 8)
    assert bool(endpoint.issued) == (way == "endpoint")
    told = [str(run(session, f"{verb} {name}")) for verb in ("SHOW CREATE TABLE", "DESCRIBE FORMATTED")]
    told += [str(run(session, f"EXPLAIN EXTENDED SELECT n FROM {name}"))]
    told += [(server.shared_home(session.home) / server.LOG_FILE).read_text(encoding="utf-8")]
    assert "sasl.mechanism = OAUTHBEARER" in told[-1], "the log has the consumer's configuration"
    secrets = [PASSWORD, *(part.rpartition(".")[2] for part in endpoint.issued)]
    assert not [secret for secret in secrets for text in told if secret in text]
    files = [path.read_bytes() for path in session.home.rglob("*") if path.is_file()]
    assert not [secret for secret in secrets for data in files if secret.encode() in data]


def test_wrong_credentials(secured: Secured, session: Session, create: CreateTable) -> None:
    with token_endpoint("me", "another secret") as other:
        name = create(secured.sasl, secured.topics.new(RECORDS), with_tokens(other.url))
        for statement in (f"SELECT n FROM {name}", f"INSERT INTO {name} (n) VALUES (1)"):
            with pytest.raises(KafkaError, match="refuses the client: HTTP status 401") as error:
                run(session, statement)
            assert PASSWORD not in f"{error.value} {error.value.hint}"
        assert other.refused < 10
    with pytest.raises(ConnectError, match="cannot reach the token endpoint"):
        run(session, f"SELECT n FROM {name}")


def test_a_token_that_brokers_refuse(secured: Secured, session: Session, create: CreateTable) -> None:
    """Without signature, where one is required."""
    name = create(secured.sasl, secured.topics.new(RECORDS), with_tokens(login=UNSIGNED))
    with pytest.raises(ExecutionError, match=r"authentication failed|does not respond to SASL_PLAINTEXT"):
        run(session, f"SELECT n FROM {name}")


def test_tokens_are_used_again(secured: Secured, endpoint: TokenEndpoint) -> None:
    """One token for many clients, until its lifetime is nearly over."""
    topic = secured.topics.new(RECORDS)
    for _ in range(3):
        with Kafka(secured.sasl, with_tokens(endpoint.url)) as kafka:
            assert kafka.offsets_of(topic).latest == {0: 5}
    assert len(endpoint.issued) == 1
    with token_endpoint("me", PASSWORD, lifetime=2) as short:
        tokens = kafka_tokens.tokens_of(TokenSource(short.url, "me", PASSWORD, "read write"))
        begun = monotonic()
        first = tokens.token()
        until(lambda: tokens.token() != first, "another token")
        assert monotonic() - begun > 1.5
