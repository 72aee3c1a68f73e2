"""Which versions of Druid are supported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.clients import wire
from hivedruid.clients.failures import AnswerError
from hivedruid.clients.segments import ETERNITY, interval
from hivedruid.druid.versions import NEWEST, OLDEST, DruidVersion, major_of
from hivedruid.errors import ConnectError, DruidError, UnsupportedError
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.clients.native_queries import NativeQueries


@dataclass(frozen=True)
class Broker:
    """The version of the broker, and whether it has sketches."""

    version: DruidVersion
    sketches: bool


def check_version(cluster: NativeQueries) -> Broker:
    """Raises UnsupportedError if the null handling of the cluster differs from SQL."""
    version, has_sketches = "", False
    try:
        status = cluster.client.get("broker", "/status", wire.Status)
        version = status.version
        has_sketches = "druid-datasketches" in status.artifacts
    except (ConnectError, AnswerError):
        raise
    except DruidError:
        pass  # /status may be forbidden although queries are allowed
    major = major_of(version)
    if major is not None:
        if major < OLDEST:
            raise UnsupportedError(
                f"Druid at {cluster.address.broker} is version {version}",
                hint=f"hivedruid needs Druid {OLDEST} or later, which handles nulls as SQL does",
            )
        cluster.see_version(version)
        if DruidVersion(version).is_newer:
            cluster.note(f"Druid {version} is newer than hivedruid, which takes it for Druid {NEWEST}")
    elif _has_legacy_nulls(cluster):
        raise UnsupportedError(
            f"Druid at {cluster.address.broker} treats empty strings as nulls",
            hint="set druid.generic.useDefaultValueForNull=false for all its services, or use Druid 32 or later",
        )
    return Broker(DruidVersion(version), has_sketches)


def _has_legacy_nulls(cluster: NativeQueries) -> bool:
    probe = {
        "queryType": "scan",
        "dataSource": {"type": "inline", "columnNames": ["x"], "columnTypes": ["STRING"], "rows": [[""]]},
        "intervals": [interval(ETERNITY)],
        "virtualColumns": [{"type": "expression", "name": "v", "expression": "nvl(x, 'null')", "outputType": "STRING"}],
        "columns": ["v"],
        "resultFormat": "compactedList",
    }
    return [result.events for result in cluster.answer(probe, wire.ScanResult)] != [[[""]]]
