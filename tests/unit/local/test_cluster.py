"""Errors before anything is started, and a home without a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hivedruid import defaults
from hivedruid.cli import main
from hivedruid.errors import ExecutionError, UsageError
from hivedruid.local import processes
from hivedruid.local.cluster import LocalCluster
from hivedruid.local.state import folder


def test_no_such_heap(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'large' is not a valid heap size"):
        LocalCluster(tmp_path, heap="large")


@pytest.mark.parametrize("name", ["a:b", "a,b"])
def test_paths_that_java_would_cut(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"a local cluster cannot run in .*{name}: Java treats '{name[1]}'"):
        LocalCluster(tmp_path / name)


def test_not_enough_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "available_bytes", lambda: 300_000_000)
    with pytest.raises(ExecutionError, match=r"kafka need 0\.7 GB of memory, 0\.3 GB are free") as caught:
        LocalCluster(tmp_path, heap="default").up(druid=False)
    assert caught.value.hint == "close other programs, or use --heap small"
    assert [status.state for status in LocalCluster(tmp_path).status()] == ["stopped"] * 6
    assert defaults.read(tmp_path) == {}


def test_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExecutionError, match=r"cannot write .*file"):
        LocalCluster(tmp_path / "file" / "home").up()


def test_nothing_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    assert main(["local", "down", "--clean", "--home", str(home)]) == 0
    assert main(["local", "status", "--home", str(home), "--format", "json"]) == 3
    out, err = capsys.readouterr()
    assert err == "no services were running\n"
    assert {(row["name"], row["state"], row["pid"]) for row in json.loads(out)} == {
        (name, "stopped", None) for name in ("zookeeper", "coordinator", "historical", "indexer", "broker", "kafka")
    }
    assert not home.exists()


def test_clean_leaves_what_is_not_of_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "catalog").write_text("")
    defaults.write(tmp_path, {"druid.url": "http://elsewhere:8888"})
    folder(tmp_path).mkdir()
    LocalCluster(tmp_path).down(clean=True)
    assert not folder(tmp_path).exists()
    assert (tmp_path / "catalog").exists()
    assert defaults.read(tmp_path) == {"druid.url": "http://elsewhere:8888"}


def test_log_of_what_never_ran(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["local", "logs", "broker", "--home", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"error: broker has no log: it was never started for home {tmp_path}\nhint: hivedruid local up --home {tmp_path}\n"
    )


def test_no_java(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hivedruid", "local", "up", "--home", str(tmp_path / "home")]
    environment = {**os.environ, "JAVA_HOME": "/nowhere"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: JAVA_HOME is /nowhere, but it contains no bin/java\nhint: install a Java 17")
    assert not (tmp_path / "home").exists()
