"""Which versions of Druid are supported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.clients import wire
from hivedruid.clients.failures import AnswerError
from hivedruid.clients.segments import ETERNITY, interval
from hivedruid.errors import ConnectError, DruidError, UnsupportedError

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

OLDEST_VERSION = 32
"""The first version of Druid whose null handling is always that of SQL."""


def check_version(cluster: DruidCluster) -> bool:
    """Whether the cluster has sketches. Raises UnsupportedError if its null handling differs from SQL."""
    version, has_sketches = "", False
    try:
        status = cluster.client.get("broker", "/status", wire.Status)
        version = status.version
        has_sketches = "druid-datasketches" in status.artifacts
    except (ConnectError, AnswerError):
        raise
    except DruidError:
        pass  # /status may be forbidden although queries are allowed
    major = version.partition(".")[0]
    if major.isdecimal():
        if int(major) < OLDEST_VERSION:
            raise UnsupportedError(
                f"Druid at {cluster.address.broker} is version {version}",
                hint=f"hivedruid needs Druid {OLDEST_VERSION} or later, which handles nulls as SQL does",
            )
    elif _has_legacy_nulls(cluster):
        raise UnsupportedError(
            f"Druid at {cluster.address.broker} treats empty strings as nulls",
            hint="set druid.generic.useDefaultValueForNull=false for all its services, or use Druid 32 or later",
        )
    return has_sketches


def _has_legacy_nulls(cluster: DruidCluster) -> bool:
    probe = {
        "queryType": "scan",
        "dataSource": {"type": "inline", "columnNames": ["x"], "columnTypes": ["STRING"], "rows": [[""]]},
        "intervals": [interval(ETERNITY)],
        "virtualColumns": [{"type": "expression", "name": "v", "expression": "nvl(x, 'null')", "outputType": "STRING"}],
        "columns": ["v"],
        "resultFormat": "compactedList",
    }
    return [result.events for result in cluster.answer(probe, wire.ScanResult)] != [[[""]]]
