"""The lock file and its resolver, with the real Ivy and the real repository."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hivedruid.defaults import cache_folder
from hivedruid.errors import ConnectError, ExecutionError, UsageError
from hivedruid.local import artifacts, ivy
from hivedruid.local.artifacts import Artifact, cached, locked, locked_group, resolve


def test_every_locked_artifact_is_pinned() -> None:
    lock = json.loads(artifacts.LOCK_FILE.read_text())
    for name in lock:
        artifact = locked(name)
        assert len(artifact.sha1) == 40
        assert artifact.size > 0
        assert artifact.rev[0].isdigit()


def test_every_group_is_pinned() -> None:
    for name, jars in (("druid", 210), ("kafka", 46), ("spark", 7)):
        group = locked_group(name)
        assert len(group) == jars == len({artifact.file_name for artifact in group})
        assert all(len(artifact.sha1) == 40 and artifact.size > 0 for artifact in group)
    assert locked_group("foodmart") == (locked("foodmart"),)


def test_damaged_lock_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half = tmp_path / "artifacts.json"
    half.write_text(artifacts.LOCK_FILE.read_text()[:100])
    monkeypatch.setattr(artifacts, "LOCK_FILE", half)
    with pytest.raises(ExecutionError, match=r"artifacts\.json is damaged") as caught:
        locked("wikiticker")
    assert caught.value.hint == "reinstall hivedruid with pip"


def test_unknown_artifact() -> None:
    with pytest.raises(UsageError) as caught:
        locked("sprk")
    assert (caught.value.message, caught.value.hint) == ("unknown artifact 'sprk'", "did you mean 'spark'?")


def test_resolve_checks_and_keeps(fresh_cache: Path) -> None:
    wanted = locked("wikiticker")
    assert cached(wanted) is None
    (path,) = resolve([wanted])
    assert path == cached(wanted)
    assert hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest() == wanted.sha1
    assert sorted(p.name for p in (fresh_cache / "hivedruid").iterdir()) == ["jars", "lock"]
    before = path.stat().st_mtime_ns
    assert resolve([wanted]) == [path]
    assert path.stat().st_mtime_ns == before


def test_damaged_file_is_fetched_again(fresh_cache: Path) -> None:
    wanted = locked("wikiticker")
    (path,) = resolve([wanted])
    path.write_bytes(b"half")
    assert cached(wanted) is None
    assert resolve([wanted]) == [path]
    assert path.stat().st_size == wanted.size


def test_a_jar_that_was_changed_is_found(fresh_cache: Path) -> None:
    """Its size alone does not show it."""
    wanted = locked("wikiticker")
    (path,) = resolve([wanted])
    artifacts.check([wanted])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert cached(wanted) == path
    with pytest.raises(ExecutionError, match="was changed"):
        artifacts.check([wanted])


def test_another_file_is_refused(fresh_cache: Path) -> None:
    wrong = replace(locked("wikiticker"), sha1="0" * 40)
    with pytest.raises(ExecutionError, match=r"druid-processing-33.0.0-tests.jar as downloaded does not match"):
        resolve([wrong])
    assert cached(wrong) is None


def test_artifact_that_does_not_exist(fresh_cache: Path) -> None:
    with pytest.raises(ConnectError, match=r"cannot download druid-processing-0.0.0-tests.jar: "):
        resolve([replace(locked("wikiticker"), rev="0.0.0")])


def test_processes_wait_for_each_other(fresh_cache: Path) -> None:
    command = [sys.executable, "-m", "hivedruid.local.artifacts", "wikiticker"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    answers = [process.communicate(timeout=120) for process in running]
    assert answers == [(f"{cached(locked('wikiticker'))}\n", "")] * 3


def run(**environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hivedruid.local.artifacts", "wikiticker"]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
    )


def test_no_network(fresh_cache: Path) -> None:
    done = run(JAVA_TOOL_OPTIONS="-Dhttps.proxyHost=localhost -Dhttps.proxyPort=1")
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: cannot download druid-processing-33.0.0-tests.jar: ")
    assert "Connection refused" in error
    assert error.endswith(" (in 3 attempts)")
    assert hint.startswith("hint: check the network")
    assert (done.returncode, done.stdout) == (3, "")
    assert list((fresh_cache / "hivedruid").glob("download-*")) == []


def test_a_repository_that_fails_for_a_moment_is_asked_again(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ivy, "PAUSE", 0.0)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dhttps.proxyHost=localhost -Dhttps.proxyPort=1")
    told: list[str] = []

    def progress(text: str) -> None:
        if "retrying" in text:
            told.append(text)
            monkeypatch.delenv("JAVA_TOOL_OPTIONS")

    (path,) = resolve([locked("wikiticker")], progress)
    assert path.is_file()
    (again,) = told
    assert again.endswith("; retrying (2 of 3)")
    assert "Connection refused" in again


def test_no_java(fresh_cache: Path) -> None:
    done = run(JAVA_HOME="/nowhere")
    assert done.returncode == 3
    assert done.stderr.startswith("error: JAVA_HOME is /nowhere, but it contains no bin/java\nhint: install a Java 17")


def test_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ExecutionError, match="cannot write the cache"):
        resolve([locked("wikiticker")])


def test_progress(fresh_cache: Path) -> None:
    said: list[str] = []
    resolve([locked("wikiticker")], said.append)
    assert said[-1] == ""
    begin = ("Looking up druid-processing-33.0.0-tests.jar", "Downloading druid-processing-33.0.0-tests.jar: ")
    assert all(text.startswith(begin) for text in said[:-1])


def test_progress_tells_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([100.0, 110.0])
    monkeypatch.setattr("hivedruid.local.ivy.time.monotonic", lambda: next(seconds))
    meter = ivy._Meter([replace(locked("wikiticker"), size=100_000_000)] * 2)
    assert meter.text(0, 17) == "Looking up 2 Java artifacts: 17 found"
    assert meter.text(1_000_000, 2) == "Downloading 2 Java artifacts: 1 of 200 MB"
    assert meter.text(20_000_000, 2) == "Downloading 2 Java artifacts: 20 of 200 MB, 2.0 MB/s, 1:30 left"


def put(artifact: Artifact, content: bytes) -> Path:
    """The files of a killed run in the download folder."""
    jar = cache_folder() / "download" / "ivy" / artifact.org / artifact.file_name
    jar.parent.mkdir(parents=True)
    jar.write_bytes(content)
    return jar


def test_what_a_killed_run_fetched_is_kept(fresh_cache: Path) -> None:
    content = b"not to be had anywhere"
    made_up = replace(
        locked("wikiticker"),
        rev="0.0.0",
        sha1=hashlib.sha1(content, usedforsecurity=False).hexdigest(),
        size=len(content),
    )
    put(made_up, content)
    (fresh_cache / "hivedruid" / "download-x7").mkdir()
    (jar,) = resolve([made_up])
    assert jar.read_bytes() == content
    assert sorted(p.name for p in (fresh_cache / "hivedruid").iterdir()) == ["jars", "lock"]


def test_half_of_what_a_killed_run_fetched_is_fetched_again(fresh_cache: Path) -> None:
    wanted = locked("wikiticker")
    put(wanted, b"half")
    (jar,) = resolve([wanted])
    assert jar.stat().st_size == wanted.size


def test_the_same_jar_in_two_groups(fresh_cache: Path) -> None:
    wanted = locked("wikiticker")
    assert resolve([wanted, wanted]) == [cached(wanted)] * 2


def test_interrupt_keeps_what_is_whole(fresh_cache: Path, until: Callable[[Callable[[], object]], None]) -> None:
    names = ["wikiticker", "foodmart", "spark"]
    command = [sys.executable, "-m", "hivedruid.local.artifacts", *names]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        download = fresh_cache / "hivedruid" / "download" / "ivy"
        until(lambda: list(download.glob("*/*.jar")) or program.poll() is not None)
        program.send_signal(signal.SIGINT)
        program.communicate()
    kept = [artifact for name in names for artifact in locked_group(name) if cached(artifact)]
    assert kept
    assert resolve(kept) == [cached(artifact) for artifact in kept]  # the lock is free


def test_no_room(fresh_cache: Path) -> None:
    with pytest.raises(
        ExecutionError, match=r"druid-processing-33.0.0-tests.jar needs 1000000050 MB in .*, where \d+ MB are free"
    ):
        resolve([replace(locked("wikiticker"), size=10**15)])


def test_disk_that_fills_up_meanwhile(fresh_cache: Path) -> None:
    error = ivy._download_error(
        locked("wikiticker"), fresh_cache, "\tERROR: java.io.IOException: No space left on device (write)\n"
    )
    assert error.message.startswith("the disk is full: druid-processing-33.0.0-tests.jar could not be written to ")
    assert isinstance(error, ExecutionError)
    assert not isinstance(error, ConnectError)


def test_waiting_is_told(fresh_cache: Path) -> None:
    said: list[str] = []

    def tell(text: str) -> None:
        said.append(text)
        holder.terminate()

    code = "import sys; from pathlib import Path; from hivedruid.local.artifacts import exclusive\n"
    code += "with exclusive(Path(sys.argv[1])): print(flush=True); input()"
    command = [sys.executable, "-c", code, str(fresh_cache)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with artifacts.exclusive(fresh_cache, tell):
            assert said == ["Waiting for another hivedruid process to finish downloading"]
