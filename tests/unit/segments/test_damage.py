"""Damaged and hostile segments: an error, or other values, but no crash, no endless loop and no large allocation."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from hivedruid.segments.errors import DamagedSegmentError, SegmentError, UnsupportedSegmentError
from hivedruid.segments.files import SegmentFiles, from_parts
from hivedruid.segments.filters import In, IsNull, Prefix
from hivedruid.segments.segment import open_segment, segment_of
from tests.unit.segments.made import ZIPS, files, parts, segment

SECONDS, FEWEST = 20.0, 5000
MOST_MEMORY = 64 << 20


def mutations(data: bytes, rng: random.Random) -> bytes:
    """The bytes with a few of them changed, or cut off, or repeated. Headers are changed more often than values."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = min(int(len(data) * rng.random() ** 3), len(data) - 1)
        size = rng.choice([1, 1, 2, 4, 8])
        filler = rng.choice([b"\0", b"\xff", b"\x7f", b"\x80", bytes([rng.randrange(256)])])
        changed[at : at + size] = filler * min(size, len(data) - at)
    if rng.random() < 0.1:
        del changed[rng.randrange(len(changed)) :]
    return bytes(changed)


def read_what_uses(name: str, damaged: SegmentFiles, columns: tuple[str, ...]) -> None:
    """Read the columns that use an internal file, in all ways."""
    found = segment_of(damaged)
    for column in columns:
        if name == column or name.startswith(f"{column}."):
            list(found.read([column]))
            for where in (In(column, ("x", "value")), IsNull(column), Prefix(column, "p")):
                if found.column(column).type == "STRING":
                    list(found.read(["__time"], [(0, 1 << 62)], where))


def cases() -> Iterator[tuple[Path, str, SegmentFiles, tuple[str, ...]]]:
    rng = random.Random(11)
    while True:
        path = rng.choice(ZIPS)
        whole = files(path)
        name = rng.choice(sorted(whole.entries))
        if not len(whole.entries[name]):
            continue
        data = memoryview(mutations(bytes(whole.entries[name]), rng))
        yield (
            path,
            name,
            SegmentFiles({**whole.entries, name: data}, whole.size),
            ("__time", *segment(path).column_names),
        )


def test_mutations() -> None:
    """At least 5,000; more while there is time."""
    deadline, done, refused = time.monotonic() + SECONDS, 0, 0
    tracemalloc.start()
    try:
        for path, name, damaged, columns in cases():
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            try:
                read_what_uses(name, damaged, columns)
            except SegmentError:
                refused += 1
            except Exception as error:
                error.add_note(f"mutation {done}: {name} of {path.stem}")
                raise
            assert tracemalloc.get_traced_memory()[1] - before < MOST_MEMORY, (path.stem, name)
            done += 1
            if done >= FEWEST and time.monotonic() > deadline:
                break
    finally:
        tracemalloc.stop()
    assert refused > done / 10, "most damages are seen"


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("auto_s.__valueIndexes", "auto_l.__valueIndexes", "114 bitmaps of 4 values"),
        ("auto_l.__encodedColumn", "index.drd", "unknown version 1 of dictionary ids"),
    ],
)
def test_files_of_another_column(name: str, source: str, message: str) -> None:
    whole = files(ZIPS[0])
    other = SegmentFiles({**whole.entries, name: whole.entries[source]}, whole.size)
    with pytest.raises(SegmentError, match=message):
        segment_of(other).column(name.split(".", maxsplit=1)[0])


def test_fewer_ids_than_numbers() -> None:
    whole = files(ZIPS[0])
    data = bytearray(whole.entries["auto_l.__encodedColumn"])
    data[2:6] = (299).to_bytes(4)
    other = SegmentFiles({**whole.entries, "auto_l.__encodedColumn": memoryview(data)}, whole.size)
    with pytest.raises(DamagedSegmentError, match="299 ids of 300 numbers"):
        segment_of(other).column("auto_l")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("few", b'{"type":"roaring"}', b'["type","roaring"]', "the bitmaps are not described by an object"),
        ("none", b'"numRows":300', b'"numRows":"x"', "'x' rows"),
        ("auto_l", b'"logicalType":"LONG"', b'"logicalType":["NG"]', "unknown type"),
    ],
)
def test_descriptors_with_values_of_other_types(name: str, old: bytes, new: bytes, message: str) -> None:
    whole = files(ZIPS[0])
    data = bytes(whole.entries[name])
    assert len(old) == len(new)
    assert old in data
    other = SegmentFiles({**whole.entries, name: memoryview(data.replace(old, new))}, whole.size)
    with pytest.raises(SegmentError, match=message):
        segment_of(other).column(name)


