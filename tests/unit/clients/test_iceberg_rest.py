"""A REST catalog that is not what it should be: its secrets stay with the configured addresses, and errors are errors."""

from __future__ import annotations

import json
import logging
import random
from typing import Any

import pytest

from hivedruid.catalog.iceberg_place import IcebergPlace
from hivedruid.clients import iceberg_rest
from hivedruid.clients.iceberg_catalog import IcebergNamespace
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, UsageError
from tests.unit.clients.conftest import Answer, Asked, Respond, Serve
from tests.unit.clients.test_newer_answers import with_new_keys

TOKEN = "canary-token-51"
CONFIG: dict[str, Any] = {"defaults": {}, "overrides": {}}
TABLES = {"identifiers": [{"namespace": ["shop"], "name": "Orders"}]}
METADATA = {
    "format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "s3://b/t",
    "last-sequence-number": 0, "last-updated-ms": 1602638573590, "last-column-id": 1, "current-schema-id": 0,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": True, "type": "long"}]}],
    "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999,
    "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
}  # fmt: skip
MISSING = {"error": {"message": "Namespace does not exist: shop", "type": "NoSuchNamespaceException", "code": 404}}


def catalog_at(url: str, monkeypatch: pytest.MonkeyPatch, **properties: str) -> IcebergNamespace:
    monkeypatch.setenv("CATALOG_TOKEN", TOKEN)
    given = {"uri": url, "token": "env:CATALOG_TOKEN", **properties}
    return IcebergNamespace(IcebergPlace("shop", "rest", "", ("shop",), tuple(given.items())), {})


def answering(tables: Any, config: Any = CONFIG) -> Respond:
    """`tables` is a response, or the value of a response."""

    def respond(asked: Asked) -> Answer:
        if asked.path.startswith("/v1/config"):
            return config if isinstance(config, Answer) else Answer(json.dumps(config).encode())
        if asked.path.endswith("/tables/orders"):
            return Answer(json.dumps(MISSING).encode(), 404)
        if asked.path.endswith("/tables/Orders"):
            return Answer(json.dumps({"metadata-location": "s3://b/m.json", "metadata": METADATA}).encode())
        return tables if isinstance(tables, Answer) else Answer(json.dumps(tables).encode())

    return respond


def test_tables(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve(answering(TABLES))
    catalog = catalog_at(served.url, monkeypatch)
    assert catalog.table_names() == ("orders",)
    table = catalog.table("orders")
    assert table is not None
    assert [column.name for column in table.columns] == ["x"]
    assert {asked.headers["Authorization"] for asked in served.asked} == {f"Bearer {TOKEN}"}
    assert catalog_at(serve(answering(Answer(json.dumps(MISSING).encode(), 404))).url, monkeypatch).table_names() == ()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("place", ["tables", "config"])
def test_a_redirect_to_another_server(serve: Serve, monkeypatch: pytest.MonkeyPatch, status: int, place: str) -> None:
    other = serve(answering(TABLES))
    moved = Answer(b"", status, {"Location": f"{other.url}/v1/stolen"})
    served = serve(answering(moved) if place == "tables" else answering(TABLES, moved))
    with pytest.raises(ExecutionError, match=rf"the answer of .* redirects to {other.url}, which is refused"):
        catalog_at(served.url, monkeypatch).table_names()
    assert other.asked == []


@pytest.mark.parametrize("part", ["defaults", "overrides"])
def test_a_configuration_that_names_another_server(serve: Serve, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """Defaults do not replace what is set."""
    other = serve(answering(TABLES))
    served = serve(answering(TABLES, {**CONFIG, part: {"uri": other.url}}))
    catalog = catalog_at(served.url, monkeypatch)
    if part == "defaults":
        assert catalog.table_names() == ("orders",)
    else:
        with pytest.raises(
            ExecutionError, match=rf"names another address, {other.url}, which does not get its secrets"
        ):
            catalog.table_names()
    assert other.asked == []


def test_a_token_endpoint_elsewhere(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the user names gets the credential; one that the catalog names does not. Never over plain http."""
    issued = Answer(json.dumps({"access_token": TOKEN, "token_type": "bearer"}).encode())
    other = serve(lambda _: issued)
    monkeypatch.setenv("CREDENTIAL", "me:canary-52")
    served = serve(answering(TABLES))
    given = {"credential": "env:CREDENTIAL", "oauth2-server-uri": f"{other.url}/token"}
    assert catalog_at(served.url, monkeypatch, **given).table_names() == ("orders",)
    assert {asked.path for asked in other.asked} == {"/token"}
    other.asked.clear()
    moving = serve(answering(TABLES, {**CONFIG, "overrides": {"oauth2-server-uri": f"{other.url}/token"}}))
    same = {"credential": "env:CREDENTIAL", "oauth2-server-uri": f"{served.url}/token"}
    served_token = serve(lambda _: issued)
    with pytest.raises(ExecutionError, match=rf"names another address, {other.url}"):
        catalog_at(moving.url, monkeypatch, **{**same, "oauth2-server-uri": served_token.url}).table_names()
    assert other.asked == []
    with pytest.raises(UsageError, match=r"would be sent to 192\.0\.2\.1 over plain http"):
        catalog_at(served.url, monkeypatch, **{**given, "oauth2-server-uri": "http://192.0.2.1/token"}).table_names()


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<!DOCTYPE html><title>Not found</title>", 404),
        Answer(b"", 404),
        Answer(b"{}", 404),
        Answer(b'{"error": "no"}', 404),
        Answer(b"[" * 100_000, 404),
        Answer(b"<html>Sign in</html>"),
        Answer(b"null"),
        Answer(b"[]"),
        Answer(b"[" * 100_000),
        Answer(b"{", cut=True),
    ],
    ids=lambda answer: f"{answer.status} {answer.body[:9]!r}",
)
def test_answers_of_others(serve: Serve, monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    """No such answer means that there are no tables."""
    for respond in (answering(answer), answering(TABLES, answer)):
        with pytest.raises(HiveDruidError) as raised:
            catalog_at(serve(respond).url, monkeypatch).table_names()
        assert isinstance(raised.value, ConnectError | ExecutionError)
        assert TOKEN not in str(raised.value)


def test_a_catalog_that_is_silent(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    monkeypatch.setattr(iceberg_rest, "TIMEOUT", 0.2)
    end = Event()

    def respond(asked: Asked) -> Answer:
        if not asked.path.startswith("/v1/config"):
            end.wait(30)
        return Answer(json.dumps(CONFIG).encode())

    try:
        with pytest.raises(ConnectError, match=r"cannot reach the Iceberg catalog of database shop, http"):
            catalog_at(serve(respond).url, monkeypatch).table_names()
    finally:
        end.set()


def test_new_keys(serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    chance = random.Random(3)
    for _ in range(20):

        def respond(asked: Asked) -> Answer:
            answer = answering(TABLES)(asked)
            return Answer(json.dumps(with_new_keys(json.loads(answer.body), chance)).encode(), answer.status)

        catalog = catalog_at(serve(respond).url, monkeypatch)
        assert catalog.table_names() == ("orders",)
        table = catalog.table("orders")
        assert table is not None
        assert [column.name for column in table.columns] == ["x"]
