"""Where a segment is in deep storage: Druid's loadSpec, and the same as a path or URI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from hivedruid.filesystems import local_path, path_of, uri


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
    if (path := local_path(place)) is not None:
        return {"type": "local", "path": str(path)}
    parts = urlsplit(place)
    match parts.scheme:
        case "s3" | "s3a" | "s3n":
            schema = "s3a" if parts.scheme == "s3a" else "s3n"
            return {"type": "s3_zip", "bucket": parts.netloc, "key": path_of(parts), "S3Schema": schema}
        case "hdfs":
            return {"type": "hdfs", "path": place}
        case "gs":
            return {"type": "google", "bucket": parts.netloc, "path": path_of(parts)}
        case "abfs" | "abfss":
            container = parts.netloc.partition("@")[0]
            return {"type": "azure", "containerName": container, "blobPath": path_of(parts)}
        case scheme:
            raise ValueError(f"deep storage of Druid is not known for the scheme {scheme}")
