"""Columns of Kafka tables from the schemas of Avro records: of a file, of a schema registry, of the newest records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.errors import ConnectError, ExecutionError, SemanticError, SparkError, UnsupportedError
from hivedruid.session import Session
from tests.integration.test_goldens import settings
from tests.support import avro
from tests.support.kafka_tables import SERDES, KafkaTables
from tests.support.schema_registry import Stored, registry
from tests.support.web_server import web_server

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark
REGISTRY = "avro.schema.registry.url"
AVRO = "avro.AvroSerDe"


@pytest.fixture
def tables(cluster: Cluster, topics: Topics, tmp_path: Path) -> Iterator[KafkaTables]:
    with Session(tmp_path / "home", hiveconf=settings(cluster), note=lambda _: None) as session:
        yield KafkaTables(session, topics)


def schema(*fields: tuple[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "R", "fields": [{"name": n, "type": t} for n, t in fields]})


def columns(tables: KafkaTables, name: str) -> list[tuple[str, str]]:
    """The columns of a table, without those of every record."""
    rows = [tuple(str(cell).strip() for cell in row[:2]) for row in tables.values(f"DESCRIBE {name}")]
    return rows[: rows.index(("__key", "binary"))]  # type: ignore[return-value]


def like(tables: KafkaTables, topic: str, name: str, **properties: str) -> str:
    """CREATE EXTERNAL TABLE … LIKE TOPIC."""
    given = {"kafka.bootstrap.servers": tables.topics.bootstrap, "kafka.serde.class": SERDES + AVRO}
    given |= {key.replace("_", "."): value for key, value in properties.items()}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    return f"CREATE EXTERNAL TABLE {name} LIKE TOPIC '{topic}' TBLPROPERTIES ({pairs})"


OLD = schema(("n", "int"), ("Gone", "string"))
NEW = schema(("n", "long"), ("s", ["null", "string"]))
OF_OLD = avro.confluent(4, avro.number(1) + avro.text("x"))
OF_NEW = avro.confluent(70_000, avro.number(2**40) + avro.some(avro.text("y")))


def test_schema_in_a_file(tables: KafkaTables, tmp_path: Path) -> None:
    """As in Hive, avro.schema.url is enough; each statement reads the file."""
    url = tmp_path / "orders.avsc"
    url.write_text(OLD, encoding="utf-8")
    topic = tables.topics.new([OF_OLD[5:]])
    name = tables.create(topic, "", AVRO, avro_schema_url=str(url))
    assert columns(tables, name) == [("n", "int"), ("gone", "string")]
    tables.run(like(tables, topic, "same", avro_schema_url=url.as_uri(), avro_schema_literal="none"))
    assert tables.values("SELECT n, gone FROM same") == [(1, "x")]
    tables.run(like(tables, topic, "literal", avro_schema_literal=OLD))
    assert tables.values("SELECT n, gone FROM literal") == [(1, "x")]
    with pytest.raises(ExecutionError, match=r"cannot read avro\.schema\.url of nowhere: .*missing\.avsc"):
        tables.run(like(tables, topic, "nowhere", avro_schema_url=str(tmp_path / "missing.avsc")))
    url.write_text(schema(("a", ["null", "R"])), encoding="utf-8")
    with pytest.raises(UnsupportedError, match="field 'a' of the Avro schema has the type 'R', which contains it"):
        tables.run(like(tables, topic, "tree", avro_schema_url=str(url)))


def test_schema_of_a_server(tables: KafkaTables, tmp_path: Path) -> None:
    """Each statement reads avro.schema.url, also INSERT."""
    url = tmp_path / "orders.avsc"
    url.write_text(OLD, encoding="utf-8")
    with web_server(tmp_path) as server:
        name = tables.create(tables.topics.new([OF_OLD[5:]]), "", AVRO, avro_schema_url=f"{server}/orders.avsc")
        assert columns(tables, name) == [("n", "int"), ("gone", "string")]
        tables.run(f"INSERT INTO {name} (n, gone) VALUES (2, 'y')")
        assert tables.values(f"SELECT n, gone FROM {name} ORDER BY n") == [(1, "x"), (2, "y")]
        url.write_text("{}", encoding="utf-8")
        with pytest.raises(SemanticError, match=rf"invalid Avro schema .*{name}: {server}/orders\.avsc"):
            tables.run(f"SELECT n FROM {name}")
    for statement in (f"SELECT n FROM {name}", f"INSERT INTO {name} (n, gone) VALUES (3, 'z')"):
        with pytest.raises(ConnectError, match="cannot be reached"):
            tables.run(statement)
    with pytest.raises(SemanticError, match=r"the value of 'avro\.schema\.url' contains a password"):
        tables.set(name, avro_schema_url="https://me:pass@host/orders.avsc")


def test_schema_of_a_registry(tables: KafkaTables, monkeypatch: pytest.MonkeyPatch) -> None:
    """The latest schema of the subject `topic-value`."""
    topic = tables.topics.new([OF_NEW])
    monkeypatch.setenv("REGISTRY_LOGIN", "me:pass")
    with registry({70_000: NEW}, "me:pass", {f"{topic}-value": NEW}) as url:
        with pytest.raises(ExecutionError, match=r"refuses the schema of subject '.*-value': HTTP status 401"):
            tables.create(topic, "", AVRO, avro_schema_registry_url=url)
        login = {"avro_schema_registry_url": url, "avro_schema_registry_credentials": "env:REGISTRY_LOGIN"}
        name = tables.create(topic, "", AVRO, **login)
        assert columns(tables, name) == [("n", "bigint"), ("s", "string")]
        assert tables.values(f"SELECT n, s FROM {name}") == [(2**40, "y")]
        pairs = f"'kafka.bootstrap.servers' = 'h:1', 'kafka.serde.class' = '{SERDES}{AVRO}', '{REGISTRY}' = '{url}'"
        with pytest.raises(SemanticError, match=r"Set Table property kafka\.topic"):
            tables.run(f"CREATE EXTERNAL TABLE x STORED BY 'kafka' TBLPROPERTIES ({pairs})")
        other = tables.topics.new()
        with pytest.raises(ExecutionError, match=f"has no subject '{other}-value'"):
            tables.create(other, "", AVRO, **login)


def test_schemas_of_the_records(tables: KafkaTables) -> None:
    """LIKE TOPIC: the fields of the schemas of all sampled records, with types that hold their values."""
    topic = tables.topics.new([OF_OLD, OF_NEW, OF_OLD], partitions=2)
    with registry({4: OLD, 70_000: NEW}) as url:
        create = like(tables, topic, "t", avro_schema_registry_url=url)
        explained = "\n".join(str(row["Explain"]) for row in tables.run(f"EXPLAIN {create}"))
        assert "columns: n bigint, s string, gone string, __key binary," in explained
        assert url in explained
        tables.run(create)
        found = tables.values("SELECT n, s, gone FROM t ORDER BY n, `__partition`")
        assert found == [(1, None, "x"), (1, None, "x"), (2**40, "y", None)]
    with (
        registry({4: schema(("n", "string")), 70_000: NEW}) as url,
        pytest.raises(SemanticError, match="have different types for field 'n': bigint, string"),
    ):
        tables.run(like(tables, topic, "u", avro_schema_registry_url=url))
    with (
        registry({}) as url,
        pytest.raises(SemanticError, match="or the registry does not have their schemas"),
    ):
        tables.run(like(tables, topic, "u", avro_schema_registry_url=url))
    with pytest.raises(SemanticError, match="no Avro schema is specified"):
        tables.run(like(tables, topic, "u"))


def test_empty_topic(tables: KafkaTables) -> None:
    """LIKE TOPIC without records: the latest schema of the subject."""
    topic = tables.topics.new()
    with registry({}, latest={f"{topic}-value": NEW}) as url:
        tables.run(like(tables, topic, "t", avro_schema_registry_url=url))
    assert columns(tables, "t") == [("n", "bigint"), ("s", "string")]


UNIONS = schema(
    ("u", ["int", "null", "string", {"type": "record", "name": "S", "fields": [{"name": "Q", "type": "int"}]}]),
    ("a", {"type": "array", "items": ["long", "int", "null"]}),
    ("m", {"type": "map", "values": ["boolean", "double"]}),
)
RECORDS = [
    avro.number(0) + avro.number(7) + avro.array([avro.number(1) + avro.number(5), avro.number(0) + avro.number(2**40)])
    + avro.mapping({"k": avro.some(avro.double(0.5))}),
    avro.number(2) + avro.text("x") + avro.array([avro.number(2)]) + avro.mapping({"k": avro.number(0) + b"\x01"}),
    avro.number(3) + avro.number(9) + avro.array([]) + avro.mapping({}),
    avro.number(1) + avro.array([]) + avro.mapping({}),
]  # fmt: skip


def test_unions(tables: KafkaTables) -> None:
    """A union of several types is the struct that Hive's extract_union returns; of two sizes of integers, the larger."""
    name = tables.create(tables.topics.new(RECORDS), "", AVRO, avro_schema_literal=UNIONS)
    assert columns(tables, name) == [
        ("u", "struct<tag_0:int,tag_1:string,tag_2:struct<q:int>>"), ("a", "array<bigint>"),
        ("m", "map<string,struct<tag_0:boolean,tag_1:double>>"),
    ]  # fmt: skip
    assert tables.values(f"SELECT u, a, m FROM {name} ORDER BY `__offset`") == [
        ({"tag_0": 7, "tag_1": None, "tag_2": None}, [5, 2**40], {"k": {"tag_0": None, "tag_1": 0.5}}),
        ({"tag_0": None, "tag_1": "x", "tag_2": None}, [None], {"k": {"tag_0": True, "tag_1": None}}),
        ({"tag_0": None, "tag_1": None, "tag_2": {"q": 9}}, [], {}),
        (None, [], {}),
    ]
    assert tables.values(f"SELECT u.tag_2.q FROM {name} WHERE u.tag_0 IS NULL AND u.tag_1 IS NULL") == [(9,), (None,)]


