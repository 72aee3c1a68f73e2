"""Java artifacts by name: pinned in `artifacts.json`, fetched by the Ivy that ships with pyspark, kept in a cache.

Every artifact is listed with its exact version, SHA-1 and size, and resolved without its dependencies: what is
not in the lock file is never fetched. Ivy knows the repository; no host is named here.

    python -m hivedruid.local.artifacts iceberg        fetches the artifact and prints its path
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from xml.sax.saxutils import quoteattr

from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, UsageError, did_you_mean
from hivedruid.local.java import java_command

LOCK_FILE = Path(__file__).with_name("artifacts.json")

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Artifact:
    """One jar of the lock file; `size` is in bytes."""

    org: str
    name: str
    rev: str
    sha1: str
    size: int
    classifier: str = ""

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.rev}{f'-{self.classifier}' if self.classifier else ''}.jar"


def cache_folder() -> Path:
    """Where downloads stay between runs: `hivedruid` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hivedruid"


def locked(name: str) -> Artifact:
    """The artifact that the lock file knows by this name."""
    lock = json.loads(LOCK_FILE.read_text(encoding="utf-8"))
    if name not in lock:
        raise UsageError(f"there is no artifact '{name}'", hint=did_you_mean(name, lock) or f"known: {', '.join(lock)}")
    return Artifact(**lock[name])


def cached(artifact: Artifact) -> Path | None:
    """The artifact's jar where it has been fetched before, else None. Files are checked before they come here."""
    path = _cache_path(artifact)
    return path if path.exists() and path.stat().st_size == artifact.size else None


def resolve(artifacts: Sequence[Artifact], progress: Progress | None = None) -> list[Path]:
    """The jars of `artifacts`, in their order; what is not cached is fetched, all of it with one run of Ivy.

    Processes that want the same jars wait for each other. A jar appears in the cache complete and checked, or not
    at all. Raises ConnectError where Java or the repository is out of reach, ExecutionError where a jar is not
    the one that the lock file means or the cache cannot be written.
    """
    paths = [cached(artifact) for artifact in artifacts]
    if None in paths:
        try:
            with _exclusive(cache_folder()):
                missing = [artifact for artifact in artifacts if cached(artifact) is None]
                if missing:
                    _fetch(missing, progress)
        except OSError as error:
            raise ExecutionError(
                f"cannot write the cache {cache_folder()}: {error.strerror or error}",
                hint="free some space, or set XDG_CACHE_HOME to a folder that can be written",
            ) from error
    return [_cache_path(artifact) for artifact in artifacts]


def pyspark_folder() -> Path:
    """Where pyspark is installed, without importing it."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ExecutionError("pyspark is not installed", hint="install hivedruid again with pip")
    return Path(spec.origin).parent


def _cache_path(artifact: Artifact) -> Path:
    return cache_folder() / "jars" / artifact.org / artifact.file_name


@contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """One process at a time in the folder; the lock goes with the process that holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(missing: Sequence[Artifact], progress: Progress | None) -> None:
    """Let Ivy download into a scratch folder beside the cache, check every jar, then move it in."""
    with tempfile.TemporaryDirectory(prefix="download-", dir=cache_folder()) as scratch:
        work = Path(scratch)
        output = _run_ivy(missing, work, progress)
        for artifact in missing:
            jar = work / "lib" / artifact.org / artifact.file_name
            if not jar.exists():
                raise _unresolved(artifact, output)
            if _sha1(jar) != artifact.sha1:
                raise ExecutionError(
                    f"{artifact.file_name} as downloaded is not the file that hivedruid was tested with (SHA-1 differs)",
                    hint="try again; where a mirror serves your artifacts, ask who runs it",
                )
            target = _cache_path(artifact)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(jar, target)


