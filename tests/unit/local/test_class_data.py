"""The archives of a local cluster, with a small class path and real JVMs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hivedruid.local.archives import archive_path
from hivedruid.local.artifacts import pyspark_folder
from hivedruid.local.class_data import ClassData, merged, write_archive
from hivedruid.local.java import java_command

MAIN = "org.apache.ivy.Main"


@pytest.fixture
def jars() -> list[Path]:
    return list((pyspark_folder() / "jars").glob("ivy-*.jar"))


@pytest.fixture
def archive(jars: list[Path], fresh_cache: Path) -> Path:
    """The archive of the jars, in an empty cache."""
    path = archive_path(java_command(), str(jars[0]))
    assert path is not None
    assert path.is_relative_to(fresh_cache)
    return path


def start(data: ClassData, folder: Path, conf: Path) -> str:
    """Run a JVM with a folder after the jars, as the services have one; returns where the main class came from."""
    log = folder / "load.log"
    path = f"{data.class_path}{os.pathsep}{conf}"
    command = [str(java_command()), *data.options("ivy"), f"-Xlog:class+load:file={log}", "-cp", path, MAIN, "-version"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    assert "warning" not in done.stdout.lower()
    (line,) = (line for line in log.read_text().splitlines() if f" {MAIN} source: " in line)
    return line.partition(" source: ")[2]


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "runtime.properties").write_text("a=1\n")
    return folder


def test_the_second_start_uses_what_the_first_one_recorded(
    jars: list[Path], archive: Path, tmp_path: Path, conf: Path, until: Callable[[Callable[[], object]], None]
) -> None:
    first = ClassData(jars, tmp_path, complete=True)
    assert start(first, tmp_path, conf).startswith("file:")
    first.write()
    (tmp_path / "ivy.classes").unlink()
    until(archive.exists)
    until(lambda: {path.name for path in archive.parent.iterdir()} == {archive.name, "lock"})
    assert archive.stat().st_mode & 0o777 == 0o600

    second = ClassData(jars, tmp_path, complete=True)
    assert start(second, tmp_path, conf).startswith("shared objects file")
    second.write()
    assert not (tmp_path / "ivy.classes").exists()

    archive.write_bytes(os.urandom(10_000))
    archive.chmod(0o600)
    assert start(ClassData(jars, tmp_path, complete=True), tmp_path, conf).startswith("file:"), "it does not fit"


def test_an_incomplete_start_records_nothing(jars: list[Path], archive: Path, tmp_path: Path) -> None:
    data = ClassData(jars, tmp_path, complete=False)
    assert data.options("ivy") == []
    data.write()
    assert not archive.parent.exists()


def test_folders_of_classes_have_no_archive(tmp_path: Path, fresh_cache: Path) -> None:
    assert ClassData([tmp_path], tmp_path, complete=True).options("a") == []
    assert not fresh_cache.exists()


def test_an_archive_is_not_written_twice(jars: list[Path], archive: Path, tmp_path: Path) -> None:
    archive.parent.mkdir(parents=True, mode=0o700)
    archive.write_bytes(b"of another process")
    archive.chmod(0o600)
    classes = tmp_path / "classes"
    classes.write_text("java/lang/Object\n")
    write_archive(archive, classes, str(jars[0]))
    assert archive.read_bytes() == b"of another process"
    assert not classes.exists()


def test_a_failure_is_not_repeated(jars: list[Path], archive: Path, tmp_path: Path) -> None:
    assert ClassData(jars, tmp_path, complete=True).options("a") == [
        f"-XX:DumpLoadedClassList={tmp_path / 'a.classes'}"
    ]
    classes = tmp_path / "classes"
    classes.write_text("@no-such-tag\n")
    write_archive(archive, classes, str(jars[0]))
    assert not archive.exists()
    assert ClassData(jars, tmp_path, complete=True).options("a") == []


def test_an_archive_is_removed_if_a_service_crashes(jars: list[Path], archive: Path, tmp_path: Path) -> None:
    archive.parent.mkdir(parents=True, mode=0o700)
    archive.touch(0o600)
    data = ClassData(jars, tmp_path, complete=True)
    assert data.options("a")[0] == f"-XX:SharedArchiveFile={archive}"
    assert not data.is_dropped("java.net.BindException: Address already in use")
    assert archive.exists()
    assert data.is_dropped("#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  SIGBUS")
    assert not archive.exists()


def test_lists_are_merged(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(
        "# NOTE\njava/lang/Object id: 0\n@lambda-proxy a b\na/A id: 9\na/B id: 10 super: 9 source: x\na"
    )
    (tmp_path / "b").write_text("java/lang/Object\na/A\n@lambda-proxy a b\nb/B\n")
    assert merged([tmp_path / "a", tmp_path / "b"]) == ["java/lang/Object", "@lambda-proxy a b", "a/A", "b/B"]