def changed(name: str, data: bytes) -> Mapping[str, memoryview]:
    return {**parts(ZIPS[0]), name: memoryview(data)}


@pytest.mark.parametrize(
    ("name", "data", "error", "message"),
    [
        ("version.bin", b"\0\0\0\x08", UnsupportedSegmentError, "segment version 8; version 9 is supported"),
        ("version.bin", b"", UnsupportedSegmentError, "segment version 0"),
        ("meta.smoosh", b"v2,1,1\n", UnsupportedSegmentError, "unknown header of meta.smoosh: 'v2,1,1'"),
        ("meta.smoosh", b"v1,1,1\nx,0,5\n", DamagedSegmentError, "meta.smoosh contains 'x,0,5'"),
        ("meta.smoosh", b"v1,1,1\nx,0,5,4\n", DamagedSegmentError, "'x' is not within 00000.smoosh"),
        ("meta.smoosh", b"v1,1,1\nx,0,5,99999999\n", DamagedSegmentError, "'x' is not within 00000.smoosh"),
        ("meta.smoosh", b"v1,1,1\nx,1,0,0\n", DamagedSegmentError, "'x' is not within 00001.smoosh"),
        ("meta.smoosh", b"v1,1,1\n", DamagedSegmentError, "the file 'index.drd' does not exist"),
        ("meta.smoosh", b"\xff", DamagedSegmentError, "invalid UTF-8"),
    ],
)
def test_damaged_folders(name: str, data: bytes, error: type[SegmentError], message: str) -> None:
    with pytest.raises(error, match=message):
        segment_of(from_parts(changed(name, data)))


@pytest.mark.parametrize("missing", ["version.bin", "meta.smoosh"])
def test_missing_files(missing: str) -> None:
    with pytest.raises(DamagedSegmentError, match=f"{missing} does not exist"):
        from_parts({name: data for name, data in parts(ZIPS[0]).items() if name != missing})


def test_zips(tmp_path: Path) -> None:
    path = tmp_path / "index.zip"
    path.write_bytes(b"no zip")
    with pytest.raises(DamagedSegmentError, match=r"index\.zip is not a valid zip"), open_segment(path):
        pass
    path.write_bytes(ZIPS[0].read_bytes()[:-3000])
    with pytest.raises(DamagedSegmentError, match=r"index\.zip is not a valid zip"), open_segment(path):
        pass
    whole = bytearray(ZIPS[0].read_bytes())
    whole[2000] ^= 0xFF
    path.write_bytes(whole)
    with pytest.raises(DamagedSegmentError, match=r"index\.zip is not a valid zip"), open_segment(tmp_path):
        pass


def test_a_zip_bomb(tmp_path: Path) -> None:
    bomb = BytesIO()
    with ZipFile(bomb, "w", ZIP_DEFLATED) as archive:
        archive.writestr("version.bin", b"\0\0\0\x09")
        archive.writestr("00000.smoosh", bytes(50 << 20))
    (tmp_path / "index.zip").write_bytes(bomb.getvalue())
    with pytest.raises(DamagedSegmentError, match="more than 200 times as large, unpacked"), open_segment(tmp_path):
        pass


def test_names_in_a_zip_do_not_leave_its_folder(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    with ZipFile(tmp_path / "inner" / "index.zip", "w") as archive:
        archive.writestr("../../outside", b"x")
        for name, data in parts(ZIPS[0]).items():
            archive.writestr(name, data)
    with open_segment(tmp_path / "inner") as found:
        assert found.rows == 300
    assert not (tmp_path / "outside").exists()
