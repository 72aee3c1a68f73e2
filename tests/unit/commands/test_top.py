"""`hivedruid top` without any ingestions, with and without streams: on a real terminal, and without one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hivedruid import defaults
from hivedruid.catalog.streams import Position, Stream, Streams
from hivedruid.cli import main
from hivedruid.commands.top import _rooms
from hivedruid.local.state import ClusterState, write_state
from hivedruid.session import Session
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


def test_the_repair_of_a_local_service_is_the_command_line_that_starts_it(tmp_path: Path) -> None:
    """As that of SHOW PROBLEMS, while there is room for it."""
    (tmp_path / "local").mkdir()
    write_state(tmp_path, ClusterState("small", {"coordinator": 1}))
    defaults.write(tmp_path, {"druid.url": NOBODY})
    command = f"-- $ hivedruid local up --home {tmp_path}"
    with Session(tmp_path) as session:
        (statement,) = session.statements("SHOW PROBLEMS")
        repairs = [row[-1] for row in session.execute(statement).rows]
    assert set(repairs) == {command}
    terminal = Terminal(tmp_path, width=200)
    terminal.wait(f"  {command}")
    terminal.resize(200, 6)
    terminal.wait("Druid's overlord: unreachable")
    terminal.process.send("q")
    assert terminal.end() == 0
    with subprocess.Popen(
        [sys.executable, "-m", "hivedruid", "top", "--home", str(tmp_path), "--format", "json"], stdout=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            document = json.loads(process.stdout.readline())
        finally:
            process.kill()
    assert [problem["repair"] for problem in document["problems"]] == repairs


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


@pytest.fixture
def with_stream(tmp_path: Path) -> Path:
    """A home with a stream that should run, whose Kafka table was dropped."""
    stream = Stream("abc", "default", "s", "default.r", "default.t", "SELECT id FROM r", "default")
    with Session(tmp_path) as session:
        Streams(session.catalog).add(stream, Position(0, {0: 7}, "id"))
        Streams(session.catalog).set_desired(stream, "running")
    return tmp_path


def test_streams_of_the_embedded_store(with_stream: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "--once", "--home", str(with_stream)]) == 0
    found = capsys.readouterr().out
    assert "default.s" in found
    assert "START STREAM default.s" in found
    assert "detailed_state" not in found
    assert main(["top", "--once", "--format", "json", "--home", str(with_stream)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["ingestions"], document["slots"]) == ([], None)
    assert [(row["stream"], row["state"], row["lag"]) for row in document["streams"]] == [
        ("default.s", "waiting", None)
    ]
    assert [row["problem"] for row in document["problems"]] == ["no manager", "source not found"]


@pytest.mark.parametrize("druid", ["embedded:", NOBODY])
def test_streams_on_a_terminal(with_stream: Path, druid: str) -> None:
    terminal = Terminal(with_stream, "--druid", druid)
    terminal.wait("default.s: no manager: no manager of streams is running")
    terminal.wait("  START STREAM default.s;")
    terminal.wait("1 stream(s)")
    for width, height in ((40, 8), (160, 40)):
        terminal.resize(width, height)
        terminal.wait("wait")
    terminal.process.send("q")
    assert terminal.end() == 0


@pytest.mark.parametrize(
    ("wanted", "room", "rooms"),
    [
        ((9,), 5, [5]),
        ((2, 3), 5, [2, 3]),
        ((0, 9), 5, [1, 4]),
        ((9, 9), 5, [2, 3]),
        ((9, 1), 5, [4, 1]),
        ((9, 9), -3, [1, 1]),
    ],
)
def test_the_tables_share_the_screen(wanted: Sequence[int], room: int, rooms: list[int]) -> None:
    assert _rooms(wanted, room) == rooms


@pytest.mark.parametrize("arguments", [["--interval", "0"], ["--format", "xml"]])
def test_options_that_make_no_sense(arguments: list[str]) -> None:
    assert main(["top", *arguments]) == 2


def test_json_comes_line_by_line_until_it_is_interrupted(tmp_path: Path) -> None:
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
        assert [problem["subject"] for problem in document["problems"]] == ["Druid's overlord"]
