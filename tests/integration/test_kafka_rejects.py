"""Malformed records of topics in rejects tables: each record once, whatever reads it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.errors import HiveDruidError, SemanticError
from hivedruid.session import Session
from tests.support.job_homes import run

if TYPE_CHECKING:
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

EMBEDDED = {"druid.url": "embedded:"}
COLUMNS = "topic, `partition`, `offset`, error, value"
BROKEN, ARRAY, NOT_UTF8 = b'{"n": 1', b"[]", b'{"n": "\xff"}'
MakeTable = Callable[..., str]


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def session(tmp_path: Path, notes: list[str]) -> Iterator[Session]:
    with Session(tmp_path / "home", hiveconf=EMBEDDED, note=notes.append) as made:
        yield made


@pytest.fixture
def table(session: Session, topics: Topics) -> MakeTable:
    """Creates a table of a topic, whose malformed records are added to `bad`, and returns its name."""

    def create(topic: str, columns: str = "n bigint", name: str = "", **properties: str) -> str:
        given = {
            "kafka.topic": topic, "kafka.bootstrap.servers": topics.bootstrap, "hivedruid.malformed.rows": "reject",
            "hivedruid.malformed.table": "bad", **{key.replace("_", "."): value for key, value in properties.items()},
        }  # fmt: skip
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        run(session, f"CREATE EXTERNAL TABLE {name or topic} ({columns}) STORED BY 'kafka' TBLPROPERTIES ({pairs})")
        return name or topic

    return create


def values(session: Session, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in run(session, query)]


def rejected(session: Session, table: str = "bad") -> list[tuple[Any, ...]]:
    return values(session, f"SELECT {COLUMNS} FROM {table} ORDER BY topic, `partition`, `offset`")


def test_each_malformed_record_is_added_once(
    session: Session, topics: Topics, table: MakeTable, notes: list[str]
) -> None:
    """By a query of some offsets, of all, an aggregation, and after new records, with its bytes and its time."""
    topic = topics.new(partitions=2)
    for number, record in enumerate((b'{"n": 7}', BROKEN, NOT_UTF8, b'{"n": 8}', ARRAY)):
        topics.send(topic, record, partition=number % 2, millis=1_700_000_000_000 + number)
    topics.producer.flush()
    name = table(topic)
    broken = (topic, 1, 0, "not a JSON object", BROKEN)
    not_utf8, array = (topic, 0, 1, "not valid UTF-8", NOT_UTF8), (topic, 0, 2, "not a JSON object", ARRAY)

    assert values(session, f"SELECT n FROM {name} WHERE `__partition` = 1") == [(8,)]
    assert rejected(session) == [broken]
    where = f"1 malformed record of default.{name}, the first in partition 1, offset 0: not a JSON object"
    assert notes == [f"skipped {where}; 1 added to default.bad"]

    assert sorted(values(session, f"SELECT n FROM {name}")) == [(7,), (8,)]
    assert rejected(session) == [not_utf8, array, broken]
    every = f"skipped 3 malformed records of default.{name}, the first in partition 0, offset 1: not valid UTF-8"
    assert notes[1:] == [f"{every}; 2 added to default.bad"]

    commits = "SELECT count(*), min(`timestamp`), max(`timestamp`) FROM bad"
    assert values(session, f"SELECT sum(n), count(*) FROM {name}") == [(15, 2)]
    assert values(session, commits) == [(3, 1_700_000_000_001, 1_700_000_000_004)]
    assert notes[2:] == [f"{every}; 0 added to default.bad"]

    topics.send(topic, b"later")
    topics.producer.flush()
    run(session, "CREATE TABLE target (n bigint)")
    run(session, f"INSERT INTO target SELECT n FROM {name}")
    assert values(session, "SELECT sum(n) FROM target") == [(15,)]
    assert rejected(session)[2] == (topic, 0, 3, "not a JSON object", b"later")
    assert len(rejected(session)) == 4


def test_without_malformed_records_there_is_no_table(
    session: Session, topics: Topics, table: MakeTable, notes: list[str]
) -> None:
    name = table(topics.new([{"n": 1}]))
    assert values(session, f"SELECT n FROM {name}") == [(1,)]
    assert values(session, f"SELECT n FROM {table(topics.new())}") == []
    assert [row["tab_name"] for row in run(session, "SHOW TABLES LIKE 'bad'")] == []
    assert notes == []


def test_a_statement_that_fails_says_what_was_added(
    session: Session, topics: Topics, table: MakeTable, notes: list[str]
) -> None:
    name = table(topics.new([{"n": 7}, BROKEN]))
    with pytest.raises(HiveDruidError):
        run(session, f"SELECT assert_true(n < 0) FROM {name}")
    assert len(notes) == 1
    assert notes[0].endswith("; 1 added to default.bad")
    assert [row[2] for row in rejected(session)] == [1]


def test_statements_at_the_same_time(session: Session, topics: Topics, table: MakeTable) -> None:
    """Sessions of a home that create the table, and find the same records."""
    name = table(topics.new([{"n": 7}, *[BROKEN] * 50], partitions=2))

    command = [
        sys.executable,
        "-m",
        "hivedruid",
        "--home",
        str(session.home),
        "sql",
        "--hiveconf",
        "druid.url=embedded:",
    ]
    query = ["--format", "csv", "-e", f"SELECT sum(n) FROM {name}"]
    others = [Popen([*command, *query], stdout=PIPE, stderr=PIPE, text=True) for _ in range(3)]
    for each in others:
        out, err = each.communicate(timeout=120)
        assert (each.returncode, out.split()[-1:]) == (0, ["7"]), err
    assert values(session, "SELECT count(*), count(DISTINCT concat(`partition`, '-', `offset`)) FROM bad") == [(50, 50)]


def test_a_topic_that_is_created_again(session: Session, topics: Topics, table: MakeTable) -> None:
    """Its records are others than those at the same offsets before."""
    topic = topics.new([BROKEN])
    name = table(topic)
    assert values(session, f"SELECT n FROM {name}") == []
    topics.admin.delete_topics([topic])
    topics.admin.create_topics({topic: {"num_partitions": 1}}, wait_for_metadata=True)
    with topics_producer(topics) as producer:
        producer.send(topic, ARRAY, partition=0).get(timeout=30)
    assert values(session, f"SELECT n FROM {name}") == []
    assert sorted(row[4] for row in rejected(session)) == [ARRAY, BROKEN]


def topics_producer(topics: Topics) -> Any:
    """A producer that does not know former topics."""
    from tests.support.kafka import kafka_python

    return kafka_python().KafkaProducer(bootstrap_servers=topics.bootstrap)


AVRO = '{"type": "record", "name": "R", "fields": [{"name": "n", "type": "long"}]}'


@pytest.mark.parametrize(
    ("columns", "serde", "more"),
    [
        ("n bigint", "org.apache.hadoop.hive.serde2.avro.AvroSerDe", {"avro_schema_literal": AVRO}),
        (
            "n bigint", "org.apache.hadoop.hive.serde2.avro.AvroSerDe",
            {"avro_schema_literal": AVRO, "avro_serde_type": "confluent"},
        ),
        ("n string", "text", {}),
    ],
    ids=["avro", "confluent", "text"],
)  # fmt: skip
def test_formats(
    session: Session, topics: Topics, table: MakeTable, columns: str, serde: str, more: dict[str, str]
) -> None:
    """The bytes are those of the whole record, with its framing."""
    name = table(topics.new([b"\xff\xfe"]), columns, kafka_serde_class=serde, **more)
    assert values(session, f"SELECT count(*) FROM {name}") == [(0,)]
    assert [row[4] for row in rejected(session)] == [b"\xff\xfe"]


def test_a_byte_order_mark_is_a_part_of_the_record(session: Session, topics: Topics, table: MakeTable) -> None:
    name = table(topics.new([b"\xef\xbb\xbf{"]))
    assert values(session, f"SELECT count(*) FROM {name}") == [(0,)]
    assert [row[4] for row in rejected(session)] == [b"\xef\xbb\xbf{"]


def test_explain_and_describe(session: Session, topics: Topics, table: MakeTable, notes: list[str]) -> None:
    """EXPLAIN adds nothing."""
    name = table(topics.new([BROKEN]))
    explained = "\n".join(str(row["Explain"]) for row in run(session, f"EXPLAIN SELECT n FROM {name}"))
    assert "malformed records: added to default.bad" in explained
    described = [tuple(row.values())[1:] for row in run(session, f"DESCRIBE FORMATTED {name}")]
    assert ("hivedruid.malformed.table", "bad") in [tuple(str(cell).strip() for cell in row) for row in described]
    assert notes == []


def test_refusals(session: Session, topics: Topics, table: MakeTable) -> None:
    run(session, "CREATE TABLE other (n bigint)")
    name = table(topics.new([{"n": 1}]), hivedruid_malformed_table="default.other")
    with pytest.raises(SemanticError, match=r"cannot be added to default\.other: it is not a managed table with the"):
        run(session, f"SELECT n FROM {name}")
    with pytest.raises(SemanticError, match="requires a table for malformed records"):
        run(session, f"ALTER TABLE {name} UNSET TBLPROPERTIES ('hivedruid.malformed.table')")
    with pytest.raises(SemanticError, match="must be the name of a table, not 'a b'"):
        run(session, f"ALTER TABLE {name} SET TBLPROPERTIES ('hivedruid.malformed.table' = 'a b')")
    with pytest.raises(SemanticError, match=r"'reject' of .* only applies to Kafka tables"):
        run(session, "CREATE EXTERNAL TABLE f (n int) STORED AS JSONFILE LOCATION '/tmp/none'"
            " TBLPROPERTIES ('hivedruid.malformed.rows' = 'reject')")  # fmt: skip
    run(session, f"ALTER TABLE {name} SET TBLPROPERTIES ('hivedruid.malformed.table' = 'nowhere.bad')")
    assert values(session, f"SELECT n FROM {name}") == [(1,)]
    topics.send(name, BROKEN)
    topics.producer.flush()
    with pytest.raises(HiveDruidError, match="nowhere"):
        run(session, f"SELECT n FROM {name}")
