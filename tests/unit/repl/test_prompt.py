"""The prompt, driven through a real pseudo-terminal and read from a screen."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.support.prompt import PATIENCE, PROMPT, Prompt


@pytest.fixture
def prompt(tmp_path: Path) -> Iterator[Prompt]:
    prompt = Prompt(tmp_path / "home")
    yield prompt
    prompt.end()


def test_a_statement_over_several_lines(prompt: Prompt) -> None:
    prompt.ready()
    prompt.send("SHOW\r")
    prompt.wait(lambda lines: lines[-1].strip() == ">")
    prompt.send("DATABASES;\r")
    shown = prompt.ready()
    assert f"{PROMPT} SHOW" in shown
    assert "| default       |" in shown
    assert any(line.endswith("Fetched: 1 row(s)") for line in shown)
    assert prompt.leave() == 0


def test_the_greeting_says_where_one_is(tmp_path: Path) -> None:
    """Also before the first table, and with a Druid that is not reached before the first statement."""
    home = tmp_path / "home"
    first = Prompt(home, width=300)
    try:
        where = f"home {home}: no tables yet (`hivedruid demo` loads sample data); Druid: embedded"
        first.wait(lambda lines: where in lines)
        first.run("CREATE VIEW v AS SELECT 1 AS a;")
        assert first.leave() == 0
    finally:
        first.end()
    again = Prompt(home, "--druid", "https://druid.example.com:8888", width=300)
    try:
        again.wait(lambda lines: f"home {home}: 1 table in default; Druid: druid.example.com:8888" in lines)
    finally:
        again.end()


def test_commands_of_other_shells(prompt: Prompt) -> None:
    prompt.run("CREATE VIEW v AS SELECT 1 AS a;")
    assert "| v        |" in prompt.run(".tables")
    assert prompt.run(".tabels")[1:3] == ["error: unknown command '.tabels'", "hint: did you mean '.tables'?"]
    prompt.send(".help\r")
    prompt.wait(lambda lines: any("write results to a file" in line for line in lines) and lines[-1] == PROMPT)
    prompt.send(".quit\r")
    prompt.process.expect(pexpect.EOF)


def test_an_error_has_a_caret_and_the_session_goes_on(prompt: Prompt) -> None:
    shown = prompt.run("DESCRIBE nope;")
    assert shown[1].startswith("error: ")
    assert shown[3:5] == ["    DESCRIBE nope", "             ^^^^"]
    assert "| default       |" in prompt.run("SHOW DATABASES;")


def test_state_stays_between_statements(prompt: Prompt) -> None:
    prompt.run("CREATE DATABASE d1; USE default;")
    assert "| d1            |" in prompt.run("SHOW DATABASES;")
    prompt.send("USE d1;\r")
    prompt.wait(lambda lines: lines[-1] == "hivedruid (d1@embedded)>")


def test_control_c_drops_the_line(prompt: Prompt) -> None:
    prompt.ready()
    prompt.send("SHOW 'never closed")
    prompt.wait(lambda lines: lines[-1].endswith("closed"))
    prompt.send("\x03")
    assert "| default       |" in prompt.run("SHOW DATABASES;")


def test_control_c_cancels_the_running_statement(prompt: Prompt, tmp_path: Path) -> None:
    fifo = tmp_path / "endless.q"
    os.mkfifo(fifo)
    prompt.ready()
    prompt.send(f"SOURCE {fifo};\r")
    with fifo.open("w"):  # opens when the other side reads
        prompt.send("\x03")
        prompt.wait(lambda lines: lines[-2:] == ["interrupted", PROMPT])
    assert "| default       |" in prompt.run("SHOW DATABASES;")


def test_a_found_statement_runs(prompt: Prompt) -> None:
    prompt.run("SHOW DATABASES;")
    prompt.run("SHOW TABLES;")
    prompt.send("\x12DATAB")
    prompt.wait(lambda lines: lines[-2:] == [f"{PROMPT} SHOW DATABASES;", "I-search backward: DATAB"])
    prompt.send("\r")
    prompt.wait(lambda lines: lines[-1] == f"{PROMPT} SHOW DATABASES;")
    prompt.send("\r")
    prompt.ready()
    assert sum(line.startswith("| database_name") for line in prompt.lines) == 2


def test_a_statement_of_several_lines_is_found_by_its_second_line(prompt: Prompt) -> None:
    prompt.ready()
    prompt.send("SELECT 1 AS one,\r")
    prompt.wait(lambda lines: lines[-1].strip() == ">")
    prompt.send("2 AS second;\r")
    prompt.ready()
    prompt.run("SHOW TABLES;")
    prompt.send("\x12second")
    prompt.wait(lambda lines: lines[-1] == "I-search backward: second" and lines[-2].endswith("> 2 AS second;"))
    assert prompt.lines[-3] == f"{PROMPT} SELECT 1 AS one,"


@pytest.mark.parametrize("line", ["quit", ".tables"])
def test_a_command_in_an_unfinished_statement(line: str, prompt: Prompt) -> None:
    prompt.ready()
    prompt.send("SHOW DATABASES\r")
    prompt.wait(lambda lines: lines[-1].strip() == ">")
    prompt.send(f"{line}\r")
    prompt.wait(lambda lines: any(each.endswith("no ; yet: ; runs it, Ctrl-C drops it") for each in lines))
    prompt.send("\x03")
    assert "| default       |" in prompt.run("SHOW DATABASES;")


@pytest.mark.parametrize("word", ["help", "?", "HELP;"])
def test_help(word: str, prompt: Prompt) -> None:
    prompt.ready()
    prompt.send(f"{word}\r")
    prompt.wait(lambda lines: any(line.split() == ["\\dj", "SHOW", "JOBS"] for line in lines) and lines[-1] == PROMPT)
    assert any(line.startswith("Tab: complete") for line in prompt.lines)


@pytest.mark.parametrize("word", ["exit", "quit;", "EXIT ;", "\\q"])
def test_exit(word: str, prompt: Prompt) -> None:
    prompt.ready()
    prompt.send(f"{word}\r")
    prompt.process.expect(pexpect.EOF, timeout=PATIENCE)
    prompt.process.close()
    assert prompt.process.exitstatus == 0


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("DESCR\t", "DESCRIBE"),
        ("truncat\t", "truncate"),
        ("SELECT floor_mont\t", "SELECT floor_month"),
        ("SET hive.local.ti\t", "SET hive.local.time.zone"),
        ("SELECT * FROM edi\t", "SELECT * FROM edits"),
        ("SELECT * FROM edits WHERE delt\t", "SELECT * FROM edits WHERE delta"),
        ("SELECT * FROM edits e WHERE e.delt\t", "SELECT * FROM edits e WHERE e.delta"),
        ("SUSP\t", "SUSPEND"),
        ("reset ing\t", "reset ingestion"),
        ("RESET INGESTION edi\t", "RESET INGESTION edits"),
        ("SHOW TASKS FOR edi\t", "SHOW TASKS FOR edits"),
    ],
)
def test_completion(typed: str, completed: str, prompt: Prompt) -> None:
    prompt.run("CREATE TABLE edits (page string, delta bigint);")
    prompt.send(typed)
    prompt.wait(lambda lines: lines[-1].partition("> ")[2].split("  ")[0] == completed)


def test_completion_shows_the_pattern_of_a_family_of_settings(prompt: Prompt) -> None:
    prompt.ready()
    prompt.send("SET hivedruid.iceberg.catalog.\t")
    prompt.wait(lambda lines: any(line.strip().startswith("hivedruid.iceberg.catalog.<property>") for line in lines))


def test_history_is_private_and_has_stars_for_secrets(prompt: Prompt) -> None:
    prompt.run("SHOW DATABASES;")
    prompt.run("SET druid.tls.key.file=a.pem; SET hive.druid.metadata.password=hunter2;")
    prompt.run("SHOW TABLES;")
    prompt.leave()
    history = prompt.home / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    typed = [line[1:] for line in history.read_text().splitlines() if line.startswith("+")]
    assert typed == [
        "SHOW DATABASES;",
        "SET druid.tls.key.file=a.pem; SET hive.druid.metadata.password=*******;",
        "SHOW TABLES;",
    ]


def test_history_comes_back(tmp_path: Path, prompt: Prompt) -> None:
    prompt.run("SHOW DATABASES;")
    prompt.leave()
    again = Prompt(prompt.home)
    try:
        again.ready()
        again.send("\x1b[A")
        again.wait(lambda lines: lines[-1] == f"{PROMPT} SHOW DATABASES;")
    finally:
        again.end()


def test_options_of_sql_hold_for_the_prompt(tmp_path: Path) -> None:
    prompt = Prompt(tmp_path / "home", "sql", "--format", "csv", "--quiet")
    try:
        assert prompt.run("SHOW DATABASES;")[1:] == ["database_name", "default"]
    finally:
        prompt.end()
