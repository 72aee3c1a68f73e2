"""Real data to try things on, taken out of the artifacts that publish it.

python -m hivedruid.local.samples wikiticker       prints the path of the JSON lines file
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from hivedruid.errors import ExecutionError, HiveDruidError, UsageError
from hivedruid.local import artifacts

WIKITICKER_ENTRY = "wikipedia/wikiticker-2015-09-12-sampled.json.gz"
WIKITICKER_SIZE = 17_106_256
"""Bytes of the decompressed file: 39,244 lines."""


def wikiticker(progress: Callable[[str], None] | None = None) -> Path:
    """39,244 edits of Wikipedia on 2015-09-12, one JSON object per line: the sample of Druid's own documentation.

    Fetched at the first call, kept in the cache. Raises what `artifacts.resolve` raises.
    """
    target = artifacts.cache_folder() / "samples" / "wikiticker-2015-09-12-sampled.json"
    if target.exists() and target.stat().st_size == WIKITICKER_SIZE:
        return target
    (jar,) = artifacts.resolve([artifacts.locked("wikiticker")], progress)
    try:
        _extract(jar, target)
    except OSError as error:
        raise ExecutionError(f"cannot write {target}: {error.strerror or error}", hint="free some space") from error
    return target


def _extract(jar: Path, target: Path) -> None:
    """Unpack the entry beside `target`, then rename: another process sees a whole file or none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(jar) as archive, archive.open(WIKITICKER_ENTRY) as packed, unfinished.open("wb") as out:
            shutil.copyfileobj(gzip.GzipFile(fileobj=packed), out, 1 << 20)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


SAMPLES = {"wikiticker": wikiticker}


def main(names: Sequence[str]) -> int:
    """Print the path of each named sample, one per line, fetching what is not there yet."""
    try:
        for name in names:
            if name not in SAMPLES:
                raise UsageError(f"there is no sample '{name}'", hint=f"known: {', '.join(SAMPLES)}")
            sys.stdout.write(f"{SAMPLES[name](artifacts.terminal_progress())}\n")
    except HiveDruidError as error:
        return artifacts.report(error)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
