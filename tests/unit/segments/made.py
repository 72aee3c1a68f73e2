"""Segments that Druid 33 has written of the rows of tests/support/segments.py, one for each index spec, and what a scan
returned; segments of the same rows that Druid 37 has written; and `OTHERS`, with every kind of column of data sources. tests/integration/test_segments_read.py compares larger ones."""

from __future__ import annotations

import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from hivedruid.segments.files import SegmentFiles, from_parts
from hivedruid.segments.segment import Segment, segment_of

FOLDER = Path(__file__).parent / "made_by_druid"
NEWER = Path(__file__).parent / "made_by_druid_37"
OTHERS = tuple(sorted((Path(__file__).parent / "kinds_of_others").glob("*.zip")))
ZIPS = (*sorted(FOLDER.glob("*.zip")), *sorted(NEWER.glob("*.zip")))


@cache
def parts(path: Path) -> dict[str, memoryview]:
    """The files of a segment, in memory."""
    with zipfile.ZipFile(path) as archive:
        return {name: memoryview(archive.read(name)) for name in archive.namelist()}


def files(path: Path) -> SegmentFiles:
    return from_parts(parts(path))


def segment(path: Path) -> Segment:
    return segment_of(files(path))


@cache
def scanned() -> list[list[Any]]:
    """The rows of a scan, with the columns COLUMNS of tests.support.segments."""
    return json.loads((FOLDER / "rows.json").read_text(encoding="utf-8"))
