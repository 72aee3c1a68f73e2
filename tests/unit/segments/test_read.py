"""Reading of segments that Druid has written: every kind of column, every index spec, intervals and filters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivedruid.segments.files import from_parts
from hivedruid.segments.filters import And, Filter, In, IsNull, Or, Prefix, Range, utf16
from hivedruid.segments.segment import open_segment, segment_of
from tests.support.segments import COLUMNS, as_scanned
from tests.unit.segments.made import NEWER, ZIPS, scanned, segment

each_segment = pytest.mark.parametrize("path", ZIPS, ids=lambda path: path.stem)


def column(name: str) -> list[Any]:
    at = COLUMNS.index(name)
    return [row[at] for row in scanned()]


@each_segment
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column(path: Path, name: str) -> None:
    found = segment(path).column(name)
    assert as_scanned(found.data.array(None).to_pylist(), found.type) == column(name)


@each_segment
@pytest.mark.parametrize("name", COLUMNS)
def test_some_rows_of_a_column(path: Path, name: str) -> None:
    import numpy as np

    found = segment(path).column(name)
    for rows in ([], [0], [3, 7, 299], list(range(0, 300, 7))):
        values = found.data.array(np.array(rows, dtype=np.int64)).to_pylist()
        assert as_scanned(values, found.type) == [column(name)[row] for row in rows]


@each_segment
def test_header(path: Path) -> None:
    found = segment(path)
    assert set(found.column_names) - {"none"} == set(COLUMNS) - {"__time", "none"}
    assert found.rows == 300
    assert found.interval[0] <= min(column("__time"))
    assert found.interval[1] > max(column("__time"))
    assert found.bitmap_kind == ("concise" if path.stem.endswith("zstd_concise") else "roaring")
    assert {aggregator["name"] for aggregator in found.metadata["aggregators"]} == {"unique", "sum"}


def test_batches_from_a_zip_and_a_folder(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(ZIPS[0]) as archive:
        archive.extractall(tmp_path / "index")
    for path in (ZIPS[0], tmp_path / "index"):
        with open_segment(path) as found:
            (batch,) = found.read(["id", "few", "not there"])
            assert batch.schema.names == ["id", "few", "not there"]
            assert str(batch.schema.field("few").type) == "dictionary<values=string, indices=int32, ordered=0>"
            assert [tuple(row.values()) for row in batch.to_pylist()] == [
                (*row, None) for row in zip(column("id"), column("few"), strict=True)
            ]
            assert [batch.num_rows for batch in found.read([])] == [300]


@each_segment
def test_intervals(path: Path) -> None:
    found, times = segment(path), column("__time")
    start, end = times[10], times[200]
    for intervals in ([(start, end)], [(start, start + 1), (end, end + 1)], [(0, 1)], [(0, 1 << 60)]):
        ids = [row["id"] for batch in found.read(["id"], intervals) for row in batch.to_pylist()]
        assert ids == [n for n, time in enumerate(times) if any(a <= time < b for a, b in intervals)]


def _any(value: Any, check: Callable[[Any], bool]) -> bool:
    """Whether one of the values of a row matches; Druid returns a value that is alone without its list."""
    return any(check(one) for one in (value if isinstance(value, list) else [value]) if one is not None)


def _in(values: tuple[Any, ...]) -> Callable[[Any], bool]:
    return lambda value: _any(value, lambda one: one in values)


FILTERS: list[tuple[Filter, str, Callable[[Any], bool]]] = [
    (In("few", ("x", "z", "nope")), "few", _in(("x", "z"))),
    (In("few", ("nope",)), "few", lambda _: False),
    (In("many", ("value 000000", "value 075954")), "many", _in(("value 075954",))),
    (In("some", ("",)), "some", _in(("",))),
    (In("odd", ("😀", "\ue000")), "odd", _in(("😀", "\ue000"))),
    (In("auto_s", ("u",)), "auto_s", _in(("u",))),
    (In("list", ("a", "c")), "list", _in(("a", "c"))),
    (In("small", (1, 5, 999)), "small", _in((1, 5, 999))),
    (In("null_double", (0.5,)), "null_double", _in((0.5,))),
    (IsNull("some"), "some", lambda value: value is None),
    (IsNull("none"), "none", lambda value: value is None),
    (IsNull("few"), "few", lambda _: False),
    (IsNull("null_long"), "null_long", lambda value: value is None),
    (IsNull("list"), "list", lambda value: value is None),
    (Prefix("some", "pq"), "some", lambda value: _any(value, lambda one: one.startswith("pq"))),
    (Prefix("many", "value 9"), "many", lambda value: value.startswith("value 9")),
    (Prefix("none", "p"), "none", lambda _: False),
    (Range("few", "x", "y"), "few", _in(("x", "y"))),
    (Range("few", "x", "z", True, True), "few", _in(("y",))),
    (Range("few", "y"), "few", _in(("y", "z"))),
    (Range("list", upper="c", is_upper_open=True), "list", _in(("a", "b"))),
    (Range("odd", "😀", "\uffff"), "odd",
     lambda value: utf16("😀") <= utf16(value) <= utf16("\uffff")),  # not the order of UTF-8
    (Range("null_long", 10, 20, False, True), "null_long", lambda value: value is not None and 10 <= value < 20),
    (Range("d", 5e8), "d", lambda value: value >= 5e8),
    (Or((In("few", ("x",)), Prefix("few", "z"))), "few", _in(("x", "z"))),
    (Or(()), "few", lambda _: False),
    (And((Range("few", "x"), Range("few", upper="y"))), "few", _in(("x", "y"))),
    (And((In("few", ("nope",)), In("few", ("x",)))), "few", lambda _: False),
    (And(()), "few", lambda _: True),
]  # fmt: skip


@each_segment
@pytest.mark.parametrize(("where", "name", "expected"), FILTERS, ids=[str(where)[:60] for where, _, _ in FILTERS])
def test_filters(path: Path, where: Filter, name: str, expected: Callable[[Any], bool]) -> None:
    ids = [row["id"] for batch in segment(path).read(["id"], where=where) for row in batch.to_pylist()]
    assert ids == [n for n, value in enumerate(column(name)) if expected(value)]


def test_a_filter_within_an_interval() -> None:
    start, end = column("__time")[50], column("__time")[90]
    found = segment(ZIPS[0]).read(["id"], [(start, end)], In("few", ("x",)))
    ids = [row["id"] for batch in found for row in batch.to_pylist()]
    assert ids == [n for n in range(50, 90) if column("few")[n] == "x"]


def test_the_tests_see_every_value() -> None:
    """The rows contain what the filters look for."""
    for where, name, expected in FILTERS:
        if name not in ("none", "null_double", "d") and "nope" not in str(where):
            assert any(map(expected, column(name))) or where in (IsNull("few"), Or(())), where


def test_a_segment_with_rollup_of_version_10() -> None:
    """Its schema has the keys of its groups in place of columns."""
    data = memoryview((NEWER / "rollup.segment").read_bytes())
    found = segment_of(from_parts({"druid.segment": data}))
    assert found.column_names == ("s", "n")
    assert found.rows == 24
    assert [aggregator["name"] for aggregator in found.metadata["aggregators"]] == ["n"]
    (batch,) = found.read(["__time", "s", "n"])
    start, hour = 1_704_069_000_000, 3_600_000
    assert batch.to_pydict() == {
        "__time": list(range(start, start + 24 * hour, hour)),
        "s": [None if text == "-" else text for text in "abc-bcabca-cabcab-abcabc"],
        "n": list(range(24)),
    }
