"""The schemas of files are kept while the files are the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc, parquet
from pyspark.sql.types import StructType

from hivedruid.catalog.types import INT, STRING
from hivedruid.spark import file_schemas
from hivedruid.spark.file_schemas import FileSchemas
from tests.unit.spark.conftest import Home, columns, files_table


class Derived:
    """Counts how often a schema is derived."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> StructType:
        self.times += 1
        return StructType()


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write("x")


def replace_file(path: Path) -> None:
    path.with_name("other").write_text(path.read_text())
    path.with_name("other").replace(path)


def add_file(path: Path) -> None:
    (path.parent / "below").mkdir()
    (path.parent / "below" / "second").write_text("x")


@pytest.mark.parametrize("change", [append, replace_file, add_file, Path.unlink])
def test_a_schema_is_kept_until_a_file_changes(tmp_path: Path, change: Callable[[Path], object]) -> None:
    schemas, derived = FileSchemas({}), Derived()
    (tmp_path / "first").write_text("x")
    (tmp_path / "another").write_text("x")
    for _ in range(3):
        schemas.of(str(tmp_path), derived)
    assert derived.times == 1
    change(tmp_path / "first")
    schemas.of(str(tmp_path), derived)
    assert derived.times == 2


def test_a_schema_is_kept_until_a_setting_of_spark_changes(tmp_path: Path) -> None:
    settings = {"spark.sql.parquet.binaryAsString": "true"}
    schemas, derived = FileSchemas(settings), Derived()
    (tmp_path / "first").write_text("x")
    schemas.of(str(tmp_path), derived)
    settings["hive.query.name"] = "x"
    schemas.of(str(tmp_path), derived)
    assert derived.times == 1
    settings["spark.sql.parquet.binaryAsString"] = "false"
    schemas.of(str(tmp_path), derived)
    assert derived.times == 2


def test_schemas_of_many_files_and_of_other_machines_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_schemas, "MOST_FILES", 1)
    schemas, derived = FileSchemas({}), Derived()
    for name in ("first", "second"):
        (tmp_path / name).write_text("x")
    for location in (str(tmp_path), "s3a://bucket/folder"):
        for _ in range(2):
            schemas.of(location, derived)
    assert derived.times == 4


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("http://127.0.0.1/files", "there is no file system for 'http:'"),
        ("s3a://bucket/x-*", "the path is a pattern"),
        ("s3a://bucket/x", "hivedruid.s3.access.key refers to the environment variable NOT_SET"),
    ],
)
def test_files_elsewhere_that_cannot_be_read_here(location: str, why: str) -> None:
    """One note for each location, and none for columns without times and for other formats."""
    notes: list[str] = []
    schemas = FileSchemas({"hivedruid.s3.region": "us-east-1", "hivedruid.s3.access.key": "env:NOT_SET"}, notes.append)
    for form, has_times in (("orc", True), ("parquet", False), ("avro", False)):
        assert schemas.writers([location], form, has_times=has_times) == {}
    assert notes == []
    for _ in range(2):
        assert schemas.writers([location], "parquet", has_times=True) == {}
    (note,) = notes
    assert note.startswith(f"cannot read which program wrote the files of {location}: {why}")
    assert "times in files that Hive wrote in a time zone other than UTC are returned in UTC" in note


def test_the_schema_of_a_table_is_kept_until_its_next_commit(tmp_path: Path) -> None:
    schemas, derived = FileSchemas({}), Derived()
    for name in ("1.json", "2.json"):
        (tmp_path / name).touch()
    for name, times in (("1.json", 1), ("1.json", 1), ("2.json", 2)):
        schemas.of_table("id", tmp_path / name, derived)
        assert derived.times == times
    for _ in range(2):
        schemas.of_table("id", None, derived)
    assert derived.times == 4


@pytest.mark.parametrize("format", ["orc", "parquet"])
def test_a_file_with_another_column_is_seen(home: Home, tmp_path: Path, format: str) -> None:  # noqa: A002
    def write(name: str, **values: list[object]) -> None:
        made = pa.table(values)
        (orc.write_table if format == "orc" else parquet.write_table)(made, tmp_path / name)

    table = files_table(tmp_path, columns(a=INT, b=STRING), format)
    write("first", a=[1, 2])
    assert home.query("SELECT * FROM t ORDER BY a", table) == [(1, None), (2, None)]
    write("second", b=["x"], a=[3])
    assert home.query("SELECT * FROM t ORDER BY a", table) == [(1, None), (2, None), (3, "x")]
    write("first", b=["y"], a=[4])
    assert home.query("SELECT * FROM t ORDER BY a", table) == [(3, "x"), (4, "y")]
