"""An HTTP server that issues tokens to a client with its credentials, as an OAuth 2.0 authorization server does."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import time
from urllib.parse import parse_qs

_KEY = b"a key that the server shares with the brokers"
AUDIENCE = "kafka"


def _encoded(value: bytes) -> str:
    return urlsafe_b64encode(value).decode().rstrip("=")


def keys() -> str:
    """The JWKS with which brokers check the tokens."""
    return json.dumps({"keys": [{"kty": "oct", "kid": "k", "alg": "HS256", "k": _encoded(_KEY)}]})


def token(lifetime: float = 3600) -> str:
    """A signed token (JWT)."""
    now = int(time())
    claims = {"sub": "me", "aud": AUDIENCE, "iat": now, "exp": now + lifetime, "scope": "read write"}
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "kid": "k", "typ": "JWT"}, claims)]
    signed = ".".join(map(_encoded, parts))
    return f"{signed}.{_encoded(hmac.digest(_KEY, signed.encode(), hashlib.sha256))}"


@dataclass
class TokenEndpoint:
    """`issued` are the tokens, which are secrets, too; `refused` is the number of requests of other clients."""

    url: str
    issued: list[str] = field(default_factory=list)
    refused: int = 0


@contextmanager
def token_endpoint(client: str, secret: str, lifetime: float = 3600) -> Iterator[TokenEndpoint]:
    """Issues tokens with a lifetime in seconds to a client."""
    wanted = f"Basic {b64encode(f'{client}:{secret}'.encode()).decode()}"

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            if self.headers["Authorization"] != wanted:
                made.refused += 1
                self._answer(401, {"error": "invalid_client"})
            elif form.get("grant_type") != ["client_credentials"] or form.get("scope") != ["read write"]:
                self._answer(400, {"error": "invalid_request"})
            else:
                made.issued.append(token(lifetime))
                self._answer(200, {"access_token": made.issued[-1], "token_type": "Bearer", "expires_in": lifetime})

        def _answer(self, status: int, body: object) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = TokenEndpoint(f"http://127.0.0.1:{server.server_port}/token")
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
