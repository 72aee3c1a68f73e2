"""Another program on a service's port: the service is not ready, whatever the program responds."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hivedruid.local import health
from hivedruid.local.health import ready, serves_all

NAMES = ("zookeeper", "coordinator", "historical", "indexer", "broker", "kafka")
WRONG = (
    b"", b"null", b"5", b'"OK"', b"{}", b"[null]", b"[5]", b'[{"worker": null}]', b'[{"worker": {"host": 5}}]', b"<html>Sign in</html>",
    b'["\xff"]', b'{"leader": "x"}', b"[" * 100_000,
)  # fmt: skip


class Web(ThreadingHTTPServer):
    body = b""
    status = 200


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Web)
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[Web]:
    with Web(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """ZooKeeper and Kafka clients wait for the rest of an HTTP response until the timeout."""
    monkeypatch.setattr(health, "TIMEOUT", 0.1)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("body", WRONG, ids=range(len(WRONG)))
def test_another_answer_is_not_ready(web: Web, body: bytes) -> None:
    web.body = body
    ports = dict.fromkeys(NAMES, web.server_address[1])
    assert not any(ready(name, ports) for name in ("zookeeper", "coordinator", "indexer", "kafka"))
    assert not serves_all(ports)


@pytest.mark.usefixtures("impatient")
def test_a_refusal_is_not_ready(web: Web) -> None:
    web.status = 503
    ports = dict.fromkeys(NAMES, web.server_address[1])
    assert not any(ready(name, ports) for name in NAMES)


def test_druids_own_answers_are_ready(web: Web) -> None:
    ports = dict.fromkeys(NAMES, web.server_address[1])
    web.body = b'{"leader": true}'
    assert ready("coordinator", ports)
    web.body = json.dumps([{"worker": {"host": f"127.0.0.1:{web.server_address[1]}"}}]).encode()
    assert ready("indexer", ports)
    web.body = b""
    assert ready("historical", ports)
    assert ready("broker", ports)
