"""What Spark's executors do with a segment of Druid 37: the data source, without Spark. Its zips are as in deep storage."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest

from hivedruid.filesystems import Access
from hivedruid.plan.segment_files import Piece
from hivedruid.spark.segment_source import FAILED, FileRequest, SegmentReader, to_json
from tests.support.segments import COLUMNS
from tests.unit.segments.made import NEWER, scanned

TYPES = {
    "__time": "LONG",
    "id": "LONG",
    "few": "STRING",
    "sorted_list": "ARRAY<STRING>",
    "d": "DOUBLE",
    "auto_s": "STRING",
}
VERSION_10 = sorted(NEWER.glob("v10_*.zip"))
FEW_X = {"type": "equals", "column": "few", "matchValueType": "STRING", "matchValue": "x"}


def read(location: str, where: dict[str, str] | None = None, of: int = 1) -> list[tuple[object, ...]]:
    """The rows of all partitions, each read by its own executor."""
    pieces = [Piece("some segment", location, ((-(1 << 62), 1 << 62),), number, of) for number in range(of)]
    partitions = tuple((asdict(piece),) for piece in pieces)
    request = to_json(FileRequest(tuple(TYPES.items()), where, TYPES, asdict(Access()), partitions))
    reader = SegmentReader(json.loads(request))
    rows = (row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist())
    return [tuple(row.values()) for row in rows]


def expected() -> list[tuple[object, ...]]:
    at = [COLUMNS.index(name) for name in TYPES]
    rows = [[row[place] for place in at] for row in scanned()]
    lists = list(TYPES).index("sorted_list")
    return [tuple([v] if n == lists and isinstance(v, str) else v for n, v in enumerate(row)) for row in rows]


@pytest.mark.parametrize("path", VERSION_10, ids=lambda path: path.stem)
def test_segments_of_version_10(path: Path, tmp_path: Path) -> None:
    """As a zip, and as the folder with the file `druid.segment` that local deep storage has."""
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["druid.segment"]
        archive.extractall(tmp_path / "index")
    for location in (str(path), str(tmp_path / "index"), path.as_uri()):
        assert read(location) == expected(), location
        assert read(location, of=3) == expected(), location
    assert read(str(path), FEW_X) == [row for row in expected() if row[2] == "x"]


def test_a_damaged_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "druid.segment").write_bytes(b"\x0a\xfe\xff\xff\xff\x7f{")
    with pytest.raises(RuntimeError, match=f"^{FAILED}some segment: "):
        read(str(tmp_path))
