"""Columns of Avro schemas: those of Hive's AvroSerDe."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivedruid.catalog.avro import holds, parse_schema
from hivedruid.catalog.types import BIGINT, DOUBLE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, decimal
from hivedruid.errors import SemanticError, UnsupportedError


def record(kind: Any, **more: Any) -> str:
    return json.dumps(
        {"type": "record", "name": "R", "namespace": "n", "fields": [{"name": "X", "type": kind, **more}]}
    )


@pytest.mark.parametrize(
    ("kind", "hive"),
    [
        ("null", "void"),
        (["null", "float"], "float"),
        (["string", "null"], "string"),
        ([{"type": "int", "logicalType": "date"}], "date"),
        ({"type": "int", "logicalType": "time-millis"}, "int"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "timestamp"),
        ({"type": "long", "logicalType": "timestamp-micros"}, "bigint"),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, "bigint"),
        ({"type": "string", "logicalType": "uuid"}, "string"),
        ({"type": "string", "logicalType": "varchar", "maxLength": 5}, "varchar(5)"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}, "decimal(10,2)"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4}, "decimal(4,0)"),
        ({"type": "fixed", "name": "F", "size": 2}, "binary"),
        ({"type": {"type": "array", "items": {"type": "map", "values": ["null", "int"]}}}, "array<map<string,int>>"),
        (
            {"type": "record", "name": "S", "fields": [
                {"name": "A", "type": {"type": "enum", "name": "E", "symbols": ["a"]}}, {"name": "b", "type": "E"},
                {"name": "c", "type": "n.E"}]},
            "struct<a:string,b:string,c:string>",
        ),
        (["int", "string"], "struct<tag_0:int,tag_1:string>"),
        (["int", "null", {"type": "array", "items": ["bytes", "float"]}],
            "struct<tag_0:int,tag_1:array<struct<tag_0:binary,tag_1:float>>>"),
        (["long", "null", "int"], "bigint"),
        (["float", "double"], "double"),
        (["int", "double"], "struct<tag_0:int,tag_1:double>"),
    ],
)  # fmt: skip
def test_columns(kind: Any, hive: str) -> None:
    (column,) = parse_schema(record(kind, doc="a remark")).columns
    assert (column.name, str(column.type), column.comment) == ("x", hive, "a remark")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "invalid Avro schema: Expecting value"),
        ('"string"', "invalid Avro schema: it is not a record"),
        ('{"type": "record"}', "invalid Avro schema"),
        (record("nothing"), "the type 'nothing' of field 'X' is not defined"),
        (record({"type": "bytes", "logicalType": "decimal"}), "invalid Avro schema"),
    ],
)
def test_refused_schemas(text: str, message: str) -> None:
    with pytest.raises(SemanticError, match=message):
        parse_schema(text)


@pytest.mark.parametrize("kind", ["R", ["null", "n.R"], {"type": "array", "items": ["int", "R"]}])
def test_recursive_types(kind: Any) -> None:
    """Hive refuses them, too."""
    inner = {"type": "record", "name": "S", "fields": [{"name": "next", "type": kind}]}
    with pytest.raises(UnsupportedError, match=r"field 'X\.next' .* has the type '(n\.)?R', which contains it"):
        parse_schema(record(inner))


def test_types_that_hold_every_value() -> None:
    def node(kind: Any) -> Any:
        return parse_schema(record(kind)).record.children[0]

    millis = node({"type": "long", "logicalType": "timestamp-millis"})
    money = node({"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2})
    assert holds(BIGINT, node("int"))
    assert holds(DOUBLE, node("float"))
    assert holds(TIMESTAMP_LTZ, millis)
    assert holds(BIGINT, millis)
    assert holds(decimal(12, 3), money)
    assert not holds(decimal(10, 3), money)
    assert not holds(INT, node("long"))
    assert not holds(STRING, node("long"))
    assert not holds(TIMESTAMP, node("long"))
    assert not holds(TIMESTAMP_LTZ, node({"type": "long", "logicalType": "local-timestamp-micros"}))
