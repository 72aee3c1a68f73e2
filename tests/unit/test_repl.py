"""The prompt, driven through a real pseudo-terminal and read from a screen."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pyte
import pytest

WIDTH, HEIGHT = 100, 30
PROMPT = "hivedruid (default)>"
PATIENCE = 30.0
"""Timeout of a screen in seconds."""


class Prompt:
    def __init__(self, home: Path, *arguments: str) -> None:
        self._screen = pyte.Screen(WIDTH, HEIGHT)
        self._stream = pyte.Stream(self._screen)
        self.home = home
        self.process = pexpect.spawn(
            sys.executable,
            ["-m", "hivedruid", *arguments],
            dimensions=(HEIGHT, WIDTH),
            encoding="utf-8",
            env={**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "HIVEDRUID_HOME": str(home)},
        )

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display if line.strip()]

    def wait(self, condition: Callable[[list[str]], bool]) -> list[str]:
        """Read until the screen satisfies the condition."""
        end = time.monotonic() + PATIENCE
        while not condition(self.lines):
            if time.monotonic() > end:
                pytest.fail("the screen stays:\n" + "\n".join(self.lines))
            try:
                self._stream.feed(self.process.read_nonblocking(65536, timeout=1))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                if not condition(self.lines):
                    pytest.fail("the process has ended:\n" + "\n".join(self.lines))
        return self.lines

    def ready(self) -> list[str]:
        """Wait for an empty prompt at the bottom."""
        return self.wait(lambda lines: bool(lines) and lines[-1] == PROMPT)

    def run(self, text: str) -> list[str]:
        """Type `text` and Enter, and wait for the next prompt; returns the output since."""
        self.ready()
        self.send(text)
        self.wait(lambda lines: lines[-1] != PROMPT)
        self.send("\r")
        self.wait(lambda lines: lines[-1] == PROMPT)
        last = max(i for i, line in enumerate(self.lines[:-1]) if line.startswith(PROMPT))
        return self.lines[last:-1]

    def send(self, text: str) -> None:
        self.process.send(text)

    def leave(self) -> int:
        self.send("\x04")
        self.process.expect(pexpect.EOF, timeout=PATIENCE)
        self.process.close()
        assert self.process.exitstatus is not None
        return self.process.exitstatus


@pytest.fixture
def prompt(tmp_path: Path) -> Iterator[Prompt]:
    prompt = Prompt(tmp_path / "home")
    yield prompt
    prompt.process.close(force=True)


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


def test_an_error_has_a_caret_and_the_session_goes_on(prompt: Prompt) -> None:
    shown = prompt.run("DESCRIBE nope;")
    assert shown[1].startswith("error: ")
    assert shown[3:5] == ["    DESCRIBE nope", "             ^^^^"]
    assert "| default       |" in prompt.run("SHOW DATABASES;")


def test_state_stays_between_statements(prompt: Prompt) -> None:
    prompt.run("CREATE DATABASE d1; USE default;")
    assert "| d1            |" in prompt.run("SHOW DATABASES;")
    prompt.send("USE d1;\r")
    prompt.wait(lambda lines: lines[-1] == "hivedruid (d1)>")


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


@pytest.mark.parametrize("word", ["help", "?", "HELP;"])
def test_help(word: str, prompt: Prompt) -> None:
    shown = prompt.run(word)
    assert "A statement may span several lines and ends with ;" in shown
    assert not any(line.startswith("error") for line in shown)


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


def test_history_is_private_and_holds_no_secret(prompt: Prompt) -> None:
    prompt.run("SHOW DATABASES;")
    prompt.run("SET hive.druid.metadata.password=hunter2;")
    prompt.run("SHOW TABLES; SET hive.druid.metadata.password=hunter2;")
    prompt.run("SHOW TABLES;")
    prompt.leave()
    history = prompt.home / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    typed = [line[1:] for line in history.read_text().splitlines() if line.startswith("+")]
    assert typed == ["SHOW DATABASES;", "SHOW TABLES;"]


def test_history_comes_back(tmp_path: Path, prompt: Prompt) -> None:
    prompt.run("SHOW DATABASES;")
    prompt.leave()
    again = Prompt(prompt.home)
    try:
        again.ready()
        again.send("\x1b[A")
        again.wait(lambda lines: lines[-1] == f"{PROMPT} SHOW DATABASES;")
    finally:
        again.process.close(force=True)


def test_options_of_sql_hold_for_the_prompt(tmp_path: Path) -> None:
    prompt = Prompt(tmp_path / "home", "sql", "--format", "csv", "--quiet")
    try:
        assert prompt.run("SHOW DATABASES;")[1:] == ["database_name", "default"]
    finally:
        prompt.process.close(force=True)
