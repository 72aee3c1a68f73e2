"""Kafka tables of Avro records, on a real Kafka."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.errors import ConnectError, ExecutionError, SparkError, UnsupportedError
from hivedruid.session import Session
from tests.integration.test_goldens import settings
from tests.support import avro
from tests.support.kafka_tables import KafkaTables
from tests.support.schema_registry import registry

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark


@pytest.fixture
def tables(cluster: Cluster, topics: Topics, tmp_path: Path) -> Iterator[KafkaTables]:
    notes: list[str] = []
    with Session(tmp_path / "home", hiveconf=settings(cluster), note=notes.append) as session:
        yield KafkaTables(session, topics, notes)


def schema(*fields: tuple[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "R", "fields": [{"name": n, "type": t} for n, t in fields]})


def optional(kind: Any) -> list[Any]:
    return ["null", kind]


EVERY_TYPE = schema(
    ("Flag", "boolean"),
    ("i", "int"),
    ("l", "long"),
    ("d", "double"),
    ("raw", "bytes"),
    ("s", optional("string")),
    ("e", {"type": "enum", "name": "E", "symbols": ["A", "B"]}),
    ("fx", {"type": "fixed", "name": "F", "size": 2}),
    ("a", {"type": "array", "items": optional("int")}),
    ("m", {"type": "map", "values": "F"}),
    ("r", optional({"type": "record", "name": "S", "fields": [{"name": "Q", "type": "int"}, {"name": "z", "type": "E"}]})),
    ("day", {"type": "int", "logicalType": "date"}),
    ("ms", {"type": "long", "logicalType": "timestamp-millis"}),
    ("us", {"type": "long", "logicalType": "timestamp-micros"}),
    ("dec", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}),
)  # fmt: skip
RECORD = b"".join((
    b"\x01", avro.number(-3), avro.number(2**40), avro.double(1.5), avro.text(b"\x00\xff"), avro.some(avro.text("é")),
    avro.number(1), b"hi", avro.array([avro.some(avro.number(7)), avro.NONE]), avro.mapping({"k": b"ab"}),
    avro.some(avro.number(5) + avro.number(0)), avro.number(19724), avro.number(1_704_164_645_500),
    avro.number(1_704_164_645_500_001), avro.text((-1234).to_bytes(2, "big", signed=True)),
))  # fmt: skip
MOMENT = datetime(2024, 1, 2, 3, 4, 5, 500000)
VALUES = (
    True, -3, 2**40, 1.5, b"\x00\xff", "é", "B", b"hi", [7, None], {"k": b"ab"}, {"q": 5, "z": "A"}, date(2024, 1, 2),
    MOMENT, 1_704_164_645_500_001, Decimal("-12.34"),
)  # fmt: skip


def test_columns_of_the_schema(tables: KafkaTables) -> None:
    """As in Hive, the columns are those of the schema, if the table has none, and timestamp-micros is a BIGINT."""
    name = tables.create(tables.topics.new([RECORD]), "", "avro.AvroSerDe", avro_schema_literal=EVERY_TYPE)
    described = tables.values(f"DESCRIBE {name}")[:15]
    assert [tuple(str(cell).strip() for cell in row[:2]) for row in described] == [
        ("flag", "boolean"), ("i", "int"), ("l", "bigint"), ("d", "double"), ("raw", "binary"), ("s", "string"),
        ("e", "string"), ("fx", "binary"), ("a", "array<int>"), ("m", "map<string,binary>"),
        ("r", "struct<q:int,z:string>"), ("day", "date"), ("ms", "timestamp"), ("us", "bigint"), ("dec", "decimal(10,2)"),
    ]  # fmt: skip
    columns = ", ".join(row[0].strip() for row in described)
    assert tables.values(f"SELECT {columns}, `__offset` FROM {name}") == [(*VALUES, 0)]


def test_columns_of_the_table(tables: KafkaTables) -> None:
    """Declared columns match fields by name; a type must hold every value of the field."""
    columns = "ms bigint, i bigint, us timestamp, r struct<z:string,Q:int>, dec decimal(12,3), e varchar(1), more int"
    name = tables.create(tables.topics.new([RECORD]), columns, "avro.AvroSerDe", avro_schema_literal=EVERY_TYPE)
    assert tables.values(f"SELECT ms, i, us, r, dec, e, more FROM {name}") == [
        (1_704_164_645_500, -3, MOMENT.replace(microsecond=500001), {"z": "A", "q": 5}, Decimal("-12.340"), "B", None)
    ]
    narrow = tables.create(tables.topics.new([RECORD]), "l int", "avro.AvroSerDe", avro_schema_literal=EVERY_TYPE)
    with pytest.raises(UnsupportedError, match=r"column l of .* is int, but its Avro schema has the type bigint"):
        tables.run(f"SELECT l FROM {narrow}")


SMALL = schema(("n", "long"), ("s", "string"))
SEVEN = avro.number(7) + avro.text("x")


@pytest.mark.parametrize("record", [b"", b"\x0e", b"\x0e\x08xx", b"\xff" * 12])
def test_malformed_records(tables: KafkaTables, record: bytes) -> None:
    name = tables.create(tables.topics.new([SEVEN, record]), "", "avro.AvroSerDe", avro_schema_literal=SMALL)
    with pytest.raises(SparkError, match="partition 0, offset 1: not a valid Avro record of its schema"):
        tables.run(f"SELECT count(*) FROM {name}")
    tables.set(name, hivedruid_malformed_rows="null")
    assert tables.values(f"SELECT n, s, `__offset` FROM {name}") == [(7, "x", 0), (None, None, 1)]
    tables.set(name, hivedruid_malformed_rows="skip")
    assert tables.values(f"SELECT n, s FROM {name}") == [(7, "x")]
    assert any(note.startswith("skipped 1 malformed record of ") for note in tables.notes)


def test_framing(tables: KafkaTables, tmp_path: Path) -> None:
    """The bytes before a record are skipped; the schema may be in a file; a tombstone has nulls."""
    url = tmp_path / "small.avsc"
    url.write_text(SMALL, encoding="utf-8")
    topic = tables.topics.new([avro.confluent(9, SEVEN)])
    tables.topics.producer.send(topic, None, key=b"k", partition=0)
    tables.topics.producer.flush()
    name = tables.create(topic, "s string", "avro.AvroSerDe", avro_schema_url=str(url), avro_serde_type="confluent")
    assert tables.values(f"SELECT s, `__offset` FROM {name} ORDER BY 2") == [("x", 0), (None, 1)]
    tables.set(name, avro_serde_type="skip", avro_serde_skip_bytes="5")
    assert tables.values(f"SELECT s FROM {name} WHERE `__offset` = 0") == [("x",)]
    tables.topics.send(topic, b"\x01\x00\x00\x00\x09" + SEVEN)
    tables.topics.send(topic, b"\x00\x00")
    tables.topics.producer.flush()
    tables.set(name, avro_serde_type="confluent", hivedruid_malformed_rows="skip")
    assert tables.values(f"SELECT count(*), count(s) FROM {name}") == [(2, 1)]
    assert any("skipped 2 malformed records" in n and "not in Confluent's wire format" in n for n in tables.notes)


def test_insert(tables: KafkaTables) -> None:
    """The bytes are those of Avro's encoding; a field that cannot be null fails the statement."""
    topic = tables.topics.new([RECORD])
    name = tables.create(topic, "", "avro.AvroSerDe", avro_schema_literal=EVERY_TYPE)
    columns = "flag, i, l, d, raw, s, e, fx, a, m, r, day, ms, us, dec"
    tables.run(f"INSERT INTO {name} ({columns}) SELECT {columns} FROM {name}")
    assert tables.values(f"SELECT {columns} FROM {name}") == [VALUES, VALUES]
    raw = tables.topics.values(topic)
    assert raw == [RECORD, RECORD]
    with pytest.raises(SparkError, match=r"null value for field .Flag."):
        tables.run(f"INSERT INTO {name} (i) VALUES (1)")
    tables.set(name, avro_serde_type="confluent")
    with pytest.raises(UnsupportedError, match=r"avro\.serde\.type is confluent"):
        tables.run(f"INSERT INTO {name} (i) VALUES (1)")


