"""The rows and keys that are read from Parquet files without Spark are those of the Spark job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from hivedruid.actions.select import file_rows
from hivedruid.actions.select.file_rows import keys_in_files, rows_in_files
from hivedruid.catalog.table import Table
from hivedruid.catalog.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, HiveType, decimal
from hivedruid.evaluation.exactness import Unsure
from hivedruid.evaluation.local import local_plan
from hivedruid.plan.nodes import Filter, TableScan
from hivedruid.plan.physical import DruidInput, FileKeys
from hivedruid.plan.split import spark_job
from tests.support.planning import events, plan
from tests.unit.spark.conftest import Home, columns, files_table

pytestmark = pytest.mark.spark

COUNTRIES = ["de", "fr", None, "it", "é", "z", "", "DE"]
ROWS = 400
TABLE = pa.table(
    {
        "K": pa.array([None if n % 17 == 0 else n % 90 for n in range(ROWS)], pa.int64()),
        "country": [COUNTRIES[n % 8] for n in range(ROWS)],
        "region": [["north", "south", None, "s"][n % 4] for n in range(ROWS)],
        "day": pa.array(
            [None if n % 19 == 0 else date(2020, 1 + n % 12, 1 + n % 28) for n in range(ROWS)], pa.date32()
        ),
        "month": pa.array([None if n % 13 == 0 else n % 12 - 2 for n in range(ROWS)], pa.int32()),
        "price": pa.array([None if n % 7 == 0 else Decimal(n * 7) / 100 for n in range(ROWS)], pa.decimal128(7, 2)),
        "open": [None if n % 5 == 0 else n % 3 == 0 for n in range(ROWS)],
        "rate": [n / 8 for n in range(ROWS)],
    }
)
SHAPE = columns(
    K=BIGINT, country=STRING, region=HiveType("char", (5,)), day=DATE, month=INT, price=decimal(7, 2), open=BOOLEAN,
    rate=DOUBLE,
)  # fmt: skip


@pytest.fixture
def dim(tmp_path: Path) -> Table:
    """A table of two files; a third one is hidden."""
    folder = tmp_path / "dim"
    folder.mkdir()
    parquet.write_table(TABLE.slice(0, 150), folder / "a.parquet", row_group_size=40)
    parquet.write_table(TABLE.slice(150), folder / "b.parquet")
    (folder / "_SUCCESS").write_text("", encoding="utf-8")
    return replace(files_table(folder, SHAPE, "parquet"), name="dim")


def keys_of(dim: Table, where: str, key: str = "k", big: str = "clicks") -> FileKeys:
    sql = f"SELECT e.city, d.month FROM ev e JOIN (SELECT * FROM dim WHERE {where}) d ON e.{big} = d.{key}"
    made = plan(sql, tables=(events(), dim), rows={"ev": 1_000_000, "dim": ROWS})
    ((reducer,),) = [i.reducers for i in spark_job(made).inputs if isinstance(i, DruidInput)]
    assert isinstance(reducer.keys[0], FileKeys)
    return reducer.keys[0]


def without_nulls(rows: list[tuple[Any, ...]] | None) -> list[tuple[Any, ...]]:
    assert rows is not None
    found = [row for row in rows if row[0] is not None]
    assert len(set(found)) == len(found)
    return sorted(found)


def test_the_keys_are_those_of_spark(dim: Table, home: Home) -> None:
    conditions = [
        "month = 3", "month <> 3", "month < 3 AND month >= 0", "3 >= month", "month BETWEEN -1 AND 1", "month = 5000000000",
        "month IS NULL", "NOT (month = 3)", "month IN (1, 2, NULL)", "month NOT IN (1, 2)", "month + 1 = 4", "month % 3 = 0",
        "country = 'de'", "country > 'z'", "country < 'E'", "country IN ('fr', 'é', 'de ')", "country LIKE 'd%'",
        "upper(country) = 'DE'", "length(country) = 0", "country <=> NULL", "coalesce(country, 'x') = 'x'",
        "region = 'south'", "region = 's    '", "region IN ('s', 'north')", "region <> 'north'", "region IS NOT NULL",
        "day >= '2020-06-15'", "day BETWEEN '2020-02-01' AND '2020-03-09'", "day = DATE '2020-05-17'", "month(day) = 4",
        "price > 10", "price BETWEEN 1.5 AND 12.5", "price = 0.07", "price / 2 > 5.1", "open", "NOT open", "open = false",
        "(month = 3 AND country = 'de') OR (month = 4 AND open)", "month > length(country)", "k > month AND day IS NOT NULL",
        "rate > 1", "rate = 0", "rate * 2 BETWEEN 3 AND 4 AND month > 1", "month = 3 AND country = 'nowhere'",
        "substr(country, 1, 1) = 'd'", "CASE WHEN open THEN month ELSE 0 END = 3",
    ]  # fmt: skip
    for where in conditions:
        keys = keys_of(dim, where)
        expected = without_nulls(list(home.runner.rows(keys.job)))
        assert without_nulls(keys_in_files(keys.rows, {})) == expected, where
    for key in ("country", "region"):
        keys = keys_of(dim, "month = 3", key, "city")
        assert without_nulls(keys_in_files(keys.rows, {})) == without_nulls(list(home.runner.rows(keys.job))), key


def test_longer_strings_are_cut(dim: Table, home: Home) -> None:
    short = replace(dim, columns=tuple(
        replace(c, type=HiveType("char" if c.name == "region" else "varchar", (1,))) if c.name in ("region", "country") else c
        for c in dim.columns
    ))  # fmt: skip
    for where in ("region = 's'", "country = 'd' AND month > 1", "region = 'south'"):
        keys = keys_of(short, where)
        expected = without_nulls(list(home.runner.rows(keys.job)))
        assert without_nulls(keys_in_files(keys.rows, {})) == expected, where
        assert bool(expected) == (where != "region = 'south'")


def test_the_rows_are_those_of_spark(dim: Table, home: Home) -> None:
    sql = "SELECT e.city, d.* FROM ev e JOIN (SELECT * FROM dim WHERE month > 2 OR rate < 3) d ON e.clicks = d.k"
    made = plan(sql, tables=(events(), dim), rows={"ev": 1_000, "dim": ROWS})
    (files,) = local_plan(made).files
    scan = next(node for node in made.node.walk() if isinstance(node, Filter) and isinstance(node.input, TableScan))
    expected = list(home.runner.rows(spark_job(replace(made, node=scan))))
    assert [column.name for column in scan.columns] == list(files.rows.columns)
    found = rows_in_files(files.rows, ROWS, {})
    assert len(found) > 200
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    with pytest.raises(Unsure, match="more than 200 rows"):
        rows_in_files(files.rows, 200, {})


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_left_to_spark(dim: Table, number: float) -> None:
    keys = keys_of(dim, "rate > 1")
    assert keys_in_files(keys.rows, {}) is not None
    rates = pa.array([number] + [1.0] * (ROWS - 1))
    parquet.write_table(TABLE.set_column(7, "rate", rates), Path(dim.location or "") / "c.parquet")
    assert keys_in_files(keys.rows, {}) is None


@pytest.mark.parametrize("where", ["concat(region, 'x') = 'sx'", "hash(country) = 3"])
def test_other_conditions_are_left_to_spark(dim: Table, where: str) -> None:
    assert keys_in_files(keys_of(dim, where).rows, {}) is None


def test_only_small_files_on_this_machine_are_read(dim: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = keys_of(dim, "upper(country) = 'DE'")
    assert keys_in_files(keys.rows, {}) is not None
    assert keys_in_files(keys.rows, {"spark.remote": "sc://elsewhere"}) is None
    for name, limit in (("MOST_FILE_ROWS", ROWS - 1), ("MOST_EVALUATED", 3), ("MOST_FILES", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(file_rows, name, limit)
            assert keys_in_files(keys.rows, {}) is None


def _other_type(rows: pa.Table) -> pa.Table:
    return rows.set_column(4, "month", rows["month"].cast(pa.int64()))


def _old_date(rows: pa.Table) -> pa.Table:
    return rows.set_column(3, "day", pa.array([date(1500, 3, 1)] * rows.num_rows, pa.date32()))


@pytest.mark.parametrize(
    "change",
    [
        _other_type,
        _old_date,
        lambda rows: rows.drop_columns("month"),
        lambda rows: rows.append_column("MONTH", rows["month"]),
    ],
)
def test_files_that_spark_converts_are_left_to_it(dim: Table, change: Callable[[pa.Table], pa.Table]) -> None:
    keys = keys_of(dim, "month = 3 AND day IS NOT NULL")
    parquet.write_table(change(TABLE), Path(dim.location or "") / "c.parquet")
    assert keys_in_files(keys.rows, {}) is None


@pytest.mark.parametrize("place", ["link", "_k=1"])
def test_folders_that_only_spark_reads(dim: Table, home: Home, tmp_path: Path, place: str) -> None:
    """A missing key would lose rows of the result."""
    keys = keys_of(dim, "month = 3")
    more = tmp_path / "more" if place == "link" else Path(dim.location or "") / place
    more.mkdir()
    parquet.write_table(TABLE.set_column(0, "K", pa.array([1_000] * ROWS, pa.int64())), more / "c.parquet")
    if place == "link":
        (Path(dim.location or "") / place).symlink_to(more)
    assert (1_000,) in without_nulls(list(home.runner.rows(keys.job)))
    assert keys_in_files(keys.rows, {}) is None


def test_a_damaged_file_and_no_file(dim: Table) -> None:
    keys = keys_of(dim, "month = 3")
    folder = Path(dim.location or "")
    (folder / "c.parquet").write_text("no Parquet", encoding="utf-8")
    assert keys_in_files(keys.rows, {}) is None
    for file in folder.iterdir():
        file.unlink()
    assert keys_in_files(keys.rows, {}) is None
