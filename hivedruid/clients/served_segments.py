"""The segments of a data source with the data servers that answer queries about them."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hivedruid.clients.segments import Segments
from hivedruid.plan.segment_queries import ServedSegment, ServedSegments
from hivedruid.references import is_here

if TYPE_CHECKING:
    from hivedruid.clients.address import DruidAddress
    from hivedruid.clients.analyses import Analyses
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.engine.segments import Segment

PROBE = 2.0
"""Seconds to connect to a server."""


def served_segments(cluster: DruidCluster, data_source: str, analyses: Analyses) -> ServedSegments:
    """See `SegmentStorage.served_segments`. Without access to all data servers, the broker gets all queries."""
    address = cluster.address
    if not _accepts(address.broker):
        problem = f"{address.broker} does not accept connections that bypass the proxy"
        return ServedSegments(statistics=analyses.statistics, problem=problem)
    found = Segments(cluster.client, data_source).visible()
    servers = {server for segment in found for server in segment.servers}
    may_ask = all(may_receive_secrets(address, server) for server in servers) and all(map(_accepts, sorted(servers)))
    segments = tuple(_served(segment, rows, may_ask) for segment, rows in counted(found, analyses))
    return ServedSegments(segments, address.broker, address.query_timeout, analyses.types, analyses.statistics)


def counted(segments: Sequence[Segment], analyses: Analyses) -> Iterable[tuple[Segment, int | None]]:
    """The segments with their rows: as analysed, otherwise by their share of the bytes; None if both are unknown."""
    size = sum(segment.size for segment in segments)
    total = analyses.statistics.rows if analyses.statistics is not None else None
    for segment in segments:
        known = analyses.kept.get(segment.id)
        share = round(total * segment.size / size) if total is not None and segment.size else None
        yield segment, share if known is None else known.num_rows


def may_receive_secrets(address: DruidAddress, server: str) -> bool:
    """Whether a data server that the broker names may receive the secrets: over plain http only on this machine, unless
    the broker already receives them that way."""
    parts, broker = urlsplit(server), urlsplit(address.broker)
    if not address.has_secrets or parts.scheme == "https" or is_here(parts.hostname or ""):
        return True
    return broker.scheme == "http" and not is_here(broker.hostname or "")


def _served(segment: Segment, rows: int | None, may_ask: bool) -> ServedSegment:
    return ServedSegment(
        segment.id, segment.start, segment.end, segment.version, segment.number, rows, segment.size,
        segment.servers if may_ask else (),
    )  # fmt: skip


def _accepts(url: str) -> bool:
    """Whether a server accepts connections from this machine."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), PROBE).close()
    except OSError:
        return False
    return True
