"""An HTTP proxy in front of a service, which a test can make drop the connection at a request of its choice."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

Seen = Callable[[str, str, str], bool]
"""(`request` or `answer`, method, path) → whether the connection is closed here, without a response."""

Sent = list[tuple[str, str]]
"""Method and path of each request, without the parameters."""


def recording(sent: Sent) -> Seen:
    """Adds each request to `sent`, and closes no connection."""

    def record(what: str, method: str, path: str) -> bool:
        if what == "request":
            sent.append((method, path.partition("?")[0]))
        return False

    return record


@contextmanager
def proxy(url: str, ends: Seen) -> Iterator[str]:
    """The URL of a proxy of that service. `ends` is called before a request is forwarded, and before its response
    is."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if ends("request", self.command, self.path):
                self.close_connection = True
                return
            target = urlsplit(url)
            service = http.client.HTTPConnection(target.hostname or "", target.port, timeout=60)
            try:
                kept = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                service.request(self.command, self.path, body, kept)
                answer = service.getresponse()
                content = answer.read()
            except OSError:  # the service does not respond: no response, as without a proxy
                self.close_connection = True
                return
            finally:
                service.close()
            if ends("answer", self.command, self.path):
                self.close_connection = True
                return
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers.get("Content-Type") or "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _pass_on  # noqa: N815 - names of http.server

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
