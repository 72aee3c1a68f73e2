"""Download Java artifacts with the Ivy that ships with pyspark, in one run for all missing ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from hivedruid.defaults import cache_folder
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError
from hivedruid.local.artifacts import Artifact, Progress, keep, pyspark_folder
from hivedruid.local.java import java_command

SPARE_BYTES = 50_000_000
"""The free disk space that must remain after a download."""


TRIES = 3
"""The number of attempts, each for the artifacts that are still missing, in case the repository fails temporarily."""
PAUSE = 2.0
"""Seconds before the second attempt; increased before each further one."""


def fetch(wanted: Sequence[Artifact], progress: Progress | None, lock: int) -> None:
    """Download `wanted` into the cache; the caller holds the cache's `lock`, which protects the download folder.

    Complete jars that a killed run left in that folder are reused. If the repository fails, missing jars are requested
    again, up to a limit. Raises ConnectError, ExecutionError and OSError.
    """
    work = cache_folder() / "download"
    missing = _collect(wanted, work)
    _clean(work)
    if not missing:
        return
    _check_space(missing)
    for attempt in range(1, TRIES + 1):
        (work / "ivy").mkdir(parents=True)
        try:
            output = _run(missing, work, progress, lock)
        finally:
            missing = _collect(missing, work)
        error = _download_error(missing[0], work, output) if missing else None
        _clean(work)
        if error is None:
            return
        if not isinstance(error, ConnectError):
            raise error
        if attempt == TRIES:
            raise ConnectError(f"{error.message} (in {TRIES} attempts)", hint=error.hint)
        if progress:
            progress(f"{error.message}; retrying ({attempt + 1} of {TRIES})")
        time.sleep(PAUSE * attempt)


def _clean(work: Path) -> None:
    """Remove the download folder, and those of older releases, which had random names."""
    for folder in (work, *work.parent.glob("download-*")):
        shutil.rmtree(folder, ignore_errors=True)


def _collect(wanted: Sequence[Artifact], work: Path) -> list[Artifact]:
    """Move the downloaded jars into the cache; returns the missing and invalid ones."""
    return [
        artifact for artifact in wanted if not (_jar(artifact, work).exists() and keep(artifact, _jar(artifact, work)))
    ]


def _jar(artifact: Artifact, work: Path) -> Path:
    """The path of a complete jar in Ivy's cache; an incomplete one ends in `.part`."""
    return work / "ivy" / artifact.org / artifact.file_name


def _check_space(missing: Sequence[Artifact]) -> None:
    needed = sum(artifact.size for artifact in missing) + SPARE_BYTES
    free = shutil.disk_usage(cache_folder()).free
    if free < needed:
        raise ExecutionError(
            f"{_description(missing)} {'needs' if len(missing) == 1 else 'need'} {needed / 1e6:.0f} MB in"
            f" {cache_folder()}, where {free / 1e6:.0f} MB are free",
            hint="free some space, or set XDG_CACHE_HOME to a folder with more of it",
        )


