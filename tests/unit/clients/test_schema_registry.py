"""The schemas of a registry, with the schemas that they refer to, from a real HTTP server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivedruid.catalog.avro import parse_schema
from hivedruid.clients.schema_registry import latest_schema, schemas_of
from hivedruid.errors import ExecutionError
from tests.support.schema_registry import Stored, registry


def record(name: str, *fields: tuple[str, Any]) -> str:
    return json.dumps({"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields]})


def columns(text: str) -> list[str]:
    return [f"{column.name} {column.type}" for column in parse_schema(text).columns]


ADDRESS = Stored(record("Address", ("city", "City")), (("City", "geo/city", 2),))
ORDER = Stored(record("Order", ("to", "Address"), ("of", ["null", "City"])), (
    ("Address", "address", 1), ("City", "geo/city", 7)))  # fmt: skip
VERSIONS: dict[tuple[str, int], str | Stored] = {
    ("address", 1): ADDRESS,
    ("geo/city", 2): record("City", ("zip", "int")),
    ("geo/city", 7): record("City", ("name", "string")),
}


def test_references(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the versions that the schemas name; the first version of a type counts. Each is requested once, with
    the credentials of the table."""
    monkeypatch.setenv("REGISTRY_LOGIN", "me:pass")
    paths: list[str] = []
    with registry({5: ORDER, 6: ADDRESS}, "me:pass", versions=VERSIONS, paths=paths) as url:
        properties = {"avro.schema.registry.url": f"{url}/", "avro.schema.registry.credentials": "env:REGISTRY_LOGIN"}
        for _ in range(2):
            found = schemas_of(properties, [5, 6, 9], {})
            assert {number: columns(text) for number, text in found.items()} == {
                5: ["to struct<city:struct<zip:int>>", "of struct<zip:int>"], 6: ["city struct<zip:int>"],
            }  # fmt: skip
    assert paths == [
        "/schemas/ids/5", "/subjects/address/versions/1?deleted=true", "/subjects/geo%2Fcity/versions/2?deleted=true",
        "/schemas/ids/6", "/schemas/ids/9", "/schemas/ids/9",
    ]  # fmt: skip


def test_the_latest_schema() -> None:
    with registry({}, latest={"shop-value": ADDRESS}, versions=VERSIONS) as url:
        properties = {"avro.schema.registry.url": url, "kafka.topic": "shop"}
        assert columns(latest_schema(properties, {})) == ["city struct<zip:int>"]


def test_errors() -> None:
    broken: dict[tuple[str, int], str | Stored] = {("address", 1): ADDRESS, ("geo/city", 2): "{}"}
    with registry({1: ADDRESS, 2: Stored(ADDRESS.schema, (("City", "geo/city", 3),))}, versions=broken) as url:
        properties = {"avro.schema.registry.url": url}
        with pytest.raises(ExecutionError, match=rf"schema 1 of the registry at {url}: invalid Avro schema"):
            schemas_of(properties, [1], {})
        with pytest.raises(
            ExecutionError,
            match=rf"schema 2 of the registry at {url} refers to version 3 of subject 'geo/city', which the registry does",
        ):
            schemas_of(properties, [2], {})
