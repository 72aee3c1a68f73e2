"""Scans that are read by column: the same values, and the same errors, as row by row."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hivedruid.errors import DruidError
from hivedruid.responses import answers
from hivedruid.results import values

if TYPE_CHECKING:
    import pytest

SPECIAL = '"\\/\n\t\b\0\x1f\x7f,[]{}: é…日🎈\ud800\udc00n'
TEXTS = st.text(st.sampled_from(SPECIAL) | st.characters(), max_size=6) | st.sampled_from(["null", "],[", '"', "\\"])
WHOLES = st.integers(-(2**63), 2**63 - 1) | st.integers(-99, 99)
REALS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(["NaN", "Infinity", "-Infinity"]) | WHOLES
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("string", "varchar(9)", "char(4)"), TEXTS),
    **dict.fromkeys(("bigint", "int", "boolean", "timestamp", "date", "timestamp with local time zone"), WHOLES),
    **dict.fromkeys(("double", "float", "decimal(12,2)"), REALS),
}
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [[], ["a", None], [[1]], {"a": [1, "]"]}, {}, True, 1.5, 1e300, 2**70, "7", "x", "", 3]
)
"""Values of other types than their field, which columns of mixed values have."""


@st.composite
def scans(draw: st.DrawFn) -> tuple[list[str], list[str], bytes]:
    """Names and types of fields, and the response."""
    types = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    names = [f"c{number}" for number in range(len(types))]
    parts = []
    has_odd = draw(st.booleans())
    for size in draw(st.lists(st.integers(0, 6), max_size=3)):
        order = draw(st.permutations(range(len(types))))
        cells = [st.none() | VALUES[types[place]] | (ODD if has_odd else st.none()) for place in order]
        rows = draw(st.lists(st.tuples(*cells), min_size=size, max_size=size))
        parts.append({"columns": [names[place] for place in order], "events": rows, "rowSignature": []})
    text = json.dumps(parts, separators=(",", ":"), ensure_ascii=draw(st.booleans()))
    return names, types, text.encode("utf-8", "replace")


def chunks(text: bytes, size: int) -> Iterator[bytes]:
    return (text[at : at + size] for at in range(0, len(text), size))


def outcome(rows: Iterator[Any]) -> tuple[list[str], str]:
    """All rows, and the error that ended them."""
    found: list[str] = []
    try:
        found.extend(map(repr, rows))
    except DruidError as error:
        return found, repr(error)
    return found, ""


def by_column(names: Sequence[str], types: Sequence[str], text: bytes, size: int) -> Iterator[Any]:
    parts = answers.scan_columns(names, types, chunks(text, size))
    return chain.from_iterable(_rows(number, columns) for number, columns in parts)


def _rows(number: int, columns: Sequence[Any]) -> list[Any]:
    rows = list(zip(*map(values, columns), strict=True))
    assert len(rows) == number
    return rows


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@example((["a"], ["string"], b'[{"columns":["a"],"events":[["\xff"],["b"]]}]'), 400, 1, 999)
@example((["a"], ["string"], b'[{"columns":["a"],"events":[["a\nb"],["b"]]}]'), 400, 1, 999)
@example((["a"], ["bigint"], b'[{"columns":["a"],"events":[[1], [2]]}]'), 400, 1, 999)
@example((["a"], ["bigint"], b'[{"columns":["a"],"events":[[nul],[2]]}]'), 400, 1, 999)
@example((["a"], ["string"], b'[{"columns":["a"],"events":[["a\\qb"],["b"]]}]'), 400, 1, 999)
@example((["a"], ["string"], b'[{"columns":["a"],"events":[["\\u12"],["b"]]}]'), 400, 1, 999)
@example((["a"], ["string"], b'[{"columns":["a"],"events":[["\\ud83c"],["\\udf88"]]}]'), 400, 1, 999)
@example((["a"], ["string"], b'[{"columns":["a"],"events":[["\\\\\\u0041\\\\u00\\n"],["\\\\"]]}]'), 400, 1, 999)
@given(made=scans(), size=st.integers(1, 400), block=st.integers(1, 60), end=st.integers(0, 999))
def test_by_column_and_by_row(monkeypatch: pytest.MonkeyPatch, made: Any, size: int, block: int, end: int) -> None:
    names, types, text = made
    assert answers.has_columns(types)
    text = text[:end]
    monkeypatch.setattr(answers, "BLOCK", block)
    expected = outcome(answers.scan_rows(names, types, chunks(text, size)))
    assert outcome(by_column(names, types, text, size)) == expected


def test_plain_values_become_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "BLOCK", 1000)
    event = [1, 'a "quoted" \\ text, [with] {all} \n…', None, "", -2.5]
    part = {"segmentId": "s", "columns": list("abcde"), "events": [event] * 100}
    text = json.dumps([part, part], separators=(",", ":")).encode()
    types = ["timestamp", "string", "bigint", "string", "double"]
    parts = list(answers.scan_columns(list("abcde"), types, chunks(text, 64)))
    assert len(parts) > 2
    assert not any(isinstance(column, Sequence) for _, columns in parts for column in columns)
    assert sum(size for size, _ in parts) == 200


def test_the_rows_before_a_lost_connection_are_those_of_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "BLOCK", 1000)
    text = b'[{"columns":["a"],"events":[' + b'["x"],' * 300

    def response() -> Iterator[bytes]:
        yield from chunks(text, 64)
        raise DruidError("the answer ended early")

    expected = outcome(answers.scan_rows(["a"], ["string"], response()))
    parts = answers.scan_columns(["a"], ["string"], response())
    assert outcome(chain.from_iterable(_rows(number, columns) for number, columns in parts)) == expected
    assert len(expected[0]) == 300
    assert "ended early" in expected[1]


def test_small_responses_are_read_without_arrow() -> None:
    script = """
import sys
from hivedruid.responses.answers import scan_columns
text = b'[{"columns":["a"],"events":[' + b",".join([b'["x"]'] * 5000) + b"]}]"
assert sum(size for size, _ in scan_columns(["a"], ["string"], iter([text]))) == 5000
assert not {"numpy", "pyarrow"} & sys.modules.keys()
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