def _run(missing: Sequence[Artifact], work: Path, progress: Progress | None, lock: int) -> str:
    """Run Ivy for `missing`; returns its output, whether it succeeded or not."""
    (work / "ivysettings.xml").write_text(_settings(work), encoding="utf-8")
    (work / "ivy.xml").write_text(_module(missing), encoding="utf-8")
    jars = sorted((pyspark_folder() / "jars").glob("ivy-*.jar"))
    if not jars:
        raise ExecutionError("pyspark is installed without its jars", hint="reinstall pyspark with pip")
    command = [str(java_command()), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command += ["-cp", str(jars[-1]), "org.apache.ivy.Main"]
    command += ["-settings", "ivysettings.xml", "-ivy", "ivy.xml", "-confs", "default"]
    meter = _Meter(missing)
    with (work / "output").open("w+", encoding="utf-8", errors="replace") as output:
        # Ivy also holds the lock: if this process is killed, no other one uses the folder before Ivy has ended.
        process = subprocess.Popen(command, cwd=work, stdout=output, stderr=subprocess.STDOUT, pass_fds=(lock,))
        try:
            while True:
                try:
                    process.wait(timeout=0.3)
                    break
                except subprocess.TimeoutExpired:
                    if progress:
                        progress(meter.text(_downloaded(work), _looked_up(work)))
        finally:
            process.kill()
            process.wait()
            if progress:
                progress("")
        output.seek(0)
        return output.read()


class _Meter:
    """The progress line of a download: the completed part, and the estimated remaining time."""

    def __init__(self, missing: Sequence[Artifact]) -> None:
        self._description = _description(missing)
        self._count = len(missing)
        self._total = sum(artifact.size for artifact in missing)
        self._first: float | None = None

    def text(self, done: int, looked_up: int) -> str:
        """The line for `done` bytes; before the first byte, Ivy looks up every artifact."""
        if not done:
            return f"Looking up {self._description}" + (f": {looked_up} found" if self._count > 1 else "")
        now = time.monotonic()
        self._first = self._first or now
        text = f"Downloading {self._description}: {done / 1e6:.0f} of {self._total / 1e6:.0f} MB"
        seconds = now - self._first
        if seconds < 1:
            return text
        left = (self._total - done) * seconds / done
        return f"{text}, {done / seconds / 1e6:.1f} MB/s, {left // 60:.0f}:{left % 60:02.0f} left"


def _description(missing: Sequence[Artifact]) -> str:
    return missing[0].file_name if len(missing) == 1 else f"{len(missing)} Java artifacts"


def _downloaded(work: Path) -> int:
    """The number of bytes that Ivy has written to its cache so far."""
    size = 0
    for folder, _, names in os.walk(work / "ivy"):
        for name in names:
            try:
                if name.endswith((".jar", ".jar.part")):
                    size += os.stat(os.path.join(folder, name)).st_size  # noqa: PTH116, PTH118
            except FileNotFoundError:  # renamed by Ivy between the listing and here
                continue
    return size


def _looked_up(work: Path) -> int:
    """The number of artifacts that Ivy has found so far, from its output."""
    return (work / "output").read_text(encoding="utf-8", errors="replace").count("\n\tfound ")


def _settings(work: Path) -> str:
    """Ivy's settings: only its built-in Maven repository, because it would trust an incomplete local one."""
    return (
        '<ivysettings><settings defaultResolver="central" defaultConflictManager="all"/>'
        f"<caches defaultCacheDir={quoteattr(str(work / 'ivy'))}"
        ' artifactPattern="[organisation]/[artifact]-[revision](-[classifier]).[ext]"/>'
        '<resolvers><ibiblio name="central" m2compatible="true" usepoms="false" checksums="sha1"/></resolvers>'
        "</ivysettings>\n"
    )


def _module(missing: Sequence[Artifact]) -> str:
    """An Ivy module that depends on exactly `missing`."""
    dependencies = "".join(
        f'<dependency org="{a.org}" name="{a.name}" rev="{a.rev}" transitive="false" conf="default->*"><artifact'
        f' name="{a.name}" type="jar"'
        f' ext="jar"{f""" m:classifier="{a.classifier}" """ if a.classifier else ""}/></dependency>'
        for a in missing
    )
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="hivedruid" module="artifacts"/><configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>\n"
    )


def _download_error(artifact: Artifact, work: Path, output: str) -> HiveDruidError:
    """Why the artifact is not in the cache, from Ivy's files and output."""
    if _jar(artifact, work).exists():
        return ExecutionError(
            f"{artifact.file_name} as downloaded does not match its expected SHA-1 checksum",
            hint="try again; if you use a mirror, contact its administrator",
        )
    if "No space left on device" in output or "Disk quota exceeded" in output:
        return ExecutionError(
            f"the disk is full: {artifact.file_name} could not be written to {cache_folder()}",
            hint="free some space, or set XDG_CACHE_HOME to a folder with more of it; completed downloads are kept",
        )
    reasons = ("UnknownHost", "ConnectException", "Connection refused", "timed out", "unreachable", "SSLHandshake")
    lines = [line.strip() for line in output.splitlines()]
    reason = next((line for line in lines if any(word in line for word in reasons)), None)
    reason = reason or next((line for line in lines if "ERROR" in line or "not found" in line), "Ivy gave no reason")
    return ConnectError(
        f"cannot download {artifact.file_name}: {reason[:200]}",
        hint="check the network; behind a proxy set JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=… -Dhttps.proxyPort=…'",
    )
