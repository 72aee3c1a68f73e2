"""Delimited text and CSV are read without Spark only if each value that is read is certain."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hivedruid.actions.select.delimited_rows import has_small_text, rows_of
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    HiveType,
    array_of,
    decimal,
)
from hivedruid.evaluation.exactness import Unsure
from hivedruid.tables.hive_tables import FORMAT_SERDES

TYPES = {
    "n": BIGINT, "s": STRING, "b": BOOLEAN, "x": DOUBLE, "m": decimal(9, 2), "d": DATE, "t": TIMESTAMP, "z": TIMESTAMP_LTZ,
}  # fmt: skip
LAZY = {"serialization.lib": FORMAT_SERDES["textfile"], "field.delim": ","}
CSV = {"serialization.lib": "org.apache.hadoop.hive.serde2.OpenCSVSerde"}


def table(location: Path, types: dict[str, HiveType] = TYPES, serde: dict[str, str] = LAZY, **options: Any) -> Table:
    columns = tuple(Column(name, type_) for name, type_ in types.items())
    return Table(
        "default", "t", "files", columns, external=True, format="textfile", location=str(location), serde=serde, **options
    )  # fmt: skip


def rows(files: Table) -> list[tuple[Any, ...]]:
    read = rows_of(files, list(files.columns))
    return [tuple(row.values()) for row in read.to_pylist()]


def test_plain_values(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "-7,ä,TRUE,-2.5e3,1.005,2024-02-29,2024-01-01 10:00:00.5,2024-01-01T10:00:00.123Z,more\n"
        "\\N,\\N,\\N,\\N,\\N,\\N,\\N,\\N\n"
        "x,,yes,,,,,\n"
        "\n"
        "2"
    )
    (tmp_path / "_hidden").write_text("1.5")
    files = table(tmp_path)
    assert has_small_text(files)
    empty: tuple[Any, ...] = (None,) * 8
    assert rows(files) == [
        (
            -7, "ä", True, -2500.0, Decimal("1.01"), date(2024, 2, 29), datetime(2024, 1, 1, 10, 0, 0, 500_000),
            datetime(2024, 1, 1, 10, 0, 0, 123_000, UTC),
        ),
        empty,
        (None, "", *empty[2:]),
        empty,
        (2, *empty[1:]),
    ]  # fmt: skip


def test_quoted_values(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('name,text\n1,"a ""b"", c"\n"x\\"y"\n\n')
    files = table(tmp_path, {"k": STRING, "v": STRING}, CSV, properties={"skip.header.line.count": "1"})
    assert rows(files) == [("1", 'a "b", c'), ('x"y', None), (None, None)]


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (BIGINT, b"1.5"), (BIGINT, b"+1"), (BIGINT, b"9223372036854775808"), (DOUBLE, b"NaN"), (DOUBLE, b"1."),
        (DOUBLE, b" 1"), (DOUBLE, b"1e400"), (DOUBLE, b"x"), (decimal(3, 1), b"123.4"), (decimal(9, 2), b"1e2"), (DATE, b"2024-2-9"),
        (DATE, b"2023-02-29"), (DATE, b"x"), (TIMESTAMP, b"2024-01-01"), (TIMESTAMP_LTZ, b"2024-01-01 10:00:00"),
        (STRING, b"\xff"), (STRING, b"a\r\nb"), (STRING, b"\xef\xbb\xbfa"),
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_spark(tmp_path: Path, type_: HiveType, text: bytes) -> None:
    (tmp_path / "a.csv").write_bytes(text)
    files = table(tmp_path, {"v": type_})
    with pytest.raises(Unsure):
        rows(files)


def test_tables_that_are_left_to_spark(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2")
    types = {"v": STRING}
    assert has_small_text(table(tmp_path, types))
    for key in ("escape.delim", "timestamp.formats", "serialization.encoding", "skip.footer.line.count"):
        assert not has_small_text(table(tmp_path, types, {**LAZY, key: "1"}))
    assert not has_small_text(
        table(tmp_path, types, {"serialization.lib": "org.apache.hadoop.hive.contrib.serde2.RegexSerDe"})
    )
    assert not has_small_text(table(tmp_path, {"v": array_of(STRING)}))
    assert not has_small_text(table(tmp_path, {"v": BINARY}))
    assert not has_small_text(table(tmp_path, {"v": BIGINT}, CSV))
    assert not has_small_text(table(tmp_path, types, {**LAZY, "skip.header.line.count": "one"}))
    (tmp_path / "a.csv").rename(tmp_path / "a.csv.gz")
    assert not has_small_text(table(tmp_path, types))
