"""Iceberg tables and files: written rows are read back, and a failure changes nothing."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    HiveType,
    array_of,
    decimal,
)
from hivedruid.errors import PlanError, SparkError, UnsupportedError
from hivedruid.spark import iceberg, writing
from hivedruid.spark.jobs import NOTHING
from tests.unit.spark.conftest import Home, columns, files_table, iceberg_table

pytestmark = pytest.mark.spark

STRUCT = HiveType("struct", children=(INT, STRING), fields=("a", "b"))
MAP = HiveType("map", children=(STRING, INT))
EVERYTHING = columns(
    b=BOOLEAN, i=TINYINT, n=BIGINT, d=DOUBLE, c=decimal(20, 4), s=STRING, v=HiveType("varchar", (3,)), x=BINARY, day=DATE,
    t=TIMESTAMP, z=TIMESTAMP_LTZ, l=array_of(STRING), m=MAP, r=STRUCT,
)  # fmt: skip
ROW = r"""
    SELECT TRUE, 1, 9007199254740993, 1.5D, 1234567890123456.7891BD, 'é,"\\|\n', 'abcdef', X'00ff', DATE '2015-09-12',
           TIMESTAMP_NTZ '2021-03-14 02:30:00.123456', TIMESTAMP '2021-11-07 08:30:00.123456',
           array('a', NULL), map('k', 1), named_struct('a', 7, 'b', 'x')
"""
VALUES = (
    True, 1, 9007199254740993, 1.5, Decimal("1234567890123456.7891"), 'é,"\\|\n', "abc", b"\x00\xff", date(2015, 9, 12),
    datetime(2021, 3, 14, 2, 30, 0, 123456), datetime(2021, 11, 7, 8, 30, 0, 123456, tzinfo=UTC),
    ["a", None], {"k": 1}, {"a": 7, "b": "x"},
)  # fmt: skip
NULLS = "SELECT " + ", ".join(["NULL"] * len(EVERYTHING))
ESCAPED = {"field.delim": ",", "escape.delim": "\\", "collection.delim": "|", "mapkey.delim": ":"}

TABLES = {
    "iceberg": lambda folder: iceberg_table(EVERYTHING),
    "orc": lambda folder: files_table(folder, EVERYTHING, "orc"),
    "parquet": lambda folder: files_table(folder, EVERYTHING, "parquet"),
    "jsonfile": lambda folder: files_table(folder, EVERYTHING, "jsonfile"),
    "textfile": lambda folder: files_table(folder, EVERYTHING, "textfile", serde=ESCAPED),
}


@pytest.mark.parametrize("kind", TABLES)
def test_round_trip(home: Home, tmp_path: Path, kind: str) -> None:
    home.settings["hive.local.time.zone"] = "UTC"
    table = TABLES[kind](tmp_path / "data")
    assert home.write(f"{ROW} UNION ALL {NULLS}", table) == 2
    rows = home.query("SELECT * FROM t ORDER BY i NULLS LAST", table)
    assert rows == [VALUES, (None,) * len(EVERYTHING)]


@pytest.mark.parametrize("kind", TABLES)
def test_number_of_rows_that_comes_late(home: Home, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark Connect omits counts that take longer than a tenth of a second: the written rows are then counted."""
    monkeypatch.setattr(writing, "observed", lambda frame, write, aggregates: write(frame) or {})
    table = TABLES[kind](tmp_path / "da[t]a")
    assert home.write(f"{ROW} UNION ALL {NULLS}", table) == 2
    assert home.write(ROW, table, overwrite=True) == 1
    assert home.write(f"SELECT * FROM ({ROW}) WHERE rand() > 2", table) == 0


