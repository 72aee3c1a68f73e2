"""LOAD DATA into external tables: which files are taken, their names, and what a killed process leaves."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.actions.writing.input_files import input_files
from hivedruid.errors import SemanticError
from hivedruid.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path / "home") as opened:
        run(opened, f"CREATE EXTERNAL TABLE t (a STRING) LOCATION '{tmp_path}/t'")
        yield opened


def run(session: Session, text: str) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for statement in session.statements(text):
        rows = list(session.execute(statement).rows)
    return rows


def files(folder: Path, **contents: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name.replace("__", ".")).write_text(content)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_files_of_taken_names_get_those_that_hive_gives(session: Session, tmp_path: Path) -> None:
    files(tmp_path / "in", noext="1", x__y__gz="2", _hidden="3")
    for _ in range(3):
        run(session, f"LOAD DATA LOCAL INPATH '{tmp_path}/in' INTO TABLE t")
    expected = ["noext", "noext_copy_1", "noext_copy_2", "x.y.gz", "x.y_copy_1.gz", "x.y_copy_2.gz"]
    assert names(tmp_path / "t") == expected
    assert names(tmp_path / "in") == ["_hidden", "noext", "x.y.gz"]


def test_files_of_the_same_name_are_all_loaded(session: Session, tmp_path: Path) -> None:
    for number in range(2):
        files(tmp_path / f"in{number}", a__txt=str(number))
    run(session, f"LOAD DATA INPATH '{tmp_path}/in*/a.txt' OVERWRITE INTO TABLE t")
    assert {(tmp_path / "t" / name).read_text() for name in ("a.txt", "a_copy_1.txt")} == {"0", "1"}
    assert names(tmp_path / "in0") == names(tmp_path / "in1") == []


def test_hidden_files_of_a_table_are_replaced_with_the_others(session: Session, tmp_path: Path) -> None:
    files(tmp_path / "t", old="1", _mark="2")
    files(tmp_path / "in", new="3")
    run(session, f"LOAD DATA INPATH '{tmp_path}/in/new' OVERWRITE INTO TABLE t")
    assert names(tmp_path / "t") == ["new"]
    assert names(tmp_path) == ["home", "in", "t"]


@pytest.mark.parametrize(
    ("path", "found", "is_nested"),
    [
        ("", ["a.csv", "b.csv", "down/c.csv"], True),
        ("down", ["down/c.csv"], False),
        ("d*", ["down/c.csv"], False),
        ("*.csv", ["a.csv", "b.csv"], False),
        ("[b-z].csv", ["b.csv"], False),
        ("{a,down/{c,d}}.csv", ["a.csv", "down/c.csv"], False),
        ("{a.csv,down}", ["a.csv", "down/c.csv"], True),
        ("?", [], False),
        ("_hidden", [], False),
    ],
)
def test_paths_and_patterns(tmp_path: Path, path: str, found: list[str], is_nested: bool) -> None:
    files(tmp_path, a__csv="1", b__csv="2", _hidden="3")
    files(tmp_path / "down", c__csv="4")
    read = input_files(f"file://{tmp_path}/{path}", {}, local=True)
    assert [file.path for file in read.files] == [f"{tmp_path}/{name}" for name in found]
    assert read.is_nested is is_nested


@pytest.mark.parametrize(
    ("format_", "content", "is_accepted"),
    [
        ("TEXTFILE", "text", True),
        ("TEXTFILE", "", True),
        ("TEXTFILE", "ORC…", False),
        ("JSONFILE", "PAR1…", False),
        ("ORC", "ORC…", True),
        ("ORC", "text", False),
        ("PARQUET", "PAR1…", True),
        ("PARQUET", "ORC…", False),
    ],
)
def test_the_format_of_files_is_checked(
    session: Session, tmp_path: Path, format_: str, content: str, is_accepted: bool
) -> None:
    files(tmp_path / "in", f=content)
    run(session, f"CREATE EXTERNAL TABLE f (a STRING) STORED AS {format_} LOCATION '{tmp_path}/f'")
    load = f"LOAD DATA INPATH '{tmp_path}/in' INTO TABLE f"
    if is_accepted:
        run(session, load)
        assert names(tmp_path / "f") == ["f"]
        return
    with pytest.raises(SemanticError, match="Wrong file format"):
        run(session, load)
    assert names(tmp_path / "in") == ["f"]


KILLED = """
import os, sys
from pathlib import Path
from hivedruid.session import Session

home, text = Path(sys.argv[1]), sys.argv[2]
steps = 0

def dying(function):
    def call(*arguments, **options):
        global steps
        if not steps:
            os._exit(9)
        steps -= 1
        return function(*arguments, **options)
    return call

def execute(text, dies):
    with Session(home) as session:
        statement = next(iter(session.statements(text)))
        for owner, name in ((os, "link"), (Path, "rename"), (Path, "unlink"), (Path, "mkdir"), (Path, "rmdir")):
            if dies:
                setattr(owner, name, dying(getattr(owner, name)))
        session.execute(statement)

for line in sys.stdin:
    steps = int(line)
    if steps < 0:  # loads the modules, which a process of its own would do at every step
        execute(text, dies=False)
        print(0, flush=True)
        continue
    if not (child := os.fork()):
        try:
            execute(text, dies=True)
        except BaseException:
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Executes a statement once for each line of its input, in a process that dies after so many steps."""


@pytest.mark.parametrize("overwrite", ["", "OVERWRITE"])
def test_a_killed_load_has_happened_or_not(session: Session, tmp_path: Path, overwrite: str) -> None:
    """Whatever step of moving files it is killed at: with the next statement the table has the old files or the new
    ones, and the source has the files that the table does not have."""
    text = f"LOAD DATA INPATH '{tmp_path}/in' {overwrite} INTO TABLE t"
    new = ["a", "b"] if overwrite else ["a", "a_copy_1", "b"]
    outcomes = set()
    command = [sys.executable, "-c", KILLED, str(tmp_path / "home"), text]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for steps in range(-1, 100):
            files(tmp_path / "t", a="old")
            files(tmp_path / "in", a="1", b="2")
            print(steps, file=process.stdin, flush=True)
            code = int(process.stdout.readline())
            run(session, "DESCRIBE t")
            state = names(tmp_path / "t"), names(tmp_path / "in")
            outcomes.add(state == (new, []))
            assert state in ((["a"], ["a", "b"]), (new, [])), f"killed after {steps} steps"
            for path in (tmp_path / "t").iterdir():
                path.unlink()
            if code != 9 and steps >= 0:
                break
    assert code == 0
    assert outcomes == {False, True}
    run(session, f"LOAD DATA LOCAL INPATH '{tmp_path}/home/catalog.sqlite' INTO TABLE t")
    assert not [name for name in names(tmp_path) if "staged" in name]
