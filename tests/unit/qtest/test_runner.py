from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from hivedruid.cli import main
from hivedruid.errors import UsageError
from hivedruid.qtest.runner import Outcome, find_scripts, report, run_script, transcribe

SCRIPT = """\
-- what a script may hold
CREATE DATABASE b; CREATE DATABASE a;

SHOW DATABASES;
DESCRIBE
  nope;
SET hive.druid.metadata.password=hunter2;
SHOW DATABASES LIKE '${name}';
"""

TRANSCRIPT = """\
-- !statement
CREATE DATABASE b
-- !output

-- !statement
CREATE DATABASE a
-- !output

-- !statement
SHOW DATABASES
-- !schema database_name string
-- !output
a
b
default

-- !statement
DESCRIBE
  nope
-- !error
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "first.q"
    path.write_text(SCRIPT)
    return path


def blocks(path: Path) -> list[str]:
    return transcribe(path).text.split("\n\n")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_statements_are_echoed_with_their_answers(script: Path) -> None:
    text = transcribe(script).text
    assert text.startswith(TRANSCRIPT)
    error = text.removeprefix(TRANSCRIPT).splitlines()[0]
    assert error.startswith("SemanticError: ")
    assert error.endswith(" (line 2, column 3)")


def test_no_secret_gets_into_the_output(script: Path) -> None:
    text = transcribe(script).text
    assert "hunter2" not in text
    assert "SET hive.druid.metadata.password=*******\n" in text


def test_statements_are_echoed_as_written(script: Path) -> None:
    assert "SHOW DATABASES LIKE '${name}'\n" in transcribe(script).text


def test_clock_and_zone_are_pinned_unless_set(tmp_path: Path) -> None:
    script = write(
        tmp_path / "a.q",
        "SET hive.local.time.zone; SET hivedruid.now; SET hive.local.time.zone=US/Pacific; SET hive.local.time.zone;",
    )
    answers = [block.splitlines()[-1] for block in blocks(script)]
    assert answers[0].endswith("UTC")
    assert answers[1].endswith("2026-01-01 00:00:00")
    assert answers[3].endswith("US/Pacific")


def test_each_script_has_a_home_of_its_own_that_goes_away(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    assert transcribe(script) == transcribe(script)
    assert list(temporary.iterdir()) == []


def test_folders_are_written_by_name(tmp_path: Path) -> None:
    script = write(tmp_path / "a.q", "SET my.text=${home}/x ${dir}/y; SET my.text;")
    assert "${home}/x ${dir}/y" in blocks(script)[1].splitlines()[-1]


def test_source_counts_from_the_folder_of_the_script(tmp_path: Path) -> None:
    write(tmp_path / "sub" / "inner.q", "SHOW DATABASES;")
    script = write(tmp_path / "a.q", "SOURCE sub/inner.q;")
    assert blocks(script)[-1].splitlines()[-1] == "default"


DESCRIBE = "DESCRIBE t;\n"
SORT = "-- SORT_QUERY_RESULTS\n"


def described(script: Path) -> list[list[str]]:
    """The column names that each DESCRIBE of a script printed."""
    return [
        [line.split("\t")[0] for line in block.partition("-- !output\n")[2].splitlines()]
        for block in blocks(script)
        if "\nDESCRIBE" in block
    ]


def test_sorting_before_the_first_statement_is_for_all(tmp_path: Path) -> None:
    script = write(tmp_path / "a.q", f"-- why\n{SORT}CREATE TABLE t (b int, a int);\n{DESCRIBE}{DESCRIBE}")
    assert described(script) == [["a", "b"], ["a", "b"]]


def test_sorting_elsewhere_is_for_the_next_statement(tmp_path: Path) -> None:
    script = write(tmp_path / "a.q", f"CREATE TABLE t (b int, a int);\n{DESCRIBE}{SORT}{DESCRIBE}{DESCRIBE}")
    assert described(script) == [["b", "a"], ["a", "b"], ["b", "a"]]


def test_what_differs_from_run_to_run_is_replaced(tmp_path: Path) -> None:
    script = write(
        tmp_path / "a.q", "--! qt:replace:/(de)fa\\w+/$1-\\/-X/\nSHOW DATABASES; -- default\nSHOW DATABASES LIKE 'd*';"
    )
    first, second = blocks(script)
    assert first.splitlines()[-1] == second.splitlines()[-1] == "de-/-X"
    assert "default" not in second.partition("-- !output")[2]


def test_a_replacement_that_is_none(tmp_path: Path) -> None:
    script = write(tmp_path / "a.q", "SHOW DATABASES;\n--! qt:replace:/(/x/\n")
    with pytest.raises(UsageError, match=r"a\.q:2: .* not a valid regular expression"):
        blocks(script)


def test_unterminated_text_ends_the_script_with_an_error(tmp_path: Path) -> None:
    script = write(tmp_path / "a.q", "SHOW DATABASES;\nSELECT 'a")
    assert "ParseError: unterminated string: missing closing ' (line 2, column 8)\n" in blocks(script)[-1]


def test_update_then_pass_then_a_readable_diff(script: Path) -> None:
    missing = run_script(script)
    assert not missing.passed
    assert "--update" in missing.diff
    assert run_script(script, update=True) == Outcome(script, updated=True)
    assert run_script(script) == Outcome(script)
    assert run_script(script, update=True) == Outcome(script)
    expected = script.with_name("first.q.out")
    expected.write_text(expected.read_text().replace("\nb\n", "\nc\n"))
    failed = run_script(script)
    assert not failed.passed
    assert [line for line in failed.diff.splitlines()[2:] if line[0] in "+-"] == ["-c", "+b"]
    assert sorted(path.name for path in script.parent.iterdir()) == ["first.q", "first.q.out"]


def test_report() -> None:
    script = Path("a.q")
    assert report(Outcome(script), colour=False) == "ok      a.q\n"
    assert report(Outcome(script, updated=True), colour=False) == "updated a.q\n"
    assert report(Outcome(script, diff="-x\n+y\n"), colour=False) == "FAILED  a.q\n-x\n+y\n"
    assert (
        report(Outcome(script, diff="-x\n+y\n"), colour=True) == "FAILED  a.q\n\033[31m-x\033[0m\n\033[32m+y\033[0m\n"
    )
    assert report(Outcome(script, bugs=("a.q:1: KeyError: x",)), colour=False) == (
        "FAILED  a.q\n        bug: a.q:1: KeyError: x\n"
    )


def test_find_scripts(tmp_path: Path) -> None:
    b = write(tmp_path / "b.q", "")
    c = write(tmp_path / "sub" / "c.q", "")
    write(tmp_path / "b.q.out", "")
    assert find_scripts([tmp_path, b]) == [b, c]
    with pytest.raises(UsageError, match="no such file or folder"):
        find_scripts([tmp_path / "nope"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"contains no \.q script"):
        find_scripts([tmp_path / "empty"])


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command(jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b", "c"):
        write(tmp_path / f"{name}.q", SCRIPT)
    arguments = ["test", str(tmp_path), "-j", jobs]
    assert main([*arguments, "--update"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 0 failed"
    (tmp_path / "b.q.out").write_text("-- !statement\n")
    assert main(arguments) == 1
    lines = capsys.readouterr().out.splitlines()
    failed = lines.index(f"FAILED  {tmp_path}/b.q")  # with several jobs in the order in which they end
    assert lines[failed + 1] == f"--- {tmp_path}/b.q.out (expected)"
    assert [line for line in lines if line.startswith("ok")] in (
        [f"ok      {tmp_path}/{name}.q" for name in names] for names in ("ac", "ca")
    )
    assert lines[-1] == "2 passed, 1 failed"
    if jobs == "1":
        assert (failed, lines[0]) == (1, f"ok      {tmp_path}/a.q")


def test_nothing_to_test(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "hivedruid", "test", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"error: nothing to test in {tmp_path}: it contains no .q script\n"


def test_interrupted(tmp_path: Path) -> None:
    """Ctrl-C reaches the whole process group, as from a terminal."""
    fifos = [tmp_path / "a.fifo", tmp_path / "b.fifo"]
    for fifo in fifos:
        os.mkfifo(fifo)
        fifo.with_suffix(".q").write_text(f"SOURCE {fifo};")
    command = [sys.executable, "-m", "hivedruid", "test", str(tmp_path), "-j", "2"]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    options: dict[str, Any] = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
        "start_new_session": True,
    }
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(scratch)}, **options)
    with process, fifos[0].open("w"), fifos[1].open("w"):  # exists while both scripts run
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert list(scratch.iterdir()) == []
