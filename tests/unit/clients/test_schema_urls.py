"""Avro schemas by avro.schema.url, from real HTTP servers and files."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from hivedruid.clients import schema_urls
from hivedruid.clients.schema_urls import schema_at
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, SemanticError, UnsupportedError
from hivedruid.local.processes import choose_port
from tests.unit.clients.conftest import TLS, Answer, Asked, Serve
from tests.unit.clients.test_druid import server_context

SCHEMA = json.dumps({"type": "record", "name": "R", "fields": [{"name": "ä", "type": "int", "doc": "é"}]})
SECRET = "canary-92"


def read(url: str) -> str:
    """The schema; an error must not contain the secret."""
    try:
        return schema_at(url, "shop.orders", {})
    except HiveDruidError as error:
        if SECRET in f"{error.message}{error.hint}{error!r}{error.__cause__!r}":
            pytest.fail("the message has a secret")
        raise


def with_secrets(url: str) -> str:
    return url.replace("http://", f"http://me:{SECRET}@") + f"/orders.avsc?key={SECRET}"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_server(serve: Serve, encoding: str) -> None:
    def respond(asked: Asked) -> Answer:
        if asked.path == "/moved":
            return Answer(b"", 302, {"Location": "/orders.avsc?a=1"})
        return Answer(SCHEMA.encode(encoding))

    served = serve(respond)
    assert read(f"{served.url}/orders.avsc?a=1") == SCHEMA
    assert read(f"{served.url.replace('http', 'HTTP')}/moved") == SCHEMA
    assert served.paths() == ["GET /orders.avsc?a=1", "GET /moved", "GET /orders.avsc?a=1"]


def test_a_server_with_tls(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Certificates are checked."""
    served = serve(lambda _: Answer(SCHEMA.encode()), server_context())
    with pytest.raises(ConnectError, match=rf"{served.url}/s cannot be reached: SSLError"):
        read(f"{served.url}/s")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(TLS / "ca.pem"))
    assert read(f"{served.url}/s") == SCHEMA


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "orders.avsc"
    with pytest.raises(ExecutionError, match=r"cannot read avro\.schema\.url of shop\.orders: .*No such file"):
        read(file.as_uri())
    file.write_text(SCHEMA, encoding="utf-8")
    assert read(str(file)) == read(file.as_uri()) == SCHEMA
    with pytest.raises(ExecutionError, match="there is no file system for 'ftp:'"):
        read("ftp://host/orders.avsc")


def test_no_server() -> None:
    url = f"http://127.0.0.1:{choose_port(18_999, [])}"
    with pytest.raises(ConnectError) as raised:
        read(with_secrets(url))
    assert raised.value.message == (
        f"cannot read avro.schema.url of shop.orders: {url}/orders.avsc cannot be reached: ConnectionError"
    )
    assert raised.value.hint == "check avro.schema.url"


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (Answer(b"no", 404), ExecutionError, "/orders.avsc returned HTTP status 404"),
        (Answer(b"", 302, {"Location": "/"}), ExecutionError, "/orders.avsc redirects too often"),
        (Answer(b"{", cut=True), ConnectError, "/orders.avsc cannot be reached: ChunkedEncodingError"),
        (Answer(b"<html>"), SemanticError, "invalid Avro schema: Expecting value"),
        (Answer(b'{"a": 1}'), SemanticError, "invalid Avro schema"),
        (Answer(b"\xff\xfe\xfd"), SemanticError, "is not an Avro schema: http://127.0.0.1:.*/orders.avsc is not text"),
        (Answer(SCHEMA.replace('"int"', '"R"').encode()), UnsupportedError, "recursive types are not supported"),
        (Answer(b" " * 100 + SCHEMA.encode()), ExecutionError, "more than 0 MB"),
    ],
)
def test_not_a_schema(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, answer: Answer, kind: type[HiveDruidError], message: str
) -> None:
    monkeypatch.setattr(schema_urls, "LARGEST_DOCUMENT", 150)
    with pytest.raises(kind, match=message) as raised:
        read(with_secrets(serve(lambda _: answer).url))
    assert "avro.schema.url of shop.orders" in raised.value.message
    assert "/orders.avsc" in raised.value.message


def test_a_server_that_does_not_respond(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_urls, "TIMEOUT", 0.2)
    ended = Event()

    def respond(_: Asked) -> Answer:
        ended.wait(60)
        return Answer()

    try:
        with pytest.raises(ConnectError, match=r"/orders\.avsc did not send the schema within"):
            read(with_secrets(serve(respond).url))
    finally:
        ended.set()


@pytest.fixture
def slow_server() -> Iterator[str]:
    """A server that sends a byte at a time, and never ends."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening, suppress(OSError):
        ended = Event()

        def send() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                while not ended.wait(0.01):
                    connection.sendall(b" ")

        thread = Thread(target=send)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        ended.set()
        thread.join()


def test_a_server_that_does_not_end(slow_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time limit is that of the whole response, not of each part."""
    monkeypatch.setattr(schema_urls, "TIMEOUT", 0.3)
    with pytest.raises(ConnectError, match=r"/orders\.avsc did not send the schema within"):
        read(with_secrets(slow_server))
