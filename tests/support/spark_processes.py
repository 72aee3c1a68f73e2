"""Processes with Spark's classes: masters, workers and Connect servers that tests start by hand."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from hivedruid.local import artifacts
from hivedruid.local.java import java_command

TOKEN = "sesame"
"""The token of Connect servers."""
JAVA_OPTIONS = [
    "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m", "-Djava.net.preferIPv4Stack=true",
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.lang", "java.lang.invoke", "java.nio", "sun.nio.ch", "java.util")),
]  # fmt: skip


class Processes:
    """JVMs with Spark's classes, each with a log; all are stopped at the end of the block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        self.named: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.started:
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(
        self, name: str, *arguments: str, jar: str = "", hidden: Path | None = None
    ) -> Callable[[str], re.Match[str]]:
        """Start a main class, and wait for a line of its log. The process has a file system of its own at the path
        `hidden`, as a machine that does not share this folder."""
        log = self.folder / f"{name}.log"
        classes = os.pathsep.join(filter(None, [str(artifacts.pyspark_folder() / "jars" / "*"), jar]))
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
        environment = {
            **kept, "SPARK_HOME": str(artifacts.pyspark_folder()), "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN, "PYSPARK_PYTHON": sys.executable,
            "SPARK_SCALA_VERSION": "2.13",  # pip's Spark lacks the file with this information
        }  # fmt: skip
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*_hiding(hidden), str(java_command()), *JAVA_OPTIONS, "-cp", classes, *arguments],
                cwd=self.folder, env=environment, stdout=output, stderr=output,
            )  # fmt: skip
        self.started.append(process)
        self.named[name] = process

        def wait_for(pattern: str) -> re.Match[str]:
            deadline = monotonic() + 180
            while not (found := re.search(pattern, log.read_text(errors="replace"))):
                assert process.poll() is None, log.read_text(errors="replace")
                assert monotonic() < deadline, log.read_text(errors="replace")
                sleep(0.05)
            return found

        return wait_for


def _hiding(folder: Path | None) -> tuple[str, ...]:
    return () if folder is None or not can_hide() else (*_UNSHARE, str(folder))


_UNSHARE = ("unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"')


@cache
def can_hide() -> bool:
    """Whether this machine allows mounts in a user namespace. Without them nothing is hidden from any process."""
    with TemporaryDirectory() as folder:
        command = [*_UNSHARE, folder, "true"]
        return shutil.which("unshare") is not None and subprocess.run(command, check=False).returncode == 0
