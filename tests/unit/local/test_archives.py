"""Class-data archives, with a small class path and real JVMs."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from hivedruid.local import archives
from hivedruid.local.archives import Archive, archive_path, is_usable
from hivedruid.local.artifacts import pyspark_folder
from hivedruid.local.java import java_command

MAIN = "org.apache.ivy.Main"


@pytest.fixture(scope="module")
def class_path() -> str:
    (jar,) = (pyspark_folder() / "jars").glob("ivy-*.jar")
    return str(jar)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, class_path: str) -> Path:
    """An archive that a JVM of this class path wrote."""
    path = tmp_path_factory.mktemp("made") / "archives" / "a.jsa"
    archive = Archive(path)
    assert not run(archive.options(), class_path, path.parent.parent)[0]
    archive.finish(0)
    return path


def run(options: list[str], class_path: str, folder: Path) -> tuple[bool, str]:
    """Run a JVM; returns whether a class of the jar came from an archive, and its output."""
    log = folder / "load.log"
    command = [str(java_command()), *options, f"-Xlog:class+load:file={log}", "-cp", class_path, MAIN, "-version"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    (line,) = (line for line in log.read_text().splitlines() if f" {MAIN} source: " in line)
    return "shared objects file" in line, done.stdout


def test_classes_come_from_the_archive(made: Path, class_path: str, tmp_path: Path) -> None:
    assert made.stat().st_mode & 0o777 == 0o600
    assert list(made.parent.iterdir()) == [made]
    shared, output = run(Archive(made).options(), class_path, tmp_path)
    assert shared
    assert output == run([], class_path, tmp_path)[1]


def test_jars_may_follow(made: Path, class_path: str, tmp_path: Path) -> None:
    (other,) = (pyspark_folder() / "jars").glob("commons-lang3-*.jar")
    assert run(Archive(made).options(), f"{class_path}{os.pathsep}{other}", tmp_path)[0]


@pytest.mark.parametrize("damage", ["header", "another JVM"])
def test_an_archive_that_does_not_fit_is_ignored(made: Path, class_path: str, tmp_path: Path, damage: str) -> None:
    content = bytearray(made.read_bytes())
    if damage == "header":
        content[:4096] = os.urandom(4096)
    else:
        at = content.index(b"OpenJDK 64-Bit Server VM (")
        content[at : at + 7] = b"Another"
    archive = tmp_path / made.name
    archive.write_bytes(content)
    archive.chmod(0o600)
    shared, output = run(Archive(archive).options(), class_path, tmp_path)
    assert not shared
    assert output == run([], class_path, tmp_path)[1], "no warning"


def test_the_name_depends_on_the_jars_and_on_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jar").write_bytes(b"a")
    paths = f"{tmp_path}/*{os.pathsep}{tmp_path}/missing.jar"
    names = [archive_path(java_command(), paths)]
    assert archive_path(java_command(), paths) == names[0]
    os.utime(tmp_path / "a.jar", (1, 1))
    names.append(archive_path(java_command(), paths))
    (tmp_path / "b.jar").write_bytes(b"b")
    names.append(archive_path(java_command(), paths))
    monkeypatch.setattr(archives, "version_text", lambda _: "another version")
    names.append(archive_path(java_command(), paths))
    assert len(set(names)) == 4
    assert archive_path(java_command(), f"{tmp_path}{os.pathsep}{paths}") is None, "a folder of classes"


def test_an_archive_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(0o700)
    archive = folder / "a.jsa"
    assert not is_usable(archive)
    archive.write_bytes(b"a")
    archive.chmod(0o600)
    assert is_usable(archive)
    for path, mode in ((archive, 0o620), (folder, 0o777)):
        former = path.stat().st_mode
        path.chmod(mode)
        assert not is_usable(archive)
        path.chmod(former)
    (folder / "link.jsa").symlink_to(archive)
    assert not is_usable(folder / "link.jsa")


@pytest.mark.parametrize(("returncode", "complete"), [(-signal.SIGKILL, True), (1, True), (0, False)])
def test_an_incomplete_archive_is_removed(tmp_path: Path, returncode: int, complete: bool) -> None:
    path = tmp_path / "archives" / "a.jsa"
    archive = Archive(path)
    written_to(archive).write_bytes(b"a")
    archive.finish(returncode, complete=complete)
    assert not list(path.parent.iterdir())


def written_to(archive: Archive) -> Path:
    """The file that a JVM with the archive's options writes."""
    (written,) = (option for option in archive.options() if option.startswith("-XX:ArchiveClassesAtExit="))
    return Path(written.partition("=")[2])


def test_an_archive_is_removed_if_the_jvm_crashes(tmp_path: Path) -> None:
    path = tmp_path / "archives" / "a.jsa"
    former = Archive(path)
    written_to(former).write_bytes(b"a")
    former.finish(128 + signal.SIGTERM)
    archive = Archive(path)
    assert f"-XX:SharedArchiveFile={path}" in archive.options()
    archive.finish(-signal.SIGKILL)
    assert path.exists()
    assert archive.prevented_start(-signal.SIGABRT, "")
    archive.finish(-signal.SIGABRT)
    assert not path.exists()


@pytest.mark.parametrize(
    ("option", "prevented"),
    [
        ("-Xshare:off", True),
        ("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=0", True),
        ("-XX:MaxMetaspaceSize=lots", False),
    ],
)
def test_a_jvm_that_cannot_write_an_archive(tmp_path: Path, option: str, prevented: bool) -> None:
    archive = Archive(tmp_path / "archives" / "a.jsa")
    command = [str(java_command()), *archive.options(), option, "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert archive.prevented_start(done.returncode, done.stdout + done.stderr) == prevented


def test_nothing_is_written_where_others_can_write(tmp_path: Path) -> None:
    folder = tmp_path / "archives"
    folder.mkdir()
    folder.chmod(0o777)
    assert Archive(folder / "a.jsa").options() == []
    assert Archive(Path("/proc/archives/a.jsa")).options() == []


def test_the_most_recently_used_archives_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "archives"
    archive = Archive(folder / "new.jsa")
    written_to(archive).touch()
    for age in range(archives.KEPT + 1):
        (folder / f"{age}.jsa").touch()
        os.utime(folder / f"{age}.jsa", (1000 - age, 1000 - age))
    for name, time in (("killed.part", 0.0), ("running.part", folder.stat().st_mtime)):
        (folder / name).touch()
        os.utime(folder / name, (time, time))
    archive.finish(0)
    kept = {path.name for path in folder.iterdir()}
    assert kept == {"new.jsa", "running.part", *(f"{age}.jsa" for age in range(archives.KEPT - 1))}
