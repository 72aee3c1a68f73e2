"""Tokens for Kafka's SASL mechanism OAUTHBEARER: the token provider of kafka-python."""

from __future__ import annotations

import base64
import json
from functools import lru_cache
from math import isfinite
from pathlib import Path
from threading import Lock
from time import monotonic, time
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from requests.auth import HTTPBasicAuth

from hivedruid.bounded_http import LARGEST_DOCUMENT
from hivedruid.clients.guarded import Bounds, UnfitError, parse_json, session
from hivedruid.clients.kafka_library import kafka_python
from hivedruid.errors import ConnectError, HiveDruidError, KafkaError
from hivedruid.kafka_secrets import OnlyDruidError
from hivedruid.oauth import ENDPOINT, TokenSource
from hivedruid.secret_text import remember

TIMEOUT = 30.0
"""Seconds to wait for a response."""
_SHARE = 0.8
"""The share of a token's lifetime after which a new one is requested, as in Java's clients."""
_LONGEST = 86_400.0
"""Seconds for which a token is used at most, whatever its lifetime."""
_LIFETIME = 3600.0
"""Seconds: the lifetime of tokens without signature by default."""


class Tokens:
    """The tokens of a source, each used until its lifetime is nearly over."""

    def __init__(self, source: TokenSource) -> None:
        self._source = source
        self._lock = Lock()
        self._token = ""
        self._until = 0.0

    def token(self) -> str:
        """Raises ConnectError, KafkaError."""
        with self._lock:
            if monotonic() >= self._until:
                self._token, lifetime = _token(self._source)
                self._until = monotonic() + _SHARE * lifetime
                remember([self._token])
            return self._token


@lru_cache(maxsize=64)
def tokens_of(source: TokenSource) -> Tokens:
    """The same for all clients of this process."""
    return Tokens(source)


def token_provider(source: TokenSource) -> Any:
    """The provider of kafka-python. It has a token, so that its errors are not those of a broker. Raises ConnectError,
    KafkaError."""
    refused = kafka_python().errors.SaslAuthenticationFailedError
    from kafka.net.sasl.oauth import AbstractTokenProvider

    tokens = tokens_of(source)
    tokens.token()

    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            try:
                return tokens.token()
            except HiveDruidError as error:
                raise refused(error.message) from None

        def extensions(self) -> dict[str, str]:
            return dict(source.extensions)

    return Provider()


def _token(source: TokenSource) -> tuple[str, float]:
    """A new token, and its lifetime in seconds."""
    if source.claims:
        try:
            return _unsecured(dict(source.claims))
        except (ValueError, IndexError):
            raise KafkaError("sasl.jaas.config has an invalid value of an option unsecuredLogin…") from None
    if source.endpoint.startswith("file:"):
        return _of_file(source.endpoint), 0.0
    return _of_endpoint(source)


def _of_file(url: str) -> str:
    try:
        return Path(unquote(urlsplit(url).path)).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not ASCII text"
        raise OnlyDruidError(f"the file of {ENDPOINT} cannot be read on this machine: {reason}") from None


def _of_endpoint(source: TokenSource) -> tuple[str, float]:
    """The grant type is client_credentials, as in Java's clients."""
    form = {"grant_type": "client_credentials", **({"scope": source.scope} if source.scope else {})}
    login = HTTPBasicAuth(source.client_id.encode(), source.client_secret.encode())
    headers = {"Accept": "application/json"}
    try:
        with session(Bounds(TIMEOUT, LARGEST_DOCUMENT)) as asking:
            response = asking.post(source.endpoint, form, auth=login, headers=headers)
    except UnfitError as error:
        raise KafkaError(
            f"the answer of the token endpoint {source.endpoint} {error}", hint=f"check {ENDPOINT}"
        ) from None
    except requests.RequestException as error:
        raise ConnectError(
            f"cannot reach the token endpoint {source.endpoint}: {type(error).__name__}", hint=f"check {ENDPOINT}"
        ) from None
    if response.status_code != 200:
        raise KafkaError(
            f"the token endpoint {source.endpoint} refuses the client: HTTP status {response.status_code}",
            hint=f"check {ENDPOINT}, and clientId, clientSecret and scope in sasl.jaas.config",
        )
    try:
        answer = parse_json(response.content)
        return _access_token(answer["access_token"]), _lifetime(answer.get("expires_in"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise KafkaError(f"unexpected response of the token endpoint {source.endpoint}") from None


def _access_token(given: Any) -> str:
    """Raises ValueError for what cannot be sent as a token (RFC 6749, appendix A.12)."""
    if not isinstance(given, str) or not given or not (given.isascii() and given.isprintable()):
        raise ValueError("no token")
    return given


def _lifetime(given: Any) -> float:
    """Seconds; some servers send text. A token whose lifetime is not known is used once."""
    try:
        seconds = float(given)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), _LONGEST) if isfinite(seconds) else 0.0


def _unsecured(options: dict[str, str]) -> tuple[str, float]:
    """A token without signature, as Java's OAuthBearerUnsecuredLoginCallbackHandler creates it."""
    lifetime = float(options.get("LifetimeSeconds", _LIFETIME))
    now = int(time())
    claims: dict[str, Any] = {"iat": now, "exp": now + lifetime}
    for key, value in options.items():
        kind, _, name = key.partition("_")
        match kind:
            case "StringClaim":
                claims[name] = value
            case "NumberClaim":
                claims[name] = float(value)
            case "ListClaim":  # the first character separates the items
                claims[name] = value[1:].split(value[0])
    return f"{_encoded({'alg': 'none'})}.{_encoded(claims)}.", lifetime


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