def test_schema_registry(tables: KafkaTables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each record is read by the schema that wrote it."""
    wider = json.dumps({**json.loads(schema(("more", "int"), ("S", optional("string")), ("n", "int")))})
    other = avro.number(1) + avro.some(avro.text("y")) + avro.number(8)
    records = [avro.confluent(1, SEVEN), avro.confluent(2**31 + 5, other), avro.confluent(1, SEVEN)]
    topic = tables.topics.new(records)
    tables.topics.producer.send(topic, None, key=b"k", partition=0)
    tables.topics.producer.flush()
    monkeypatch.setenv("REGISTRY_LOGIN", "me:pass:word")
    with registry({1: SMALL, 2**31 + 5: wider}, "me:pass:word") as url:
        name = tables.create(topic, "n bigint, s string, more int", "avro.AvroSerDe", avro_schema_registry_url=url)
        with pytest.raises(ExecutionError, match="refuses schema 1: HTTP status 401"):
            tables.run(f"SELECT n FROM {name}")
        tables.set(name, avro_schema_registry_credentials="env:REGISTRY_LOGIN")
        found = [(7, "x", None), (8, "y", 1), (7, "x", None), (None, None, None)]
        assert tables.values(f"SELECT n, s, more FROM {name} ORDER BY `__offset`") == found
        reader = {"name": "R", "type": "record", "fields": [
            {"name": "n", "type": "long"}, {"name": "more", "type": "int", "default": -1}]}  # fmt: skip
        tables.set(name, avro_schema_literal=json.dumps(reader))
        assert tables.values(f"SELECT n, more FROM {name} WHERE `__offset` < 3") == [(7, -1), (8, 1), (7, -1)]
        tables.topics.send(topic, avro.confluent(3, SEVEN))
        tables.topics.producer.flush()
        with pytest.raises(SparkError, match="offset 4: schema 3 is not in the registry"):
            tables.run(f"SELECT n FROM {name}")
        with pytest.raises(UnsupportedError, match=r"avro\.serde\.type is confluent"):
            tables.run(f"INSERT INTO {name} (n) VALUES (1)")
    tables.set(name, avro_schema_registry_url="http://127.0.0.1:1")
    with pytest.raises(ConnectError, match="cannot reach the schema registry"):
        tables.run(f"SELECT n FROM {name}")
