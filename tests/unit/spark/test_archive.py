"""The class-data archive of Spark's JVM: written by the first server, used by the second, replaced if it is damaged."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.spark import launch, server
from tests.unit.spark.conftest import run

pytestmark = pytest.mark.spark

TRIES = 3
"""A JVM that takes too long on a busy machine is killed before the archive is complete."""
OPTIONS = "spark.driver.extraJavaOptions"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    home = tmp_path / "home"
    yield home
    known = server.find(home)
    if known is not None:
        os.kill(known.jvm, signal.SIGKILL)  # writes no archive
    server.stop(home)


def test_the_archive_of_a_server(home: Path, tmp_path: Path) -> None:
    archives, log = tmp_path / "cache" / "hivedruid" / "archives", tmp_path / "load.log"

    def answer(*options: str) -> str:
        return run(home, *options, own=True, XDG_CACHE_HOME=str(tmp_path / "cache")).stdout

    for _ in range(TRIES):
        assert answer() == "[(1,)]\n"
        assert server.stop(home)
        if any(archives.iterdir()):
            break
    (archive,) = archives.iterdir()
    assert archive.suffix == ".jsa"

    assert answer(f"{OPTIONS}={launch.STATIC[OPTIONS]} -Xlog:class+load:file={log}") == "[(1,)]\n"
    for loaded in ("SparkConnectServer", "SparkConnectService"):
        assert f"org.apache.spark.sql.connect.service.{loaded} source: shared objects file (top)" in log.read_text()
    assert server.stop(home)
    assert list(archives.iterdir()) == [archive]

    os.truncate(archive, archive.stat().st_size // 2)
    assert answer() == "[(1,)]\n"
    assert list(archives.iterdir()) == []
