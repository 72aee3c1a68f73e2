"""The lock file and its resolver, with the real Ivy and the real repository."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hivedruid.errors import ConnectError, ExecutionError, UsageError
from hivedruid.local import artifacts
from hivedruid.local.artifacts import cached, locked, resolve


def test_every_locked_artifact_is_pinned() -> None:
    lock = json.loads(artifacts.LOCK_FILE.read_text())
    for name in lock:
        artifact = locked(name)
        assert len(artifact.sha1) == 40
        assert artifact.size > 0
        assert artifact.rev[0].isdigit()


def test_unknown_artifact() -> None:
    with pytest.raises(UsageError) as caught:
        locked("icebrg")
    assert (caught.value.message, caught.value.hint) == ("there is no artifact 'icebrg'", "did you mean 'iceberg'?")


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


def test_another_file_is_refused(fresh_cache: Path) -> None:
    wrong = replace(locked("wikiticker"), sha1="0" * 40)
    with pytest.raises(ExecutionError, match=r"druid-processing-33.0.0-tests.jar as downloaded is not the file"):
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
    assert hint.startswith("hint: check the network")
    assert (done.returncode, done.stdout) == (3, "")
    assert list((fresh_cache / "hivedruid").glob("download-*")) == []


def test_no_java(fresh_cache: Path) -> None:
    done = run(JAVA_HOME="/nowhere")
    assert done.returncode == 3
    assert done.stderr.startswith(
        "error: JAVA_HOME is /nowhere, but there is no bin/java in it\nhint: install a Java 17"
    )


def test_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ExecutionError, match="cannot write the cache"):
        resolve([locked("wikiticker")])


def test_progress(fresh_cache: Path) -> None:
    said: list[str] = []
    resolve([locked("wikiticker")], said.append)
    assert said[-1] == ""
    assert all(text.startswith("Downloading druid-processing-33.0.0-tests.jar: ") for text in said[:-1])
