"""Queries of single segments over HTTP, as Spark's executors send them: with the standard library alone."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hivedruid.bounded_http import BoundedResponse, response_of
from hivedruid.druid.interval_sets import from_json
from hivedruid.druid.paths import CANDIDATES, path_of
from hivedruid.errors import DruidError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.responses.answers import scan_rows
from hivedruid.responses.batches import batches

if TYPE_CHECKING:
    from pyarrow import RecordBatch

CONNECT = 10.0
"""Seconds to connect."""
SLACK = 5.0
"""Seconds to wait for a response beyond the timeout of the query."""
CHUNK = 1 << 16
SHOWN = 300
"""Bytes of an error that are shown."""
CONTEXT = "X-Druid-Response-Context"


@dataclass(frozen=True)
class DruidAccess:
    """The header `Authorization`, and the paths of PEM files: what processes on this machine need besides a URL."""

    authorization: str = ""
    ca_file: str = ""
    certificate_file: str = ""
    key_file: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class SegmentQueries:
    """How the rows of segments are queried. `query` is a native scan; `fields` are the names, Druid types and texts of
    the Hive types of its fields. The broker gets the queries that data servers do not answer."""

    query: Mapping[str, Any]
    fields: Sequence[Sequence[str]]
    broker: str
    timeout: float
    access: DruidAccess

    def batches(self, part: Mapping[str, Any], name: str) -> Iterator[RecordBatch]:
        """The rows of a `plan.segment_queries.SegmentQuery`; the query gets the id `name`.

        Raises DruidError and OSError; rows that were returned before are then not all rows.
        """
        context = {**self.query.get("context", {}), "queryId": name, "timeout": round(self.timeout * 1000)}
        segment = {"itvl": part["interval"], "ver": part["version"], "part": part["number"]}
        segments = {"type": "segments", "segments": [segment]}
        body = json.dumps({**self.query, "intervals": segments, "context": context}).encode()
        columns = [f"_{number}" for number in range(len(self.fields))]
        names, stored, types = zip(*self.fields, strict=True)
        server, connection, response = self._answering(part, body)
        with closing(connection), _read_from(server):
            response.end_time_limit()
            rows = scan_rows(names, types, iter(lambda: response.read(CHUNK), b""))
            yield from batches(rows, columns, stored)
        if server == self.broker:
            self._check(part)

    def _answering(self, part: Mapping[str, Any], body: bytes) -> tuple[str, HTTPConnection, BoundedResponse]:
        """The response of the first server that has the segment."""
        problems = []
        for server in (*part["servers"], self.broker):
            connection = self._connection(server)
            try:
                with _read_from(server):
                    response = self._sent(connection, "POST", "/druid/v2", body)
                    if (problem := _problem(response, is_broker=server == self.broker)) is None:
                        return server, connection, response
                problems.append(f"{server}: {problem}")
            except DruidError as error:
                problems.append(error.message)
            except OSError as error:
                problems.append(f"{server}: {str(error) or type(error).__name__}")
            connection.close()
        raise DruidError("; ".join(problems))

    def _check(self, part: Mapping[str, Any]) -> None:
        """Raise DruidError if the broker has lost the segment: it omits unknown segments without an error."""
        interval = part["interval"]
        ((start, end),) = from_json([interval])
        with closing(self._connection(self.broker)) as connection, _read_from(self.broker):
            path = path_of(CANDIDATES, str(self.query["dataSource"]), intervals=interval)
            response = self._sent(connection, "GET", path)
            text = response.document()
            if response.status != 200:
                raise DruidError(f"{self.broker}: {_shown(response.status, text)}")
            for item in _parsed(text):
                ((first, last),) = from_json([item["interval"]])
                is_same = (item["version"], item["partitionNumber"]) == (part["version"], part["number"])
                if is_same and item["locations"] and first <= start and end <= last:
                    return
        raise DruidError("it was replaced while its rows were read")

    def _sent(self, connection: HTTPConnection, method: str, path: str, body: bytes | None = None) -> BoundedResponse:
        """The response to a request, which is the first of its connection."""
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self.access.authorization:
            headers["Authorization"] = self.access.authorization
        connection.connect()
        limit = self.timeout + SLACK if self.timeout else None
        connection.sock.settimeout(limit)
        connection.request(method, path, body, headers)
        return response_of(connection, limit)

    def _connection(self, server: str) -> HTTPConnection:
        """A connection to a server, without a proxy, which is not yet open."""
        parts, access = urlsplit(server), self.access
        host = parts.hostname or ""
        if parts.scheme != "https":
            return HTTPConnection(host, parts.port, timeout=CONNECT)
        tls = ssl.create_default_context(cafile=access.ca_file or None)
        if access.certificate_file:
            tls.load_cert_chain(access.certificate_file, access.key_file or None)
        return HTTPSConnection(host, parts.port, timeout=CONNECT, context=tls)


@contextmanager
def _read_from(server: str) -> Iterator[None]:
    """A response that is not valid HTTP, or not what Druid sends, is a DruidError."""
    try:
        yield
    except (HTTPException, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise DruidError(f"{server}: the response is not valid: {reason[:SHOWN]}") from error


def _problem(response: BoundedResponse, *, is_broker: bool) -> str | None:
    """Why a response does not have the rows of the segment; None if it has. Only data servers report that they do not
    have it, before the first row."""
    if response.status != 200:
        return _shown(response.status, response.read(SHOWN))
    if is_broker:
        return None
    context = _parsed(response.headers.get(CONTEXT) or "null")
    if not isinstance(context, dict) or context.get("truncated"):
        return f"a response without {CONTEXT}"
    return "does not have it" if context.get("missingSegments") else None


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise DruidError("the response is not JSON") from None


def _shown(status: int, text: bytes) -> str:
    return f"HTTP {status} {text[:SHOWN].decode('utf-8', 'replace')}".strip()
