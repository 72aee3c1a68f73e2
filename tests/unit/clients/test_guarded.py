"""Responses without bounds, or that are not valid HTTP, for every client: one error of hivedruid, soon."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import count, product
from pathlib import Path
from threading import Event
from time import monotonic

import pytest

from hivedruid import bounded_http
from hivedruid.clients import druid, iceberg_rest, kafka_tokens, schema_registry, schema_urls
from hivedruid.clients.address import DruidAddress
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.guarded import CONNECT_TIMEOUT, Bounds, UnfitError, session
from hivedruid.clients.kafka_tokens import Tokens
from hivedruid.clients.schema_registry import latest_schema, schemas_of
from hivedruid.clients.schema_urls import schema_at
from hivedruid.clients.wire import Status
from hivedruid.errors import ExecutionError, HiveDruidError, KafkaError
from hivedruid.oauth import TokenSource
from hivedruid.responses import queries
from hivedruid.responses.queries import DruidAccess, SegmentQueries
from tests.support.schema_registry import Stored, registry
from tests.support.web_server import raw_server
from tests.unit.clients.test_iceberg_rest import catalog_at
from tests.unit.clients.test_newer_answers import with_new_keys

SECONDS = 0.4
SIZE = 1 << 20
# Without `Connection: close` a next request may go out on the connection that the server is about to close.
OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
FAILED = b"HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BOMB = gzip.compress(b"[" + b" " * (8 * SIZE) + b"]")


def druid_at(url: str) -> DruidClient:
    """Its time limit for a response is SECONDS."""
    return DruidClient(DruidAddress(url, url, url, url, tries=1).within(SECONDS))


def query_druid(url: str) -> object:
    """A response that is not successful is read as a whole, and a successful one by the caller."""
    total = 0
    for chunk in druid_at(url).query({"queryType": "scan", "context": {"queryId": "q"}}):
        total += len(chunk)
        if total > 2 * SIZE:
            break
    raise ExecutionError("the caller finds no rows")


def rows_of_segment(url: str, *servers: str) -> object:
    """Spark's executors read Druid so; a process that is no executor gets the same error."""
    access = DruidAccess("Basic canary")
    asked = SegmentQueries({"queryType": "scan", "dataSource": "t"}, [("n", "LONG", "bigint")], url, SECONDS, access)
    part = {"interval": "2024-01-01/2024-01-02", "version": "v", "number": 0, "servers": servers}
    return list(asked.batches(part, "q"))


def ask_for_candidates(url: str) -> None:
    """The list of segments that the broker is asked for after the rows."""
    asked = SegmentQueries({"dataSource": "t"}, [], url, SECONDS, DruidAccess("Basic canary"))
    asked._check({"interval": "2024-01-01/2024-01-02", "version": "v", "number": 0})


CLIENTS: dict[str, Callable[[str, pytest.MonkeyPatch], object]] = {
    "druid": lambda url, _: druid_at(url).get("overlord", "/status", Status),
    "query": lambda url, _: query_druid(url),
    "registry": lambda url, _: schemas_of({"avro.schema.registry.url": url}, [1], {}),
    "latest": lambda url, _: latest_schema({"avro.schema.registry.url": url, "kafka.topic": "t"}, {}),
    "schema": lambda url, _: schema_at(f"{url}/a.avsc", "shop.orders", {}),
    "token": lambda url, _: Tokens(TokenSource(f"{url}/token", "me", "canary")).token(),
    "iceberg": lambda url, patch: catalog_at(url, patch).table_names(),
    "segment": lambda url, _: rows_of_segment(url, url),
    "segment of the broker": lambda url, _: rows_of_segment(url),
    "candidates": lambda url, _: ask_for_candidates(url),
}


def drip(start: bytes, part: bytes) -> Iterator[bytes]:
    yield start
    pause = Event()
    while not pause.wait(0.02):
        yield part


def with_length(body: bytes, headers: bytes = b"", status: bytes = OK) -> list[bytes]:
    return [status + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body]


def redirect(where: bytes) -> list[bytes]:
    return with_length(b"", b"Location: " + where + b"\r\n", b"HTTP/1.1 302 Found\r\nConnection: close\r\n")


def endless(start: bytes, part: bytes) -> Iterator[bytes]:
    yield start
    for number in count():
        yield part.replace(b"#", b"%d" % number)


