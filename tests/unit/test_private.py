"""Homes, and the files in them, are readable only by their owner."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from hivedruid import defaults, notices, staging_folder
from hivedruid.catalog.opening import of_home
from hivedruid.embedded.manifest import Manifest
from hivedruid.embedded.storage import Storage
from hivedruid.iceberg import home_catalog
from hivedruid.private import private_home
from hivedruid.session import Session
from hivedruid.spark import server

STRANGER = """
import os, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
for folder, folders, files in os.walk(sys.argv[1]):
    for name in (*folders, *files):
        path = os.path.join(folder, name)
        if os.access(path, os.R_OK) or os.access(path, os.X_OK):
            print(os.path.relpath(path, sys.argv[1]))
"""
"""Lists what another user can access below a folder."""


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def run(home: Path) -> None:
    with Session(home) as session:
        for statement in session.statements(
            "CREATE EXTERNAL TABLE IF NOT EXISTS t (`__time` timestamp) STORED BY 'druid'; SHOW TABLES"
        ):
            tuple(session.execute(statement).rows)
        assert (home / "catalog.sqlite-wal").exists()
        assert open_to_others(home) == []


def open_to_others(home: Path) -> list[str]:
    found = [home, *home.iterdir()]
    return sorted(path.name for path in found if path.stat().st_mode & 0o077)


def test_a_new_home_is_private_whatever_the_umask(tmp_path: Path) -> None:
    run(tmp_path / "a" / "home")
    assert (tmp_path / "a").stat().st_mode & 0o077, "folders above it are as the umask says"


def test_a_home_made_before_is_closed_with_a_note(tmp_path: Path) -> None:
    notes: list[str] = []
    home = tmp_path / "home"
    with notices.received_by(notes.append):
        run(home)
        (home / "staging").mkdir(mode=0o700)
        run(home)
        assert notes == []
        (home / "staging").chmod(0o755)
        run(home)
        assert notes == [f"other users could access {home / 'staging'}; now only its owner can"]
        for path in (home, *home.iterdir()):
            path.chmod(0o755 if path.is_dir() else 0o644)
        run(home)
        assert notes[1:] == [f"other users could access {home}; now only its owner can"]


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A home that every user of the machine can enter: it contains another file."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        home = Path(folder, "home")
        home.mkdir(mode=0o755)
        (home / "work.txt").touch()
        yield home


def accessible(home: Path) -> list[str]:
    """What another user can access below a home: tried as another user by root, by the modes otherwise."""
    if os.getuid() == 0:
        command = [sys.executable, "-c", STRANGER, str(home)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = []
    for folder, folders, files in os.walk(home):
        found += [name for name in (*folders, *files) if Path(folder, name).stat().st_mode & 0o077]
        folders[:] = [name for name in folders if name in found]
    return found


def test_another_user_can_neither_read_nor_lock_anything(open_home: Path) -> None:
    """Everything that is created after the session was opened, too."""
    with Session(open_home) as session:
        for statement in session.statements("SHOW TABLES"):
            session.execute(statement)
        storage = Storage(open_home, Manifest(of_home(session._connection)))
        with storage.reading(), storage.writing("t") as folder:
            (folder / "rows.parquet").touch()
            home_catalog.prepare(open_home)
            staging_folder.prepare(open_home / "staging" / "job", shared=False)
            files = server.Files(open_home)
            server._make_folder(files)
            server.ClientMark(files, "session", "user")
            assert files.opened.stat().st_mode & 0o777 == 0o600
            assert accessible(open_home) == ["work.txt"]


def test_staging_is_opened_by_a_setting(open_home: Path) -> None:
    for shared, mode in ((False, 0o700), (True, 0o755)):
        folder = open_home / "other" / str(shared)
        staging_folder.prepare(folder, shared=shared)
        assert folder.stat().st_mode & 0o777 == mode


def test_a_folder_with_other_things_is_no_home_alone(tmp_path: Path) -> None:
    (tmp_path / "work.txt").touch()
    tmp_path.chmod(0o755)
    (tmp_path / "logs").mkdir()
    with Session(tmp_path):
        pass
    assert open_to_others(tmp_path) == sorted([tmp_path.name, "work.txt"])


def test_defaults_make_a_private_home(tmp_path: Path) -> None:
    defaults.write(tmp_path / "home", {"druid.url": "local"})
    assert open_to_others(tmp_path / "home") == []


def test_files_that_another_process_removes_meanwhile(tmp_path: Path) -> None:
    """SQLite removes the log of the catalog when the last process closes it."""
    log, ended = tmp_path / "catalog.sqlite-wal", Event()

    def come_and_go() -> None:
        while not ended.is_set():
            log.touch(0o644)
            log.unlink()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(come_and_go)
        try:
            for _ in range(2000):
                private_home(tmp_path)
        finally:
            ended.set()
        other.result()
