"""An HTTP server with the part of a schema registry that hivedruid uses."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@contextmanager
def registry(
    schemas: Mapping[int, str], credentials: str | None = None, latest: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Serves the schemas by id, and the `latest` of each subject, and yields its URL; requests without `credentials`
    (user:password) are refused."""
    served = {f"/schemas/ids/{number}": schema for number, schema in schemas.items()}
    served |= {f"/subjects/{subject}/versions/latest": schema for subject, schema in (latest or {}).items()}
    wanted = f"Basic {b64encode(credentials.encode()).decode()}" if credentials else None

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            schema = served.get(self.path)
            if wanted is not None and self.headers["Authorization"] != wanted:
                self._answer(401, {"error_code": 40101, "message": "Unauthorized"})
            elif schema is None:
                self._answer(404, {"error_code": 40403, "message": "Schema not found"})
            else:
                self._answer(200, {"schema": schema})

        def _answer(self, status: int, body: object) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
