"""Tables with the columns of Parquet and ORC files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from hivedruid.errors import HiveDruidError
from hivedruid.session import Session

TYPES = {
    "Id": (pa.int64(), "bigint"),
    "tiny": (pa.int8(), "tinyint"),
    "small": (pa.int16(), "smallint"),
    "i": (pa.int32(), "int"),
    "f": (pa.float32(), "float"),
    "x": (pa.float64(), "double"),
    "b": (pa.bool_(), "boolean"),
    "s": (pa.string(), "string"),
    "bin": (pa.binary(), "binary"),
    "price": (pa.decimal128(10, 2), "decimal(10,2)"),
    "at": (pa.timestamp("us"), "timestamp"),
    "day": (pa.date32(), "date"),
    "list": (pa.list_(pa.int32()), "array<int>"),
    "map": (pa.map_(pa.string(), pa.float64()), "map<string,double>"),
    "st": (pa.struct([("x", pa.int64()), ("Y", pa.list_(pa.string()))]), "struct<x:bigint,y:array<string>>"),
}
ONLY_PARQUET = {
    "instant": (pa.timestamp("us", "UTC"), "timestamp"),
    "wide": (pa.large_string(), "string"),
    "u8": (pa.uint8(), "smallint"),
    "u64": (pa.uint64(), "decimal(20,0)"),
    "coded": (pa.dictionary(pa.int32(), pa.string()), "string"),
    "view": (pa.string_view(), "string"),
    "bytes": (pa.binary_view(), "binary"),
    "pair": (pa.list_(pa.int32(), 2), "array<int>"),
    "took": (pa.duration("s"), "bigint"),
    "flag": (pa.bool8(), "tinyint"),
    "doc": (pa.json_(), "string"),
    "id16": (pa.uuid(), "binary"),
    "half": (pa.float16(), "float"),
    "of_day": (pa.time32("ms"), "int"),
    "of_day_us": (pa.time64("us"), "bigint"),
}


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path / "home") as opened:
        yield opened


def run(session: Session, text: str) -> list[tuple[Any, ...]]:
    return [row for statement in session.statements(text) for row in session.execute(statement).rows]


def write(path: Path, types: dict[str, tuple[pa.DataType, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({name: pa.array([None], type_) for name, (type_, _) in types.items()})
    (orc.write_table if path.suffix == ".orc" else parquet.write_table)(table, path)


@pytest.mark.parametrize(("format_", "types"), [("parquet", TYPES | ONLY_PARQUET), ("orc", TYPES)])
def test_every_type(session: Session, tmp_path: Path, format_: str, types: dict[str, tuple[pa.DataType, str]]) -> None:
    file = tmp_path / "data" / "k=1" / f"a.{format_}"
    write(file, types)
    (tmp_path / "data" / "_SUCCESS").touch()
    run(
        session,
        f"CREATE EXTERNAL TABLE a STORED AS {format_} LOCATION '{tmp_path}/data';"
        f"CREATE TABLE b LIKE FILE {format_} '{file}'; CREATE TABLE IF NOT EXISTS b LIKE FILE ORC '/nosuch'",
    )
    expected = [(name.lower(), hive, "") for name, (_, hive) in types.items()]
    assert run(session, "DESCRIBE a") == expected
    assert run(session, "DESCRIBE b") == expected
    assert session.catalog.get("default", "b").kind == "iceberg"


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"a": (pa.int8(), ""), "A": (pa.int8(), "")}, "the file has two columns with the name a"),
    ],
)
def test_files_without_a_table(
    session: Session, tmp_path: Path, types: dict[str, tuple[pa.DataType, str]], message: str
) -> None:
    write(tmp_path / "a.parquet", types)
    with pytest.raises(HiveDruidError, match=re.escape(message)) as caught:
        run(session, f"CREATE TABLE t LIKE FILE PARQUET '{tmp_path}/a.parquet'")
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nosuch", "there are no files in {path}"),
        ("empty", "there are no files in {path}"),
        ("text", "the columns of {path} cannot be read: "),
        ("orc", "the columns of {path} cannot be read: "),
    ],
)
def test_paths_without_columns(session: Session, tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.parquet").write_text("hello")
    write(tmp_path / "orc" / "a.orc", TYPES)
    path = tmp_path / name
    with pytest.raises(HiveDruidError, match="^" + re.escape(message.format(path=path))) as caught:
        run(session, f"CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION '{path}'")
    assert "specify the columns" in (caught.value.hint or "")
    assert run(session, "SHOW TABLES") == []


def test_a_table_with_the_name_file(session: Session) -> None:
    assert run(session, "CREATE TABLE file (a INT); CREATE TABLE t LIKE file; DESCRIBE t") == [("a", "int", "")]
