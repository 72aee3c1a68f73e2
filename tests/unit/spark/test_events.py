"""A keeper sleeps until something happens."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivedruid.spark import keeper, server
from hivedruid.spark.events import Events
from hivedruid.spark.server import ClientMark, Files

CLIENT = """
import sys
from pathlib import Path
from hivedruid.spark.server import ClientMark, Files
mark = ClientMark(Files(Path(sys.argv[1])), "killed", "me")
print(flush=True)
input()
"""
WAIT = 120.0
"""Seconds until a test fails: an event ends the wait."""


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    monkeypatch.delenv(server.SPARK_HOME, raising=False)
    files = Files(tmp_path)
    server._make_folder(files)
    files.clients.mkdir()
    files.owners.mkdir()
    return files


@pytest.fixture
def events(files: Files, child: subprocess.Popen[bytes]) -> Iterator[Events]:
    events = Events(child.pid, [files.folder, files.clients, files.owners])
    assert not events.wait(0)
    yield events
    events.close()


def remove_discovery(files: Files) -> None:
    files.discovery.unlink()


def replace_discovery(files: Files) -> None:
    (files.home / "fresh").touch()
    (files.home / "fresh").replace(files.discovery)


def end_an_owner(files: Files) -> None:
    with server.owner(files.home, "stream"):
        pass


@pytest.mark.parametrize(
    "change", [remove_discovery, replace_discovery, end_an_owner, lambda files: shutil.rmtree(files.folder)]
)
def test_a_changed_folder_ends_the_wait(
    files: Files, child: subprocess.Popen[bytes], change: Callable[[Files], None]
) -> None:
    files.discovery.touch()
    events = Events(child.pid, [files.folder, files.clients, files.owners])
    change(files)
    assert events.wait(WAIT)
    events.close()


def test_the_end_of_the_process_ends_the_wait(child: subprocess.Popen[bytes], events: Events) -> None:
    child.kill()
    assert events.wait(WAIT)


def test_the_end_of_the_pipe_ends_the_wait(files: Files, child: subprocess.Popen[bytes]) -> None:
    reader, writer = os.pipe()
    events = Events(child.pid, [files.folder], reader)
    assert not events.wait(0)
    os.close(writer)
    assert events.wait(WAIT)
    events.close()
    os.close(reader)


def test_a_killed_client_ends_the_wait(files: Files, events: Events) -> None:
    """The lock is released just after the event: the second wait is short."""
    with subprocess.Popen([sys.executable, "-c", CLIENT, str(files.home)], stdin=-1, stdout=-1) as client:
        assert client.stdout is not None
        client.stdout.readline()
        while events.wait(0):
            pass
        assert list(server.lost_clients(files)) == []
        client.kill()
    assert events.wait(WAIT)
    lost = list(server.lost_clients(files))
    if not lost:
        events.wait(WAIT)
        lost = list(server.lost_clients(files))
    assert lost == [("killed", "me")]


def test_checks_are_no_events(files: Files, events: Events) -> None:
    """A keeper would never sleep."""
    mark = ClientMark(files, "here", "me")
    with server.exclusive(files):
        while events.wait(0):
            pass
        assert list(server.lost_clients(files)) == []
        assert not server.has_owner(files)
        os.utime(files.jobs, (0, 0))
        assert not keeper._has_idled(files, 1)
        assert not events.wait(0)
    mark.remove()
    assert events.wait(WAIT)
