"""A small HTTP server in place of Druid's, for tests of the client with responses, connections and certificates."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

TLS = Path(__file__).parent / "tls"


@dataclass
class Asked:
    """One received request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Answer:
    """The response. With `cut` the connection is closed after the body, before the announced end of the response."""

    body: bytes = b"{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False


@dataclass
class Served:
    url: str
    asked: list[Asked]

    def paths(self) -> list[str]:
        return [f"{asked.method} {asked.path}" for asked in self.asked]


Respond = Callable[[Asked], Answer]
Serve = Callable[..., Served]


def _handler(respond: Respond, asked: list[Asked]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # a response is sent in several small parts

        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append(Asked(self.command, self.path, dict(self.headers), body))
            answer = respond(asked[-1])
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            if answer.body:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(answer.body), answer.body))
            if answer.cut:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = do_DELETE = _do  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Some tests close the client's connection early."""


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server: `serve(respond)`; with `context` over TLS."""
    running: list[tuple[_Server, threading.Thread]] = []

    def start(respond: Respond, context: ssl.SSLContext | None = None) -> Served:
        asked: list[Asked] = []
        server = _Server(("127.0.0.1", 0), _handler(respond, asked))
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        running.append((server, thread))
        scheme = "http" if context is None else "https"
        return Served(f"{scheme}://127.0.0.1:{server.server_address[1]}", asked)

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()
