"""Queries of Kafka tables, on a real Kafka: every record that is there when a statement begins, once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.errors import ConnectError, KafkaError, SemanticError, SparkError, UnsupportedError
from hivedruid.session import Session
from tests.integration.test_goldens import settings
from tests.support.job_homes import run
from tests.support.kafka import kafka_python
from tests.support.kafka_tables import offsets

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark

HANDLER = "org.apache.hadoop.hive.kafka.KafkaStorageHandler"
NOON = 1_700_000_000_000
MakeTable = Callable[..., str]


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def session(cluster: Cluster, tmp_path: Path, notes: list[str]) -> Iterator[Session]:
    with Session(tmp_path / "home", hiveconf=settings(cluster), note=notes.append) as made:
        yield made


@pytest.fixture
def table(session: Session, topics: Topics) -> MakeTable:
    """Creates the table of a topic and returns its name."""

    def create(topic: str, columns: str, serde: str = "", **properties: str) -> str:
        given = {"kafka.topic": topic, "kafka.bootstrap.servers": topics.bootstrap}
        given |= {key.replace("_", "."): value for key, value in properties.items()}
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        run(session, f"CREATE EXTERNAL TABLE {topic} ({columns}) STORED BY '{HANDLER}' {serde} TBLPROPERTIES ({pairs})")
        return topic

    return create


def values(session: Session, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in run(session, query)]


def test_json_records(session: Session, topics: Topics, table: MakeTable) -> None:
    """The records of Hive's kafka_storage_handler tests, and a tombstone."""
    topic = topics.new()
    for number, text in enumerate(
        (
            b'{"key":"value"}',
            b'{"key":"value1"}',
            b'{"key":"value2", "id":2}',
            b'{"KEY":"value3", "id":3, "more":1}',
            None,
        )
    ):
        topics.producer.send(topic, text, key=f"k{number}".encode(), partition=0, timestamp_ms=NOON + number)
    topics.producer.flush()
    name = table(topic, "key string, id bigint")
    assert values(session, f"SELECT key, id, CAST(`__key` AS string), `__offset`, `__timestamp` FROM {name}") == [
        ("value", None, "k0", 0, NOON),
        ("value1", None, "k1", 1, NOON + 1),
        ("value2", 2, "k2", 2, NOON + 2),
        ("value3", 3, "k3", 3, NOON + 3),
        (None, None, "k4", 4, NOON + 4),
    ]


def test_types_and_nested_values(session: Session, topics: Topics, table: MakeTable) -> None:
    record = {
        "i": 1, "d": 1.5, "m": "12.340", "b": True, "t": "2024-01-02 03:04:05", "l": [1, 2], "s": {"x": "y"},
        "p": {"a": 1},
    }  # fmt: skip
    name = table(
        topics.new([record]),
        "i int, d double, m decimal(10,3), b boolean, t timestamp, l array<int>, s struct<x:string>, p map<string,int>",
    )
    assert values(session, f"SELECT i, d, m + 1, b, year(t), l[1], s.x, p['a'] FROM {name}") == [
        (1, 1.5, Decimal("13.340"), True, 2024, 2, "y", 1)
    ]


@pytest.mark.parametrize(
    ("serde", "record", "properties"),
    [
        ("org.apache.hadoop.hive.serde2.OpenCSVSerde", b'"a,b",2', ""),
        ("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", b"a,b|2", "WITH SERDEPROPERTIES ('field.delim' = '|')"),
    ],
)
def test_text_formats(
    session: Session, topics: Topics, table: MakeTable, serde: str, record: bytes, properties: str
) -> None:
    name = table(topics.new([record]), "s string, n bigint", properties, kafka_serde_class=serde)
    assert values(session, f"SELECT s, n + 1, `__offset` FROM {name}") == [("a,b", 3, 0)]


