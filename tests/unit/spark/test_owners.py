"""Sessions with an owner other than the process that opened them: neither idle nor lost while the owner is alive."""

from __future__ import annotations

from pathlib import Path
from time import time

import pytest

from hivedruid.errors import SparkError
from hivedruid.spark import keeper, server, session
from hivedruid.spark.server import ClientMark, Files
from tests.unit.spark.conftest import eventually

pytestmark = pytest.mark.spark


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    monkeypatch.delenv(server.SPARK_HOME, raising=False)
    made = Files(tmp_path)
    server._make_folder(made)
    return made


def leave(files: Files, session: str, owner: str = "") -> None:
    """The files of a process that dies with an open session."""
    ClientMark(files, session, "me", owner)._lock.close()


def test_lost_unless_the_owner_lives(files: Files) -> None:
    with server.owner(files.home, "stream"):
        leave(files, "a")
        leave(files, "b", owner="stream")
        leave(files, "c", owner="another")
        assert sorted(server.lost_clients(files)) == [("a", "me"), ("c", "me")]
        assert list(server.lost_clients(files)) == []
    assert list(server.lost_clients(files)) == [("b", "me")]


def test_idle_unless_an_owner_lives(files: Files) -> None:
    files.discovery.touch()
    with server.owner(files.home, "stream"):
        assert time() - files.jobs.stat().st_mtime >= -1
        assert not keeper._has_idled(files, -10.0)
        assert files.discovery.exists()
    assert keeper._has_idled(files, -10.0)
    assert not files.discovery.exists()


def test_one_owner_of_a_name(files: Files) -> None:
    with server.owner(files.home, "stream"):
        with (
            pytest.raises(SparkError, match="'stream' of Spark sessions is already running"),
            server.owner(files.home, "stream"),
        ):
            pass
        with server.owner(files.home, "other"):
            assert server.has_owner(files, "other")
    assert not server.has_owner(files)


def test_server_and_session_wait_for_their_owner(files: Files) -> None:
    """The process that opened the session has ended, and no job runs for longer than the idle timeout."""
    settings = {"hivedruid.spark.idle.timeout": "PT0.5S"}
    with server.owner(files.home, "stream"):
        with session.job(settings, files.home, owner="stream") as running:
            spark = running.spark
            assert spark.sql("SELECT 1").collect()[0][0] == 1
        session.release(files.home)
        left = time()
        with session.job(settings, files.home) as running:  # of another one, which ends it as usual
            assert running.spark.sql("SELECT 2").collect()[0][0] == 2
        session.release(files.home)
        eventually(lambda: time() - left > 2)
        assert [path.name for path in files.clients.iterdir()] == [spark.client._session_id]
        assert server.find(files.home) is not None
    eventually(lambda: server.find(files.home) is None)
