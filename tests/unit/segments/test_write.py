"""Random rows are written as a segment and read back: the same rows, in Druid's order, with the same bitmaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivedruid.segments.bitmaps import rows_of
from hivedruid.segments.errors import UnsupportedSegmentError
from hivedruid.segments.files import zip_files
from hivedruid.segments.filters import In, IsNull, utf16
from hivedruid.segments.segment import open_segment
from hivedruid.segments.writing.bitmaps import indexed_roaring, roaring
from hivedruid.segments.writing.segment import Dimension, Metric, SegmentSpec, write_segment
from tests.support.segments import scalar

DAY = (1_704_067_200_000, 1_704_153_600_000)
TYPES = {"s": pa.string(), "m": pa.list_(pa.string()), "l": pa.int64(), "d": pa.float64(), "f": pa.float32()}
DIMENSIONS = (
    Dimension("s", "STRING"), Dimension("m", "STRING", "ARRAY"), Dimension("l", "LONG"), Dimension("d", "DOUBLE"),
    Dimension("f", "FLOAT"),
)  # fmt: skip

texts = st.one_of(
    st.sampled_from(["", "a", "b", "ab", "\ue000", "😀", "\uffff"]), st.text(st.characters(codec="utf-8"))
)
rows = st.fixed_dictionaries({
    "__time": st.integers(*DAY),
    "s": st.none() | texts,
    "m": st.none() | st.lists(st.none() | texts, max_size=4),
    "l": st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3),
    "d": st.none() | st.floats(allow_nan=False),
    "f": st.none() | st.floats(width=32, allow_nan=False),
})  # fmt: skip


def table(given_rows: Sequence[dict[str, Any]], types: dict[str, pa.DataType] = TYPES) -> pa.Table:
    fields = [pa.field("__time", pa.int64()), *(pa.field(*item) for item in types.items())]
    return pa.Table.from_pylist(list(given_rows), schema=pa.schema(fields))


def stored(row: dict[str, Any]) -> tuple[Any, ...]:
    """A row as it is read back: a list is null, one value, or several."""
    return (row["__time"], row["s"], scalar(row["m"]), row["l"], row["d"], row["f"])


def order(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Druid's order of rows: null first, strings by UTF-16 units, -0.0 before 0.0."""

    def key(value: Any) -> Any:
        if isinstance(value, str):
            return [(1, utf16(value))]
        if isinstance(value, list):
            return [(0, b"") if item is None else (1, utf16(item)) for item in value]
        if isinstance(value, float):
            return (value, math.copysign(1, value))
        return value

    return tuple((value is not None, key(value)) if value is not None else (False, 0) for value in row)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(rows, min_size=1, max_size=40))
def test_rows_are_the_same(given_rows: list[dict[str, Any]]) -> None:
    multi = any(len(row["m"] or []) > 1 for row in given_rows)
    expected = [stored(row) for row in given_rows]
    with TemporaryDirectory() as folder:
        written = write_segment(table(given_rows), SegmentSpec(DAY, DIMENSIONS), Path(folder))
        assert written.rows == len(given_rows)
        assert written.size == sum(path.stat().st_size for path in Path(folder).iterdir())
        with open_segment(Path(folder)) as found:
            read = [tuple(row.values()) for batch in found.read(["__time", *TYPES]) for row in batch.to_pylist()]
            read = [(*row[:2], scalar(row[2]), *row[3:]) for row in read]
            assert sorted(map(repr, read)) == sorted(map(repr, expected))
            if not multi:
                assert [order(row) for row in read] == sorted(map(order, expected))
            assert [row[0] for row in read] == sorted(row[0] for row in expected)
            for at, name in ((1, "s"), (2, "m")):
                _check_bitmaps(found, name, [row[at] for row in read])


def _check_bitmaps(found: Any, name: str, values: list[Any]) -> None:
    for wanted in ("", "a", "😀"):
        expected = [n for n, value in enumerate(values) if wanted in (value if isinstance(value, list) else [value])]
        assert found.wanted(None, In(name, (wanted,))).tolist() == expected
    nulls = [n for n, value in enumerate(values) if value is None or (isinstance(value, list) and None in value)]
    assert found.wanted(None, IsNull(name)).tolist() == nulls


