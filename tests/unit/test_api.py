"""The Python API over the embedded store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from threading import Thread
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hivedruid
from hivedruid import api
from hivedruid.errors import (
    CancelledError,
    DruidError,
    ParseError,
    SemanticError,
    TableNotFound,
    UnsupportedError,
    UsageError,
)
from tests.support import embedded_tables
from tests.support.cancelling import cancelled

BERLIN = ZoneInfo("Europe/Berlin")
PAIRS = "SELECT sum(a.added + b.added) FROM many a JOIN many b ON a.page = b.page"
"""400 million pairs: DuckDB computes the sum in half a minute."""
TYPES = """
SELECT 1 AS i, 2L AS l, 1.5D AS d, 1.50BD AS m, 'x' AS s, '' AS e, CAST(NULL AS string) AS n, true AS b,
  DATE '2020-02-29' AS day, TIMESTAMP '2020-01-01 00:00:00.5' AS t,
  TIMESTAMPLOCALTZ '2020-01-01 00:00:00 UTC' AS z, INTERVAL '1' DAY AS span
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return embedded_tables.create(tmp_path_factory.mktemp("api") / "home")


@pytest.fixture
def connection(home: Path) -> Iterator[api.Connection]:
    with hivedruid.connect(home, "embedded:", hive_local_time_zone="Europe/Berlin") as opened:
        yield opened


def test_public_names_are_those_of_all() -> None:
    assert set(api.__all__) | {"__version__"} <= set(hivedruid.__all__)
    assert all(getattr(hivedruid, name) is not None for name in hivedruid.__all__)
    assert set(hivedruid.__all__) <= set(dir(hivedruid))
    with pytest.raises(AttributeError, match="has no attribute 'conect'"):
        _ = hivedruid.conect


