"""Where hivedruid can write segments itself: the cluster's deep storage, as seen from this machine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.clients import wire
from hivedruid.clients.ingest import is_readable
from hivedruid.clients.overlord import Overlord
from hivedruid.clients.segments import Segments
from hivedruid.druid import granularities
from hivedruid.engine.capabilities import SegmentRoot
from hivedruid.errors import DruidError

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.engine.segments import Segment

_TYPE, _FOLDER = "druid.storage.type", "druid.storage.storageDirectory"
_DEFAULT = "/tmp/druid/localStorage"  # noqa: S108 - Druid's own


def segment_root(cluster: DruidCluster, folder: str) -> SegmentRoot:
    """See `SegmentPublishing.segment_root`."""
    if not folder:
        properties = cluster.client.get("coordinator", "/status/properties", dict[str, str])
        kind = properties.get(_TYPE, "local")
        if kind != "local":
            return SegmentRoot("", f"the deep storage of Druid is {kind}, and only local folders are supported")
        folder = properties.get(_FOLDER, _DEFAULT)
    if not os.access(_existing(Path(folder)), os.W_OK | os.X_OK):
        return SegmentRoot(folder, f"the deep storage of Druid, {folder}, is not a folder that this user can write to")
    nobody = {"type": "noop", "id": f"hivedruid_{uuid4().hex}", "dataSource": "hivedruid"}
    try:
        Overlord(cluster.client).act(nobody, {"type": "lockList"}, wire.Acknowledgement)
    except DruidError as error:
        return SegmentRoot(folder, f"the overlord does not perform actions for hivedruid: {error.message}", True)
    return SegmentRoot(folder)


def _existing(folder: Path) -> Path:
    """The folder, or the first one above it that exists: Druid creates its deep storage with the first segment."""
    return next(place for place in (folder, *folder.parents) if place.exists())


def publishing_problem(cluster: DruidCluster, data_source: str, granularity: str, root: str, *, appends: bool) -> str:
    """See `SegmentPublishing.publishing_problem`."""
    if not _is_shared(cluster, Path(root)):
        return f"Druid's machines cannot read {root}"
    if appends:
        for segment in Segments(cluster.client, data_source).used():
            if _is_shorter(segment, granularity):
                return f"{data_source} has segments of {segment.interval}, shorter than {granularity}"
    return ""


def _is_shared(cluster: DruidCluster, root: Path) -> bool:
    """Whether the overlord's machine sees the same folder: it samples a file there."""
    probe = root / f"hivedruid-{uuid4().hex}.json"
    schema = {
        "dataSource": "hivedruid", "timestampSpec": {"column": "time", "format": "millis"},
        "dimensionsSpec": {"dimensions": ["x"]},
    }  # fmt: skip
    try:
        root.mkdir(parents=True, exist_ok=True)
        probe.write_text(json.dumps({"time": 0, "x": "x"}))
        source = {"type": "local", "files": [str(probe)]}
        return is_readable(cluster, schema, source, {"type": "json"})
    except (OSError, DruidError):
        return False
    finally:
        probe.unlink(missing_ok=True)


def _is_shorter(segment: Segment, granularity: str) -> bool:
    """Whether a segment has only a part of a bucket of the granularity."""
    start, end = granularities.interval(granularities.number(segment.start, granularity), granularity)
    return start <= segment.start and segment.end <= end and (start, end) != (segment.start, segment.end)