def _run_ivy(missing: Sequence[Artifact], work: Path, progress: Progress | None) -> str:
    """Run Ivy over `missing`; what it prints is the answer, whether it succeeded or not."""
    (work / "ivysettings.xml").write_text(_settings(work), encoding="utf-8")
    (work / "ivy.xml").write_text(_module(missing), encoding="utf-8")
    jars = sorted((pyspark_folder() / "jars").glob("ivy-*.jar"))
    if not jars:
        raise ExecutionError("pyspark is installed without its jars", hint="install pyspark again with pip")
    command = [str(java_command()), "-cp", str(jars[-1]), "org.apache.ivy.Main"]
    command += ["-settings", "ivysettings.xml", "-ivy", "ivy.xml", "-confs", "default"]
    command += ["-retrieve", "lib/[organisation]/[artifact]-[revision](-[classifier]).[ext]"]
    total = sum(artifact.size for artifact in missing)
    with (work / "output").open("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(command, cwd=work, stdout=output, stderr=subprocess.STDOUT)
        try:
            while True:
                try:
                    process.wait(timeout=0.3)
                    break
                except subprocess.TimeoutExpired:
                    if progress:
                        progress(f"Downloading {_what(missing)}: {_downloaded(work) / 1e6:.0f} of {total / 1e6:.0f} MB")
        finally:
            process.kill()
            process.wait()
            if progress:
                progress("")
        output.seek(0)
        return output.read()


def _what(missing: Sequence[Artifact]) -> str:
    return missing[0].file_name if len(missing) == 1 else f"{len(missing)} Java artifacts"


def _downloaded(work: Path) -> int:
    """Bytes that Ivy has written into its own cache so far."""
    size = 0
    for folder, _, names in os.walk(work / "ivy"):
        for name in names:
            try:
                size += os.stat(os.path.join(folder, name)).st_size  # noqa: PTH116, PTH118
            except FileNotFoundError:  # renamed by Ivy between the listing and here
                continue
    return size


def _settings(work: Path) -> str:
    """Ivy's settings: its built-in Maven repository and nothing else; a half-filled local one would be believed."""
    return (
        '<ivysettings><settings defaultResolver="central"/>'
        f"<caches defaultCacheDir={quoteattr(str(work / 'ivy'))}/>"
        '<resolvers><ibiblio name="central" m2compatible="true" usepoms="false" checksums="sha1"/></resolvers>'
        "</ivysettings>\n"
    )


def _module(missing: Sequence[Artifact]) -> str:
    """An Ivy module that depends on exactly `missing`."""
    dependencies = "".join(
        f'<dependency org="{a.org}" name="{a.name}" rev="{a.rev}" transitive="false" conf="default->*">'
        f'<artifact name="{a.name}" type="jar" ext="jar"{f""" m:classifier="{a.classifier}" """ if a.classifier else ""}/>'
        "</dependency>"
        for a in missing
    )
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="hivedruid" module="artifacts"/><configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>\n"
    )


def _unresolved(artifact: Artifact, output: str) -> HiveDruidError:
    """Why Ivy did not bring the artifact, from what it printed."""
    if "No space left on device" in output:
        return ExecutionError(f"the disk is full: {artifact.file_name} could not be written", hint="free some space")
    reasons = ("UnknownHost", "ConnectException", "Connection refused", "timed out", "unreachable", "SSLHandshake")
    lines = [line.strip() for line in output.splitlines()]
    reason = next((line for line in lines if any(word in line for word in reasons)), None)
    reason = reason or next((line for line in lines if "ERROR" in line or "not found" in line), "Ivy gave no reason")
    return ConnectError(
        f"cannot download {artifact.file_name}: {reason[:200]}",
        hint="check the network; behind a proxy set JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=… -Dhttps.proxyPort=…'",
    )


def _sha1(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()


def main(names: Sequence[str]) -> int:
    """Fetch the named artifacts and print where they are, one path per line."""
    try:
        paths = resolve([locked(name) for name in names], terminal_progress())
    except HiveDruidError as error:
        return report(error)
    sys.stdout.write("".join(f"{path}\n" for path in paths))
    return 0


def report(error: HiveDruidError) -> int:
    """Say on stderr what went wrong and what to do next; the exit code for it."""
    sys.stderr.write(f"error: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else ""))
    return 3 if isinstance(error, ConnectError) else 1


def terminal_progress() -> Progress | None:
    """A status line that rewrites itself on stderr, or None where stderr is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    return show


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
