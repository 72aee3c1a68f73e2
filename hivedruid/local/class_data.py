"""The class-data archives of a local cluster: one for the services of Druid, one for Kafka.

The services of Druid have one class path and share most classes, and so they share one archive. A start without an
archive records the classes that each service loads. When the services are ready, a process in the background writes the
archive from these lists; later starts, of all homes, use it. It is written once per version of Java and set of jars.

    python -m hivedruid.local.class_data ARCHIVE CLASSES CLASS_PATH      writes an archive from a list of classes
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from hivedruid.local.archives import Archive, archive_path, can_be_written, is_usable, reading
from hivedruid.local.java import java_command
from hivedruid.local.processes import available_bytes, detached
from hivedruid.locks import Lock

MEMORY = 1_500_000_000
"""The available bytes that writing an archive requires; the JVM uses half of them."""

_CRASH = "A fatal error has been detected by the Java Runtime Environment"
"""What a JVM prints that crashes, as it may with a damaged archive."""


class ClassData:
    """The archive of one part of a cluster for one start. `lists` is the folder of the recorded classes; they are
    recorded only if the start is that of all services of the part, is `complete`.
    """

    def __init__(self, jars: Iterable[Path], lists: Path, *, complete: bool) -> None:
        self.class_path = os.pathsep.join(map(str, jars))
        self._archive = archive_path(java_command(), self.class_path)
        self._is_used = self._archive is not None and is_usable(self._archive)
        self._lists = lists
        self._records = complete and not self._is_used and self._archive is not None and _may_be_written(self._archive)
        self._recorded: list[Path] = []

    def options(self, name: str) -> list[str]:
        """The options for the JVM of a service: to use the archive, or to record its classes."""
        if self._is_used and self._archive is not None:
            return reading(self._archive)
        if not self._records:
            return []
        file = self._lists / f"{name}.classes"
        file.unlink(missing_ok=True)
        self._recorded.append(file)
        return [f"-XX:DumpLoadedClassList={file}"]

    def write(self) -> None:
        """Start to write the archive in the background, if classes were recorded. The services may be stopped, and the
        lists removed, while it is written.
        """
        if self._archive is None or not self._recorded or available_bytes() < MEMORY:
            return
        classes = self._archive.with_suffix(f".{os.getpid()}.classes")
        with suppress(OSError):  # a full disk, or a list that was not written: no archive
            classes.write_text("".join(f"{line}\n" for line in merged(self._recorded)), encoding="utf-8")
            arguments = ["hivedruid.local.class_data", str(self._archive), str(classes), self.class_path]
            detached([sys.executable, "-m", *arguments], Path(os.devnull))

    def is_dropped(self, log: str) -> bool:
        """Whether a service whose log this is has crashed with the archive; if so, the archive is removed."""
        if self._archive is None or not self._is_used or _CRASH not in log:
            return False
        self._archive.unlink(missing_ok=True)
        return True


def merged(lists: Iterable[Path]) -> list[str]:
    """The lines of lists of classes, each once. Newer versions of Java append a number to a class, and list classes of
    other class loaders with their source, neither of which has a meaning in another list. The last line may be
    incomplete, because the service is still running.
    """
    lines: dict[str, None] = {}
    for file in lists:
        for line in file.read_text(encoding="utf-8").rpartition("\n")[0].splitlines():
            if not line.startswith("#") and " source: " not in line:
                lines[line if line.startswith("@") else line.partition(" ")[0]] = None
    return list(lines)


def _may_be_written(archive: Path) -> bool:
    return not _failure(archive).exists() and can_be_written(archive)


def _failure(archive: Path) -> Path:
    """A file that marks that this archive could not be written: the next start does not try again."""
    return archive.with_suffix(".failed")


def write_archive(path: Path, classes: Path, class_path: str) -> None:
    """Write the archive unless it exists. Processes that write archives wait for each other. Raises OSError."""
    try:
        with Lock(path.parent / "lock") as lock:
            lock.wait()
            if is_usable(path) or not _may_be_written(path):
                return
            archive = Archive(path)
            options = ["-Xshare:dump", "-Xmx512m", "-Xlog:disable"]
            files = [f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={archive.part}"]
            environment = {
                key: value for key, value in os.environ.items() if key not in ("CLASSPATH", "JDK_JAVA_OPTIONS")
            }
            command = [str(java_command()), *options, *files, "-cp", class_path]
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=False)
            archive.finish(done.returncode)
            if done.returncode > 0:
                _failure(path).touch()
    finally:
        classes.unlink(missing_ok=True)


def main(arguments: Sequence[str]) -> None:
    archive, classes, class_path = arguments
    os.nice(19)
    write_archive(Path(archive), Path(classes), class_path)


if __name__ == "__main__":
    main(sys.argv[1:])