def test_unions_are_written(tables: KafkaTables) -> None:
    """Each record as it was read; a struct with several values is none of them."""
    source = tables.create(tables.topics.new(RECORDS), "", AVRO, avro_schema_literal=UNIONS)
    name = tables.create(tables.topics.new([]), "", AVRO, avro_schema_literal=UNIONS)
    tables.run(f"INSERT INTO {name} (u, a, m) SELECT u, a, m FROM {source}")
    rows = "SELECT u, a, m FROM {} ORDER BY u.tag_0, u.tag_1, u.tag_2.q"
    assert tables.values(rows.format(name)) == tables.values(rows.format(source))
    several = "named_struct('tag_0', 1, 'tag_1', 'x', 'tag_2', u.tag_2)"
    with pytest.raises(SparkError, match=r"more than one field of a union is not NULL: {.tag_0.:1,.tag_1.:.x."):
        tables.run(f"INSERT INTO {name} (u, a, m) SELECT {several}, a, m FROM {source}")
    assert tables.values(f"SELECT count(*) FROM {name}") == [(4,)]


NUMBERS = schema(
    ("i", ["null", "int"]), ("l", ["null", "int"]), ("d", ["null", "int"]),
    ("p", ["null", {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}]),
    ("s", ["null", {"type": "string", "logicalType": "varchar", "maxLength": 2}]),
    ("f", ["null", "float"]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("column", "fits", "unfit"),
    [
        ("l", 2**31 - 1, 2**31), ("l", None, -(2**40)), ("d", "2.0D", "2.5D"), ("p", "999.9", "1000"),
        ("p", "0.5", "0.55"), ("s", "'ab'", "'abc'"),
    ],
)  # fmt: skip
def test_a_number_that_its_field_does_not_hold_is_not_written_as_another(
    tables: KafkaTables, column: str, fits: object, unfit: object
) -> None:
    """Wider columns hold every value of their fields, but not the other way round; Spark's casts wrap or round."""
    columns = "i INT, l BIGINT, d DOUBLE, p DECIMAL(9, 2), s STRING, f DOUBLE"
    name = tables.create(tables.topics.new([]), columns, AVRO, avro_schema_literal=NUMBERS)
    value = "NULL" if fits is None else fits
    tables.run(f"INSERT INTO {name} (i, {column}, f) SELECT 7, {value}, 0.5D")
    with pytest.raises(SparkError, match=r"cannot write an Avro record: .* does not fit the type"):
        tables.run(f"INSERT INTO {name} (i, {column}, f) SELECT 7, {unfit}, 0.5D")
    assert tables.values(f"SELECT i, {column} IS NULL, f FROM {name}") == [(7, fits is None, 0.5)]


def test_unions_in_a_registry(tables: KafkaTables) -> None:
    """The schema refers to another one."""
    topic = tables.topics.new([avro.confluent(1, record) for record in RECORDS])
    (inner,) = (each for each in json.loads(UNIONS)["fields"][0]["type"] if isinstance(each, dict))
    whole = Stored(UNIONS.replace(json.dumps(inner), '"S"'), (("S", "inner", 3),))
    with registry({1: whole}, versions={("inner", 3): json.dumps(inner)}) as url:
        tables.run(like(tables, topic, "t", avro_schema_registry_url=url))
        assert tables.values("SELECT u.tag_0, u.tag_1, u.tag_2.q FROM t WHERE `__offset` < 3 ORDER BY `__offset`") == [
            (7, None, None), (None, "x", None), (None, None, 9)]  # fmt: skip
