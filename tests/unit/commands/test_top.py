"""`hivedruid top` without any ingestions: on a real terminal, and without one."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hivedruid.cli import main
from tests.support.top import PATIENCE, Terminal

NOBODY = "http://127.0.0.1:1"


def test_it_waits_for_a_druid_that_is_away_and_q_ends_it(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "--druid", NOBODY)
    terminal.wait("Druid's overlord: unreachable: cannot reach Druid at http://127.0.0.1:1: connection refused")
    terminal.wait("q ends")
    for width, height in ((40, 8), (160, 40)):
        terminal.resize(width, height)
        terminal.wait("Druid's overlord: unreachable")
    terminal.process.send("q")
    assert terminal.end() == 0


def test_ctrl_c_ends_it_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "--druid", "local", "--interval", "0.2")
    terminal.wait("the local cluster is not running")
    terminal.process.sendintr()
    assert terminal.end() == 0
    assert "\x1b[?1049l" in (terminal.process.before or "")  # back from the alternate screen


def test_once_without_a_druid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "--once", "--home", str(tmp_path), "--druid", NOBODY]) == 3
    found = capsys.readouterr()
    assert found.out == ""
    assert "cannot reach Druid at http://127.0.0.1:1: connection refused" in found.err


def test_the_embedded_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "--home", str(tmp_path)]) == 1
    assert "hivedruid top is not supported: the embedded store does not ingest from Kafka" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--interval", "0"], ["--format", "xml"]])
def test_options_that_make_no_sense(arguments: list[str]) -> None:
    assert main(["top", *arguments]) == 2


def test_json_comes_line_by_line_until_it_is_interrupted(tmp_path: Path) -> None:
    import json

    command = [sys.executable, "-m", "hivedruid", "top", "--home", str(tmp_path), "--druid", NOBODY]
    with subprocess.Popen(
        [*command, "--format", "json", "--interval", "0.2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            documents = [json.loads(process.stdout.readline()) for _ in range(2)]
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
    for document in documents:
        assert document["druid"] == NOBODY
        assert document["ingestions"] == []
        assert [problem["subject"] for problem in document["problems"]] == ["Druid's overlord", "Druid's coordinator"]
