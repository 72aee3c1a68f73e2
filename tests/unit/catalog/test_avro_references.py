"""Schemas with types of other schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivedruid.catalog.avro import parse_schema
from hivedruid.catalog.avro_references import self_contained
from hivedruid.errors import SemanticError, UnsupportedError


def record(name: str, *fields: tuple[str, Any], **more: str) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields], **more}


def columns(value: Any, *others: Any) -> list[tuple[str, str]]:
    found = parse_schema(self_contained(json.dumps(value), map(json.dumps, others))).columns
    return [(column.name, str(column.type)) for column in found]


KIND = {"type": "enum", "name": "Kind", "namespace": "a", "symbols": ["x"]}
ADDRESS = record("Address", ("city", "string"), ("kind", "Kind"), namespace="a")


def test_nested_references() -> None:
    """A type is defined where it is used first, and then named."""
    value = record(
        "Order", ("kind", ["null", "a.Kind"]), ("from", "Address"), ("to", ["Address", "null"]), namespace="a"
    )
    address = "struct<city:string,kind:string>"
    assert columns(value, KIND, ADDRESS) == [("kind", "string"), ("from", address), ("to", address)]
    assert columns(value, ADDRESS, KIND) == columns(value, KIND, ADDRESS)


def test_types_inside_of_other_schemas() -> None:
    """Also a type that another schema defines inside of a field can be used; it is defined once."""
    outer = record("Outer", ("inner", record("Inner", ("n", "int"))), namespace="b.c")
    maps = {"type": "map", "values": {"type": "array", "items": "b.c.Inner"}}
    value = record("R", ("m", maps), ("o", {"type": "b.c.Outer"}), ("mine", record("Inner", ("s", "string"))))
    assert columns(value, outer) == [
        ("m", "map<string,array<struct<n:int>>>"), ("o", "struct<inner:struct<n:int>>"), ("mine", "struct<s:string>"),
    ]  # fmt: skip


def test_names_without_a_namespace() -> None:
    value = record("R", ("a", "Plain"), ("b", "Plain"), namespace="x")
    assert columns(value, record("Plain", ("n", "int"))) == [("a", "struct<n:int>"), ("b", "struct<n:int>")]
    both = record("Plain", ("own", "long"), namespace="x")
    assert columns(value, record("Plain", ("n", "int")), both)[0] == ("a", "struct<own:bigint>")


def test_the_first_definition_counts() -> None:
    value = record("R", ("a", "P"))
    assert columns(value, record("P", ("one", "int")), record("P", ("two", "int"))) == [("a", "struct<one:int>")]


def test_errors() -> None:
    with pytest.raises(SemanticError, match="the type 'Gone' of field 'a' is not defined"):
        columns(record("R", ("a", "Gone")), KIND)
    with pytest.raises(UnsupportedError, match="recursive types are not supported"):
        columns(record("R", ("a", "One")), record("One", ("b", "Two")), record("Two", ("c", "One")))
    for text in ("x", '{"type": "record", "name": "R"}', '{"a": 1}', "7"):
        with pytest.raises(SemanticError, match="invalid Avro schema"):
            self_contained(text, ["{}"])
