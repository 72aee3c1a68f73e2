"""Catalogs that are lost or damaged, on a disk that is full or read-only: what can be read is read, and each error says
what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.database import FILE_NAME
from hivedruid.errors import ExecutionError
from hivedruid.session import Session
from tests.support.read_only import on_read_only_disk, on_small_disk, without_privileges


def run(session: Session, text: str) -> list[tuple[Any, ...]]:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]


TABLE = (
    "CREATE EXTERNAL TABLE t (__time TIMESTAMP, s STRING) STORED BY 'org.apache.hadoop.hive.druid.DruidStorageHandler'"
)
SCRIPT = """
import sys
from pathlib import Path
from hivedruid.errors import HiveDruidError
from hivedruid.session import Session

def run(session, text):
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]

home = Path(sys.argv[1])
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    with Session(folder) as session:
        run(session, f"{TABLE}; CREATE TABLE m (a INT)")
    (folder / "warehouse" / "tables" / "0190").mkdir(parents=True)
    return folder


@pytest.mark.parametrize("content", [None, b"", b"x"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_lost_catalog(home: Path, content: bytes | None, *, dry_run: bool) -> None:
    file = home / FILE_NAME
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ExecutionError, match="is missing or empty, but the home folder contains") as error:
        Session(home, dry_run=dry_run)
    assert "restore catalog.sqlite from a backup" in str(error.value.hint)
    assert (file.read_bytes() if file.exists() else None) == content


@pytest.mark.parametrize("content", [None, b""])
def test_a_home_without_rows_gets_a_new_catalog(tmp_path: Path, content: bytes | None) -> None:
    (tmp_path / "warehouse" / "tables").mkdir(parents=True)
    if content is not None:
        (tmp_path / FILE_NAME).write_bytes(content)
    with Session(tmp_path) as session:
        assert run(session, "SHOW TABLES") == []


def test_a_page_of_garbage(home: Path) -> None:
    """The first page is right, so that the file opens."""
    file = home / FILE_NAME
    pages = file.read_bytes()
    file.write_bytes(pages[:4096] + b"\xa5" * (len(pages) - 4096))
    with (
        pytest.raises(ExecutionError, match=r"the catalog is damaged|cannot open the catalog") as error,
        Session(home) as session,
    ):
        run(session, "SHOW TABLES")
    assert "restore catalog.sqlite from a backup" in str(error.value.hint)


def test_homes_that_are_no_folders(home: Path, tmp_path: Path) -> None:
    file, loop, dangling = (tmp_path / name for name in ("file", "loop", "dangling"))
    file.touch()
    loop.symlink_to(loop)
    dangling.symlink_to(tmp_path / "gone")
    for folder in (file, loop, dangling):
        with pytest.raises(ExecutionError, match="cannot open the catalog") as error:
            Session(folder, configured={})
        assert error.value.hint == f"{folder} is not a folder: choose another one with --home"


@pytest.mark.parametrize("name", [FILE_NAME, f"{FILE_NAME}-wal"])
def test_a_folder_in_place_of_a_file(home: Path, name: str) -> None:
    path = home / name
    path.unlink(missing_ok=True)
    path.mkdir(mode=0o700)
    for dry_run in (False, True):
        with pytest.raises(ExecutionError, match="the catalog") as error:
            Session(home, dry_run=dry_run)
        assert f"{path} is a folder: move it away; restore catalog.sqlite from a backup" in str(error.value.hint)


def test_permissions_that_are_missing(home: Path, tmp_path: Path) -> None:
    """A home in a folder that cannot be entered, one that cannot be entered, and one with an unreadable catalog."""
    code = """
for closed, folder in ((home.parent, home), (home, home), (home / "catalog.sqlite", home)):
    mode = closed.stat().st_mode & 0o777
    closed.chmod(0)
    try:
        for configured in (None, {}):
            try:
                Session(folder, configured=configured)
            except HiveDruidError as error:
                print(error.message, "|", error.hint)
    finally:
        closed.chmod(mode)
"""
    (tmp_path / "outer").mkdir()
    inner = home.rename(tmp_path / "outer" / "home")
    errors = without_privileges(inner, SCRIPT + code).splitlines()
    assert len(errors) == 6
    assert all("ermission" in each for each in errors)
    assert errors[-1].endswith(f"| check the permissions of {inner / FILE_NAME}, or choose another folder with --home")


def test_a_read_only_home(home: Path) -> None:
    code = """
with Session(home) as session:
    print(run(session, "SHOW TABLES"), len(run(session, "DESCRIBE t")), run(session, "SELECT count(*) FROM t"))
    for statement in ("CREATE DATABASE d", "DROP TABLE t", "INSERT INTO t SELECT current_timestamp(), 'x'"):
        try:
            run(session, statement)
        except HiveDruidError as error:
            print(error.message, "|", error.hint)
"""
    tables, *refusals = on_read_only_disk(home, SCRIPT + code).splitlines()
    assert tables == "[('m',), ('t',)] 2 [(0,)]"
    assert len(refusals) == 3
    assert all("ead-only" in each or "readonly" in each for each in refusals)
    assert all("choose a folder that you may write to with --home" in each for each in refusals)


def test_commands_on_a_read_only_home(home: Path) -> None:
    """The exit codes of what would write to the home, and of what works; the prompt only remembers its input."""
    code = """
from hivedruid.cli import main
from hivedruid.repl.history import History

sys.stderr = sys.stdout
for command in (["local", "up"], ["streams", "run"], ["spark", "status"], ["spark", "stop"], ["doctor"]):
    print(main([*command, "--home", str(home)]))
History(home / "history").store_string("SELECT 1")
"""
    lines = on_read_only_disk(home, SCRIPT + code).splitlines()
    refusal = [
        f"error: the home folder {home} is read-only",
        "hint: choose a folder that you may write to with --home; this one can only be read",
        "1",
    ]
    assert lines[:6] == [*refusal, *refusal]
    assert [line for line in lines if line in ("0", "1")][2:4] == ["0", "0"]
    (row,) = (line for line in lines if line.startswith("| home "))
    assert "| later " in row
    assert f"{home} is read-only: tables can be read" in row


def test_segments_that_were_replaced_stay_on_a_read_only_disk(home: Path) -> None:
    """Reading a home deletes the files of such segments; here it cannot."""
    with Session(home) as session:
        run(session, "INSERT INTO t VALUES ('2024-01-01 00:00:00', 'a')")
        session.catalog.connection.execute("UPDATE segments SET used = 0")
    shown = on_read_only_disk(home, SCRIPT + "with Session(home) as session: print(run(session, 'SELECT s FROM t'))")
    assert shown.strip() == "[]"


def test_a_read_only_home_with_a_log(home: Path) -> None:
    """A process that was killed has left its last changes in the log."""
    code = """
import os
session = Session(home)
run(session, "CREATE DATABASE late")
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", SCRIPT + code, str(home)], check=True)
    assert (home / f"{FILE_NAME}-wal").stat().st_size > 0
    (home / f"{FILE_NAME}-shm").unlink()
    shown = on_read_only_disk(home, SCRIPT + "with Session(home) as session: print(run(session, 'SHOW DATABASES'))")
    assert shown.strip() == "[('default',), ('late',)]"


def test_a_full_disk(tmp_path: Path) -> None:
    code = """
with Session(home) as session:
    try:
        for number in range(10_000):
            run(session, f"CREATE DATABASE d{number} COMMENT '{'x' * 1000}'")
    except HiveDruidError as error:
        print(error.message, "|", error.hint)
    print(len(run(session, "SHOW DATABASES")) > 1)
"""
    refusal, can_read = on_small_disk(tmp_path, "1m", SCRIPT + code).splitlines()
    assert "cannot write the catalog" in refusal
    assert "free space on the disk" in refusal
    assert can_read == "True"
