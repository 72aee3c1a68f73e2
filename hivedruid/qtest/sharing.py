"""One Spark server for a whole test run: every test has its own home, and one server per home would be too slow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SPARK_HOME = "HIVEDRUID_SPARK_HOME"


@contextmanager
def sharing_spark() -> Iterator[None]:
    """Inside the block, all homes share one Spark server, which the first Spark job starts; an existing shared server
    is kept."""
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
