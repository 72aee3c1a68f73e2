"""Rows, bounds and nulls from the footers of files: what is read of them, and how often."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from hivedruid import notices
from hivedruid.actions.statistics.files import stored_files
from hivedruid.actions.statistics.footer_formats import READERS
from hivedruid.actions.statistics.footers import FooterReader, footers_of
from hivedruid.catalog.database import FILE_NAME, open_database
from hivedruid.catalog.footers import ColumnFacts, FileFacts, FooterStore, StoredFile, merged
from hivedruid.catalog.statistics import ColumnStatistics, TableStatistics
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP, HiveType
from hivedruid.filesystems import local_path
from hivedruid.sqlite_waits import connect

DECIMAL = HiveType("decimal", (10, 2))
COLUMNS = (
    Column("i", INT), Column("n", BIGINT), Column("d", DATE), Column("ts", TIMESTAMP), Column("m", DECIMAL),
    Column("f", DOUBLE), Column("s", STRING),
)  # fmt: skip
ROWS = pa.table(
    {
        "i": pa.array([3, None, -1, 7], pa.int32()),
        "n": pa.array([1 << 60, 5, 6, 7], pa.int64()),
        "d": pa.array([date(2024, 2, 1), date(2023, 12, 31), None, None]),
        "ts": pa.array(
            [datetime(2024, 1, 1, 12, 30), None, datetime(1969, 7, 20, 20, 17, 40, 5), None], pa.timestamp("us")
        ),
        "m": pa.array([Decimal("1.50"), Decimal("-2.25"), Decimal("10.00"), None], pa.decimal128(10, 2)),
        "f": pa.array([1.5, -0.25, 1e300, None]),
        "s": pa.array(["a", "z", None, "b"]),
    }
)
EXPECTED = {
    "i": ColumnFacts(1, "integer", "-1", "7"),
    "n": ColumnFacts(0, "integer", "5", str(1 << 60)),
    "d": ColumnFacts(2, "date", "2023-12-31", "2024-02-01"),
    "ts": ColumnFacts(2, "timestamp", "1969-07-20 20:17:40.000005", "2024-01-01 12:30:00.000000"),
    "m": ColumnFacts(1, "decimal", "-2.25", "10.00"),
    "f": ColumnFacts(1, "double", "-0.25", "1e+300"),
    "s": ColumnFacts(1),
}


def footer(path: Path) -> FileFacts:
    return READERS[path.suffix[1:]]()(path)


@pytest.mark.parametrize("rows", [100, 2, 1])
def test_values_of_a_parquet_file(tmp_path: Path, rows: int) -> None:
    """Also of several row groups, some of which have only nulls."""
    parquet.write_table(ROWS, tmp_path / "a.parquet", row_group_size=rows)
    assert footer(tmp_path / "a.parquet") == FileFacts(4, EXPECTED)


def test_a_file_without_statistics_has_only_rows(tmp_path: Path) -> None:
    parquet.write_table(ROWS, tmp_path / "a.parquet", write_statistics=False)
    found = footer(tmp_path / "a.parquet")
    assert (found.rows, set(found.columns.values())) == (4, {ColumnFacts()})
    parquet.write_table(ROWS, tmp_path / "b.parquet", write_statistics=["i"])
    assert footer(tmp_path / "b.parquet").columns["i"] == EXPECTED["i"]
    assert footer(tmp_path / "b.parquet").columns["n"] == ColumnFacts()


def test_no_bounds_of_nested_columns_and_of_values_beyond_the_calendar(tmp_path: Path) -> None:
    rows = pa.table({
        "l": pa.array([[1, 2]]), "st": pa.array([{"a": 1}]), "b": pa.array([True]), "far": pa.array([10**7], pa.date32()),
        "nan": pa.array([float("nan")]), "ns": pa.array([1_999], pa.timestamp("ns")), "ms": pa.array([-1], pa.timestamp("ms", "UTC")),
        "u": pa.array([(1 << 64) - 1], pa.uint64()),
    })  # fmt: skip
    parquet.write_table(rows, tmp_path / "a.parquet")
    assert footer(tmp_path / "a.parquet").columns == {
        "b": ColumnFacts(0), "far": ColumnFacts(0), "nan": ColumnFacts(0),
        "ns": ColumnFacts(0, "timestamp", "1970-01-01 00:00:00.000001", "1970-01-01 00:00:00.000001"),
        "ms": ColumnFacts(0, "timestamp", "1969-12-31 23:59:59.999000", "1969-12-31 23:59:59.999000"),
        "u": ColumnFacts(0, "integer", "18446744073709551615", "18446744073709551615"),
    }  # fmt: skip
    parquet.write_table(rows.select(["ns"]), tmp_path / "b.parquet", use_deprecated_int96_timestamps=True)
    assert footer(tmp_path / "b.parquet").columns == {"ns": ColumnFacts()}


def test_days_of_the_julian_calendar_have_no_bounds() -> None:
    """Of files that Hive wrote: see tests/hive/writers."""
    folder = Path(__file__).parents[2] / "hive" / "writers"
    julian, gregorian = (footer(folder / f"parquet_{name}.parquet") for name in ("pacific", "pacific_proleptic"))
    assert julian.columns["d"] == ColumnFacts(0)
    assert gregorian.columns["d"] == ColumnFacts(0, "date", "0001-01-01", "9999-12-31")
    assert julian.columns["id"] == ColumnFacts(0, "integer", "0", "12")


def test_an_orc_file_has_rows(tmp_path: Path) -> None:
    orc.write_table(ROWS, tmp_path / "a.orc")
    assert footer(tmp_path / "a.orc") == FileFacts(4)


@pytest.mark.parametrize("name", ["a.parquet", "a.orc"])
@pytest.mark.parametrize(
    "content",
    [b"", b"PAR1", b"PAR1" + b"x" * 100 + b"PAR1", b"x" * 50 + b"\xff\xff\xff\x7fPAR1", b"ORC" + b"\xff" * 99],
)
def test_a_damaged_file_raises_one_kind_of_error(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"."):
        footer(tmp_path / name)


@pytest.mark.parametrize(("format_", "write"), [("parquet", parquet.write_table), ("orc", orc.write_table)])
def test_every_truncated_file_is_damaged(tmp_path: Path, format_: str, write: Callable[[pa.Table, Path], None]) -> None:
    path = tmp_path / f"a.{format_}"
    write(ROWS, path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"."):
            footer(path)


def test_every_damaged_byte_of_a_footer_is_one_kind_of_error_at_most(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(ROWS, path)
    whole = path.read_bytes()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    refused = 0
    for position in range(start, len(whole)):
        for damage in (b"\0", b"\xff", b"\x1c", bytes([whole[position] ^ 1])):
            path.write_bytes(whole[:position] + damage + whole[position + 1 :])
            with suppress(ValueError):
                assert footer(path).rows >= 0
                continue
            refused += 1
    assert refused > 100


def test_of_a_large_footer_only_rows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = {f"column_{number}": pa.array(range(200)) for number in range(100)}
    parquet.write_table(pa.table(columns), path, row_group_size=2)
    assert int.from_bytes(path.read_bytes()[-8:-4], "little") > 1 << 19
    assert footer(path) == FileFacts(200)


def test_old_writers(tmp_path: Path) -> None:
    """Version 1.0 has other names of types; DuckDB writes footers, too."""
    parquet.write_table(ROWS, tmp_path / "a.parquet", version="1.0", store_decimal_as_integer=True)
    assert footer(tmp_path / "a.parquet") == FileFacts(4, EXPECTED)
    duckdb.sql(f"COPY (SELECT * FROM ROWS) TO '{tmp_path / 'b.parquet'}' (FORMAT parquet)")
    assert footer(tmp_path / "b.parquet") == FileFacts(4, EXPECTED)


def test_parts_are_merged() -> None:
    one, two = (
        FileFacts(2, {"a": ColumnFacts(0, "integer", "9", "10")}),
        FileFacts(3, {"a": ColumnFacts(1, "integer", "-1", "2")}),
    )
    assert merged([one, two]) == FileFacts(5, {"a": ColumnFacts(1, "integer", "-1", "10")})
    without = FileFacts(4)
    assert merged([one, without]).columns["a"] == ColumnFacts(4, "integer", "9", "10"), "nulls in the other file"
    nulls = FileFacts(4, {"a": ColumnFacts(4, "integer")})
    assert merged([nulls, one]).columns["a"] == ColumnFacts(4, "integer", "9", "10")
    unknown = FileFacts(1, {"a": ColumnFacts()})
    assert merged([one, unknown, two]).columns["a"] == ColumnFacts()
    other = FileFacts(1, {"a": ColumnFacts(0, "decimal", "1.5", "1.5")})
    assert merged([one, other]).columns["a"] == ColumnFacts(0)
    assert merged([]) == FileFacts(0)


# --- tables ----------------------------------------------------------------------------------------------------


@pytest.fixture
def table(catalog: Catalog, tmp_path: Path) -> Table:
    (tmp_path / "t").mkdir()
    return catalog.add(Table("default", "t", "files", COLUMNS, True, format="parquet", location=str(tmp_path / "t")))


def write(table: Table, name: str, **columns: Any) -> Path:
    folder = local_path(table.location or "")
    assert folder is not None
    parquet.write_table(pa.table(columns), folder / name)
    return folder / name


def read(table: Table, reader: FooterReader) -> TableStatistics:
    found = stored_files(table, reader)
    assert found is not None
    return found


@pytest.fixture
def statement(catalog: Catalog) -> Callable[..., FooterReader]:
    """The reader of one statement."""
    return partial(FooterReader, FooterStore(catalog))


def test_a_table_has_the_facts_of_all_of_its_files(table: Table, statement: Callable[..., FooterReader]) -> None:
    write(table, "a.parquet", i=pa.array([1, 2, None], pa.int32()), s=["x", "y", "z"])
    write(table, "b", I=pa.array([9], pa.int32()))
    found = read(table, statement())
    assert (found.rows, found.rows_from) == (4, "footers of 2 files")
    assert found.columns == {
        "i": ColumnStatistics(has_nulls=True, low="1", high="9", nulls=1, range_from="footers of 2 files"),
        "s": ColumnStatistics(has_nulls=True, nulls=1, range_from="footers of 2 files"),
    }


def test_a_footer_is_read_once(table: Table, statement: Callable[..., FooterReader]) -> None:
    write(table, "a", i=[1])
    write(table, "b", i=[2])
    opened = []
    for _ in range(2):
        reader = statement()
        assert read(table, reader).rows == 2
        opened.append(reader.opened)
    write(table, "c", i=[3, 4])
    reader = statement()
    assert read(table, reader).rows == 4
    assert [*opened, reader.opened] == [2, 0, 1]


def test_a_file_that_was_replaced_is_read_again(table: Table, statement: Callable[..., FooterReader]) -> None:
    path = write(table, "a", i=[1])
    before = path.stat()
    assert read(table, statement()).columns["i"].high == "1"
    write(table, "a", i=[2])
    assert path.stat().st_size == before.st_size
    reader = statement()
    assert read(table, reader).columns["i"].high == "2"
    assert reader.opened == 1
    os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))  # as another file of another time
    reader = statement()
    read(table, reader)
    assert reader.opened == 1


def test_files_that_are_gone_are_forgotten(
    table: Table, statement: Callable[..., FooterReader], catalog: Catalog
) -> None:
    path = write(table, "a", i=[1])
    write(table, "b", i=[2])
    store = FooterStore(catalog)
    read(table, statement())
    assert len(store.known(table.location or "")) == 2
    path.unlink()
    reader = statement()
    assert (read(table, reader).rows, reader.opened) == (1, 0)
    assert [Path(file.path).name for file in store.known(table.location or "")] == ["b"]
    catalog.remove(table)
    assert store.known(table.location or "") == set()
    assert store.combined(table.table_id, "") is None


@pytest.mark.parametrize("limits", [{"most": 2}, {"seconds": 2.5, "clock": count().__next__}])
def test_what_is_not_read_in_time_is_unknown_until_the_next_statement(
    table: Table, statement: Callable[..., FooterReader], limits: dict[str, Any]
) -> None:
    for number in range(5):
        write(table, f"f{number}", i=[number])
    found = []
    for _ in range(4):
        reader = statement(**limits)
        found.append((read(table, reader).rows, reader.opened))
    assert found == [(None, 2), (None, 2), (5, 1), (5, 0)]


def test_the_limits_are_those_of_the_statement(
    table: Table, statement: Callable[..., FooterReader], catalog: Catalog
) -> None:
    write(table, "a", i=[1])
    folder = Path(table.location or "").with_name("other")
    folder.mkdir()
    other = catalog.add(Table("default", "o", "files", COLUMNS, True, format="parquet", location=f"file:{folder}"))
    write(other, "b", i=[1])
    reader = statement(most=1)
    assert (read(table, reader).rows, read(other, reader).rows) == (1, None)


def test_of_very_many_files_only_rows_are_added_up(table: Table, statement: Callable[..., FooterReader]) -> None:
    write(table, "a", i=[1])
    reader = statement()
    assert read(table, reader).columns["i"].low == "1"
    write(table, "b", n=[1, 2])
    found = read(table, statement(most_columns=2 * len(COLUMNS) - 1))
    assert (found.rows, found.columns) == (3, {})
    write(table, "c", n=[1, 2])
    assert read(table, statement(most_columns=3 * len(COLUMNS))).columns["i"].nulls == 4


def test_a_damaged_file_makes_rows_unknown_and_is_read_once(
    table: Table, statement: Callable[..., FooterReader]
) -> None:
    write(table, "a", i=[1])
    damaged = Path(table.location or "") / "b"
    damaged.write_bytes(b"not Parquet")
    opened = []
    for _ in range(2):
        reader = statement()
        found = read(table, reader)
        assert (found.rows, found.columns, found.bytes) == (None, {}, (damaged.with_name("a").stat().st_size + 11))
        opened.append(reader.opened)
    assert opened == [2, 0]
    damaged.unlink()
    assert read(table, statement()).rows == 1


def test_a_file_that_cannot_be_opened_may_be_readable_later(
    table: Table, statement: Callable[..., FooterReader]
) -> None:
    path = write(table, "a", i=[1])
    files = [StoredFile(str(path), path.stat().st_size, path.stat().st_mtime_ns)]
    moved = path.rename(path.with_name("moved"))
    source = footers_of(table, files)
    assert source is not None
    assert statement().statistics(table, *source) is None
    moved.rename(path)
    found = statement().statistics(table, *source)
    assert found is not None
    assert found.rows == 1


@pytest.mark.parametrize("name", ["a b%20?x=[1]*.parquet", "file:b", "日本", os.fsdecode(b"\xff")])
def test_names_of_files(table: Table, statement: Callable[..., FooterReader], name: str) -> None:
    write(table, "a", i=[1]).rename(Path(table.location or "") / name)
    for _ in range(2):
        found = read(table, statement())
        assert found.rows == 1


def test_nothing_is_stored_while_another_process_writes(table: Table, tmp_path: Path) -> None:
    """And the statement does not wait for it."""
    write(table, "a", i=[1])
    home = tmp_path / "home"
    with closing(open_database(home)) as connection, closing(connect(home / FILE_NAME, mode="rw", patience=1)) as other:
        catalog = Catalog(connection)
        added = catalog.add(table)
        other.execute("BEGIN IMMEDIATE")
        notes: list[str] = []
        with notices.received_by(notes.append):
            for _ in range(2):
                reader = FooterReader(FooterStore(catalog))
                assert (read(added, reader).rows, reader.opened) == (1, 1)
        assert notes == []
        other.execute("ROLLBACK")
        assert read(added, FooterReader(FooterStore(catalog))).rows == 1
        reader = FooterReader(FooterStore(catalog))
        assert (read(added, reader).rows, reader.opened) == (1, 0)


def test_columns_with_another_type_than_in_the_files_have_no_bounds(
    table: Table, statement: Callable[..., FooterReader]
) -> None:
    write(
        table,
        "a",
        i=["1"],
        n=pa.array([1], pa.int32()),
        d=pa.array([5], pa.int32()),
        f=[2],
        s=[7],
        ts=[date(2024, 1, 1)],
    )
    found = read(table, statement()).columns
    bounds = {name: column.low for name, column in found.items()}
    assert bounds == {"i": None, "n": "1", "d": None, "f": "2", "s": None, "ts": "2024-01-01"}
    assert {column.nulls for column in found.values()} == {0}


def test_columns_of_old_versions_of_hive_match_by_position(
    table: Table, statement: Callable[..., FooterReader]
) -> None:
    write(table, "a", _col0=[4], _col1=[5])
    found = read(table, statement()).columns
    assert {name: column.low for name, column in found.items()} == {"i": "4", "n": "5"}


def test_other_formats_and_places_have_no_footers(table: Table, statement: Callable[..., FooterReader]) -> None:
    write(table, "a", i=[1])
    reader = statement()
    assert read(replace(table, format="textfile"), reader).rows is None
    assert stored_files(replace(table, location="s3a://bucket/x"), reader) is None
    assert reader.opened == 0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    script = "".join(f"CREATE EXTERNAL TABLE {n} (`__time` timestamp, k int) STORED BY 'druid';" for n in "ab")
    for name, write_table in (("parquet", parquet.write_table), ("orc", orc.write_table)):
        (tmp_path / name).mkdir()
        write_table(pa.table({"k": [1, 2]}), tmp_path / name / "a")
        script += f"CREATE EXTERNAL TABLE of_{name} (k int) STORED AS {name} LOCATION '{tmp_path / name}';"
    loaded(tmp_path / "home", script)
    return tmp_path / "home"


def loaded(home: Path, script: str) -> set[str]:
    code = "import sys; from hivedruid.cli import main; c = main(sys.argv[1:]); print(*sys.modules, file=sys.stderr); sys.exit(c)"
    command = [sys.executable, "-c", code, "sql", "--home", str(home), "-e", script]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return set(run.stderr.splitlines()[-1].split())


def test_pyarrow_is_loaded_only_for_footers_of_orc_that_are_not_known(home: Path) -> None:
    explain = "EXPLAIN SELECT count(*) FROM a JOIN {0} ON a.k = {0}.k"
    assert loaded(home, explain.format("b")) & {"pyarrow", "hivedruid.actions.statistics.files"} == set()
    assert "pyarrow" not in loaded(home, explain.format("of_parquet"))
    assert "pyarrow" in loaded(home, explain.format("of_orc"))
    assert "pyarrow" not in loaded(home, explain.format("of_orc"))
