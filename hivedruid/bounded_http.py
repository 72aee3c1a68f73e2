"""Responses of `http.client` with bounds, with the standard library alone: Spark's executors have no `requests`.

The time until a head is complete, or a whole document; the size of a document; the lines in a row, which are headers,
trailers and sizes of chunks. `http.client` follows no redirects. What is not valid HTTP is an HTTPException.
"""

from __future__ import annotations

import io
import socket
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse
from time import monotonic
from typing import Any

LARGEST_DOCUMENT = 16 << 20
"""Bytes of a document that is read as a whole."""
_LONGEST_LINE = 1 << 16
_MOST_LINES = 1000


class TimedBytes(io.RawIOBase):
    """The bytes of a socket until a point in time: a server that sends some now and then is not slow for the socket."""

    def __init__(self, sock: socket.socket, until: float | None) -> None:
        self._raw = sock.makefile("rb", buffering=0)
        self._socket = sock
        self._silence = sock.gettimeout()
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._until is not None:
            left = self._until - monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._socket.settimeout(left if self._silence is None else min(left, self._silence))
        return self._raw.readinto(buffer)

    def end_time_limit(self) -> None:
        """Only the silence between two parts is bounded from now on."""
        self._until = None
        self._socket.settimeout(self._silence)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _BoundedLines(io.BufferedReader):
    """Raises HTTPException for endless lines, and for more lines in a row than a response has."""

    _lines = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        self._lines += 1
        if self._lines > _MOST_LINES:
            raise HTTPException("too many lines")
        return super().readline(_LONGEST_LINE + 1 if size is None or size < 0 else size)

    def read(self, size: int | None = -1, /) -> bytes:
        self._lines = 0
        return super().read(size)


class BoundedResponse(HTTPResponse):
    """A response that must be complete at `until` (`monotonic()`), if it is not None."""

    def __init__(self, sock: socket.socket, *args: Any, until: float | None, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp.close()
        self._bytes = TimedBytes(sock, until)
        self.fp = _BoundedLines(self._bytes)

    def end_time_limit(self) -> None:
        """The body may take any time: rows of a query are streamed."""
        self._bytes.end_time_limit()

    def document(self) -> bytes:
        """The whole body. Raises HTTPException if it is larger than LARGEST_DOCUMENT."""
        body = self.read(LARGEST_DOCUMENT + 1)
        if len(body) > LARGEST_DOCUMENT:
            raise HTTPException(f"the response has more than {LARGEST_DOCUMENT >> 20} MB")
        return body

    def _safe_read(self, amt: int) -> bytes:
        if amt < 0:  # urllib3 and `http.client` would read up to the end of the connection
            raise HTTPException("a chunk of a negative size")
        data: bytes = super()._safe_read(amt)  # type: ignore[misc]
        return data

    def _read_next_chunk_size(self) -> int:
        size: int = super()._read_next_chunk_size()  # type: ignore[misc]
        if size < 0:
            raise ValueError("a negative size")  # `http.client` reports it as an IncompleteRead
        return size


def response_of(connection: HTTPConnection, seconds: float | None) -> BoundedResponse:
    """The response to the request that was sent. It must be complete within that time, unless `end_time_limit` is
    called after its head. Raises OSError and HTTPException.
    """
    until = None if seconds is None else monotonic() + seconds
    connection.response_class = partial(BoundedResponse, until=until)  # type: ignore[assignment]
    response = connection.getresponse()
    assert isinstance(response, BoundedResponse)
    return response
