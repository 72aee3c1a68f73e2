"""HTTP requests whose responses are bounded: their size after decompression, their time as a whole, their redirects.

Every client of `requests` gets its session here. A response beyond the bounds, or that is not valid HTTP, is an
`UnfitError`; all other errors are those of `requests`.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Collection
from http.client import HTTPException
from threading import local
from time import monotonic
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import DecodeError, HTTPError, ProtocolError, ReadTimeoutError

from hivedruid.bounded_http import LARGEST_DOCUMENT, BoundedResponse
from hivedruid.lazy_dataclass import dataclass

CONNECT_TIMEOUT = 10.0
LARGEST = 256 << 20
"""Bytes of a list or of the metadata of a table."""
MAX_REDIRECTS = 4
_CHUNK = 1 << 16
_local = local()
"""`until`: when the response that this thread waits for must be complete; `is_streamed`: only its head must be."""


class UnfitError(requests.RequestException):
    """A response that is not accepted. The message continues `the answer of …`."""


@dataclass(frozen=True)
class Bounds:
    """`seconds` is the time of a whole response, 0 for none; it also bounds the silence of a request without a timeout.
    Of a streamed response only the head is bounded, by the timeout of its request, unless it is an error. `follows` is
    the number of redirects; with None the caller handles them. `origins`, if given, are the only addresses that get
    requests."""

    seconds: float
    size: int = LARGEST_DOCUMENT
    follows: int | None = 0
    origins: Collection[str] | None = None


def session(bounds: Bounds) -> GuardedSession:
    made = GuardedSession(bounds)
    for scheme in ("http://", "https://"):
        made.mount(scheme, GuardedAdapter(bounds))
    return made


class GuardedSession(requests.Session):
    """Follows redirects itself, without the credentials of the first request if they lead to another address."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__()
        self._bounds = bounds

    def resolve_redirects(self, *_: Any, **__: Any) -> Any:
        return iter(())

    def fetch(self, url: str, **options: Any) -> requests.Response:
        """GET, with redirects. Raises RequestException."""
        for _ in range((self._bounds.follows or 0) + 1):
            response = self.get(url, **options)
            if not response.is_redirect:
                return response
            target = location_of(response)
            if origin_of(target) != origin_of(url):
                options = {**options, "auth": _anonymous}
            url = target
        raise UnfitError("redirects too often")


class GuardedAdapter(HTTPAdapter):
    def __init__(self, bounds: Bounds) -> None:
        super().__init__()
        self._bounds = bounds

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = _POOLS
        return manager

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        return send_bounded(super().send, self._bounds, request, *args, **options)


def send_bounded(
    send: Callable[..., requests.Response],
    bounds: Bounds,
    request: requests.PreparedRequest,
    stream: bool = False,
    timeout: Any = None,
    *args: Any,
    **options: Any,
) -> requests.Response:
    """The response of an adapter's `send`, complete unless it is streamed."""
    url = request.url or ""
    if bounds.origins is not None and origin_of(url) not in bounds.origins:
        raise UnfitError(f"names another address, {origin_of(url)}, which does not get its secrets", request=request)
    if timeout is None:
        timeout = (CONNECT_TIMEOUT, bounds.seconds or None)
    _local.until = monotonic() + bounds.seconds if bounds.seconds and not stream else None
    _local.is_streamed = stream
    try:
        response = send(request, stream, timeout, *args, **options)
        if not stream or not response.ok or response.is_redirect:
            _complete(response, bounds)
    except UnfitError:
        raise
    except (HTTPException, HTTPError, ValueError, IndexError) as error:
        raise _unreadable(error, request, bounds) from error
    finally:
        _local.until = None
    if response.is_redirect and bounds.follows == 0:
        raise UnfitError(f"redirects to {origin_of(location_of(response))}, which is refused", request=request)
    return response


def _unreadable(error: Exception, request: requests.PreparedRequest, bounds: Bounds) -> requests.RequestException:
    if isinstance(error, requests.RequestException):
        return error
    if isinstance(error, ReadTimeoutError):
        return requests.ReadTimeout(f"no complete response within {bounds.seconds:g} s", request=request)
    if isinstance(error, ProtocolError):  # the connection was lost
        return requests.exceptions.ChunkedEncodingError(error, request=request)
    if isinstance(error, DecodeError):
        return UnfitError("cannot be decompressed", request=request)
    return UnfitError(f"is not valid HTTP: {error or type(error).__name__}", request=request)


def _complete(response: requests.Response, bounds: Bounds) -> None:
    """Read the body."""
    data = bytearray()
    try:
        while part := response.raw.read1(_CHUNK, decode_content=True):
            data += part
            if len(data) > bounds.size:
                raise UnfitError(f"has more than {bounds.size >> 20} MB", response=response)
    except BaseException:
        response.close()
        raise
    response._content = bytes(data)
    response._content_consumed = True  # type: ignore[attr-defined]
    response.raw.release_conn()


def location_of(response: requests.Response) -> str:
    """Where a redirect leads. Raises UnfitError."""
    where = response.headers.get("Location", "")
    try:
        target = urljoin(response.url, where)
        parts = urlsplit(target)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError
    except ValueError:
        raise UnfitError("redirects to an address that is not a URL", response=response) from None
    return target


def origin_of(url: str) -> str:
    """Scheme, host and port. Raises UnfitError for what is not a URL."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise UnfitError("names an address that is not a URL") from None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{port}"


def parse_json(body: bytes | str) -> Any:
    """JSON. Raises ValueError, also if it is nested too deeply."""
    try:
        return json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _anonymous(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


# --- the time of a whole response --------------------------------------------------------------------------------


class _Response(BoundedResponse):
    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        until, silence = getattr(_local, "until", None), sock.gettimeout()
        if until is None and silence is not None:
            until = monotonic() + silence
        super().__init__(sock, *args, until=until, **options)

    def begin(self) -> None:
        super().begin()
        if getattr(_local, "is_streamed", False) and self.status < 300:
            self.end_time_limit()


class _Connection(HTTPConnection):
    response_class = _Response


class _SecureConnection(HTTPSConnection):
    response_class = _Response


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


_POOLS = {"http": _Pool, "https": _SecurePool}
