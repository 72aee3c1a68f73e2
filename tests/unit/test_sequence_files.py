"""SequenceFiles that Hive 4.0.1 reads: `tests/hive/sequence_files.jsonl` has the same rows in each of them. Hive wrote
them, except those of gzip, which it writes with a native library only."""

from __future__ import annotations

import json
import zlib
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pytest

from hivedruid import sequence_files
from hivedruid.sequence_file_writing import COMPRESSORS, SequenceFile
from hivedruid.sequence_files import SequenceFileError, rows, texts

FILE = Path(__file__).parents[1] / "hive" / "sequence_files.jsonl"
FILES = {each["name"]: each["data"].encode("latin-1") for each in map(json.loads, FILE.read_text("utf-8").splitlines())}
EXPECTED = [
    b"1\1one\x011.5\x011.25\x012024-01-01 10:00:00.123\x012024-01-02\1true\x011\x022\1k\x031\x011\2q\1YWI",
    b"4\1\x011.0E300\x010.00\x012024-06-01 00:00:00\x012024-06-01\1true\x017\1z\x039\x012\2long\1",
    b"2" + 10 * b"\1\\N",
]


@pytest.mark.parametrize("name", FILES)
def test_the_texts_of_files(name: str) -> None:
    assert list(texts(BytesIO(FILES[name]))) == EXPECTED


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_errors_or_have_the_same_first_rows(name: str) -> None:
    data, complete = FILES[name], 0
    for end in range(1, len(data)):
        found = []
        try:
            for text in texts(BytesIO(data[:end])):
                found.append(text)
        except (ValueError, EOFError, OSError, zlib.error):
            pass
        else:
            complete += 1
        assert found == EXPECTED[: len(found)]
    assert complete <= 3  # files that end after their header, or between two records


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b"SEQ", b"PAR", "it is not a SequenceFile"),
        (b"SEQ\x06", b"SEQ\x04", "version 4 is not supported"),
        (b"SnappyCodec", b"SquashCodec", "the compression org.apache.hadoop.io.compress.SquashCodec is not supported"),
        (b"\x19org.apache.hadoop.io.Text", b"\x19org.apache.hadoop.io.Nope",
         "its values are of the class org.apache.hadoop.io.Nope, not Text or BytesWritable"),
    ],
)  # fmt: skip
def test_other_files(before: bytes, after: bytes, message: str) -> None:
    content = FILES["snappy"].replace(before, after)
    with pytest.raises(SequenceFileError) as caught:
        list(rows(iter([pa.RecordBatch.from_pydict({"path": ["file:/d/x"], "content": [content]})])))
    assert str(caught.value) == f"cannot read the SequenceFile file:/d/x: {message}"


def test_batches_keep_the_columns_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence_files, "_BATCH", 2)
    (tmp_path / "a b").write_bytes(FILES["plain"])
    (tmp_path / "empty").write_bytes(b"")
    files = {"path": [f"file:{tmp_path}/a b", f"file:{tmp_path}/empty"], "k": ["x", None]}
    found = list(rows(iter([pa.RecordBatch.from_pydict(files)])))
    assert [batch.num_rows for batch in found] == [2, 1]
    table = pa.Table.from_batches(found)
    assert table["value"].to_pylist() == EXPECTED
    assert table["k"].to_pylist() == ["x", "x", "x"]


def test_long_texts_and_values_of_bytes() -> None:
    text = bytes(range(256)) * 300
    record = len(text).to_bytes(4, "big") + text
    name = b"\x22org.apache.hadoop.io.BytesWritable"
    head = b"SEQ\x06" + name + name + b"\0\0" + b"\0\0\0\1\1a\1b" + b"S" * 16
    lengths = (len(record)).to_bytes(4, "big") + b"\0\0\0\0"
    assert list(texts(BytesIO(head + lengths + record))) == [text]


@pytest.mark.parametrize("is_block", [False, True])
@pytest.mark.parametrize("codec", ["", *COMPRESSORS])
def test_written_files_have_the_texts(codec: str, is_block: bool) -> None:
    """Hive 4.0.1 reads such files, too, but those of LZ4, for which it has no library."""
    written = [*EXPECTED, b"x" * 300, *(b"%d" % number * 50 for number in range(5000))]
    with BytesIO() as file:
        packed = SequenceFile(file, codec and f"org.apache.hadoop.io.compress.{codec}", is_block=is_block)
        for text in written:
            packed.add(text)
        packed.end()
        assert list(texts(BytesIO(file.getvalue()))) == written
