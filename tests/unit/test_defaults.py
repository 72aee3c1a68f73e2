"""The default settings of a home."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivedruid import defaults
from hivedruid.errors import ExecutionError, UsageError


def test_nothing_yet(tmp_path: Path) -> None:
    assert defaults.read(tmp_path / "home") == {}


def test_changes_are_merged_and_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    defaults.write(home, {"druid.url": "local", "druid.auth.username": "me"})
    defaults.write(home, {"druid.url": None, "spark.master": "yarn"})
    assert defaults.read(home) == {"druid.auth.username": "me", "spark.master": "yarn"}
    assert (home / defaults.FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in home.iterdir()] == [defaults.FILE]


def test_no_file_for_no_defaults(tmp_path: Path) -> None:
    defaults.write(tmp_path, {"druid.url": "local"})
    defaults.write(tmp_path, {"druid.url": None})
    defaults.write(tmp_path / "never made", {"druid.url": None})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "what"), [('{"druid.url": "lo', "is not valid JSON"), ("[1]", "is not a JSON object of strings")]
)
def test_a_damaged_file_is_told_and_replaced(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / defaults.FILE).write_text(text)
    with pytest.raises(UsageError, match=what) as caught:
        defaults.read(tmp_path)
    assert caught.value.hint == "fix or delete the file, or run `hivedruid local up` to recreate it"
    defaults.write(tmp_path, {"druid.url": "local"})
    assert defaults.read(tmp_path) == {"druid.url": "local"}


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / defaults.FILE).mkdir()
    with pytest.raises(UsageError, match="cannot read"):
        defaults.read(tmp_path)
    with pytest.raises(ExecutionError, match="cannot write"):
        defaults.write(tmp_path, {"druid.url": "local"})
