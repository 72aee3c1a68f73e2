"""The choice of a Java installation, and its refusal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.errors import ConnectError
from hivedruid.local.java import java_command


@pytest.fixture(autouse=True)
def _look_again() -> Iterator[None]:
    java_command.cache_clear()
    yield
    java_command.cache_clear()


def pretend(folder: Path, banner: str) -> Path:
    """A `java` that prints `banner` as its version."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{banner}\nEND\n")
    java.chmod(0o755)
    return java


def test_the_machines_java() -> None:
    assert java_command().name == "java"


@pytest.mark.parametrize("version", ["17.0.15", "17-ea", "21.0.2", "25"])
def test_java_home_counts_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    java = pretend(tmp_path, f'Picked up JAVA_TOOL_OPTIONS: -Dx=1\nopenjdk version "{version}" 2025-04-15')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java_command() == java


@pytest.mark.parametrize(("version", "feature"), [("1.8.0_402", 8), ("11.0.22", 11)])
def test_java_that_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, feature: int) -> None:
    java = pretend(tmp_path, f'openjdk version "{version}" 2024-01-16')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConnectError, match=f"^Java 17 or later is required, but {java} is Java {feature}$"):
        java_command()


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConnectError, match="`java` is not on PATH") as caught:
        java_command()
    assert "OpenJDK 17" in (caught.value.hint or "")


def test_java_that_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tmp_path, "The operation couldn't be completed. Unable to locate a Java Runtime.")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConnectError, match="does not work: The operation couldn't be completed"):
        java_command()


def test_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hivedruid.local.java"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    pretend(tmp_path, 'openjdk version "11.0.22" 2024-01-16')
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("error: Java 17 or later is required, but ")
    assert done.stderr.count("\n") == 2
