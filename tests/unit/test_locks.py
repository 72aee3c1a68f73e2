"""File locks between processes, and those below the home folder."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hivedruid import locks, notices
from hivedruid.errors import ExecutionError
from hivedruid.locks import Lock

if TYPE_CHECKING:
    from collections.abc import Iterator

HOLDER = """
import sys
from pathlib import Path
from hivedruid.locks import Lock
lock = Lock(Path(sys.argv[1]))
assert lock.take()
print(flush=True)
input()
"""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """A lock file, and another process that holds the lock."""
    path = tmp_path / "held"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"\n"
        yield path, holder
        holder.kill()


def test_a_killed_process_holds_no_lock(held: tuple[Path, subprocess.Popen[bytes]]) -> None:
    path, holder = held
    waits: list[bool] = []

    def end_holder() -> None:
        waits.append(locks.is_held(path))
        holder.kill()

    with Lock(path) as lock:
        assert not lock.take()
        assert not lock.take(shared=True)
        assert not lock.wait(patience=0.1)
        assert lock.wait(on_wait=end_holder)
        assert waits == [True]


def test_a_long_wait_names_the_lock_and_its_holder(
    held: tuple[Path, subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, holder = held
    command = Path(f"/proc/{holder.pid}/comm").read_text().strip()
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        holder.kill()

    monkeypatch.setattr(locks, "LONG", 0.0)
    with notices.received_by(note), locks.shared(path):
        user = pwd.getpwuid(os.getuid()).pw_name
        assert notes == [f"waiting for the lock {path}, held by process {holder.pid} ({command}) of user {user}"]


def test_a_wait_can_be_given_up(held: tuple[Path, subprocess.Popen[bytes]]) -> None:
    path, _ = held
    with Lock(path) as lock:
        assert not lock.wait(give_up=lambda: True)


def test_a_process_that_inherits_a_lock_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with Lock(path) as lock:
        assert lock.take()
        command = [sys.executable, "-c", "input()"]
        heir = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(lock.fileno(),))
    assert locks.is_held(path)
    heir.communicate(b"\n")
    assert not locks.is_held(path)


def test_a_shared_lock_is_held_together(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with Lock(path) as first, Lock(path) as second, Lock(path) as alone:
        assert first.take(shared=True)
        assert second.take(shared=True)
        assert not alone.take()
        first.close()
        second.close()
        assert alone.take()


def test_a_lock_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with pytest.raises(FileNotFoundError):
        Lock(path, create=False)
    Lock(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    Lock(path, create=False).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_lock_file_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for use in (locks.is_held, lambda path: locks.exclusive(path).__enter__()):
        with pytest.raises(ExecutionError, match="cannot open the lock file"):
            use(tmp_path / "file" / "x")


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "x"
    assert not locks.is_held(path)
    with locks.exclusive(path) as alone:
        assert alone
        assert locks.is_held(path)
        with locks.exclusive(path, patience=0.1) as too:
            assert not too
    assert not locks.is_held(path)


def test_those_who_look_do_not_see_each_other(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with locks.shared(path):
        assert not locks.is_held(path)


def test_a_file_is_touched_while_its_process_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "BEAT", 0.001)
    path = tmp_path / "x"
    with locks.exclusive(path), locks.heartbeat(path):
        os.utime(path, (0, 0))
        while path.stat().st_mtime == 0:
            pass
    assert path.stat().st_mtime > 0
