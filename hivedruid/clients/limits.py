"""The limits of queries, from the broker's properties."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivedruid.clients.failures import AnswerError
from hivedruid.druid.limits import DruidLimits
from hivedruid.errors import DruidError

if TYPE_CHECKING:
    from hivedruid.clients.druid import DruidClient


def read_limits(client: DruidClient, has_sketches: bool) -> DruidLimits:
    """Unknown limits are those of a Druid whose properties are not accessible."""
    unknown = DruidLimits(sketches=has_sketches, unions=has_sketches)
    try:
        properties = client.get("broker", "/status/properties", dict[str, str], missing={})
    except AnswerError:
        raise
    except DruidError:
        return unknown
    if "broker" not in properties.get("druid.service", ""):
        return unknown
    buffers = _number(properties.get("druid.processing.numMergeBuffers"))
    threads = _number(properties.get("druid.processing.numThreads"))
    if buffers is None and threads is not None:
        buffers = max(2, threads // 4)  # DruidProcessingConfig
    rows = _number(properties.get("druid.server.http.maxSubqueryRows", "100000"))
    most = rows if rows is not None and rows >= 0 else None
    return replace(unknown, subquery_rows=most, merge_buffers=buffers)


def _number(text: Any) -> int | None:
    try:
        return int(text)
    except (TypeError, ValueError):
        return None
