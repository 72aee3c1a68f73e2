"""Homes, and the files in them, are readable only by their owner."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid import defaults
from hivedruid.session import Session


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


def test_a_home_made_before_is_closed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run(home)
    (home / "staging").mkdir()
    for path in (home, *home.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    run(home)


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
