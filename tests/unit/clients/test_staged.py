from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hivedruid.clients.staged import CHUNK, DAY, look_through, merged
from hivedruid.errors import DruidError


def source(folder: Path) -> dict[str, str]:
    return {"type": "local", "baseDir": str(folder), "filter": "*.json.gz"}


def stage(folder: Path, name: str, *lines: str) -> None:
    with gzip.open(folder / name, "wt") as file:
        file.write("".join(f"{line}\n" for line in lines))


def test_rows_are_counted_and_their_days_found(tmp_path: Path) -> None:
    stage(tmp_path, "a.json.gz", '{"__time":1,"x":2}', '{"x":"\\"__time\\":99999999999","__time":-1}')
    stage(tmp_path, "b.json.gz", f'{{"__time": {5 * DAY}}}')
    stage(tmp_path, "ignored.json", '{"__time":1}')
    found = look_through(source(tmp_path), "__time", "DAY")
    assert found.rows == 3
    assert found.intervals == ((-DAY, DAY), (5 * DAY, 6 * DAY))
    assert [Path(path).name for path in found.files] == ["a.json.gz", "b.json.gz"]


def test_finer_segments_have_finer_intervals(tmp_path: Path) -> None:
    stage(tmp_path, "a.json.gz", '{"__time":3600001}')
    assert look_through(source(tmp_path), "__time", "HOUR").intervals == ((3_600_000, 7_200_000),)


def test_counting_alone_looks_at_no_times(tmp_path: Path) -> None:
    stage(tmp_path, "a.json.gz", '{"__time":1}')
    found = look_through(source(tmp_path), "__time", None)
    assert (found.rows, found.intervals) == (1, ())


def test_a_last_line_without_its_end_and_long_lines(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(f'{{"s":"{"x" * (2 * CHUNK)}"}}\n{{"__time":1}}')
    found = look_through({"type": "local", "files": [str(tmp_path / "a.json")]}, "__time", "DAY")
    assert (found.rows, found.intervals) == (2, ((0, DAY),))


def test_nothing_staged(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").touch()
    assert look_through(source(tmp_path), "__time", "DAY").rows == 0
    assert look_through(source(tmp_path / "absent"), "__time", "DAY").rows == 0


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    stage(tmp_path, "a.json.gz", *['{"__time":1}'] * 1000)
    whole = (tmp_path / "a.json.gz").read_bytes()
    (tmp_path / "a.json.gz").write_bytes(whole[:-9])
    with pytest.raises(DruidError, match="cannot read the staged rows"):
        look_through(source(tmp_path), "__time", "DAY")


def test_only_local_files(tmp_path: Path) -> None:
    with pytest.raises(DruidError, match="'http'"):
        look_through({"type": "http"}, "__time", "DAY")


def test_intervals_that_touch_are_one() -> None:
    assert merged([(5, 6), (1, 2), (2, 3), (1, 3)]) == ((1, 3), (5, 6))