def test_import_loads_no_module_of_the_program() -> None:
    code = (
        "import hivedruid, sys; print(*(m for m in sys.modules if m.startswith(('hivedruid', 'sqlglot', 'pyarrow'))))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == {"hivedruid", "hivedruid.versions"}


def test_values_have_the_types_of_their_columns(connection: api.Connection) -> None:
    result = connection.sql(TYPES)
    assert result.columns == ("i", "l", "d", "m", "s", "e", "n", "b", "day", "t", "z", "span")
    assert [column.type for column in result.schema] == [
        "int", "bigint", "double", "decimal(2,1)", "string", "string", "string", "boolean", "date", "timestamp",
        "timestamp with local time zone", "interval_day_time",
    ]  # fmt: skip
    (row,) = result
    assert row == (
        1, 2, 1.5, Decimal("1.5"), "x", "", None, True, date(2020, 2, 29), datetime(2020, 1, 1, microsecond=500_000),
        datetime(2020, 1, 1, tzinfo=UTC), timedelta(days=1),
    )  # fmt: skip
    assert row[10].tzinfo == BERLIN


def test_arrow_has_the_same_values(connection: api.Connection) -> None:
    table = connection.sql(TYPES).to_arrow()
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == {
        "i": pa.int32(), "l": pa.int64(), "d": pa.float64(), "m": pa.decimal128(2, 1), "s": pa.string(), "e": pa.string(),
        "n": pa.string(), "b": pa.bool_(), "day": pa.date32(), "t": pa.timestamp("us"),
        "z": pa.timestamp("us", "Europe/Berlin"), "span": pa.duration("us"),
    }  # fmt: skip
    assert [tuple(row.values()) for row in table.to_pylist()] == connection.sql(TYPES).fetchall()


def test_pandas_and_polars(connection: api.Connection) -> None:
    query = "SELECT `__time`, page, added FROM edits ORDER BY `__time`"
    frame = connection.sql(query).to_pandas()
    assert [str(kind) for kind in frame.dtypes] == ["timestamp[us][pyarrow]", "string[pyarrow]", "int64[pyarrow]"]
    assert frame["added"].sum() == 3
    assert frame["page"].isna().tolist() == [False, False, True]
    assert isinstance(connection.sql(query).to_pandas(types_mapper=None)["added"].dtype, type(pd.Series([1.0]).dtype))
    polars = connection.sql(query).to_polars()
    assert polars.schema == {"__time": pl.Datetime("us"), "page": pl.String, "added": pl.Int64}
    assert polars.rows() == connection.sql(query).fetchall()


def test_pandas_prints_intervals(connection: api.Connection) -> None:
    frame = connection.sql("SELECT INTERVAL '14' MONTH AS m, INTERVAL '1' DAY AS d").to_pandas()
    assert "months=14" in str(frame)
    assert frame["m"][0].months == 14


def test_a_missing_package_is_named_with_its_extra(connection: api.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(UnsupportedError) as caught:
        connection.sql("SELECT 1").to_polars()
    assert caught.value.message == "the Python package polars is not installed"
    assert caught.value.hint == "run pip install 'hivedruid[polars]'"


def test_rows_are_read_once_in_any_way(connection: api.Connection) -> None:
    result = connection.sql("SELECT page FROM edits ORDER BY `__time`")
    assert result.fetchone() == ("a",)
    assert result.to_arrow().to_pylist() == [{"page": "b"}, {"page": None}]
    assert (result.fetchone(), result.fetchall(), list(result)) == (None, [], [])
    result = connection.sql("SELECT page FROM edits ORDER BY `__time`")
    assert (result.fetchmany(2), result.fetchmany(2), result.fetchmany(2)) == ([("a",), ("b",)], [(None,)], [])


def test_a_statement_without_rows_has_no_columns(connection: api.Connection) -> None:
    with connection.sql("SET hive.local.time.zone=UTC") as result:
        assert (result.columns, result.fetchall()) == ((), [])


def test_parameters_are_values_and_not_text(connection: api.Connection) -> None:
    injected = "a' OR '1'='1"
    assert connection.sql("SELECT count(*) FROM edits WHERE page = ?", [injected]).fetchall() == [(0,)]
    query = "SELECT page FROM edits WHERE added >= :least AND `__time` < :before"
    assert connection.sql(query, {"least": 1, "before": datetime(1970, 1, 1, 1)}).fetchall() == [("a",)]


def test_the_statements_of_a_script_run_one_by_one(home: Path, tmp_path: Path) -> None:
    with hivedruid.connect(tmp_path) as connection:
        results = connection.script("CREATE DATABASE d; USE d; SELECT 1; SELECT nothing; CREATE DATABASE e")
        assert next(results).columns == ()
        assert connection.database == "default"
        next(results)
        assert connection.database == "d"
        assert next(results).fetchall() == [(1,)]
        with pytest.raises(SemanticError):
            next(results)
        assert list(results) == []
        assert connection.sql("SHOW DATABASES").fetchall() == [("d",), ("default",)]


@pytest.mark.parametrize("text", ["SELECT 1; SELECT 2", "", "-- nothing"])
def test_sql_is_one_statement(connection: api.Connection, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        connection.sql(text)
    assert caught.value.hint == "run scripts with script()"


def test_explain_is_the_plan_of_the_statement_with_its_parameters(connection: api.Connection) -> None:
    plan = connection.explain("SELECT count(*) FROM edits WHERE page = ?", ["a"])
    assert '"queryType": "timeseries"' in plan
    assert connection.sql("SELECT count(*) FROM edits WHERE page = ?", ["a"]).explain() == plan
    assert connection.explain("SELECT 1", mode="formatted").startswith("{")


def test_an_error_shows_where_and_what_to_do(connection: api.Connection) -> None:
    with pytest.raises(TableNotFound) as caught:
        connection.sql("SELECT *\nFROM edit")
    assert caught.value.span is not None
    assert "line 2, column 6: FROM edit" in repr(caught.value)
    assert str(caught.value).splitlines()[1:] == ["line 2, column 6: FROM edit", "hint: did you mean 'edits'?"]
    with pytest.raises(ParseError):
        connection.sql("SELEC 1")


def test_connections_and_results_show_what_they_are(connection: api.Connection) -> None:
    assert repr(connection) == f"<hivedruid.Connection to {connection.home}>"
    result = connection.sql("SELECT page, count(*) AS n FROM edits GROUP BY page")
    assert repr(result).startswith("<hivedruid.Result with the columns page string, n bigint: ")
    assert result.fetchall()  # repr() has not read rows
    assert repr(connection.sql("USE default")) == "<hivedruid.Result without rows>"
    connection.close()
    assert repr(connection).endswith(" (closed)>")


def test_settings_are_checked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown setting"):
        hivedruid.connect(tmp_path, settings={"hivedruid.nothing": 1})
    with pytest.raises(UsageError):
        hivedruid.connect(tmp_path, hive_druid_rollup="perhaps")
    with pytest.raises(TypeError, match="unexpected keyword argument 'hoem'"):
        hivedruid.connect(hoem=str(tmp_path))
    with hivedruid.connect(tmp_path, hive_druid_rollup=False, variables={"n": "7"}) as connection:
        assert connection.sql("SET hive.druid.rollup").fetchall() == [("hive.druid.rollup=false",)]
        assert connection.sql("SELECT ${n}").fetchall() == [(7,)]


def test_a_closed_connection_runs_nothing(home: Path) -> None:
    with hivedruid.connect(home) as connection:
        result = connection.sql("SELECT page FROM edits")
    connection.close()
    for use in (lambda: connection.sql("SELECT 1"), result.fetchall):
        with pytest.raises(UsageError, match="the connection is closed"):
            use()


def test_threads_share_a_connection(connection: api.Connection) -> None:
    found: list[object] = []
    threads = [
        Thread(target=lambda n=n: found.extend(connection.sql("SELECT count(*) + ? FROM edits", [n]).fetchall()))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(n + 3,) for n in range(8)]  # type: ignore[type-var]


def test_another_thread_cancels_a_native_query(home: Path, connection: api.Connection) -> None:
    rows = [{"__time": 0, "page": "x", "added": n} for n in range(20_000)]
    embedded_tables.create(home, "many", rows=rows)
    assert isinstance(cancelled(connection, PAIRS).__cause__, DruidError)
    assert connection.sql("SELECT count(*) FROM edits").fetchall() == [(3,)]


def test_a_cancelled_result_has_no_more_rows(connection: api.Connection) -> None:
    result = connection.sql("SELECT page FROM edits")
    assert result.fetchone() is not None
    assert result.cancel()
    for _ in range(2):
        with pytest.raises(CancelledError):
            result.fetchone()
    with pytest.raises(CancelledError):
        result.fetchall()


def test_after_an_error_no_rows_seem_complete(tmp_path: Path) -> None:
    """The rows before the error are returned, and the error again and again after them."""
    home = embedded_tables.create(
        tmp_path / "home", columns="`__time` timestamp, n bigint",
        rows=[{"__time": time, "n": 1} for time in (0, 10**17)],
    )  # fmt: skip
    with hivedruid.connect(home) as connection:
        result = connection.sql("SELECT `__time` FROM edits ORDER BY `__time`")
        assert result.fetchone() == (datetime(1970, 1, 1),)
        for _ in range(2):
            with pytest.raises(DruidError, match="is not a valid timestamp"):
                result.fetchone()


@pytest.fixture(scope="module")
def large(home: Path) -> Path:
    rows = ({"__time": n, "page": "p", "added": n} for n in range(130_000))
    return embedded_tables.create(home, "large", rows=rows)


@pytest.mark.parametrize("end", ["cancel", "close"])
def test_a_query_ends_with_its_result(large: Path, connection: api.Connection, end: str) -> None:
    result = connection.sql("SELECT added FROM large")
    assert result.fetchone() is not None
    getattr(result, end)()
    last = (large / "logs" / "queries.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert '"outcome": "not all rows were read"' in last


@pytest.mark.usefixtures("large")
def test_a_stream_has_one_batch_in_memory(connection: api.Connection) -> None:
    reader = connection.sql("SELECT added FROM large").stream()
    first = reader.read_next_batch()
    assert 0 < first.num_rows < 130_000
    assert first.num_rows + sum(batch.num_rows for batch in reader) == 130_000