ANSWERS: dict[str, Callable[[], Iterable[bytes]]] = {
    "bomb": lambda: with_length(BOMB, b"Content-Encoding: gzip\r\n"),
    "bomb of an error": lambda: with_length(BOMB, b"Content-Encoding: gzip\r\n", FAILED),
    "endless": lambda: endless(CHUNKED, b"10000\r\n" + b" " * 65536 + b"\r\n"),
    "endless error": lambda: endless(FAILED + b"\r\n", b" " * 65536),
    "endless headers": lambda: endless(OK, b"X-#: x\r\n"),
    "a drip": lambda: drip(OK + b"Content-Length: 100000\r\n\r\n", b" "),
    "a drip of an error": lambda: drip(FAILED + b"Content-Length: 100000\r\n\r\n", b" "),
    "a drip of headers": lambda: drip(OK + b"X: ", b"x"),
    "a drip of the first line": lambda: drip(b"HTTP", b" "),
    "silence": lambda: drip(b"", b""),
    "endless trailers": lambda: endless(CHUNKED + b"2\r\n[]\r\n0\r\n", b"X-#: x\r\n"),
    "endless continuation": lambda: endless(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "an endless line": lambda: endless(CHUNKED, b"0" * 65536),
    "a chunk of -1": lambda: endless(CHUNKED + b"-1\r\n", b" " * 65536),
    "a huge chunk": lambda: [CHUNKED + b"f" * 4000 + b"\r\n[]"],
    "a long list": lambda: with_length(b"[" + b" " * (8 * SIZE) + b"5]"),
    "a list of numbers": lambda: with_length(b"[5]"),
    "a list of nothing": lambda: with_length(b"[null, {}, []]"),
    "odd bytes": lambda: with_length(b"\xff\xfe["),
    "a huge number": lambda: with_length(b"[" + b"9" * 5000 + b"]"),
    "a deep header": lambda: with_length(b"[]", b"X-Druid-Response-Context: " + b"[" * 60_000 + b"\r\n"),
    "a bad interval": lambda: with_length(
        b'[{"interval": "x", "version": "v", "partitionNumber": 0, "locations": [1]}]'
    ),
    "no gzip": lambda: with_length(b"{}", b"Content-Encoding: gzip\r\n"),
    "a negative chunk": lambda: [CHUNKED + b"-5\r\n{}\r\n0\r\n\r\n"],
    "no chunk": lambda: [CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n"],
    "a negative length": lambda: [OK + b"Content-Length: -5\r\n\r\n{}"],
    "two lengths": lambda: [OK + b"Content-Length: 5, 7\r\n\r\n{}"],
    "no HTTP": lambda: [b"SSH-2.0-OpenSSH_9.2\r\n"],
    "nothing": lambda: [b""],
    "deep JSON": lambda: with_length(b"[" * 100_000),
    "deep objects": lambda: with_length(b'{"a":' * 100_000),
    "a deep error": lambda: with_length(b'{"error":' * 100_000, status=FAILED),
    "a deep schema": lambda: with_length(json.dumps({"schema": "[" * 100_000}).encode()),
    "a redirect to itself": lambda: redirect(b"/again"),
    "a redirect to nowhere": lambda: redirect(b""),
    "a redirect to no port": lambda: redirect(b"http://127.0.0.1:99999/"),
    "a redirect to no host": lambda: redirect(b"http://[bad/"),
    "a redirect to a file": lambda: redirect(b"file:///etc/passwd"),
    "a redirect with control characters": lambda: redirect(b"http://127.0.0.1\x01/\x7f"),
    "an empty object": lambda: with_length(b"{}"),
    "null": lambda: with_length(b"null"),
    "an unknown status": lambda: with_length(b"{}", status=b"HTTP/1.1 799 Odd\r\n"),
}


HARMLESS = {
    *product(
        ("query", "segment", "segment of the broker"), ("a drip", "endless")
    ),  # rows may come slowly, and without end
    *product(("registry", "latest"), ("a deep schema",)),  # the caller parses the text of a schema
} - {("query", "endless")}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("answer", ANSWERS)
def test_every_client(client: str, answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if (client, answer) in HARMLESS:
        return
    for module, name in (
        (druid, "LARGEST"), (iceberg_rest, "LARGEST"), (schema_registry, "LARGEST_DOCUMENT"),
        (schema_urls, "LARGEST_DOCUMENT"), (kafka_tokens, "LARGEST_DOCUMENT"), (bounded_http, "LARGEST_DOCUMENT"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, SIZE)
    for limited in (iceberg_rest, schema_registry, schema_urls, kafka_tokens):
        monkeypatch.setattr(limited, "TIMEOUT", SECONDS)
    monkeypatch.setattr(queries, "SLACK", 0.0)
    with raw_server(lambda _: ANSWERS[answer]()) as url:
        begun = monotonic()
        with pytest.raises(HiveDruidError) as raised:
            CLIENTS[client](url, monkeypatch)
        assert monotonic() - begun < CONNECT_TIMEOUT
        text = f"{raised.value.message} {raised.value.hint}"
        assert "canary" not in text
        assert len(text) < 2000


@pytest.mark.parametrize("given", ["null", "5", "[]", "{}", '""', '"a b\\n"', '"\u00e9"', "true"])
def test_tokens_that_are_none(given: str) -> None:
    body = f'{{"access_token": {given}}}'.encode()
    with raw_server(lambda _: with_length(body)) as url, pytest.raises(KafkaError, match="unexpected response"):
        Tokens(TokenSource(f"{url}/token", "me", "x")).token()


@pytest.mark.parametrize(
    ("given", "requests"),
    [("3600", 1), ('"3600"', 1), ("1e30", 1), ("1e400", 2), ("NaN", 2), ("-Infinity", 2), ("1" * 400, 2), ("-5", 2),
     ("null", 2), ('{"seconds": 5}', 2)],
)  # fmt: skip
def test_lifetimes(given: str, requests: int) -> None:
    """With one that is not a number of seconds, the token is used once."""
    asked: list[str] = []

    def respond(line: str) -> list[bytes]:
        asked.append(line)
        return with_length(f'{{"access_token": "abc", "expires_in": {given}, "new": {{"a": []}}}}'.encode())

    with raw_server(respond) as url:
        tokens = Tokens(TokenSource(f"{url}/token", "me", "x"))
        assert [tokens.token(), tokens.token()] == ["abc", "abc"]
    assert len(asked) == requests


def test_the_time_limit_of_a_stream_is_that_of_its_head() -> None:
    """A long query may send its rows slowly."""

    def slowly(_: str) -> Iterator[bytes]:
        yield CHUNKED
        for _number in range(30):
            Event().wait(0.02)
            yield b"1\r\n.\r\n"
        yield b"0\r\n\r\n"

    with raw_server(slowly) as url, session(Bounds(0.2)) as asking:
        with asking.get(url, stream=True, timeout=0.2) as response:
            assert b"".join(response.raw.stream(10)) == b"." * 30
        with pytest.raises(OSError, match="no complete response within"):
            asking.get(url)


def test_credentials_are_not_sent_to_another_address() -> None:
    with raw_server(lambda _: with_length(b"{}")) as other:
        target = other.encode()
        with raw_server(lambda _: redirect(target + b"/x")) as url, session(Bounds(5, follows=1)) as asking:
            response = asking.fetch(url, auth=("me", "canary"))
            assert response.url == f"{other}/x"
            assert "Authorization" not in response.request.headers
        refused = pytest.raises(UnfitError, match="which is refused")
        with raw_server(lambda _: redirect(target)) as url, session(Bounds(5)) as asking, refused:
            asking.get(url, auth=("me", "canary"))


def test_endless_references() -> None:
    """A registry whose every schema refers to another one."""
    versions: dict[tuple[str, int], str | Stored] = {
        ("s", number): Stored('"x"', ((f"R{number + 1}", "s", number + 1),)) for number in range(1, 2000)
    }
    paths: list[str] = []
    with (
        registry({1: Stored('"R1"', (("R1", "s", 1),))}, versions=versions, paths=paths) as url,
        pytest.raises(ExecutionError, match=r"schema 1 of the registry at .* refers to more than 200 other schemas"),
    ):
        schemas_of({"avro.schema.registry.url": url}, [1], {})
    assert len(paths) == 201


def test_a_registry_with_new_keys() -> None:
    chance = random.Random(5)
    stored = {"schema": '"R"', "schemaType": "AVRO", "references": [{"name": "R", "subject": "s", "version": 1}]}
    other = {"schema": json.dumps({"type": "record", "name": "R", "fields": []}), "id": 7, "schemaType": None}

    def respond(line: str) -> list[bytes]:
        answer = with_new_keys(other if "/subjects/" in line else stored, chance)
        return with_length(json.dumps(answer).encode())

    for number in range(20):
        with raw_server(respond) as url:
            (schema,) = schemas_of({"avro.schema.registry.url": url}, [number], {}).values()
            assert json.loads(schema)["name"] == "R"


def test_every_client_is_guarded() -> None:
    direct = re.compile(r"\brequests\.(get|post|put|delete|head|request|Session|session)\(|import Session\b")
    folder = Path(druid.__file__).parent
    assert [path.name for path in folder.glob("*.py") if direct.search(path.read_text(encoding="utf-8"))] == []
