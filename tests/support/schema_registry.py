"""An HTTP server with the part of a schema registry that hivedruid uses."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import quote


@dataclass(frozen=True)
class Stored:
    """A schema with references: the name of a type, the subject and the version that define it."""

    schema: str
    references: tuple[tuple[str, str, int], ...]

    def document(self) -> Mapping[str, object]:
        keys = ("name", "subject", "version")
        return {
            "schema": self.schema, "references": [dict(zip(keys, each, strict=True)) for each in self.references]}  # fmt: skip


@contextmanager
def registry(
    schemas: Mapping[int, str | Stored],
    credentials: str | None = None,
    latest: Mapping[str, str | Stored] | None = None,
    *,
    versions: Mapping[tuple[str, int], str | Stored] | None = None,
    paths: list[str] | None = None,
) -> Iterator[str]:
    """Serves the schemas by id, the `latest` of each subject, and `versions` of subjects, also as if they were deleted,
    and yields its URL; requests without `credentials` (user:password) are refused. `paths` gets those of all requests."""
    served: dict[str, str | Stored] = {f"/schemas/ids/{number}": schema for number, schema in schemas.items()}
    served |= {f"/subjects/{subject}/versions/latest": schema for subject, schema in (latest or {}).items()}
    served |= {
        f"/subjects/{quote(subject, safe='')}/versions/{number}?deleted=true": schema
        for (subject, number), schema in (versions or {}).items()
    }
    wanted = f"Basic {b64encode(credentials.encode()).decode()}" if credentials else None

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            schema = served.get(self.path)
            if paths is not None:
                paths.append(self.path)
            if wanted is not None and self.headers["Authorization"] != wanted:
                self._answer(401, {"error_code": 40101, "message": "Unauthorized"})
            elif schema is None:
                self._answer(404, {"error_code": 40403, "message": "Schema not found"})
            else:
                self._answer(200, {"schema": schema} if isinstance(schema, str) else schema.document())

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