@given(st.lists(st.fixed_dictionaries({
    "__time": st.sampled_from([DAY[0], DAY[0] + 1]), "s": st.sampled_from([None, "a", "b"]),
    "sum": st.none() | st.integers(-9, 9), "least": st.none() | st.floats(-9, 9), "most": st.none() | st.integers(-9, 9),
}), min_size=1, max_size=30))  # fmt: skip
def test_rollup(given_rows: list[dict[str, Any]]) -> None:
    metrics = (
        Metric("sum", "LONG", {"type": "longSum", "name": "sum"}),
        Metric("least", "DOUBLE", {"type": "doubleMin", "name": "least"}),
        Metric("most", "LONG", {"type": "longMax", "name": "most"}),
    )
    types = {"s": pa.string(), "sum": pa.int64(), "least": pa.float64(), "most": pa.int64()}
    spec = SegmentSpec(DAY, (Dimension("s", "STRING"),), metrics, rollup=True)

    def key(row: dict[str, Any]) -> tuple[int, str]:
        return row["__time"], row["s"] or ""

    expected = []
    for (time, s), group in groupby(sorted(given_rows, key=key), key):
        each = list(group)
        values = {name: [row[name] for row in each if row[name] is not None] for name in ("sum", "least", "most")}
        expected.append((
            time, s or None, sum(values["sum"]) if values["sum"] else None, min(values["least"], default=None),
            max(values["most"], default=None),
        ))  # fmt: skip
    with TemporaryDirectory() as folder:
        write_segment(table(given_rows, types), spec, Path(folder))
        with open_segment(Path(folder)) as found:
            read = [tuple(row.values()) for batch in found.read(["__time", *types]) for row in batch.to_pylist()]
            assert found.metadata["rollup"] is True
    assert read == expected


def test_many_rows(tmp_path: Path) -> None:
    """Several blocks of each width of ids, and containers of bitmaps of all kinds."""
    count = 200_000
    rng = np.random.default_rng(5)
    given_table = pa.table({
        "__time": DAY[0] + np.arange(count) // 3, "few": pa.array([f"v{n}" for n in rng.integers(0, 200, count)]),
        "some": pa.array([f"v{n}" for n in rng.integers(0, 30_000, count)]),
        "many": pa.array([f"v{n}" for n in rng.permutation(count)]),
        "runs": pa.array([f"v{n // 50_000}" for n in range(count)]),
        "half": pa.array([None if n % 2 else "x" for n in range(count)]), "l": rng.integers(0, 2**40, count),
    })  # fmt: skip
    names = ["few", "some", "many", "runs", "half"]
    spec = SegmentSpec(DAY, (*(Dimension(name, "STRING") for name in names), Dimension("l", "LONG")))
    write_segment(given_table, spec, tmp_path)
    with open_segment(tmp_path) as found:
        whole = pa.Table.from_batches(list(found.read(["__time", *names, "l"])))
        for name in names:
            whole = whole.set_column(whole.schema.get_field_index(name), name, whole.column(name).cast(pa.string()))
        keys = [(name, "ascending") for name in ("__time", "many")]
        assert whole.sort_by(keys).equals(given_table.sort_by(keys))
        for name in ("few", "half", "runs"):
            column = found.column(name).data
            for number in range(0, len(column.dictionary), 37):  # type: ignore[attr-defined]
                by_bitmap = column.rows_with(np.array([number]))  # type: ignore[attr-defined]
                assert by_bitmap.tolist() == np.flatnonzero(column.ids.values() == number).tolist()  # type: ignore[attr-defined]


@given(st.lists(st.sets(st.integers(0, 200_000) | st.integers(70_000, 70_100)), min_size=1, max_size=6))
def test_bitmaps(sets: list[set[int]]) -> None:
    for each in sets:
        assert set(rows_of("roaring", memoryview(roaring(np.array(sorted(each), dtype=np.int64))), 200_001)) == each
    offsets = np.cumsum([0, *map(len, sets)])
    joined = np.array([row for each in sets for row in sorted(each)], dtype=np.int64)
    from hivedruid.segments.cursor import Cursor
    from hivedruid.segments.generic import read_indexed

    indexed = read_indexed(Cursor(memoryview(indexed_roaring(joined, offsets))))
    assert [set(rows_of("roaring", indexed[n], 200_001).tolist()) for n in range(len(sets))] == sets