def test_conditions_become_offsets(session: Session, topics: Topics, table: MakeTable) -> None:
    """The rows are those of the same condition over all records, also if times do not increase with the offsets."""
    chance = random.Random(7)
    topic = topics.new(partitions=3)
    stored: list[tuple[int, int, int]] = []
    counts = [0, 0, 0]
    for _ in range(60):
        partition, millis = chance.choice((0, 2)), NOON + chance.randrange(40)
        topics.send(topic, {"n": len(stored)}, partition=partition, millis=millis)
        stored.append((partition, counts[partition], millis))
        counts[partition] += 1
    topics.producer.flush()
    name = table(topic, "n bigint")
    conditions: dict[str, Callable[[int, int, int], bool]] = {
        "`__partition` = 2": lambda p, o, t: p == 2,
        "`__partition` IN (1, 2) AND `__offset` BETWEEN 3 AND 9": lambda p, o, t: p == 2 and 3 <= o <= 9,
        f"`__timestamp` >= {NOON + 20}": lambda p, o, t: t >= NOON + 20,
        f"`__timestamp` > {NOON + 10} AND `__timestamp` < {NOON + 30}": lambda p, o, t: NOON + 10 < t < NOON + 30,
        f"`__timestamp` = {NOON + 5} OR (`__offset` < 4 AND `__partition` = 0)": lambda p, o, t: (
            t == NOON + 5 or (o < 4 and p == 0)
        ),
        "NOT (`__offset` > 2)": lambda p, o, t: o <= 2,
        "`__timestamp` > 1000 * unix_timestamp(CURRENT_TIMESTAMP - interval '10' MINUTES)": lambda p, o, t: False,
    }
    for condition, holds in conditions.items():
        found = values(session, f"SELECT `__partition`, `__offset`, `__timestamp` FROM {name} WHERE {condition}")
        assert sorted(found) == sorted(record for record in stored if holds(*record)), condition
    assert offsets(session, f"SELECT * FROM {name}").startswith("at most 60 of 60 records in 2 of 3 partitions (")
    assert offsets(session, f"SELECT * FROM {name} WHERE `__offset` = 3 AND `__partition` = 0") == (
        "at most 1 of 60 records in 1 of 3 partitions (0: 3..3)"
    )
    assert offsets(session, f"SELECT * FROM {name} WHERE `__timestamp` > {NOON + 1000}") == (
        "at most 0 of 60 records in 0 of 3 partitions"
    )


def test_an_answer_has_the_records_of_its_beginning(session: Session, topics: Topics, table: MakeTable) -> None:
    topic = topics.new([{"n": n} for n in range(5)])
    name = table(topic, "n bigint")
    result = session.execute(next(iter(session.statements(f"SELECT n FROM {name}"))))
    topics.send(topic, {"n": 5})
    topics.producer.flush()
    assert sorted(row[0] for row in result.rows) == [0, 1, 2, 3, 4]
    assert values(session, f"SELECT count(*) FROM {name}") == [(6,)]


def test_transactions(session: Session, topics: Topics, table: MakeTable) -> None:
    """Records of aborted transactions are not read, nor those from the beginning of an open one."""
    topic = topics.new([{"n": 0}])
    producer = kafka_python().KafkaProducer(
        bootstrap_servers=topics.bootstrap, transactional_id=f"{topic}-writer",
        transaction_timeout_ms=900_000,  # the most that Kafka allows: Spark may start meanwhile
    )  # fmt: skip
    try:
        producer.init_transactions()
        for number, end in enumerate((producer.commit_transaction, producer.abort_transaction, None), start=1):
            producer.begin_transaction()
            producer.send(topic, f'{{"n": {number}}}'.encode(), partition=0)
            producer.flush()
            if end is not None:
                end()
        topics.send(topic, {"n": 4})
        topics.producer.flush()
        name = table(topic, "n bigint")
        assert values(session, f"SELECT n FROM {name} ORDER BY n") == [(0,), (1,)]
        producer.commit_transaction()
        assert values(session, f"SELECT n FROM {name} ORDER BY n") == [(0,), (1,), (3,), (4,)]
    finally:
        producer.close()


