"""A disk without space for Spark."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hivedruid.spark.session import job


@contextmanager
def small_disk(settings: Mapping[str, str], home: Path, size: int) -> Iterator[None]:
    """A limit on the files of Spark's server: it gets no more space, as on a full disk."""
    with job(settings, home) as running:
        running.spark.sql("SELECT 1").collect()
        assert running.server is not None
        pid = running.server.jvm
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
