"""Java artifacts by name: pinned in lock files, downloaded by the Ivy that is part of pyspark, stored in a cache.

`artifacts.json` contains single jars, each under a name; `druid.json`, `kafka.json` and `spark.json` are groups, the
whole class path of a program or library. Every jar is listed with its exact version, SHA-1 and size, and resolved
without its dependencies: a jar that is not in a lock file is never downloaded. Ivy determines the repository; no host
is named here.

    python -m hivedruid.local.artifacts spark          downloads the artifacts and prints their paths
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hivedruid.defaults import cache_folder
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, UsageError, did_you_mean
from hivedruid.lazy_dataclass import dataclass
from hivedruid.locks import Lock

LOCK_FILE = Path(__file__).with_name("artifacts.json")
GROUPS = ("druid", "kafka", "spark")
"""Names of groups: all jars of the lock file `<name>.json`."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Artifact:
    """One jar of a lock file; `size` is in bytes."""

    org: str
    name: str
    rev: str
    sha1: str
    size: int
    classifier: str = ""

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.rev}{f'-{self.classifier}' if self.classifier else ''}.jar"


def locked(name: str) -> Artifact:
    """The artifact of this name in `artifacts.json`."""
    lock = _read(LOCK_FILE)
    if name not in lock:
        known = [*lock, *GROUPS]
        hint = did_you_mean(name, known) or f"known: {', '.join(known)}"
        raise UsageError(f"unknown artifact '{name}'", hint=hint)
    return Artifact(**lock[name])


def locked_group(name: str) -> tuple[Artifact, ...]:
    """All jars of a group, a key of GROUPS; for any other name, that single artifact."""
    if name not in GROUPS:
        return (locked(name),)
    return tuple(Artifact(**entry) for entry in _read(LOCK_FILE.with_name(f"{name}.json")))


def cached(artifact: Artifact) -> Path | None:
    """The cached jar of the artifact, or None. Files are verified before they are cached, and by `check`."""
    path = cache_path(artifact)
    try:
        return path if path.stat().st_size == artifact.size else None
    except OSError:
        return None


def resolve(artifacts: Sequence[Artifact], progress: Progress | None = None) -> list[Path]:
    """The jars of `artifacts`, in their order; missing ones are downloaded in one run of Ivy.

    Processes that need the same jars wait for each other. A jar appears in the cache complete and verified, or not at
    all; jars that were complete when a download was interrupted are not downloaded again. Raises ConnectError if Java
    or the repository is not available, ExecutionError if a jar does not match the lock file or the cache cannot be
    written.
    """
    if any(cached(artifact) is None for artifact in artifacts):
        from hivedruid.local.ivy import fetch

        try:
            with exclusive(cache_folder(), progress) as lock:
                fetch([artifact for artifact in dict.fromkeys(artifacts) if cached(artifact) is None], progress, lock)
        except OSError as error:
            raise ExecutionError(
                f"cannot write the cache {cache_folder()}: {error.strerror or error}",
                hint="free some space, or set XDG_CACHE_HOME to a writable folder",
            ) from error
    return [cache_path(artifact) for artifact in artifacts]


def check(artifacts: Sequence[Artifact]) -> None:
    """Compare cached jars with the hashes of the lock file before they go onto a class path: others may have been able
    to write the cache. Reads all jars. Raises ExecutionError.
    """
    for artifact in artifacts:
        path = cache_path(artifact)
        if _sha1(path) != artifact.sha1:
            raise ExecutionError(
                f"{path} was changed: it does not match the SHA-1 of its lock file",
                hint="check who can write the cache folder; delete the file, and it is downloaded again",
            )


def pyspark_folder() -> Path:
    """The installation folder of pyspark, without importing it."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ExecutionError("pyspark is not installed", hint="reinstall hivedruid with pip")
    return Path(spec.origin).parent


def cache_path(artifact: Artifact) -> Path:
    return cache_folder() / "jars" / artifact.org / artifact.file_name


def keep(artifact: Artifact, jar: Path) -> bool:
    """Move a downloaded jar into the cache if it matches the lock file; returns whether it does."""
    if jar.stat().st_size != artifact.size or _sha1(jar) != artifact.sha1:
        return False
    target = cache_path(artifact)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(jar, target)
    return True


def _read(lock_file: Path) -> Any:
    try:
        return json.loads(lock_file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExecutionError(f"{lock_file} is damaged: {error}", hint="reinstall hivedruid with pip") from error


@contextmanager
def exclusive(folder: Path, progress: Progress | None = None) -> Iterator[int]:
    """Lock the folder. Yields the descriptor of the lock, which is released with its last holder."""
    folder.mkdir(parents=True, exist_ok=True)
    with Lock(folder / "lock") as lock:
        lock.wait(on_wait=lambda: progress and progress("Waiting for another hivedruid process to finish downloading"))
        yield lock.fileno()


def _sha1(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()


def main(names: Sequence[str]) -> int:
    """Download the named artifacts and print their paths, one per line."""
    try:
        paths = resolve([artifact for name in names for artifact in locked_group(name)], terminal_progress())
    except HiveDruidError as error:
        return report(error)
    sys.stdout.write("".join(f"{path}\n" for path in paths))
    return 0


def report(error: HiveDruidError) -> int:
    """Print an error and its hint to stderr; returns the exit code."""
    sys.stderr.write(f"error: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else ""))
    return 3 if isinstance(error, ConnectError) else 1


def terminal_progress() -> Progress | None:
    """A status line that rewrites itself on stderr, or None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        return None

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    return show


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