def test_csv_round_trip(home: Home, tmp_path: Path) -> None:
    serde = {"serialization.lib": "org.apache.hadoop.hive.serde2.OpenCSVSerde"}
    table = files_table(tmp_path / "data", columns(a=STRING, b=INT, c=STRING), "textfile", serde=serde)
    assert home.write("""SELECT 'x,"y"\\\\z', 5, NULL""", table) == 1
    assert home.query("SELECT * FROM t", table) == [('x,"y"\\z', 5, "")]
    # as Hive 4.0.1, but with the backslash doubled, which is lost otherwise
    (file,) = [path for path in (tmp_path / "data").iterdir() if path.name.endswith(".txt")]
    assert file.read_text() == '"x,""y""\\\\z","5",\n'


@pytest.mark.parametrize("form", ["textfile", "jsonfile", "orc"])
def test_the_files_of_a_directory_have_hives_names(home: Home, tmp_path: Path, form: str) -> None:
    table = files_table(tmp_path / "out", columns(i=INT), form)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/former").touch()
    query = "SELECT /*+ REPARTITION(2) */ CAST(id AS INT) FROM range(4)"
    with home.runner.running(NOTHING) as spark:
        assert writing.write_directory(spark.sql(query).toDF("i"), table, is_elsewhere=False) == 4
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["000000_0", "000001_0"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert sorted(home.query("SELECT i FROM t", table)) == [(0,), (1,), (2,), (3,)]
    with home.runner.running(NOTHING) as spark:
        assert writing.write_directory(spark.sql(f"{query} WHERE id > 9").toDF("i"), table, is_elsewhere=False) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["000000_0"]
    assert home.query("SELECT i FROM t", table) == []


@pytest.mark.parametrize("kind", ["iceberg", "orc"])
def test_append_and_overwrite(home: Home, tmp_path: Path, kind: str) -> None:
    table = (
        iceberg_table(columns(a=INT)) if kind == "iceberg" else files_table(tmp_path / "data", columns(a=INT), "orc")
    )
    assert home.write("SELECT 1", table) == 1
    assert home.write("SELECT * FROM VALUES (2), (3)", table) == 2
    assert sorted(home.query("SELECT a FROM t", table)) == [(1,), (2,), (3,)]
    assert home.write("SELECT a * 10 FROM t WHERE a > 1", table, table, overwrite=True) == 2
    assert sorted(home.query("SELECT a FROM t", table)) == [(20,), (30,)]
    assert home.write("SELECT a FROM t WHERE a > 99", table, table, overwrite=True) == 0
    assert home.query("SELECT a FROM t", table) == []


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("kind", ["iceberg", "orc"])
def test_failure_changes_nothing(home: Home, tmp_path: Path, kind: str, overwrite: bool) -> None:
    table = (
        iceberg_table(columns(a=INT)) if kind == "iceberg" else files_table(tmp_path / "data", columns(a=INT), "orc")
    )
    home.write("SELECT 1", table)
    with pytest.raises(SparkError, match="half way"):
        home.write(
            "SELECT IF(id < 900, id, raise_error('half way')) FROM range(0, 1000, 1, 10)", table, overwrite=overwrite
        )
    assert home.query("SELECT a FROM t", table) == [(1,)]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_interrupted_swap_comes_back(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = files_table(tmp_path / "data", columns(a=INT), "orc")
    home.write("SELECT 1", table)
    monkeypatch.setattr("hivedruid.spark.folders.exchange", lambda *_: False)
    rename = Path.rename

    def fails_once(self: Path, target: Path) -> Path:
        if target == tmp_path / "data" and not self.name.endswith(".former"):
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails_once)
    with pytest.raises(SparkError, match="the disk is full"):
        home.write("SELECT 2", table, overwrite=True)
    assert home.query("SELECT a FROM t", table) == [(1,)]


@pytest.mark.parametrize(
    ("hive", "sql", "value"),
    [
        (TINYINT, "127", 127),
        (TINYINT, "128", None),
        (SMALLINT, "-32769L", None),
        (INT, "2147483648", None),
        (INT, "1e10D", None),
        (INT, "12.7D", 12),
        (BIGINT, "1e30D", None),
        (TINYINT, "'300'", None),
        (INT, "' 12 '", 12),
        (decimal(3, 1), "100", None),
        (HiveType("varchar", (2,)), "'été'", "ét"),
        (HiveType("char", (4,)), "'ab '", "ab"),
        (STRING, "12", "12"),
    ],
)
def test_types_are_enforced(home: Home, tmp_path: Path, hive: HiveType, sql: str, value: object) -> None:
    table = files_table(tmp_path / "data", columns(a=hive), "orc")
    home.write(f"SELECT {sql}", table)
    assert home.query("SELECT a FROM t", table) == [(value,)]


def test_iceberg_table_without_a_write(home: Home) -> None:
    table = iceberg_table(columns(a=INT, t=TIMESTAMP))
    assert home.query("SELECT count(*), max(t) FROM t", table) == [(0, None)]
    assert not (home.path / "warehouse").exists()


def test_iceberg_data_are_orc_files(home: Home) -> None:
    table = iceberg_table(columns(a=INT))
    home.write("SELECT 1", table)
    assert list((home.path / "warehouse" / "tables" / table.table_id / "data").glob("*.orc"))


def test_the_metadata_files_of_an_iceberg_table_do_not_grow_with_its_commits(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iceberg, "FORMER_METADATA", 2)
    table = iceberg_table(columns(a=INT))
    metadata = home.path / "warehouse" / "tables" / table.table_id / "metadata"
    counts = []
    for value in range(5):
        home.write(f"SELECT {value}", table)
        counts.append(len(list(metadata.glob("*.metadata.json"))))
    assert counts[2:] == [3, 3, 3]
    assert sorted(home.query("SELECT a FROM t", table)) == [(0,), (1,), (2,), (3,), (4,)]


def test_iceberg_types_survive(home: Home) -> None:
    """Iceberg has neither tinyint nor varchar; the column's declared type is still returned."""
    table = iceberg_table(columns(a=TINYINT))
    home.write("SELECT 1", table)
    assert home.query("SELECT typeof(a) FROM t", table) == [("tinyint",)]


def test_columns_added_to_an_iceberg_table(home: Home) -> None:
    home.write("SELECT 1", iceberg_table(columns(a=INT)))
    wider = iceberg_table(columns(a=INT, b=STRING))
    assert home.query("SELECT * FROM t", wider) == [(1, None)]
    home.write("SELECT 2, 'x'", wider)
    assert home.query("SELECT * FROM t ORDER BY a", wider) == [(1, None), (2, "x")]


def test_drop(home: Home, tmp_path: Path) -> None:
    table = iceberg_table(columns(a=INT))
    home.write("SELECT 1", table)
    home.runner.drop(table)
    assert list((home.path / "warehouse" / "tables").iterdir()) == []
    assert home.query("SELECT * FROM t", table) == []
    home.write("SELECT 2", table)
    assert home.query("SELECT * FROM t", table) == [(2,)]
    home.runner.drop(iceberg_table(columns(a=INT), "never-written"))
    files = files_table(tmp_path / "data", columns(a=INT), "orc")
    home.write("SELECT 1", files)
    home.runner.drop(files)
    assert not (tmp_path / "data").exists()


def test_rows_that_land_elsewhere(tmp_path: Path) -> None:
    """The effect of workers without shared storage: the empty folder must not be loaded."""
    with pytest.raises(SparkError, match="Spark wrote 7 rows, but not to"):
        writing.check_arrived(7, False, tmp_path)
    writing.check_arrived(0, False, tmp_path)


def test_refused_targets(home: Home, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text("{}\n")
    with pytest.raises(UnsupportedError, match="single file"):
        home.write("SELECT 1", files_table(tmp_path / "one.json", columns(a=INT)))
    with pytest.raises(UnsupportedError, match="s3a://bucket/x is not supported"):
        home.write("SELECT 1", files_table("s3a://bucket/x", columns(a=INT)), overwrite=True)
    with pytest.raises(PlanError):
        home.write("SELECT 1, 2", iceberg_table(columns(a=INT)))
    with pytest.raises(PlanError):
        home.write("SELECT 1", Table("default", "d", "druid", (Column("a", INT),)))