def test_a_partition_that_several_tasks_read(
    session: Session, topics: Topics, table: MakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each record once, also where tasks begin or end at offsets without a record."""
    monkeypatch.setattr("hivedruid.spark.topics.TASK_RECORDS", 3)
    topic, expected = topics.new(partitions=2), []
    producer = kafka_python().KafkaProducer(bootstrap_servers=topics.bootstrap, transactional_id=topic)
    try:
        producer.init_transactions()
        for number in range(30):
            producer.begin_transaction()
            producer.send(topic, f'{{"n": {number}}}'.encode(), partition=number % 7 == 0)
            producer.flush()
            if number % 3:
                producer.commit_transaction()
                expected.append((number,))
            else:
                producer.abort_transaction()
    finally:
        producer.close()
    name = table(topic, "n bigint")
    assert values(session, f"SELECT n FROM {name} ORDER BY n") == expected


def test_expired_records_and_empty_topics(session: Session, topics: Topics, table: MakeTable) -> None:
    topic, place = topics.new([{"n": n} for n in range(6)], partitions=2), kafka_python().TopicPartition
    topics.admin.delete_records({place(topic, 0): 2, place(topic, 1): 3})
    name = table(topic, "n bigint")
    assert values(session, f"SHOW OFFSETS {name}") == [(0, 2, 3, 1), (1, 3, 3, 0)]
    assert values(session, f"SELECT n FROM {name} WHERE `__offset` >= 0") == [(4,)]
    assert values(session, f"SELECT count(*) FROM {table(topics.new(partitions=2), 'n bigint')}") == [(0,)]


def test_topics_are_listed_and_described(session: Session, topics: Topics, table: MakeTable, notes: list[str]) -> None:
    topic = topics.new([{"n": n} for n in range(6)], partitions=2)
    topics.admin.delete_records({kafka_python().TopicPartition(topic, 0): 2})
    with pytest.raises(SemanticError, match="no Kafka broker is known"):
        run(session, "SHOW TOPICS")
    name = table(topic, "n bigint")
    row = (topic, 2, 4, f"default.{name}", topics.bootstrap)
    assert values(session, f"SHOW TOPICS LIKE '{topic}'") == [row]
    assert row in values(session, "SHOW TOPICS")
    described = [row["col_name"] for row in run(session, f"DESCRIBE FORMATTED {name}")]
    runtime = described[described.index("StorageHandlerInfo") + 1 :]
    assert runtime[:6] == [
        f"Kafka Storage Handler Runtime Status for {topic}", "partitions=2", "replicas=1",
        "earliestOffsets={0=2, 1=0}", "latestOffsets={0=3, 1=3}", "records=4",
    ]  # fmt: skip
    assert {"cleanup.policy=delete", "message.timestamp.type=CreateTime"} <= set(runtime)
    assert any(line.startswith("partitionBytes={0=") for line in runtime)

    run(session, f"CREATE EXTERNAL TABLE away (n int) STORED BY 'kafka' TBLPROPERTIES ('kafka.topic' = '{topic}',"
        " 'kafka.bootstrap.servers' = 'localhost:1')")  # fmt: skip
    away = "cannot reach Kafka at localhost:1 from this machine: connection refused"
    assert values(session, f"SHOW TOPICS LIKE '{topic}'") == [row]
    assert notes == [f"the topic of default.away was not checked: {away}", away]
    described = [row["col_name"] for row in run(session, "DESCRIBE EXTENDED away")]
    assert described[-1] == f"Kafka Storage Handler Runtime Status : unknown: {away}"
    run(session, "SET hivedruid.kafka.bootstrap.servers=localhost:1")
    with pytest.raises(ConnectError, match="localhost:1"):
        run(session, "SHOW TOPICS")


def test_the_topic_is_checked_when_a_table_is_created(
    session: Session, topics: Topics, table: MakeTable, notes: list[str]
) -> None:
    missing = f"topic 'nowhere' does not exist in Kafka at {topics.bootstrap}"
    with pytest.raises(KafkaError, match=missing) as refused:
        table("nowhere", "n bigint")
    assert refused.value.hint == (
        "create it, or set kafka.topic; SHOW TOPICS lists the topics; kafka.topic.check = 'WARN' only notes it"
    )
    assert values(session, "SHOW TABLES") == []
    table("nowhere", "n bigint", kafka_topic_check="warn")
    assert notes == [f"{missing} (create it, or set kafka.topic; SHOW TOPICS lists the topics)"]
    run(session, "CREATE EXTERNAL TABLE away (n int) STORED BY 'kafka' TBLPROPERTIES ('kafka.topic' = 't',"
        " 'kafka.bootstrap.servers' = 'localhost:1')")  # fmt: skip
    assert notes[1].startswith("the topic of default.away was not checked: cannot reach Kafka at localhost:1")
    table(topics.new(), "n bigint")
    assert len(notes) == 2


def test_producer_properties(session: Session, topics: Topics, table: MakeTable) -> None:
    name = table(topics.new(), "n bigint", kafka_producer_compression_type="gzip")
    run(session, f"INSERT INTO {name} (n) VALUES (1), (2)")
    assert values(session, f"SELECT n FROM {name} ORDER BY n") == [(1,), (2,)]
    run(session, f"ALTER TABLE {name} SET TBLPROPERTIES ('kafka.producer.acks' = '0')")
    with pytest.raises(SemanticError, match="acknowledged by all in-sync replicas"):
        run(session, f"INSERT INTO {name} (n) VALUES (3)")
    assert values(session, f"SELECT count(*) FROM {name}") == [(2,)]


def test_like_topic(session: Session, topics: Topics) -> None:
    """EXPLAIN prints the columns; the setting names the brokers."""
    topic = topics.new([{"Page": "a", "added": 1}, {"page": "b", "added": 2.5, "tags": ["x"]}], partitions=2)
    topics.producer.send(topic, None, key=b"k", partition=0)
    topics.producer.flush()
    create = f"CREATE EXTERNAL TABLE IF NOT EXISTS t LIKE TOPIC '{topic}'"
    with pytest.raises(SemanticError, match=r"Set Table property kafka\.bootstrap\.servers"):
        run(session, create)
    run(session, f"SET hivedruid.kafka.bootstrap.servers={topics.bootstrap}")
    explained = "\n".join(str(row["Explain"]) for row in run(session, f"EXPLAIN {create}"))
    assert "columns: page string, added double, tags array<string>, __key binary," in explained
    for _ in range(2):
        run(session, create)
    assert sorted(values(session, "SELECT page, added, tags FROM t WHERE page IS NOT NULL")) == [
        ("a", 1.0, None), ("b", 2.5, ["x"]),
    ]  # fmt: skip
    with pytest.raises(SemanticError, match="has no records with fields"):
        run(session, f"CREATE EXTERNAL TABLE u LIKE TOPIC '{topics.new()}'")
    with pytest.raises(KafkaError, match="topic 'nowhere' does not exist"):
        run(session, "CREATE EXTERNAL TABLE u LIKE TOPIC 'nowhere'")
    with pytest.raises(UnsupportedError, match="LIKE TOPIC is only supported for Kafka tables"):
        run(session, f"CREATE EXTERNAL TABLE u LIKE TOPIC '{topic}' STORED BY 'druid'")


MALFORMED = (b'{"n": 1', b"[]", b'{"n": "x"}', b"", b'{"n": "\xff"}')


@pytest.mark.parametrize("record", MALFORMED)
def test_malformed_records(session: Session, topics: Topics, table: MakeTable, notes: list[str], record: bytes) -> None:
    """They fail the statement, if their columns are read or not, or are skipped and counted."""
    name = table(topics.new([{"n": 7}, record]), "n bigint")
    for query in (f"SELECT n FROM {name}", f"SELECT count(*) FROM {name}"):
        with pytest.raises(SparkError, match=rf"malformed record in topic {name}, partition 0, offset 1: "):
            run(session, query)
    assert values(session, f"SELECT n FROM {name} WHERE `__offset` = 0") == [(7,)]
    run(session, f"ALTER TABLE {name} SET TBLPROPERTIES ('hivedruid.malformed.rows' = 'null')")
    assert values(session, f"SELECT n, `__offset` FROM {name}") == [(7, 0), (None, 1)]
    run(session, f"ALTER TABLE {name} SET TBLPROPERTIES ('hivedruid.malformed.rows' = 'skip')")
    assert values(session, f"SELECT count(*), sum(n) FROM {name}") == [(1, 7)]
    (note,) = (note for note in notes if "skipped" in note)
    assert note.startswith(f"skipped 1 malformed record of default.{name}, the first in partition 0, offset 1: ")


def test_joins_unions_and_writes(session: Session, topics: Topics, table: MakeTable) -> None:
    """Kafka, managed and Druid tables in one statement, and records as rows of the others."""
    rows = [{"day": "2024-01-01 00:00:00", "k": k, "n": n} for n, k in enumerate("abab")]
    name = table(topics.new(rows, partitions=2), "day timestamp, k string, n bigint")
    run(session, "CREATE TABLE names (k string, whole string)")
    run(session, "INSERT INTO names VALUES ('a', 'Anna'), ('b', 'Bert')")
    druid = f"d_{name}"
    run(
        session,
        f"CREATE EXTERNAL TABLE {druid} STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false') AS"
        f" SELECT day AS `__time`, k, n FROM {name}",
    )
    try:
        run(session, f"INSERT INTO names SELECT k, CAST(n AS string) FROM {name} WHERE n = 3")
        run(session, f"INSERT INTO {druid} SELECT day, 'c', n + 10 FROM {name} WHERE `__offset` = 0")
        assert values(session, f"SELECT k, sum(n) FROM {druid} GROUP BY k ORDER BY k") == [
            ("a", 2),
            ("b", 4),
            ("c", 21),
        ]
        assert values(session, "SELECT k, whole FROM names ORDER BY k, whole") == [
            ("a", "Anna"),
            ("b", "3"),
            ("b", "Bert"),
        ]
        joined = (
            f"SELECT m.whole, t.n, d.n AS again FROM {name} t JOIN names m ON t.k = m.k JOIN {druid} d ON d.n = t.n"
        )
        assert values(session, f"{joined} WHERE m.whole <> '3' ORDER BY t.n") == [
            ("Anna", 0, 0), ("Bert", 1, 1), ("Anna", 2, 2), ("Bert", 3, 3),
        ]  # fmt: skip
        union = f"SELECT n FROM {name} WHERE `__partition` = 0 UNION ALL SELECT n FROM {druid} WHERE k = 'c'"
        assert sorted(values(session, union)) == [(0,), (2,), (10,), (11,)]
        run(session, f"CREATE VIEW v AS SELECT k, count(*) AS many FROM {name} GROUP BY k")
        assert values(session, "SELECT * FROM v ORDER BY k") == [("a", 2), ("b", 2)]
        with pytest.raises(UnsupportedError, match="Kafka"):
            run(session, f"CREATE MATERIALIZED VIEW mv AS SELECT k, count(*) AS many FROM {name} GROUP BY k")
    finally:
        run(session, f"DROP TABLE {druid} PURGE")


def test_refusals(session: Session, topics: Topics, table: MakeTable) -> None:
    name = table(topics.new(), "n bigint", kafka_serde_class="org.apache.hadoop.hive.serde2.RegexSerDe")
    topics.send(name, b"x")
    topics.producer.flush()
    with pytest.raises(UnsupportedError, match=r"kafka\.serde\.class org\.apache.*RegexSerDe is not supported"):
        run(session, f"SELECT n FROM {name}")


def test_no_topic_and_no_kafka(session: Session, table: MakeTable) -> None:
    name = table("no_such_topic", "n bigint", kafka_topic_check="off")
    with pytest.raises(KafkaError, match="topic 'no_such_topic' does not exist"):
        run(session, f"SELECT n FROM {name}")
    assert offsets(session, f"SELECT n FROM {name}").startswith("unknown: topic 'no_such_topic' does not exist")
    run(session, f"ALTER TABLE {name} SET TBLPROPERTIES ('kafka.bootstrap.servers' = '127.0.0.1:1')")
    with pytest.raises(ConnectError, match="cannot reach Kafka at"):
        run(session, f"SELECT n FROM {name}")
    assert offsets(session, f"SELECT n FROM {name}").startswith("unknown: cannot reach Kafka at 127.0.0.1:1")


def test_records_that_expire_before_they_are_read(session: Session, topics: Topics, table: MakeTable) -> None:
    """The result is never shorter: the statement fails."""
    topic = topics.new([{"n": n} for n in range(6)])
    name = table(topic, "n bigint")
    place = kafka_python().TopicPartition(topic, 0)
    session.on_plan = lambda _: topics.admin.delete_records({place: 4})
    with pytest.raises(SparkError, match=rf"records of topic {topic} are gone"):
        run(session, f"SELECT n FROM {name}")
    session.on_plan = None
    assert values(session, f"SELECT n FROM {name} ORDER BY n") == [(4,), (5,)]


def test_a_large_record(session: Session, topics: Topics, table: MakeTable) -> None:
    topic = topics.new(configs={"max.message.bytes": "30000000"})
    producer = kafka_python().KafkaProducer(bootstrap_servers=topics.bootstrap, max_request_size=30_000_000)
    producer.send(topic, b'{"s": "%s"}' % (b"x" * 20_000_000)).get(timeout=60)
    producer.close()
    name = table(topic, "s string")
    assert values(session, f"SELECT length(s), substr(s, -2) FROM {name}") == [(20_000_000, "xx")]


def test_insert(session: Session, topics: Topics, table: MakeTable) -> None:
    """Keys, partitions and times come from the metadata columns; without them Kafka chooses."""
    name = table(topics.new(partitions=2), "k string, n bigint, t timestamp, l array<int>, s struct<Inside:string>")
    row = "'a', 1, timestamp '2024-01-02 03:04:05.5', array(1, 2), named_struct('Inside', 'x')"
    run(session, f"INSERT INTO {name} SELECT {row}, CAST('key' AS binary), 1, 99, {NOON}")
    run(session, f"INSERT INTO {name} (k, n, `__partition`) VALUES ('b', NULL, 0), ('c', 3, 0)")
    run(
        session,
        f"INSERT INTO {name} (k, n, `__partition`, `__timestamp`) SELECT k, n + 10, 0, -1 FROM {name} WHERE n = 3",
    )
    columns = "k, n, CAST(t AS string), l[1], s.Inside, CAST(`__key` AS string), `__partition`"
    assert values(session, f"SELECT {columns} FROM {name} ORDER BY k, n") == [
        ("a", 1, "2024-01-02 03:04:05.5", 2, "x", "key", 1),
        ("b", None, None, None, None, None, 0),
        ("c", 3, None, None, None, None, 0),
        ("c", 13, None, None, None, None, 0),
    ]
    assert values(session, f"SELECT `__timestamp` = {NOON} FROM {name} WHERE `__partition` = 1") == [(True,)]
    assert values(session, f"SELECT count(*) FROM {name} WHERE `__timestamp` > {NOON}") == [(3,)]


@pytest.mark.parametrize("serde", ["OpenCSVSerde", "lazy.LazySimpleSerDe"])
def test_insert_text(session: Session, topics: Topics, table: MakeTable, serde: str) -> None:
    name = table(topics.new(), "k string, n bigint", kafka_serde_class=f"org.apache.hadoop.hive.serde2.{serde}")
    run(session, f"""INSERT INTO {name} (k, n) VALUES ('a,"b"', 1)""")
    assert values(session, f"SELECT k, CAST(n AS int) AS n FROM {name}") == [('a,"b"', 1)]


def test_insert_refusals(session: Session, topics: Topics, table: MakeTable) -> None:
    name = table(topics.new(), "n bigint")
    with pytest.raises(UnsupportedError, match="INSERT OVERWRITE of a Kafka table is not supported"):
        run(session, f"INSERT OVERWRITE TABLE {name} (n) SELECT 1")
    absent = table("no_such_target", "n bigint", kafka_topic_check="off")
    with pytest.raises(KafkaError, match="topic 'no_such_target' does not exist"):
        run(session, f"INSERT INTO {absent} (n) VALUES (1)")
    with pytest.raises(SparkError, match=f"cannot write to topic {name}: .*partition"):
        run(session, f"INSERT INTO {name} (n, `__partition`) VALUES (1, 7)")
