"""Text files without a table: the types and the values of copies, against the values that were written."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from hivedruid.catalog.types import BIGINT, BOOLEAN, DATE, DOUBLE, STRING, TIMESTAMP, HiveType, decimal
from hivedruid.embedded.loose_files import SEPARATORS, CopiedFile, copy_delimited, copy_json
from hivedruid.errors import UnreadableFileError

_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters=["\n"]), min_size=1, max_size=8)
_WORDS = _TEXT.filter(lambda text: text[0].isalpha() and text[0] not in "tfTF")
_DATES = st.dates(date(1, 1, 1), date(9999, 12, 31))
_TIMES = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))


def _time(value: datetime) -> str:
    return value.isoformat(sep=" ")


_COLUMNS: dict[str, tuple[HiveType, st.SearchStrategy[Any], Callable[[Any], str]]] = {
    "integer": (BIGINT, st.integers(-(2**63) + 1, 2**63 - 1), str),
    "fraction": (DOUBLE, st.floats(-1e14, 1e14).filter(lambda value: value != 0), repr),
    "flag": (BOOLEAN, st.booleans(), lambda value: str(value).lower()),
    "day": (DATE, _DATES, date.isoformat),
    "moment": (TIMESTAMP, _TIMES, _time),
    "instant": (TIMESTAMP, _TIMES, lambda value: f"{value.isoformat()}Z"),
    "word": (STRING, _WORDS, str),
    "zip": (STRING, st.integers(0, 9999).map("{:05}".format), str),
}
_QUICK = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _copied(folder: Path, text: str, name: str = "a.csv", separator: str | None = None) -> tuple[CopiedFile, list[Any]]:
    path = folder / name
    path.write_bytes(text.encode())
    copied = copy_delimited([str(path)], folder / "copy.parquet", separator)
    return copied, _rows(folder)


def _rows(folder: Path) -> list[Any]:
    return [tuple(row.values()) for row in parquet.read_table(folder / "copy.parquet").to_pylist()]


@_QUICK
@given(st.data(), st.sampled_from(SEPARATORS), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_a_copy_has_the_values_that_were_written_with_their_types(
    tmp_path: Path, data: st.DataObject, separator: str, quoting: Any
) -> None:
    kinds = data.draw(st.lists(st.sampled_from(sorted(_COLUMNS)), min_size=2, max_size=5), "kinds")
    values = [data.draw(st.lists(_COLUMNS[kind][1], min_size=4, max_size=4), kind) for kind in kinds]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator="\n")
    writer.writerow([f"{kind}{n}" for n, kind in enumerate(kinds)])
    for row in zip(*values, strict=True):
        writer.writerow([_COLUMNS[kind][2](value) for kind, value in zip(kinds, row, strict=True)])
    copied, rows = _copied(tmp_path, out.getvalue(), separator=separator)
    assert [type_ for _, type_ in copied.columns] == [_COLUMNS[kind][0] for kind in kinds]
    assert rows == list(zip(*values, strict=True))


@pytest.mark.parametrize(
    ("values", "type_", "expected"),
    [
        (["1", "", " 3 "], BIGINT, [1, None, 3]),
        (["1", "2.50"], DOUBLE, [1.0, 2.5]),
        (["9223372036854775807"], BIGINT, [2**63 - 1]),
        (["9223372036854775808"], STRING, ["9223372036854775808"]),  # beyond BIGINT
        (["9007199254740993", "0.5"], STRING, ["9007199254740993", "0.5"]),  # beyond the digits of a DOUBLE
        (["1e400", "1"], STRING, ["1e400", "1"]),
        (["007", "12"], STRING, ["007", "12"]),
        (["+4930123", "12"], STRING, ["+4930123", "12"]),
        (["-0", "12"], STRING, ["-0", "12"]),
        (["NaN", "1.5"], STRING, ["NaN", "1.5"]),
        (["TRUE", "false"], BOOLEAN, [True, False]),
        (["true", "1"], STRING, ["true", "1"]),
        (["2024-02-30", "2024-01-01"], STRING, ["2024-02-30", "2024-01-01"]),
        (["0000-00-00", "2024-01-01"], STRING, ["0000-00-00", "2024-01-01"]),
        (["2024-01-01", "2024-01-02 03:04"], TIMESTAMP, [datetime(2024, 1, 1), datetime(2024, 1, 2, 3, 4)]),
        (["2024-01-02 03:04:05", "2024-01-02T03:04:05Z"], STRING, ["2024-01-02 03:04:05", "2024-01-02T03:04:05Z"]),
        (["2024-01-02 03:04:05.1234567"], STRING, ["2024-01-02 03:04:05.1234567"]),
        (["2024-01-02T03:04:05+02:00"], STRING, ["2024-01-02T03:04:05+02:00"]),
        (["", ""], STRING, [None, None]),
        ([f"{n}" for n in range(3000)] + ["late"], STRING, [f"{n}" for n in range(3000)] + ["late"]),
    ],
)
def test_a_type_holds_for_every_value(tmp_path: Path, values: list[str], type_: HiveType, expected: list[Any]) -> None:
    copied, rows = _copied(tmp_path, "id,value\n" + "".join(f"{n},{value}\n" for n, value in enumerate(values)))
    assert copied.columns[1] == ("value", type_)
    assert [row[1] for row in rows] == expected


@pytest.mark.parametrize(
    ("text", "names", "has_header", "separator"),
    [
        ("id,name\n1,a\n", ["id", "name"], True, ","),
        ("\ufeffId;The Name\n1;a\n", ["id", "the_name"], True, ";"),
        ("1|a\n2|b\n", ["_c0", "_c1"], False, "|"),
        ("region\t2023\t2024\nx\t1\t2\n", ["_c0", "_c1", "_c2"], False, "\t"),
        ("a,A,,a\n1,2,3,4\n", ["a", "a_1", "_c2", "a_2"], True, ","),
        ('"a,b";c\r\n1;2\r\n', ["a,b", "c"], True, ";"),
        ("only\n1\n2\n", ["only"], True, ","),
        ("id,name\n", ["id", "name"], True, ","),
    ],
)
def test_separator_and_header(tmp_path: Path, text: str, names: list[str], has_header: bool, separator: str) -> None:
    copied, _ = _copied(tmp_path, text)
    assert [name for name, _ in copied.columns] == names
    assert (copied.has_header, copied.separator) == (has_header, separator)


def test_quotes_are_honoured(tmp_path: Path) -> None:
    copied, rows = _copied(tmp_path, 'id,text,n\n1,"a, ""b""\nc","1,5"\n2,"",\n')
    assert rows == [(1, 'a, "b"\nc', "1,5"), (2, "", None)]
    assert not copied.is_plain


@pytest.mark.parametrize(
    ("row", "is_plain"),
    [
        ("1,a,2024-01-01 10:00:00", True),
        ('1,"a",2024-01-01 10:00:00', False),
        (" 1,a,2024-01-01 10:00:00", False),
        ("1,a,2024-01-01T10:00:00", False),
        ("1,T Z,2024-01-01", True),
    ],
)
def test_a_delimited_table_has_the_same_values_if_the_text_is_plain(tmp_path: Path, row: str, is_plain: bool) -> None:
    copied, _ = _copied(tmp_path, f"id,name,at\n{row}\n")
    assert copied.is_plain == is_plain


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"id,name\n1,a\n2\n", "line 3: 1 field instead of 2"),
        (b"id,name\n1,a\n2,b,c\n", "line 3: 3 fields instead of 2"),
        (b'id,name\n1,"a\n', "line 2: a quote has no end"),
        (b"id,name\n1,\xeb\n", "it is not a text in UTF-8: line 2 has the byte 0xeb"),
        ("id,name\n1,a\n".encode("utf-16"), "it is not a text in UTF-8"),
        (b"\n", "it has no rows"),
    ],
)
def test_a_broken_file_is_an_error_with_its_line(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(UnreadableFileError) as caught:
        copy_delimited([str(path)], tmp_path / "copy.parquet", None)
    assert caught.value.reason == reason
    assert caught.value.hint


def test_a_byte_that_is_not_text_far_below_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,name\n" + b"1,abcdefgh\n" * 50_000 + b"1,\xeb\n")
    with pytest.raises(UnreadableFileError, match="50002"):
        copy_delimited([str(path)], tmp_path / "copy.parquet", None)


def test_compressed_files_and_several_files(tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv.gz", tmp_path / "b.csv"]
    paths[0].write_bytes(gzip.compress(b"id,name\n1,a\n"))
    paths[1].write_bytes(b"id,name\n2,b\n")
    copy_delimited([str(path) for path in paths], tmp_path / "copy.parquet", None)
    assert sorted(_rows(tmp_path)) == [(1, "a"), (2, "b")]


_JSON = st.fixed_dictionaries(
    {"i": st.integers(-(2**53), 2**53), "d": st.floats(-1e9, 1e9), "b": st.booleans(), "s": _TEXT},
    optional={"more": st.integers(0, 9)},
)


@_QUICK
@given(st.lists(_JSON, min_size=1, max_size=5), st.booleans())
def test_json_has_the_values_that_were_written(tmp_path: Path, objects: list[dict[str, Any]], is_array: bool) -> None:
    path = tmp_path / "a.json"
    lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)
    path.write_text(json.dumps(objects) if is_array else lines, encoding="utf-8")
    copied = copy_json([str(path)], tmp_path / "copy.parquet")
    types = dict(copied.columns)
    assert (types["i"], types["b"]) == (BIGINT, BOOLEAN)
    names = list(types)
    assert [dict(zip(names, row, strict=True)) for row in _rows(tmp_path)] == [
        {name: each.get(name) for name in names} for each in objects
    ]


def test_types_of_json(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"at": "2024-05-01T08:12:00Z", "day": "2024-05-01", "big": 12345678901234567890, "n": "7", "mixed": "a"}\n'
        '{"at": null, "day": "2024-05-02", "big": 1, "n": "8", "mixed": 1, "nested": {"x": [1]}}\n'
    )
    copied = copy_json([str(path)], tmp_path / "copy.parquet")
    assert dict(copied.columns) == {
        "at": TIMESTAMP, "day": DATE, "big": decimal(38), "n": STRING, "mixed": STRING, "nested": STRING,
    }  # fmt: skip
    at = datetime(2024, 5, 1, 8, 12, tzinfo=UTC).replace(tzinfo=None)
    assert _rows(tmp_path) == [
        (at, date(2024, 5, 1), Decimal(12345678901234567890), "7", "a", None),
        (None, date(2024, 5, 2), Decimal(1), "8", "1", '{"x":[1]}'),
    ]


@pytest.mark.parametrize(
    ("values", "type_", "expected"),
    [
        (["9007199254740993", "0.5", "null"], STRING, ["9007199254740993", "0.5", None]),
        (["1e400", "0.5"], STRING, ["1e400", "0.5"]),
        (["-900719925474099", "0.5"], DOUBLE, [-900719925474099.0, 0.5]),
        (["1", "1e300"], DOUBLE, [1.0, 1e300]),
    ],
)
def test_numbers_of_json_lose_no_digits(
    tmp_path: Path, values: list[str], type_: HiveType, expected: list[Any]
) -> None:
    path = tmp_path / "a.json"
    lines = (f'{{"x y": {value}, "o": {{"a": [1, 0.5]}}, "u": {n}}}' for n, value in enumerate(values))
    path.write_text("\n".join(lines))
    copied = copy_json([str(path)], tmp_path / "copy.parquet")
    assert copied.columns == (("x_y", type_), ("o", STRING), ("u", BIGINT))
    assert _rows(tmp_path) == [(value, '{"a":[1.0,0.5]}', n) for n, value in enumerate(expected)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [('{"a": 1}\n{"a":\n', "Malformed JSON"), ("1\n2\n", "its values are not JSON objects")],
)
def test_broken_json_is_an_error(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(UnreadableFileError, match=reason):
        copy_json([str(path)], tmp_path / "copy.parquet")
