"""JSON files are read without Spark only if each record is certain: every other file is left to Spark."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from hivedruid.actions.select.json_rows import has_small_json, rows_of
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, BOOLEAN, DATE, DOUBLE, FLOAT, STRING, TIMESTAMP, TIMESTAMP_LTZ, HiveType
from hivedruid.evaluation.exactness import Unsure

TYPES = {"n": BIGINT, "s": STRING, "b": BOOLEAN, "x": DOUBLE, "d": DATE, "t": TIMESTAMP, "z": TIMESTAMP_LTZ}


def table(location: Path, types: dict[str, HiveType] = TYPES, **options: Any) -> Table:
    columns = tuple(Column(name, type_) for name, type_ in types.items())
    return Table("default", "j", "files", columns, external=True, format="jsonfile", location=str(location), **options)


def test_plain_records(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '{"n": 1, "S": "ä\\n😀", "b": true, "x": 0.5, "d": "2024-02-29", "t": "2024-01-01 10:00:00.5",'
        ' "z": "2024-01-01T10:00:00.123Z", "other": {"deep": [1]}}\n \n{"s": null}\n'
    )
    (tmp_path / "b.json").write_text('{"n": -9223372036854775808}')
    (tmp_path / "_hidden.json").write_text("no JSON")
    files = table(tmp_path)
    assert has_small_json(files)
    rows = rows_of(files, list(files.columns)).to_pylist()
    empty = dict.fromkeys(TYPES)
    assert sorted(rows, key=str) == sorted(
        [
            {
                "n": 1, "s": "ä\n😀", "b": True, "x": 0.5, "d": date(2024, 2, 29), "t": datetime(2024, 1, 1, 10, 0, 0, 500_000),
                "z": datetime(2024, 1, 1, 10, 0, 0, 123_000, UTC),
            },
            empty,
            {**empty, "n": -9223372036854775808},
        ],
        key=str,
    )  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        b'{"n": 1}\r\n{"n": 2}', b'{"n": "1"}', b'{"n": 1.5}', b'{"n": 9223372036854775808}', b'{"n": 1, "N": 2}',
        b'{"s": 5}', b'{"b": 1}', b'{"x": "NaN"}', b'{"s": "\xff"}', b"[1]", b"null", b'{"n": 1} {"n": 2}', b'{"n": 1',
        b'\xef\xbb\xbf{"n": 1}', b'{"d": "2024-2-9"}', b'{"d": "2023-02-29"}', b'{"t": "2024-01-01T10:00:00Z"}',
        b'{"t": "2024-01-01 25:00:00"}', b'{"z": "2024-01-01 10:00:00"}', b'{"z": "2024-01-01T10:00:00+01:00"}',
        b'{"n": 1}\n{"s": "\xc3"}\n{"n": 3}',
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_spark(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    files = table(tmp_path)
    with pytest.raises(Unsure):
        rows_of(files, list(files.columns[:1]))  # whatever is read of it


def test_tables_that_are_left_to_spark(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"n": 1}')
    assert has_small_json(table(path))
    assert not has_small_json(table(tmp_path / "none"))
    assert not has_small_json(table(path, {"f": FLOAT}))
    assert not has_small_json(table(path, serde={"mapping.n": "m"}))
    assert not has_small_json(table(path, properties={"timestamp.formats": "millis"}))
    path.rename(tmp_path / "a.json.gz")
    assert not has_small_json(table(tmp_path))
    (tmp_path / "a.json.gz").rename(path)
    with path.open("r+b") as file:
        file.truncate((32 << 20) + 1)
    assert not has_small_json(table(tmp_path))
