"""The identification of this home's processes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivedruid.local.state import (
    ClusterState,
    LocalServices,
    Started,
    arguments_file,
    cluster_id,
    folder,
    keep_cluster_id,
    read_state,
    running,
    runs,
    start_ticks,
    strays,
    write_state,
)

Begin = Callable[..., Started]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with an ordinary name and a folder for a cluster."""
    home = tmp_path / "my home"
    folder(home).mkdir(parents=True)
    return home


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Starts programs that wait, with these arguments on their command line; all are stopped at the end."""
    programs = []

    def start(*arguments: str) -> Started:
        program = subprocess.Popen(
            [sys.executable, "-c", "print(flush=True); input()", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        programs.append(program)
        assert program.stdout is not None
        program.stdout.readline()
        ticks = start_ticks(program.pid)
        assert ticks is not None
        return Started(program.pid, ticks, 1.5)

    yield start
    for program in programs:
        program.kill()
        program.communicate()


def marked(home: Path, name: str) -> str:
    return f"@{arguments_file(home, name)}"


def test_what_is_written_is_read(home: Path) -> None:
    state = ClusterState("small", {"kafka": 20001, "derby": 20002}, {"kafka": Started(17, 4711, 1.5)})
    write_state(home, state)
    assert read_state(home) == state
    assert [path.name for path in folder(home).iterdir()] == ["state.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"heap": "small", "ports": {"kafka',
        "[]",
        "{}",
        '{"heap": "", "ports": [], "processes": {}}',
        "\xff",
        '{"heap": "", "ports": {"a": 1}, "processes": {"a": {"pid": 1}}}',
    ],
)
def test_half_a_state_is_none(home: Path, text: str) -> None:
    (folder(home) / "state.json").write_bytes(text.encode("latin-1"))
    assert read_state(home) == ClusterState()
    assert running(home) is None


def test_a_process_without_a_port_is_not_believed(home: Path) -> None:
    state = {"heap": "small", "ports": {}, "processes": {"kafka": {"pid": 1, "ticks": 1, "since": 1.0}}}
    (folder(home) / "state.json").write_text(json.dumps(state))
    assert read_state(home).processes == {}


def test_ours_is_the_one_with_the_start_and_the_name(home: Path, begin: Begin) -> None:
    process = begin(marked(home, "kafka"))
    assert runs(home, "kafka", process)
    assert not runs(home, "kafka", None)
    assert not runs(home, "broker", process)
    assert not runs(home.parent, "kafka", process)


def test_a_stranger_with_the_same_number(home: Path, begin: Begin) -> None:
    stranger = begin("whatever")
    assert not runs(home, "kafka", stranger)
    reused = begin(marked(home, "kafka"))
    assert not runs(home, "kafka", Started(reused.pid, reused.ticks - 1, 1.5))


def test_a_zombie_does_not_run(until: Callable[[Callable[[], object]], None]) -> None:
    with subprocess.Popen(["true"]) as program:  # its exit code is not read before the end of the block
        until(lambda: start_ticks(program.pid) is None)
        assert Path(f"/proc/{program.pid}").exists()


def test_strays(home: Path, begin: Begin) -> None:
    known, unknown = begin(marked(home, "kafka")), begin(marked(home, "broker"))
    begin(marked(home.parent, "broker"))
    state = ClusterState("small", {"kafka": 1}, {"kafka": known})
    found = list(strays(home, state, ("kafka", "broker")))
    assert [(name, process.pid, process.ticks) for name, process in found] == [("broker", unknown.pid, unknown.ticks)]


def test_running(home: Path, begin: Begin) -> None:
    ports = {"kafka": 20001, "broker": 20002, "coordinator": 20003}
    kafka, broker, coordinator = (begin(marked(home, name)) for name in ports)
    write_state(home, ClusterState("small", ports, {"kafka": kafka}))
    assert running(home) == LocalServices("", "", "", "127.0.0.1:20001")
    write_state(home, ClusterState("small", ports, {"broker": broker, "coordinator": coordinator}))
    at_coordinator = "http://127.0.0.1:20003"
    assert running(home) == LocalServices("http://127.0.0.1:20002", at_coordinator, at_coordinator, "")
    write_state(home, ClusterState("small", ports, {}))
    assert running(home) is None


def test_a_home_behind_a_link_is_the_same_home(home: Path, begin: Begin) -> None:
    link = home.parent / "link"
    link.symlink_to(home)
    assert runs(link, "kafka", begin(marked(home, "kafka")))


def test_cheap_to_import() -> None:
    code = "import sys, hivedruid.local.state; print(sorted({'subprocess', 'socket', 'asyncio'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_a_cluster_that_was_cleaned_comes_back_as_another_one(tmp_path: Path) -> None:
    assert cluster_id(tmp_path) == ""
    found = []
    for _ in range(2):
        folder(tmp_path).mkdir(parents=True)
        keep_cluster_id(tmp_path)
        found.append(cluster_id(tmp_path))
        keep_cluster_id(tmp_path)
        assert cluster_id(tmp_path) == found[-1]
        shutil.rmtree(folder(tmp_path))
    assert len({*found, ""}) == 3
