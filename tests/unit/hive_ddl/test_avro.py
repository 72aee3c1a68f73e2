"""Columns from Avro schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivedruid.hive_ddl.avro import avro_columns


def of(kind: Any) -> list[tuple[str, str]]:
    return avro_columns(json.dumps({"type": "record", "name": "r", "fields": [{"name": "A", "type": kind}]}))


@pytest.mark.parametrize(
    ("avro", "hive"),
    [
        ("boolean", "BOOLEAN"),
        ("int", "INT"),
        ("long", "BIGINT"),
        ("string", "STRING"),
        (["null", "double"], "DOUBLE"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "BIGINT"),
        ({"type": "enum", "name": "e", "symbols": ["x"]}, "STRING"),
        ({"type": "array", "items": "float"}, "ARRAY<FLOAT>"),
        ({"type": "map", "values": ["null", "bytes"]}, "MAP<STRING, BINARY>"),
        ({"type": "record", "name": "s", "fields": [{"name": "B", "type": "int"}]}, "STRUCT<`b`: INT>"),
    ],
)
def test_types(avro: Any, hive: str) -> None:
    assert of(avro) == [("a", hive)]


@pytest.mark.parametrize("avro", ["null", "nope", ["null", "int", "long"], {"name": "x"}, 3, None])
def test_what_hive_has_no_type_for_gives_no_columns(avro: Any) -> None:
    assert of(avro) == []


@pytest.mark.parametrize("text", ["", "{broken", '"string"', "[]", "{}", '{"fields": 1}', "[" * 100_000])
def test_what_is_no_schema_gives_no_columns(text: str) -> None:
    assert avro_columns(text) == []