def test_as_a_zip(tmp_path: Path) -> None:
    folder, path = tmp_path / "index", tmp_path / "index.zip"
    write_segment(table([{"__time": DAY[0], "l": n} for n in range(100)]), SegmentSpec(DAY, DIMENSIONS), folder)
    zip_files(folder, path)
    with ZipFile(path) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            file.name: file.read_bytes() for file in folder.iterdir()
        }
    with open_segment(path) as segment:
        assert segment.rows == 100


def test_bitmaps_of_all_containers() -> None:
    for step, first, count in (
        (1, 0, 200_000),
        (2, 0, 50_000),
        (2, 1, 4096),
        (2, 1, 4097),
        (65_536, 3, 9),
        (1, 65_530, 12),
    ):
        rows = np.arange(first, first + step * count, step, dtype=np.int64)
        assert np.array_equal(rows_of("roaring", memoryview(roaring(rows)), int(rows[-1]) + 1), rows)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    one = table([{"__time": DAY[0], "s": "a"}])
    for given_table, spec, message in (
        (one.slice(0, 0), SegmentSpec(DAY, DIMENSIONS), "a segment without rows"),
        (one, SegmentSpec(DAY, (Dimension("s", "ARRAY<STRING>"),)), r"dimension 's' has the type ARRAY<STRING>"),
    ):
        with pytest.raises(UnsupportedSegmentError, match=message):
            write_segment(given_table, spec, tmp_path)
    two = pa.concat_tables([one, one])
    metric = Metric("m", "COMPLEX<hyperUnique>", {"type": "hyperUnique", "name": "m"})
    blobs = two.set_column(2, "m", pa.array([b"x", b"y"]))
    with pytest.raises(UnsupportedSegmentError, match="rollup of the aggregator 'hyperUnique'"):
        write_segment(blobs, SegmentSpec(DAY, (Dimension("s", "STRING"),), (metric,), rollup=True), tmp_path)


def test_null_of_a_column_without_bitmaps(tmp_path: Path) -> None:
    """A row without values counts as null, as in the bitmaps that Druid writes."""
    values = [["a", "b"], [], None, ["a", None]]
    given_table = table([{"__time": DAY[0] + n, "m": each} for n, each in enumerate(values)])
    for has_bitmaps in (True, False):
        spec = SegmentSpec(DAY, (Dimension("m", "STRING", "ARRAY", has_bitmaps),))
        write_segment(given_table, spec, tmp_path)
        with open_segment(tmp_path) as found:
            for where, rows_wanted in ((IsNull("m"), [1, 2, 3]), (In("m", ("a",)), [0, 3])):
                times = [row["__time"] for batch in found.read(["__time"], where=where) for row in batch.to_pylist()]
                assert times == [DAY[0] + n for n in rows_wanted], (where, has_bitmaps)


def test_sketches_are_kept_as_bytes(tmp_path: Path) -> None:
    metric = Metric("m", "COMPLEX<hyperUnique>", {"type": "hyperUnique", "name": "m"})
    times = pa.array([DAY[0] + 2, DAY[0] + 1, DAY[0]])
    given_table = pa.table({"__time": times, "s": pa.array(["a", "b", "c"]), "m": pa.array([b"xyz", None, b"\0"])})
    write_segment(given_table, SegmentSpec(DAY, (Dimension("s", "STRING"),), (metric,)), tmp_path)
    with open_segment(tmp_path) as found:
        assert found.column("m").type == "COMPLEX<hyperUnique>"
        assert [row["m"] for batch in found.read(["m"]) for row in batch.to_pylist()] == [b"\0", None, b"xyz"]


@pytest.mark.parametrize("rollup", [True, False])
def test_values_of_a_group_are_folded(tmp_path: Path, rollup: bool) -> None:
    def fold(values: Sequence[Any]) -> bytes | None:
        return ",".join(values).encode() if None not in values else None

    metric = Metric("m", "COMPLEX<thetaSketch>", {"type": "thetaSketch", "name": "m"}, fold)
    keys, values = ["b", "a", "b", "c"], ["1", "2", "3", None]
    given_table = pa.table({"__time": pa.array([DAY[0]] * 4), "s": pa.array(keys), "m": pa.array(values)})
    write_segment(given_table, SegmentSpec(DAY, (Dimension("s", "STRING"),), (metric,), rollup), tmp_path)
    with open_segment(tmp_path) as found:
        stored_values = [row["m"] for batch in found.read(["m"]) for row in batch.to_pylist()]
    assert stored_values == ([b"2", b"1,3", None] if rollup else [b"2", b"1", b"3", None])
