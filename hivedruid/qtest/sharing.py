"""One Spark server for a whole run of tests: each has a home of its own, and a server for each would take forever."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SPARK_HOME = "HIVEDRUID_SPARK_HOME"


@contextmanager
def sharing_spark() -> Iterator[None]:
    """Inside, every home uses one Spark server, which the first Spark job starts; one that is shared already stays."""
    from shutil import rmtree
    from tempfile import mkdtemp

    if SPARK_HOME in os.environ:
        yield
        return
    folder = Path(mkdtemp(prefix="hivedruid-spark-home-")).resolve()
    os.environ[SPARK_HOME] = str(folder)
    try:
        yield
    finally:
        del os.environ[SPARK_HOME]
        if (folder / "spark").exists():
            from hivedruid.spark import server

            server.stop(folder)
        rmtree(folder, ignore_errors=True)
