"""File locks below the home folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid import locks

if TYPE_CHECKING:
    import pytest


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
    with locks.exclusive(path), locks.touched(path):
        os.utime(path, (0, 0))
        while path.stat().st_mtime == 0:
            pass
    assert path.stat().st_mtime > 0
