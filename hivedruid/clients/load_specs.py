"""Where a segment is in deep storage: Druid's loadSpec, and the same as a path or URI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.filesystems import local_path, split_uri, uri


def location(load_spec: Mapping[str, Any]) -> str | None:
    """The path or URI of a segment by its loadSpec; None for a type that is not supported."""
    match load_spec:
        case {"type": "local" | "hdfs", "path": path}:
            return str(path)
        case {"type": "s3_zip", "bucket": bucket, "key": key}:
            return uri("s3", bucket, key)
        case {"type": "google", "bucket": bucket, "path": path}:
            return uri("gs", bucket, path)
        case {"type": "azure", "containerName": container, "blobPath": path}:
            return uri("abfs", container, path)
        case _:
            return None


def load_spec(place: str) -> dict[str, Any]:
    """The loadSpec of a segment at a path or URI, as Druid's own tasks write it: the inverse of `location`. Raises
    ValueError for another scheme."""
    if (folder := local_path(place)) is not None:
        return {"type": "local", "path": str(folder)}
    scheme, host, path = split_uri(place)
    match scheme:
        case "s3" | "s3a" | "s3n":
            return {"type": "s3_zip", "bucket": host, "key": path, "S3Schema": "s3a" if scheme == "s3a" else "s3n"}
        case "hdfs":
            return {"type": "hdfs", "path": place}
        case "gs":
            return {"type": "google", "bucket": host, "path": path}
        case "abfs" | "abfss":
            return {"type": "azure", "containerName": host.partition("@")[0], "blobPath": path}
        case _:
            raise ValueError(f"deep storage of Druid is not known for the scheme {scheme}")
