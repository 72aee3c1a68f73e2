"""Readiness checks of the services of a local cluster: one cheap request to each."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Mapping
from typing import Any

from hivedruid.local.state import HOST

TIMEOUT = 10.0
"""The timeout of a request in seconds: on a busy machine a service that is ready may take seconds to respond."""


def ready(name: str, ports: Mapping[str, int]) -> bool:
    """Whether the service is ready; False also if it does not respond (yet)."""
    try:
        return _CHECKS[name](ports)
    except (OSError, ValueError, struct.error):
        return False


def serves_all(ports: Mapping[str, int]) -> bool:
    """Whether the broker has registered a server for every published segment; False also if it does not respond."""
    sql = (
        "SELECT segment_id FROM sys.segments"
        " WHERE is_published = 1 AND is_overshadowed = 0 AND is_available = 0 AND replication_factor <> 0 LIMIT 1"
    )
    try:
        return _http(ports["broker"], "/druid/v2/sql", {"query": sql}) == []
    except (OSError, ValueError):
        return False


def _zookeeper(ports: Mapping[str, int]) -> bool:
    return b"Zookeeper version" in _exchange(ports["zookeeper"], b"srvr")


def _coordinator(ports: Mapping[str, int]) -> bool:
    """It is the leader, as coordinator and as overlord; otherwise it returns 404."""
    port = ports["coordinator"]
    paths = ("/druid/coordinator/v1/isLeader", "/druid/indexer/v1/isLeader")
    return all(_http(port, path) == {"leader": True} for path in paths)


def _indexer(ports: Mapping[str, int]) -> bool:
    """Whether the overlord has registered it as a worker."""
    workers = _http(ports["coordinator"], "/druid/indexer/v1/workers")
    return f"{HOST}:{ports['indexer']}" in [_host(worker) for worker in (workers if isinstance(workers, list) else ())]


def _host(worker: object) -> str | None:
    match worker:
        case {"worker": {"host": str(host)}}:
            return host
    return None


def _readiness(name: str) -> Callable[[Mapping[str, int]], bool]:
    """Druid's own readiness: a historical has loaded its cached segments, a broker has received the servers'
    segments."""

    def check(ports: Mapping[str, int]) -> bool:
        _http(ports[name], f"/druid/{name}/v1/readiness")
        return True

    return check


def _kafka(ports: Mapping[str, int]) -> bool:
    """A Metadata request (version 1, no topics) lists the broker, unless it is still fenced."""
    client = b"hivedruid"
    body = struct.pack(">hhih", 3, 1, 1, len(client)) + client + struct.pack(">i", 0)
    with socket.create_connection((HOST, ports["kafka"]), TIMEOUT) as connection:
        connection.sendall(struct.pack(">i", len(body)) + body)
        with connection.makefile("rb") as answer:
            header = answer.read(12)
    _, _, brokers = struct.unpack(">iii", header)
    return bool(brokers > 0)


_CHECKS: Mapping[str, Callable[[Mapping[str, int]], bool]] = {
    "zookeeper": _zookeeper,
    "coordinator": _coordinator,
    "historical": _readiness("historical"),
    "indexer": _indexer,
    "broker": _readiness("broker"),
    "kafka": _kafka,
}


def _exchange(port: int, request: bytes) -> bytes:
    with socket.create_connection((HOST, port), TIMEOUT) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as answer:
            return answer.read()


def _http(port: int, path: str, body: Mapping[str, Any] | None = None) -> object:
    """The JSON response of a service on this machine, without a proxy. Raises OSError, also for an error response, and
    ValueError for invalid JSON."""
    import http.client

    from hivedruid.bounded_http import response_of

    connection = http.client.HTTPConnection(HOST, port, timeout=TIMEOUT)
    try:
        payload = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, payload, {"Content-Type": "application/json"})
        answer = response_of(connection, TIMEOUT)
        content = answer.document()
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise OSError(f"{path} answered {answer.status}")
    try:
        return json.loads(content) if content else None
    except RecursionError:
        raise ValueError(f"{path} returned JSON that is nested too deeply") from None
