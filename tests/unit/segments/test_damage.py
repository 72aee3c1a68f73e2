"""Damaged and hostile segments: an error, or other values, but no crash, no endless loop and no large allocation."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from hivedruid.segments.errors import DamagedSegmentError, SegmentError, UnsupportedSegmentError
from hivedruid.segments.files import SegmentFiles, from_parts
from hivedruid.segments.filters import In, IsNull, Prefix
from hivedruid.segments.segment import open_segment, segment_of
from tests.unit.segments.made import OTHERS, ZIPS, files, parts, segment

SECONDS, FEWEST = 10.0, 2000
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
    found, name = segment_of(damaged), name.removeprefix("__base/")
    for column in columns:
        if name == column or name.startswith(f"{column}."):
            list(found.read([column]))
            for where in (In(column, ("x", "value")), IsNull(column), Prefix(column, "p")):
                if found.column(column).type == "STRING":
                    list(found.read(["__time"], [(0, 1 << 62)], where))


def cases() -> Iterator[tuple[Path, str, SegmentFiles, tuple[str, ...]]]:
    rng = random.Random(11)
    while True:
        path = rng.choice([*ZIPS, *OTHERS])
        whole = files(path)
        name = rng.choice(sorted(whole.entries))
        if not len(whole.entries[name]):
            continue
        data = memoryview(mutations(bytes(whole.entries[name]), rng))
        yield (
            path,
            name,
            replace(whole, entries={**whole.entries, name: data}),
            ("__time", *segment(path).column_names),
        )


def test_mutations() -> None:
    """At least 2,000; more while there is time."""
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
        (
            "version.bin",
            b"\0\0\0\x08",
            UnsupportedSegmentError,
            "segment version 8; version 9 is supported in version.bin",
        ),
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


def of_version_10(header: bytes, codec: int = -2, rest: bytes = b"") -> dict[str, memoryview]:
    """A segment with these metadata."""
    return {"druid.segment": memoryview(bytes([10, codec & 0xFF]) + len(header).to_bytes(4, "little") + header + rest)}


BASE = '"projections": [{"schema": {"name": "__base", "columns": ["__time"]}}]}'


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("", "the metadata is not valid JSON"),
        ("[]", "the metadata is not an object"),
        ("{}", "'containers' of the metadata is not a list"),
        ('{"containers": [{"startOffset": 0, "size": 1}]}', "container 0 is not within its 0 bytes"),
        ('{"containers": [{"startOffset": 0, "size": -1}]}', "size of container 0 is -1"),
        ('{"containers": []}', "'files' of the metadata is not an object"),
        ('{"containers": [], "files": {"x": {"container": 0}}}', "'x' is in container 0 of 0"),
        ('{"containers": [], "files": {}}', "'projections' of the metadata is not a list"),
        ('{"containers": [], "files": {}, "projections": []}', "the metadata does not describe __base"),
        ('{"containers": [], "files": {}, ' + BASE, "invalid time 'None' in the interval"),
        (
            '{"containers": [], "files": {}, "interval": "2024-01-01T00:00Z/2024-01-02T00:00Z", ' + BASE,
            "'bitmapEncoding' of the metadata is not an object",
        ),
    ],
)
def test_damaged_metadata_of_version_10(header: str, message: str) -> None:
    with pytest.raises(DamagedSegmentError, match=message):
        segment_of(from_parts(of_version_10(header.encode())))


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"\x0b", UnsupportedSegmentError, "segment version 11; version 10 is supported"),
        (b"\x0a\xfe\xff\xff\xff\xff", DamagedSegmentError, "4294967295 bytes expected"),
        (b"\x0a\x01\xff\xff\xff\xff\1\0\0\0x", DamagedSegmentError, "more than 200 times as large, decompressed"),
        (b"\x0a\x09\1\0\0\0\1\0\0\0x", UnsupportedSegmentError, "unknown compression 9"),
        (b"\x0a\x01\1\0\0\0\1\0\0\0x", DamagedSegmentError, "a block"),
    ],
)
def test_damaged_beginnings_of_version_10(data: bytes, error: type[SegmentError], message: str) -> None:
    with pytest.raises(error, match=message):
        from_parts({"druid.segment": memoryview(data)})


def test_mutated_metadata_of_version_10() -> None:
    rng, path = random.Random(5), next(path for path in ZIPS if path.stem == "v10_zstd_concise")
    whole = bytes(parts(path)["druid.segment"])
    end = int.from_bytes(whole[2:6], "little") + 6
    refused = 0
    for _ in range(300):
        damaged = mutations(whole[:end], rng) + whole[end:]
        try:
            found = segment_of(from_parts({"druid.segment": memoryview(damaged)}))
            for column in found.column_names:
                list(found.read([column]))
        except SegmentError:
            refused += 1
    assert refused > 100


def test_a_json_column_without_its_values() -> None:
    whole = files(next(path for path in ZIPS if path.stem == "v9_default"))
    document = bytes(whole.entries["document"])
    changed_ = document.replace(b'"objectStorageEncoding":"smile"', b'"objectStorageEncoding":"none" ')
    other = replace(whole, entries={**whole.entries, "document": memoryview(changed_)})
    with pytest.raises(UnsupportedSegmentError, match="a JSON column with the storage encoding 'none'"):
        segment_of(other).column("document")


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
