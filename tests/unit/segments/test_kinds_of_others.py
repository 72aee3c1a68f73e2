"""Every kind of column of data sources that others made, read from segments that Druid wrote: the values of its scan."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hivedruid.segments.bitmaps import Rows
from hivedruid.segments.conversions import BYTES, converted
from hivedruid.segments.cursor import Cursor
from hivedruid.segments.distinct import double_texts
from hivedruid.segments.errors import DamagedSegmentError, SegmentError, UnsupportedSegmentError
from hivedruid.segments.pairs import read_pairs
from hivedruid.segments.scan import Scan, scan_file
from hivedruid.segments.smile import text_of
from tests.support.data_sources import KINDS, Kind, as_hive
from tests.unit.segments.made import OTHERS, segment

EVER = ((-(1 << 62), 1 << 62),)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
ROWS = json.loads((OTHERS[0].parent / "rows.json").read_text(encoding="utf-8"))


def expected(kind: Kind, number: int) -> list[Any]:
    hive = "string" if kind.hive == "binary" else kind.hive
    return [as_hive(row[KINDS.index(kind)], hive) for row in ROWS[number]]


def read(path: Path, *fields: tuple[str, str], where: Any = None) -> list[list[Any]]:
    types = {kind.column: kind.druid for kind in KINDS}
    (batch,) = scan_file(Scan(fields, where, types), path, EVER)
    return [column.to_pylist() for column in batch.columns]


@each_kind
def test_values_are_those_of_a_scan(kind: Kind) -> None:
    for number, path in enumerate(OTHERS):
        (values,) = read(path, (kind.column, kind.read_as))
        assert values == expected(kind, number)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.hive == "binary"], ids=lambda kind: kind.name)
def test_the_bytes_of_a_sketch_are_those_of_its_base64(kind: Kind) -> None:
    for number, path in enumerate(OTHERS):
        (values,) = read(path, (kind.column, BYTES))
        assert values == [None if text is None else b64decode(text) for text in expected(kind, number)]


@each_kind
def test_some_rows(kind: Kind) -> None:
    for number, path in enumerate(OTHERS):
        column = segment(path).column(kind.column)
        for rows in ([], [2], [1, 4, 5]):
            chosen: Rows = np.array(rows, dtype=np.int64)
            try:
                values = converted(column.data.array(chosen), column, kind.read_as).to_pylist()
            except UnsupportedSegmentError:  # no row of the column has a sketch
                assert kind.hive == "binary"
                continue
            assert values == [expected(kind, number)[row] for row in rows]


def test_slices_of_arrays() -> None:
    column = segment(OTHERS[0]).column("multi-value")
    whole = column.data.array(None)
    for start in range(6):
        values = converted(whole.slice(start, 3), column, "ARRAY<STRING>").to_pylist()
        assert values == expected(next(kind for kind in KINDS if kind.name == "multi-value"), 0)[start : start + 3]


def test_a_filter_on_values_of_several_types_is_refused() -> None:
    where = {"type": "equals", "column": "auto_mixed", "matchValueType": "STRING", "matchValue": "1"}
    with pytest.raises(UnsupportedSegmentError, match="column 'auto_mixed' has type STRING"):
        read(OTHERS[0], ("long", "LONG"), where=where)


def test_values_of_several_types_keep_their_own_texts() -> None:
    """In a column of texts, 1 beside 2.5 is the text '1', which the DOUBLE of both has not."""
    with pytest.raises(UnsupportedSegmentError, match="has type DOUBLE and not STRING"):
        read(OTHERS[0], ("auto_long_and_double", "STRING"))


@pytest.mark.parametrize("number", [2.0**53, -1e300])
def test_the_text_of_a_large_double_depends_on_java(number: float) -> None:
    with pytest.raises(UnsupportedSegmentError, match="the version of Druid's Java"):
        double_texts(pa.array([1.5, number]))


def test_texts_of_doubles() -> None:
    values = [0.0, -0.0, None, 1e-7, 123456.5, float("nan"), float("inf"), 1e10]
    texts = ["0.0", "-0.0", None, "1.0E-7", "123456.5", "NaN", "Infinity", "1.0E10"]
    assert double_texts(pa.array(values)).to_pylist() == texts


def smile(body: str) -> bytes:
    """A document with names that later ones refer to."""
    return bytes.fromhex(f"3a290a05{body}")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("21", None),
        ("446162636465", "abcde"),
        ("22", "false"),
        ("c6", "3"),
        ("24be", "31"),
        ("2900400d00000000000000", "6.5"),
        ("2900 4201280b7200000000", "1.0E10"),
        ("f8 2900 4201280b7200000000 f9", "[10000000000.0]"),
        ("29007f7c00000000000000", "NaN"),
        ("f8 29007f7800000000000000 f9", '["Infinity"]'),
        ("fa 8061 c2 816262 4078 fb", '{"a":1,"bb":"x"}'),
        ("f8 fa 8061 c2 fb fa 40 c4 fb f9", '[{"a":1},{"a":2}]'),
    ],
)
def test_nested_data_as_text(body: str, text: str | None) -> None:
    assert text_of(smile(body)) == text


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("44616263", DamagedSegmentError, "has no end"),
        ("f8c2", DamagedSegmentError, "has no end"),
        ("2900400d", DamagedSegmentError, "has no end"),
        ("fa40c2fb", DamagedSegmentError, "no target"),
        ("41ffff", DamagedSegmentError, "invalid UTF-8"),
        ("28001f4c4c4d", UnsupportedSegmentError, "unknown token 0x28"),  # Druid writes the text of a FLOAT
        ("261f80", UnsupportedSegmentError, "a number of 1984 bytes"),
    ],
)
def test_nested_data_that_is_not_read(body: str, error: type[SegmentError], message: str) -> None:
    with pytest.raises(error, match=message):
        text_of(smile(body))


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        ([b"\1\0\0\0" + b"\1\0\0\0a", b"\2\0\0\0" + b"\xff" * 4, b"\3\0\0\0" + b"\0" * 4, b""], ["a", "", None]),
    ],
)
def test_pairs_in_cells(cells: list[bytes], texts: list[str | None]) -> None:
    """Druid writes texts so if it is configured to compress them."""
    data = memoryview(b"\x03\x80\0\0" + (10).to_bytes(8, "little") + _cells(cells))
    pairs = read_pairs("COMPLEX<serializablePairLongString>", Cursor(data), lambda _: data, len(cells))
    found = [None if text is None else json.loads(text) for text in pairs.array(None).to_pylist()]
    assert found == [*({"lhs": 11 + n, "rhs": text} for n, text in enumerate(texts)), None]


def _cells(cells: list[bytes]) -> bytes:
    ends = np.cumsum([0, *map(len, cells)])
    return _block(ends.astype("<i8").tobytes()) + _block(b"".join(cells))


def _block(data: bytes) -> bytes:
    """One compressed block, its positions before it, and the size of all."""
    packed = pa.Codec("lz4_raw").compress(data, asbytes=True)
    positions = np.array([8, 0, len(packed), len(packed)], dtype="<i4").tobytes()
    return (len(positions) + len(packed)).to_bytes(4, "little") + positions + packed
