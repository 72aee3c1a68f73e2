"""Rows of segments with the types of a native scan, and native filters that segments evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hivedruid.segments.errors import UnsupportedSegmentError
from hivedruid.segments.filters import And, Filter, In, IsNull, NotNull, Or, Prefix, Range
from hivedruid.segments.native_filters import segment_filter
from hivedruid.segments.scan import Scan, scan_file
from hivedruid.segments.writing.segment import Dimension, Metric, SegmentSpec, write_segment
from tests.support.segments import COLUMNS
from tests.unit.segments.made import ZIPS, scanned

ALL = ((-(1 << 62), 1 << 62),)
TYPES = {
    "__time": "LONG", "id": "LONG", "few": "STRING", "many": "STRING", "some": "STRING", "odd": "STRING",
    "none": "STRING", "list": "ARRAY<STRING>", "sorted_list": "ARRAY<STRING>", "table": "LONG", "big": "LONG",
    "small": "LONG", "wide": "LONG", "null_long": "LONG", "d": "DOUBLE", "null_double": "DOUBLE", "f": "FLOAT",
    "auto_s": "STRING", "auto_l": "LONG", "auto_d": "DOUBLE", "auto_strings": "ARRAY<STRING>", "sum": "LONG",
}  # fmt: skip
each_segment = pytest.mark.parametrize("path", ZIPS, ids=lambda path: path.stem)


def values(scan: Scan, path: Path, **how: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for b in scan_file(scan, path, ALL, **how) for row in b.to_pylist()]


def expected(name: str) -> list[Any]:
    at, is_list = COLUMNS.index(name), TYPES.get(name) == "ARRAY<STRING>"
    found = [row[at] for row in scanned()]
    return [[value] if is_list and isinstance(value, str) else value for value in found]


@each_segment
def test_every_type(path: Path) -> None:
    fields = tuple((name, TYPES[name]) for name in COLUMNS if name in TYPES)
    found = values(Scan(fields, None, {}), path)
    for column, (name, _) in zip(zip(*found, strict=True), fields, strict=True):
        assert list(column) == expected(name), name


@each_segment
def test_pieces_have_each_row_once(path: Path) -> None:
    scan = Scan((("id", "LONG"), ("id", "LONG")), None, {})
    for pieces in (1, 2, 7, 299, 1000) if path == ZIPS[0] else (1, 2, 7):  # many take long, and depend on no encoding
        found = [row for piece in range(pieces) for row in values(scan, path, piece=piece, pieces=pieces)]
        assert found == [(n, n) for n in range(300)]
    only = Scan(
        (("id", "LONG"),), {"type": "equals", "column": "few", "matchValueType": "STRING", "matchValue": "x"}, TYPES
    )
    found = [row for piece in range(7) for row in values(only, path, piece=piece, pieces=7)]
    assert found == [(n,) for n, few in enumerate(expected("few")) if few == "x"]


@each_segment
def test_sketches_are_text_as_in_the_response_of_a_scan(path: Path) -> None:
    assert [row[0] for row in values(Scan((("unique", "STRING"),), None, {}), path)] == expected("unique")


@pytest.mark.parametrize(("kind", "empty"), [("thetaSketch", "AQMDAAAeAAA="), ("HLLSketch", None)])
def test_a_value_without_bytes(kind: str, empty: str | None, tmp_path: Path) -> None:
    """A scan returns the empty sketch; an HLLSketch is null, and never has no bytes."""
    metric = Metric("m", f"COMPLEX<{kind}>", {"type": kind, "name": "m"})
    rows = pa.table({"__time": [0, 1], "s": ["a", "b"], "m": [b"xyz", None]})
    write_segment(rows, SegmentSpec((0, 9), (Dimension("s", "STRING"),), (metric,)), tmp_path)
    scan = Scan((("m", "STRING"),), None, {})
    if empty is not None:
        assert values(scan, tmp_path) == [("eHl6",), (empty,)]
        return
    with pytest.raises(UnsupportedSegmentError, match="column 'm' has values without a sketch"):
        values(scan, tmp_path)


def test_a_column_that_is_missing_is_null(tmp_path: Path) -> None:
    for type_ in ("LONG", "DOUBLE", "FLOAT", "STRING", "ARRAY<STRING>"):
        assert {*values(Scan((("not there", type_),), None, {}), ZIPS[0])} == {(None,)}


@pytest.mark.parametrize(("type_", "value"), [("LONG", 1), ("STRING", "a")])
def test_a_condition_on_a_column_that_is_missing(type_: str, value: Any) -> None:
    """Other segments of the data source have it."""
    column: dict[str, Any] = {"column": "not there"}
    typed = {**column, "matchValueType": type_}
    null = {**column, "type": "null"}
    counts = {
        len(values(Scan((("id", "LONG"),), where, {"not there": type_}), ZIPS[0]))
        for where in (
            {**typed, "type": "equals", "matchValue": value},
            {**typed, "type": "inType", "values": [value]},
            {**typed, "type": "range", "lower": value},
            {"type": "not", "field": null},
        )
    }
    assert counts == {0}
    assert len(values(Scan((("id", "LONG"),), null, {"not there": type_}), ZIPS[0])) == 300


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("few", "LONG"),
        ("d", "LONG"),
        ("list", "STRING"),
        ("list", "LONG"),
        ("few", "ARRAY<LONG>"),
        ("auto_strings", "STRING"),
    ],
)
def test_another_type_is_refused(name: str, type_: str) -> None:
    with pytest.raises(UnsupportedSegmentError, match=f"column '{name}' has type"):
        values(Scan(((name, type_),), None, {}), ZIPS[0])


@pytest.mark.parametrize(
    ("name", "type_", "value"), [("id", "STRING", "x"), ("few", "LONG", 1), ("list", "STRING", "a")]
)
def test_a_filter_on_another_type_is_refused(name: str, type_: str, value: Any) -> None:
    where = {"type": "equals", "column": name, "matchValueType": type_, "matchValue": value}
    with pytest.raises(UnsupportedSegmentError, match=f"column '{name}' has type"):
        values(Scan((("id", "LONG"),), where, {name: type_}), ZIPS[0])


def test_a_float_is_the_double_that_its_text_spells(tmp_path: Path) -> None:
    rows = pa.table({"__time": pa.array([1, 2, 3, 4]), "f": pa.array([0.1, None, 2e-38, 16777215], pa.float32())})
    spec = SegmentSpec((0, 10), (), (Metric("f", "FLOAT", {"type": "floatSum", "name": "f", "fieldName": "f"}),))
    write_segment(rows, spec, tmp_path / "s")
    found = values(Scan((("f", "FLOAT"), ("f", "DOUBLE")), None, {}), tmp_path / "s")
    assert found == [(0.1, 0.1), (None, None), (2e-38, 2e-38), (16777215.0, 16777215.0)]


@pytest.mark.parametrize("number", [49801168.0, 1e-45, -3.4e38])
def test_a_float_whose_text_depends_on_java(number: float, tmp_path: Path) -> None:
    """Java 17 writes 4.9801168E7 and Java 19 4.980117E7, which are different doubles."""
    rows = pa.table({"__time": pa.array([1]), "f": pa.array([number], pa.float32())})
    spec = SegmentSpec((0, 10), (), (Metric("f", "FLOAT", {"type": "floatSum", "name": "f", "fieldName": "f"}),))
    write_segment(rows, spec, tmp_path / "s")
    with pytest.raises(UnsupportedSegmentError, match="the version of Druid's Java"):
        values(Scan((("f", "FLOAT"),), None, {}), tmp_path / "s")


def test_single_values_as_lists(tmp_path: Path) -> None:
    rows = pa.table({"__time": pa.array([1, 2, 3]), "s": pa.array(["a", None, ""])})
    write_segment(rows, SegmentSpec((0, 10), (Dimension("s", "STRING"),), ()), tmp_path / "s")
    assert values(Scan((("s", "ARRAY<STRING>"),), None, {}), tmp_path / "s") == [(["a"],), (None,), ([""],)]


def equals(column: str, value: Any, type_: str = "STRING") -> dict[str, Any]:
    return {"type": "equals", "column": column, "matchValueType": type_, "matchValue": value}


NATIVE: list[tuple[dict[str, Any], Filter | None]] = [
    (equals("few", "x"), In("few", ("x",))),
    (equals("id", 7, "LONG"), In("id", (7,))),
    ({"type": "inType", "column": "id", "matchValueType": "LONG", "values": [1, 2]}, In("id", (1, 2))),
    ({"type": "null", "column": "some"}, IsNull("some")),
    ({"type": "not", "field": {"type": "null", "column": "some"}}, NotNull("some")),
    ({"type": "range", "column": "id", "matchValueType": "LONG", "lower": 1, "lowerOpen": True}, Range("id", 1, None, True)),
    ({"type": "range", "column": "few", "matchValueType": "STRING", "upper": "y", "upperOpen": True}, Range("few", None, "y", False, True)),
    ({"type": "like", "dimension": "odd", "pattern": "a%"}, Prefix("odd", "a")),
    ({"type": "and", "fields": [equals("few", "x"), {"type": "true"}]}, And((In("few", ("x",)), And(())))),
    ({"type": "or", "fields": [equals("few", "x"), {"type": "false"}]}, Or((In("few", ("x",)), Or(())))),
    ({"type": "like", "dimension": "odd", "pattern": "%a"}, None),
    ({"type": "like", "dimension": "odd", "pattern": "a_%"}, None),
    ({"type": "like", "dimension": "odd", "pattern": "a\\%%", "escape": "\\"}, None),
    ({"type": "not", "field": equals("few", "x")}, None),
    ({"type": "or", "fields": [equals("few", "x"), equals("d", 1.0, "DOUBLE")]}, None),
    (equals("d", 1.0, "DOUBLE"), None),
    (equals("few", 1, "LONG"), None),
    (equals("list", "a"), None),
    (equals("not there", "a"), None),
    ({"type": "null", "column": "not there"}, None),
    ({"type": "expression", "expression": "1"}, None),
]  # fmt: skip


@pytest.mark.parametrize(("native", "converted"), NATIVE, ids=range(len(NATIVE)))
def test_native_filters(native: dict[str, Any], converted: Filter | None) -> None:
    assert segment_filter(native, TYPES) == converted


@each_segment
def test_null_and_not_null(path: Path) -> None:
    for name in ("some", "null_long", "few", "none"):
        for where, is_null in (
            ({"type": "null", "column": name}, True),
            (NATIVE[4][0] | {"field": {"type": "null", "column": name}}, False),
        ):
            found = values(Scan((("id", "LONG"),), where, TYPES), path)
            assert found == [(n,) for n, value in enumerate(expected(name)) if (value is None) == is_null], name
