"""Completion in the shell: in a bash with a terminal, and what it offers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest
from click.shell_completion import CompletionItem, ShellComplete

from hivedruid.cli import COMMANDS, FORMATS, cli
from hivedruid.settings import SETTINGS
from tests.support.embedded_tables import create
from tests.support.prompt import end_process

BIN = Path(sys.executable).parent
CLUSTERS = "[clusters.prod]\ndruid = 'http://prod:8888'\n[clusters.test]\ndruid = 'local'\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = create(tmp_path_factory.mktemp("completion") / "home")
    (folder / "hivedruid.toml").write_text(CLUSTERS)
    return folder


@pytest.fixture(scope="module")
def tab(home: Path) -> Iterator[Callable[[str], str]]:
    """Type a line in bash and press Tab; returns the words of the line then."""
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HIVEDRUID_HOME": str(home), "PS1": "$ "}
    bash = pexpect.spawn(
        "bash", ["--norc", "--noprofile", "-i"], env=environment, cwd=home, encoding="utf-8", dimensions=(24, 500)
    )
    bash.sendline(
        'bind "set enable-bracketed-paste off"; eval "$(_HIVEDRUID_COMPLETE=bash_source hivedruid)"; echo o"k"'
    )
    bash.expect_exact("ok\r\n", timeout=60)

    def completed(line: str) -> str:
        bash.send(f"{line}\t\x01printf '<%s>\\n' \x05'end'\n")  # Ctrl-A and Ctrl-E: the start and the end of the line
        bash.expect(r"\r\n<hivedruid>\r\n(.*)<end>\r\n|\r\n<hivedruid>\r\n(.*)end>\r\n", timeout=60)
        found = bash.match.group(1) if bash.match.group(1) is not None else f"{bash.match.group(2)}>"
        return found.replace("\r\n", "")

    yield completed
    end_process(bash)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hivedruid conf", "<config>"),
        ("hivedruid --form", "<--format>"),
        ("hivedruid sql --format jsonl -e 'SELECT 1' --outp", "<sql><--format><jsonl><-e><SELECT 1><--output>"),
        ("hivedruid --format vert", "<--format><vertical>"),
        ("hivedruid segments ls ed", "<segments><ls><edits>"),
        ("hivedruid sql --cluster pr", "<sql><--cluster><prod>"),
        ("hivedruid sql -f hivedruid.to", "<sql><-f><hivedruid.toml>"),
        ("hivedruid sql --hiveconf hivedruid.join.m", "<sql><--hiveconf><hivedruid.join.max.rows=>"),
        ("hivedruid sql --hiveconf druid.url=em", "<sql><--hiveconf><druid.url=embedded:>"),
        ("hivedruid sql --hiveconf hive.druid.rollup=f", "<sql><--hiveconf><hive.druid.rollup=false>"),
    ],
)
def test_bash(line: str, words: str, tab: Callable[[str], str]) -> None:
    assert tab(line) == words


def offered(home: Path, *words: str) -> list[str]:
    """What is offered for the last word, by any shell."""
    items: list[CompletionItem[str]] = ShellComplete(cli, {}, "hivedruid", "").get_completions(
        ["--home", str(home), *words[:-1]], words[-1]
    )
    return [item.value for item in items]


def test_what_is_offered(home: Path) -> None:
    assert {"sql", "test", *COMMANDS} == set(offered(home, ""))
    assert {"--format", "--druid", "--output"} <= set(offered(home, "--"))
    assert offered(home, "sql", "--format", "") == list(FORMATS)
    assert offered(home, "sql", "--cluster", "") == ["prod", "test"]
    assert offered(home, "segments", "diff", "") == ["edits"]
    assert offered(home, "sql", "--hiveconf", "") == [f"{key}=" for key in SETTINGS]
    assert offered(home, "sql", "--hiveconf", "hivedruid.pushdown=") == [
        "hivedruid.pushdown=all",
        "hivedruid.pushdown=scans",
    ]
    assert offered(home, "sql", "--hiveconf", "unknown=") == []


def test_nothing_is_offered_where_nothing_can_be_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "catalog.sqlite").write_text("no database")
    (tmp_path / "hivedruid.toml").write_text("[")
    assert offered(tmp_path, "segments", "ls", "") == []
    assert offered(tmp_path, "sql", "--cluster", "") == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str) -> None:
    script = subprocess.run(
        [sys.executable, "-m", "hivedruid"],
        env={**os.environ, "_HIVEDRUID_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"_HIVEDRUID_COMPLETE={shell}_complete" in script
    assert ("compopt -o nospace" in script) == (shell == "bash")
