"""The staged rows of a task: newline-delimited JSON files on this machine, looked through before Druid is asked."""

from __future__ import annotations

import fnmatch
import gzip
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hivedruid.errors import DruidError

Interval = tuple[int, int]
CHUNK = 1 << 20
DAY = 86_400_000
FINER: Mapping[str, int] = {
    "SECOND": 1000,
    "MINUTE": 60_000,
    "FIVE_MINUTE": 300_000,
    "TEN_MINUTE": 600_000,
    "FIFTEEN_MINUTE": 900_000,
    "THIRTY_MINUTE": 1_800_000,
    "HOUR": 3_600_000,
    "SIX_HOUR": 21_600_000,
    "EIGHT_HOUR": 28_800_000,
}
"""Segment granularities below a day, in milliseconds."""


@dataclass(frozen=True)
class Staged:
    """`intervals`: the buckets of time (days, or less) that the rows are in, merged; empty unless asked for."""

    files: tuple[str, ...]
    rows: int
    intervals: tuple[Interval, ...]


def look_through(source: Mapping[str, Any], time_column: str, granularity: str | None) -> Staged:
    """Count the rows of a local input source, and with a segment granularity see what times they have.

    Raises DruidError for a source that is no local one, and for files that cannot be read.
    """
    files = _files(source)
    width = FINER.get((granularity or "").upper(), DAY)
    stamp = re.compile(rb'"%s"\s*:\s*"?(-?\d+)' % re.escape(time_column.encode())) if granularity else None
    rows, buckets = 0, set[int]()
    try:
        for path in files:
            for lines in _lines(path):
                rows += lines.count(b"\n")
                if stamp is not None:
                    buckets.update({int(found) // width for found in stamp.findall(lines)})
    except (OSError, EOFError) as error:
        raise DruidError(f"cannot read the staged rows in {path}: {error}") from error
    return Staged(tuple(files), rows, merged((bucket * width, (bucket + 1) * width) for bucket in buckets))


def merged(intervals: Any) -> tuple[Interval, ...]:
    """Intervals that touch or overlap as one, sorted."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


def _files(source: Mapping[str, Any]) -> list[str]:
    """The files that are not empty, as Druid's LocalInputSource finds them."""
    if source.get("type") != "local":
        raise DruidError(f"rows come from files on this machine, not from an input source '{source.get('type')}'")
    files = [str(path) for path in source.get("files") or ()]
    base = source.get("baseDir")
    if base is not None:
        for folder, _, names in os.walk(base):
            matching = (name for name in names if fnmatch.fnmatchcase(name, source.get("filter") or "*"))
            files += [str(Path(folder, name)) for name in matching]
    try:
        return sorted(path for path in files if Path(path).stat().st_size)
    except OSError as error:
        raise DruidError(f"cannot read the staged rows in {error.filename}: {error.strerror}") from error


def _lines(path: str) -> Iterator[bytes]:
    """The file in pieces that end with a line."""
    with gzip.open(path) if path.endswith(".gz") else Path(path).open("rb") as file:
        rest = b""
        while piece := file.read(CHUNK):
            whole, newline, rest = (rest + piece).rpartition(b"\n")
            if newline:
                yield whole + newline
        if rest.strip():
            yield rest + b"\n"
