"""`hivedruid segments inspect` and `verify`: reports about segment files."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from hivedruid.cli import main
from tests.unit.segments.made import FOLDER, ZIPS, files, parts

DEFAULT = FOLDER / "default.zip"


def test_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["segments", "inspect", "--format", "json", str(DEFAULT)]) == 0
    rows = {row["column"]: row for row in json.loads(capsys.readouterr().out)}
    assert next(iter(rows)) == "__time"
    assert len(rows) == 26
    assert rows["few"] == {
        "column": "few", "type": "STRING", "encoding": "plain dictionary, lz4, roaring bitmaps", "cardinality": 3,
        "nulls": 0, "bytes": 1109,
    }  # fmt: skip
    assert rows["list"]["type"] == "STRING (multi-value)"
    assert rows["null_long"]["nulls"] > 0
    assert rows["document"]["type"] == "COMPLEX<json>"


def test_inspect_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["segments", "inspect", str(DEFAULT)]) == 0
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{DEFAULT}: 300 rows from 2024-01-01T00:00:00.00")
    assert first.endswith(" bytes")


@pytest.mark.parametrize("path", ZIPS, ids=lambda path: path.stem)
def test_verify(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["segments", "verify", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: intact, 300 rows\n"


def damaged(folder: Path, name: str, at: int) -> Path:
    """The default segment with a byte of an internal file changed; negative places count from its end."""
    path = folder / f"{name}.zip"
    lines = bytes(parts(DEFAULT)["meta.smoosh"]).decode().split("\n")
    start, end = next(map(int, line.split(",")[2:]) for line in lines if line.startswith(f"{name},"))
    with zipfile.ZipFile(path, "w") as archive:
        for part, data in parts(DEFAULT).items():
            changed = bytearray(data)
            if part == "00000.smoosh":
                changed[(start if at >= 0 else end) + at] ^= 0x55
            archive.writestr(part, bytes(changed))
    return path


def _codec(name: str) -> int:
    """The place of the codec of a DOUBLE column: behind its descriptor, the sizes and the version."""
    return 4 + int.from_bytes(files(DEFAULT).entries[name][:4]) + 4 + 1 + 4 + 4


def test_verify_damaged_segments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    column, bitmap, missing = damaged(tmp_path, "d", _codec("d")), damaged(tmp_path, "few", -9), tmp_path / "x.zip"
    missing.write_bytes(b"no zip")
    assert main(["segments", "verify", str(column), str(bitmap), str(missing), str(DEFAULT)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{column}: damaged"
    assert lines[1].startswith("  d: unknown compression ")
    assert lines[2] == f"{bitmap}: damaged"
    assert lines[3].startswith("  few: ")
    assert lines[4:6] == [
        f"{missing}: damaged",
        f"  cannot read the segment {missing}: x.zip is not a valid zip: File is not a zip file",
    ]
    assert lines[6] == f"{DEFAULT}: intact, 300 rows"


def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["segments", "inspect", str(tmp_path / "nope")]) == 2
    assert "nope does not exist" in capsys.readouterr().err
    assert main(["segments", "inspect", str(tmp_path)]) == 1
    assert f"cannot read the segment {tmp_path}: version.bin does not exist" in capsys.readouterr().err
