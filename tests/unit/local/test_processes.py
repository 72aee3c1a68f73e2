"""Ports, logs and signals of real processes."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivedruid.errors import ExecutionError
from hivedruid.local import processes
from hivedruid.local.processes import choose_port, is_free, last_words, log_file, tail
from hivedruid.local.state import Started, arguments_file, runs, start_ticks


@pytest.fixture
def taken() -> Iterator[int]:
    """A port in use."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_port_of_before_is_kept_while_it_is_free(taken: int) -> None:
    free = choose_port(None, ())
    assert free in processes.PORTS
    assert is_free(free)
    assert choose_port(free, ()) == free
    assert choose_port(free, {free}) != free
    assert not is_free(taken)
    assert choose_port(taken, ()) in processes.PORTS


def test_no_port_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PORTS", range(20000, 21000))
    with pytest.raises(ExecutionError, match=r"no free port between 20000 and 21000 on 127\.0\.0\.1"):
        choose_port(None, set(range(20000, 21000)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no output"),
        ("one\n\ntwo\n\n", "two"),
        ("a ERROR [main] x - broken\nINFO more\n", "a ERROR [main] x - broken"),
        (
            "java.lang.RuntimeException: outer\n\tat a.B.c(D.java:1)\nCaused by: java.io.IOException: no disk\n"
            "\tat a.B.d(D.java:2)\n\t... 12 more\nINFO stopping\n",
            "Caused by: java.io.IOException: no disk",
        ),
        ("Error: Could not create the Java Virtual Machine.\n", "Error: Could not create the Java Virtual Machine."),
    ],
)
def test_last_words(tmp_path: Path, text: str, words: str) -> None:
    log = tmp_path / "log"
    log.write_text(text)
    assert last_words(log) == words


def test_last_words_without_a_log(tmp_path: Path) -> None:
    assert last_words(tmp_path / "log") == "no output"


def test_tail_ends_or_follows_into_the_next_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("one\n")
    assert "".join(tail(log, follow=False)) == "one\n"
    following = tail(log, follow=True)
    assert next(following) == "one\n"

    def restart() -> None:
        with log.open("a") as file:
            file.write("two\n")
        log.rename(tmp_path / "log.1")
        log.write_text("three\n")

    writer = threading.Thread(target=restart)
    writer.start()
    assert [next(following), next(following)] == ["two\n", "three\n"]
    writer.join()


STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); input()"
WILLING = "print(flush=True); input()"


@pytest.mark.parametrize(("code", "ended_by"), [(WILLING, signal.SIGTERM), (STUBBORN, signal.SIGKILL)])
def test_stop(tmp_path: Path, code: str, ended_by: signal.Signals) -> None:
    command = [sys.executable, "-c", code, f"@{arguments_file(tmp_path, 'kafka')}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        process = Started(program.pid, start_ticks(program.pid) or 0, 0.0)
        processes.stop(tmp_path, [("broker", process), ("zookeeper", Started(process.pid, 1, 0.0))], 0.2)
        assert runs(tmp_path, "kafka", process)  # neither name nor start time match the process
        processes.stop(tmp_path, [("kafka", process)], 0.2)
        assert program.wait(60) == -ended_by


def test_start_keeps_the_log_of_before(tmp_path: Path, until: Callable[[Callable[[], object]], None]) -> None:
    conf = arguments_file(tmp_path, "kafka")
    conf.parent.mkdir(parents=True)
    conf.write_text('"-XX:NoSuchFlag=1"\n')
    log = log_file(tmp_path, "kafka")
    log.parent.mkdir()
    log.write_text("before\n")
    with contextlib.suppress(ExecutionError):  # the process exits before it is checked
        processes.start(tmp_path, "kafka")
    until(lambda: "NoSuchFlag" in processes.end_of(log))
    assert processes.previous_log(log).read_text() == "before\n"


def test_memory() -> None:
    own = processes.resident_bytes(os.getpid())
    assert own is not None
    assert 1_000_000 < own < processes.available_bytes() + own
    assert processes.resident_bytes(2**22 + 1) is None
