"""Batches that are formatted by column: the same text as row by row."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivedruid import render
from hivedruid.catalog import types
from hivedruid.catalog.types import HiveType, array_of, decimal
from hivedruid.diagnostics import Diagnostics
from hivedruid.results import Batch, Batches, Result, ResultColumn
from hivedruid.run import Output, write_result

LAYOUTS = ("csv", "tsv", "json", "jsonl")

SPECIAL = ',"\\\n\r\t\b\f\0\x1b\x7f\x80\x9f\xa0Âé\u2027\u2028\u202a\u202e\u202f…\u2065\u2066\u2069\u206aâ€ 日🎈'
TEXTS = st.text(st.sampled_from(SPECIAL) | st.characters(exclude_categories=["Cs"]), max_size=8)
DOUBLES = st.floats() | st.sampled_from([0.0, -0.0, 1.0, 100.0, 1e-3, 9.99e-4, 1e7, 9999999.5, 0.1, -1234567.0])
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(
    lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000)
)
COLUMNS: dict[HiveType, tuple[st.SearchStrategy[Any], Any]] = {
    types.STRING: (TEXTS, pa.string()),
    types.BIGINT: (st.integers(-(2**63), 2**63 - 1), pa.int64()),
    types.INT: (st.integers(-(2**31), 2**31 - 1), pa.int64()),
    types.DOUBLE: (DOUBLES, pa.float64()),
    types.FLOAT: (st.floats(width=32), pa.float64()),
    types.BOOLEAN: (st.booleans(), pa.bool_()),
    types.TIMESTAMP: (MOMENTS, pa.timestamp("ms")),
    types.DATE: (st.dates(date(1, 1, 1), date(9999, 12, 31)), pa.date32()),
    types.TIMESTAMP_LTZ: (MOMENTS.map(lambda t: t.replace(tzinfo=UTC)), None),
    decimal(12, 2): (st.integers(-(10**9), 10**9).map(lambda n: Decimal(n).scaleb(-2)), None),
    array_of(types.STRING): (st.lists(TEXTS, max_size=2), None),
}  # fmt: skip
"""Hive type → its values, and the Arrow type of a column of them, if columns can be Arrow arrays."""


@st.composite
def batches(draw: st.DrawFn) -> tuple[tuple[ResultColumn, ...], list[Batch]]:
    kinds = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=4))
    columns = tuple(ResultColumn(draw(st.sampled_from(['a"b', "k", "日"])), kind) for kind in kinds)
    return columns, [
        Batch(size, tuple(column(draw, kind, size) for kind in kinds)) for size in draw(st.lists(st.integers(1, 5), max_size=3))
    ]  # fmt: skip


def column(draw: st.DrawFn, kind: HiveType, size: int) -> Any:
    values, arrow = COLUMNS[kind]
    cells = draw(st.lists(st.none() | values, min_size=size, max_size=size))
    return pa.array(cells, arrow) if arrow is not None and draw(st.booleans()) else cells


def text(columns: tuple[ResultColumn, ...], rows: Any, layout: str) -> str:
    return "".join(render.lines(Result(columns, rows), layout))


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(made=batches())
def test_by_column_and_by_row(layout: str, monkeypatch: pytest.MonkeyPatch, made: Any) -> None:
    columns, several = made
    expected = text(columns, chain.from_iterable(batch.rows() for batch in several), layout)
    monkeypatch.setattr(render, "LARGE", 1)
    assert text(columns, Batches(iter(several)), layout) == expected


BY_COLUMN = [render._csv_columns, render._tsv_columns, render._json_columns]


@pytest.mark.parametrize("by_column", BY_COLUMN)
def test_all_values_can_be_formatted_by_column(by_column: render.ColumnLines) -> None:
    columns = [ResultColumn("c", kind) for kind in COLUMNS]
    arrays = tuple(pa.array([None], arrow) if arrow is not None else [None] for _, arrow in COLUMNS.values())
    assert by_column(Batch(1, arrays), columns) is not None
    assert by_column(Batch(2, (["日", ""],)), [ResultColumn("c", types.STRING)]) is not None


@pytest.mark.parametrize("by_column", BY_COLUMN)
@pytest.mark.parametrize("cells", [["\ud800"], [1]])
def test_what_arrow_cannot_format_is_formatted_by_row(by_column: render.ColumnLines, cells: Sequence[Any]) -> None:
    found = by_column(Batch(1, (cells,)), [ResultColumn("c", types.STRING)])
    assert found is None or cells == [1]
    rows = Batches(iter([Batch(1, (cells,))]))
    assert text((ResultColumn("c", types.STRING),), rows, "csv") == f"c\n{cells[0]}\n"


def test_a_slice_of_an_array() -> None:
    array = pa.array(["x,y", "plain", 'q"', None, ""]).slice(1, 4)
    columns = (ResultColumn("c", types.STRING),)
    found = render._csv_columns(Batch(4, (array,)), columns)
    assert found is not None
    assert render.characters(found) == 'plain\n"q"""\n\n""\n'


def test_large_batches_are_formatted_without_pandas() -> None:
    """pyarrow imports it for arrays and scalars of Python values."""
    script = """
import sys
from hivedruid import render
from hivedruid.catalog import types
from hivedruid.column_text import strings
from hivedruid.diagnostics import Diagnostics
from hivedruid.results import Batch, Batches, Result, ResultColumn
from hivedruid.run import Output, write_result
texts = strings(['a, "b"', None, "\x85", "…"] * 300)
counts = strings(["1", None, "-5", "1000"] * 300)
numbers = [counts.cast(kind) for kind in ("int64", "float64")]
times = numbers[0].cast("timestamp[ms]")
kinds = [types.STRING, types.BIGINT, types.DOUBLE, types.TIMESTAMP]
columns = [ResultColumn(f"c{number}", kind) for number, kind in enumerate(kinds)]
for layout in ("csv", "tsv", "json", "jsonl"):
    rows = Batches(iter([Batch(1200, (texts, *numbers, times))]))
    assert any(isinstance(part, memoryview) for part in render.texts(Result(columns, rows), layout))
assert "pandas" not in sys.modules
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_streams_of_any_encoding(encoding: str) -> None:
    """A stream without a buffer takes a part of a text at a time."""

    class Slow(io.RawIOBase):
        taken = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.taken += bytes(data[:7000])
            return len(bytes(data[:7000]))

    cells = ["é, 日", None, "a"] * 1000
    columns = (ResultColumn("ü", types.STRING),)
    batches = [Batch(3000, (pa.array(cells, pa.string()),)), Batch(1, (["z"],))]
    slow = Slow()
    file: Any = io.BufferedWriter(slow, 100_000) if encoding == "latin-1" else slow
    stream = io.TextIOWrapper(file, encoding=encoding, errors="backslashreplace", write_through=True)
    write_result(Result(columns, Batches(iter(batches))), Output("csv"), Diagnostics(), stream)
    expected = "ü\n" + '"é, 日"\n\na\n' * 1000 + "z\n"
    assert slow.taken == expected.encode(encoding, "backslashreplace")
