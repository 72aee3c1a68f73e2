"""HTTP servers: for the files of a folder, and for responses that are not valid, byte by byte."""

from __future__ import annotations

import socketserver
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """Yields the URL of the folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def raw_server(parts: Callable[[str], Iterable[bytes]]) -> Iterator[str]:
    """Yields the URL of a server that sends these bytes for the request line of each request, and closes the connection.
    They may be endless."""

    class Handler(socketserver.StreamRequestHandler):
        disable_nagle_algorithm = True

        def handle(self) -> None:
            line, length = self.rfile.readline().decode(), 0
            while header := self.rfile.readline().strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            self.rfile.read(length)
            with suppress(OSError):
                for part in parts(line.strip()):
                    self.wfile.write(part)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
