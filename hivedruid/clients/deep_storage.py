"""Where hivedruid can write segments itself: the cluster's deep storage, as seen from this machine."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.clients import wire
from hivedruid.clients.ingest import is_readable
from hivedruid.clients.overlord import Overlord
from hivedruid.clients.segments import Segments
from hivedruid.druid import granularities
from hivedruid.druid.ingestion import files_in, input_source
from hivedruid.engine.capabilities import SegmentRoot
from hivedruid.errors import DruidError
from hivedruid.filesystems import Access, child, local_path, open_location, uri

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from hivedruid.engine.segments import Segment

_DEFAULT = "/tmp/druid/localStorage"  # noqa: S108 - Druid's own


def segment_root(cluster: DruidCluster, folder: str, access: Access) -> SegmentRoot:
    """See `SegmentPublishing.segment_root`."""
    if not folder:
        found = root_of(cluster.client.get("coordinator", "/status/properties", dict[str, str]))
        if found.problem:
            return found
        folder = found.folder
    problem = _access_problem(folder, access)
    if problem:
        return SegmentRoot(folder, problem)
    nobody = {"type": "noop", "id": f"hivedruid_{uuid4().hex}", "dataSource": "hivedruid"}
    try:
        Overlord(cluster.client).act(nobody, {"type": "lockList"}, wire.Acknowledgement)
    except DruidError as error:
        return SegmentRoot(folder, f"the overlord does not perform actions for hivedruid: {error.message}", True)
    return SegmentRoot(folder)


def root_of(properties: Mapping[str, str]) -> SegmentRoot:
    """The root of deep storage by the properties that a service of Druid reports."""
    kind = properties.get("druid.storage.type", "local")
    bucket, base_key = properties.get("druid.storage.bucket"), properties.get("druid.storage.baseKey")
    match kind:
        case "local":
            return SegmentRoot(properties.get("druid.storage.storageDirectory", _DEFAULT))
        case "s3" if bucket and base_key is not None:
            return SegmentRoot(uri("s3", bucket, base_key))
        case "s3":  # by default, Druid hides properties whose names contain `key`
            place = f"s3://{bucket or '<bucket>'}/<druid.storage.baseKey>"
            return SegmentRoot(
                "", f"Druid does not report druid.storage.baseKey: SET hivedruid.druid.deep.storage={place}"
            )
        case "hdfs" if (folder := properties.get("druid.storage.storageDirectory", "")).startswith("hdfs://"):
            return SegmentRoot(folder)
        case "google" if bucket := properties.get("druid.google.bucket"):
            return SegmentRoot(uri("gs", bucket, properties.get("druid.google.prefix", "")))
        case "azure" if account := properties.get("druid.azure.account"):
            container = f"{properties.get('druid.azure.container')}@{account}.dfs.core.windows.net"
            return SegmentRoot(uri("abfs", container, properties.get("druid.azure.prefix", "")))
        case _:
            return SegmentRoot("", f"the location of Druid's deep storage of type {kind} is not known")


def _access_problem(root: str, access: Access) -> str:
    """Why this process cannot write below the root, as far as it can be seen without writing; or ""."""
    folder = local_path(root)
    if folder is not None:
        # Druid creates its deep storage with the first segment.
        existing = next(place for place in (folder, *folder.parents) if place.exists())
        is_writable = os.access(existing, os.W_OK | os.X_OK)
        return "" if is_writable else f"the deep storage of Druid, {root}, is not a folder that this user can write to"
    try:
        open_location(root, access).exists()
    except OSError as error:
        return f"cannot access the deep storage of Druid, {root}: {error}"
    return ""


def publishing_problem(
    cluster: DruidCluster, data_source: str, granularity: str, root: str, access: Access, *, appends: bool
) -> str:
    """See `SegmentPublishing.publishing_problem`."""
    if problem := _sharing_problem(cluster, root, access):
        return problem
    if appends:
        for segment in Segments(cluster.client, data_source).used():
            if _is_shorter(segment, granularity):
                return f"{data_source} has segments of {segment.interval}, shorter than {granularity}"
    return ""


def _sharing_problem(cluster: DruidCluster, root: str, access: Access) -> str:
    """Why the overlord's machine does not see the same files below the root, or "": it samples one."""
    folder = child(root, f"hivedruid-{uuid4().hex}")
    schema = {
        "dataSource": "hivedruid", "timestampSpec": {"column": "time", "format": "millis"},
        "dimensionsSpec": {"dimensions": ["x"]},
    }  # fmt: skip
    unreadable = f"Druid's machines cannot read {root}"
    try:
        place = open_location(folder, access)
        place.create_folder()
        try:
            (place / "row.json.gz").write(gzip.compress(json.dumps({"time": 0, "x": "x"}).encode()))
            is_read = is_readable(cluster, schema, files_in(input_source(folder), folder), {"type": "json"})
            return "" if is_read else unreadable
        except DruidError:
            return unreadable
        finally:
            place.remove()
    except OSError as error:
        return f"cannot write to {root}: {error.strerror or error}"


def _is_shorter(segment: Segment, granularity: str) -> bool:
    """Whether a segment has only a part of a bucket of the granularity."""
    start, end = granularities.interval(granularities.number(segment.start, granularity), granularity)
    return start <= segment.start and segment.end <= end and (start, end) != (segment.start, segment.end)
