"""The embedded store's interface: rows, Parquet files, schemas, drops, and when files may be deleted."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hivedruid.catalog.database import open_database
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.embedded.whole_scans import whole_scan
from hivedruid.errors import DruidError
from hivedruid.plan.physical import DruidRead, Field
from tests.support.loads import ingest

START = 1704067200000
DAY = 86_400_000
Task = Callable[..., dict[str, Any]]
Write = Callable[..., Path]

COUNT = {"queryType": "timeseries", "granularity": "all", "aggregations": [{"type": "count", "name": "n"}]}


def count(store: EmbeddedStore, data_source: str = "t") -> int:
    answer = store.answer({**COUNT, "dataSource": data_source})
    return int(answer[0]["result"]["n"])


def files(home: Path) -> list[Path]:
    return sorted((home / "segments").rglob("*.parquet"))


def read(query: dict[str, Any], *names: str) -> DruidRead:
    types = {"s": STRING, "d": DOUBLE, "f": DOUBLE}
    return DruidRead(query, tuple(Field(name, types.get(name, BIGINT)) for name in names))


@pytest.fixture
def filled(store: EmbeddedStore, index_task: Task, write_rows: Write) -> EmbeddedStore:
    rows = [
        {"__time": START + i, "i": i, "s": "ab"[i % 2], "d": i / 4, "f": 0.1, "m": ["x", "y"][: i % 3]}
        for i in range(6)
    ]
    dimensions = {"i": "long", "s": "string", "d": "double", "f": "float", "m": "string"}
    ingest(store, index_task("t", write_rows(rows), dimensions))
    return store


def test_rows_follow_the_fields(filled: EmbeddedStore) -> None:
    scan = {"queryType": "scan", "dataSource": "t", "columns": ["__time", "i", "s", "d", "f", "m"], "limit": 3}
    assert list(filled.rows(read(scan, "s", "__time", "f", "m", "i", "s"))) == [
        ("a", START, 0.1, None, 0, "a"),
        ("b", START + 1, 0.1, "x", 1, "b"),
        ("a", START + 2, 0.1, ["x", "y"], 2, "a"),
    ]
    assert list(filled.rows(DruidRead(scan, ()))) == [(), (), ()]


def test_rows_of_aggregations(filled: EmbeddedStore) -> None:
    aggregations = [{"type": "count", "name": "n"}, {"type": "doubleSum", "name": "d", "fieldName": "d"}]
    series = {"queryType": "timeseries", "dataSource": "t", "granularity": "day", "aggregations": aggregations}
    assert list(filled.rows(read(series, "timestamp", "n", "d"))) == [(START, 6, 3.75)]
    groups = {
        "queryType": "groupBy",
        "dataSource": "t",
        "dimensions": ["s"],
        "granularity": "all",
        "aggregations": aggregations,
    }
    assert list(filled.rows(read(groups, "d", "s", "n"))) == [(1.5, "a", 3), (2.25, "b", 3)]
    top = {
        "queryType": "topN",
        "dataSource": "t",
        "dimension": "s",
        "metric": "d",
        "threshold": 1,
        "granularity": "all",
        "aggregations": aggregations,
    }
    assert list(filled.rows(read(top, "s"))) == [("b",)]


def test_rows_stream(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    ingest(store, index_task("t", write_rows({"__time": START + i, "i": i} for i in range(20_000)), {"i": "long"}))
    rows = store.rows(read({"queryType": "scan", "dataSource": "t", "columns": ["i"]}, "i"))
    assert next(rows) == (0,)
    assert count(store) == 20_000  # another query in between
    assert sum(1 for _ in rows) == 19_999


@pytest.mark.parametrize("many", [1, 10**9])
def test_large_scans_are_read_as_arrow(filled: EmbeddedStore, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    monkeypatch.setattr("hivedruid.embedded.store.MANY", many)
    scan = {"queryType": "scan", "dataSource": "t", "columns": ["__time", "i", "s", "d", "f"]}
    (batch,) = filled.rows(read(scan, "s", "__time", "f", "i")).batches
    assert batch.is_arrow == (many == 1)
    assert list(batch.rows())[:2] == [("a", START, 0.1, 0), ("b", START + 1, 0.1, 1)]
    (with_lists,) = filled.rows(read({**scan, "columns": ["m", "i"]}, "m", "i")).batches
    assert list(with_lists.rows())[:3] == [(None, 0), ("x", 1), (["x", "y"], 2)]
    assert [type(n) for (n,) in filled.rows(read({**scan, "limit": 2}, "i"))] == [int, int]
    rows = filled.rows(read({**scan, "virtualColumns": [virtual("v", "10 / (i - 4)")], "columns": ["v"]}, "v"))
    with pytest.raises(DruidError, match=r"^/ by zero$"):
        list(rows)


@pytest.fixture
def days(store: EmbeddedStore, index_task: Task, write_rows: Write) -> EmbeddedStore:
    """Three segments with nulls, empty strings, and a column that the first one lacks."""
    texts = ["a", "", None, "ä", "a", "\n"]
    for day, dimensions in enumerate(
        [{"i": "long", "s": "string"}, *[{"i": "long", "s": "string", "d": "double"}] * 2]
    ):
        rows = [
            {"__time": START + day * DAY + n, "i": n * 10**day if n else None, "s": texts[(n + day) % 6], "d": n / 4}
            for n in range(6)
        ]
        ingest(store, index_task("t", write_rows(rows), dimensions, append=True))
    return store


WHOLE = [("__time", "i", "s"), ("s", "s", "i"), ("i",), ("s",)]


@pytest.mark.parametrize("names", [*WHOLE, ("d", "s"), ("d",)])
@pytest.mark.parametrize("until", ["3000", "2024-01-03", "2024-01-02T00:00:00.003"])
def test_columns_of_files_are_those_of_duckdb(
    days: EmbeddedStore, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], until: str
) -> None:
    scan = {
        "queryType": "scan",
        "dataSource": "t",
        "columns": list(dict.fromkeys(names)),
        "intervals": [f"0000/{until}"],
    }
    expected = list(days.rows(read(scan, *names)))
    monkeypatch.setattr("hivedruid.embedded.store.MANY", 1)
    batches = list(days.rows(read(scan, *names)).batches)
    assert [row for batch in batches for row in batch.rows()] == expected
    is_whole = whole_scan(read(scan, *names), days._manifest, days._storage.home) is not None
    assert is_whole == (names in WHOLE and "T" not in until)


def test_columns_of_a_damaged_file(days: EmbeddedStore, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hivedruid.embedded.store.MANY", 1)
    scan = read({"queryType": "scan", "dataSource": "t", "columns": ["s"], "intervals": ["0000/3000"]}, "s")
    rows = days.rows(scan)
    assert next(rows) == ("a",)
    days.interrupt()
    with pytest.raises(DruidError, match="Interrupted"):
        list(rows)
    every = list(days.rows(scan))
    last = max(files(home), key=lambda file: int(file.name.partition("_")[0]))
    last.write_bytes(last.read_bytes()[:100])
    rows = days.rows(scan)
    assert [next(rows) for _ in every[6:]] == every[:-6]
    with pytest.raises(DruidError, match="segment file of data source t is damaged") as raised:
        next(rows)
    assert str(last) in raised.value.message


def virtual(name: str, expression: str) -> dict[str, str]:
    return {"type": "expression", "name": name, "expression": expression, "outputType": "LONG"}


def test_unknown_field_and_broken_query(filled: EmbeddedStore) -> None:
    with pytest.raises(DruidError, match="no field 'zz'"):
        list(filled.rows(read({"queryType": "scan", "dataSource": "t", "columns": ["i"]}, "zz")))
    with pytest.raises(DruidError, match="is missing 'dataSource'"):
        filled.answer({"queryType": "scan"})
    with pytest.raises(DruidError, match="'select'"):
        filled.answer({"queryType": "select", "dataSource": "t"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"aggregations": [{"type": "hyperUnique", "name": "x", "fieldName": "s"}]}, "hyperUnique"),
        ({"aggregations": [{"type": "cardinality", "name": "x", "fields": ["s", "i"]}]}, "cardinality"),
        ({"dataSource": {"type": "lookup"}}, "lookup"),
        ({"filter": {"type": "javascript"}}, "javascript"),
        ({"granularity": "fortnight"}, "fortnight"),
        ({"postAggregations": [{"type": "javascript", "name": "x"}]}, "javascript"),
        ({"virtualColumns": [{"type": "nested-field", "name": "v"}]}, "nested-field"),
    ],
)
def test_what_is_not_supported_is_refused(filled: EmbeddedStore, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DruidError, match=message):
        filled.answer({**COUNT, "dataSource": "t", **change})


@pytest.mark.parametrize(
    ("names", "message"),
    [(("__time", "n"), "'__time' cannot be used as an output name"), (("n", "n"), r"Duplicate output name\[n\]")],
)
def test_group_by_refuses_the_output_names_that_druid_refuses(
    filled: EmbeddedStore, names: tuple[str, str], message: str
) -> None:
    query = {
        "queryType": "groupBy", "dataSource": "t", "granularity": "all", "intervals": ["0/3000"],
        "dimensions": [{"type": "default", "dimension": "__time", "outputName": names[0], "outputType": "LONG"}],
        "aggregations": [{"type": "count", "name": names[1]}],
    }  # fmt: skip
    with pytest.raises(DruidError, match=message):
        filled.answer(query)


def test_unknown_data_source(store: EmbeddedStore) -> None:
    assert store.schema("nope") == {}
    assert count(store, "nope") == 0
    scan = {"queryType": "scan", "dataSource": "nope", "columns": ["i"]}
    assert list(store.rows(read(scan, "i"))) == []
    assert store.answer(scan) == []
    assert store.answer({"queryType": "segmentMetadata", "dataSource": "nope", "merge": True}) == []


def test_write_parquet(filled: EmbeddedStore, tmp_path: Path) -> None:
    path = tmp_path / "it's a file.parquet"
    scan = {"queryType": "scan", "dataSource": "t", "columns": ["__time", "i", "s", "f"], "limit": 2}
    filled.write_parquet(read(scan, "i", "s", "f", "__time"), ("a b", "s", "f", "when"), path)
    with duckdb.connect() as connection:
        rows = connection.sql(f"SELECT * FROM read_parquet('{str(path).replace(chr(39), chr(39) * 2)}')")
        assert list(zip(rows.columns, map(str, rows.types), strict=True)) == [
            ("a b", "BIGINT"),
            ("s", "VARCHAR"),
            ("f", "DOUBLE"),
            ("when", "BIGINT"),
        ]
        assert rows.fetchall() == [(0, "a", 0.1, START), (1, "b", 0.1, START + 1)]


def test_write_parquet_of_several_values(
    store: EmbeddedStore, index_task: Callable[..., Any], write_rows: Callable[..., Path], tmp_path: Path
) -> None:
    """As returned by a scan: no value, and a single null, are null."""
    values = [["a", None], [], [None], None, "b"]
    ingest(
        store,
        index_task(
            "several", write_rows([{"__time": START + n, "m": m} for n, m in enumerate(values)]), {"m": "string"}
        ),
    )
    path = tmp_path / "several.parquet"
    scan = {"queryType": "scan", "dataSource": "several", "columns": ["m", "__time"]}
    store.write_parquet(read(scan, "m", "__time"), ("m", "t"), path)
    with duckdb.connect() as connection:
        rows = connection.sql(f"SELECT m FROM read_parquet('{path}') ORDER BY t").fetchall()
    assert rows == [([None, "a"],), (None,), (None,), (None,), (["b"],)]


def test_write_parquet_without_rows(filled: EmbeddedStore, tmp_path: Path) -> None:
    path = tmp_path / "none.parquet"
    for data_source in ("t", "nope"):
        scan = {"queryType": "scan", "dataSource": data_source, "columns": ["i"], "intervals": ["1990/1991"]}
        filled.write_parquet(read(scan, "i"), ("i",), path)
        with duckdb.connect() as connection:
            rows = connection.sql(f"SELECT * FROM read_parquet('{path}')")
            assert rows.columns == ["i"]
            assert rows.fetchall() == []


def test_segment_metadata(filled: EmbeddedStore) -> None:
    (analysis,) = filled.answer({"queryType": "segmentMetadata", "dataSource": "t", "merge": True})
    assert analysis["numRows"] == 6
    assert analysis["intervals"] == ["2024-01-01T00:00:00.000Z/2024-01-02T00:00:00.000Z"]
    assert list(analysis["columns"]) == ["__time", "i", "s", "d", "f", "m"]
    s, m = analysis["columns"]["s"], analysis["columns"]["m"]
    assert (s["type"], s["cardinality"], s["minValue"], s["maxValue"], s["hasNulls"]) == ("STRING", 2, "a", "b", False)
    assert (m["type"], m["hasMultipleValues"]) == ("STRING", True)
    (single,) = filled.answer({"queryType": "segmentMetadata", "dataSource": "t", "analysisTypes": []})
    assert single["id"].startswith("t_2024-01-01T00:00:00.000Z_2024-01-02T00:00:00.000Z_")
    assert single["columns"]["s"]["cardinality"] is None


def test_opening_is_cheap_and_queries_import_little() -> None:
    script = """
import sys, tempfile
from pathlib import Path
from hivedruid.catalog.database import open_database
from hivedruid.embedded.store import EmbeddedStore
home = Path(tempfile.mkdtemp())
store = EmbeddedStore(home, open_database(home))
store.schema("t"), store.data_sources()
assert "duckdb" not in sys.modules
store.answer({"queryType": "scan", "dataSource": "t", "columns": ["i"]})
heavy = {"pandas", "pyarrow", "numpy", "pyspark", "lark", "sqlglot"} & set(sys.modules)
assert not heavy, heavy
assert "hivedruid.embedded.expressions" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


# --- replaced files ---------------------------------------------------------------------------------------------


def test_replaced_files_stay_for_their_last_reader(
    filled: EmbeddedStore, home: Path, index_task: Task, write_rows: Write
) -> None:
    scan = read({"queryType": "scan", "dataSource": "t", "columns": ["i"]}, "i")
    rows = filled.rows(scan)
    assert next(rows) == (0,)
    ingest(filled, index_task("t", write_rows([{"__time": START, "i": 100}], "new"), {"i": "long"}, drop=True))
    assert list(filled.rows(scan)) == [(100,)]
    assert len(files(home)) == 2
    assert list(rows) == [(i,) for i in range(1, 6)]
    other = EmbeddedStore(home, open_database(home))
    assert count(other) == 1
    assert len(files(home)) == 1
    other.close()


def test_a_closed_reader_needs_its_files_no_more(filled: EmbeddedStore, home: Path) -> None:
    rows: Iterator[Any] = filled.rows(read({"queryType": "scan", "dataSource": "t", "columns": ["i"]}, "i"))
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    filled.drop("t")
    assert files(home) == []
    assert filled.data_sources() == ()
    assert count(filled) == 0


def test_readers_see_all_of_an_overwrite_or_nothing(home: Path, index_task: Task, write_rows: Write) -> None:
    sizes = (700, 1300)
    folders = [
        write_rows([{"__time": START + i * 3_600_000, "i": i} for i in range(size)], f"rows-{size}") for size in sizes
    ]
    writer = EmbeddedStore(home, open_database(home))
    ingest(writer, index_task("t", folders[0], {"i": "long"}, drop=True, segment="MONTH"))
    done = threading.Event()
    seen: list[int] = []

    def reads() -> None:
        reader = EmbeddedStore(home, open_database(home))
        while not done.is_set():
            seen.append(count(reader))
        reader.close()

    thread = threading.Thread(target=reads)
    thread.start()
    for turn in range(1, 9):
        ingest(writer, index_task("t", folders[turn % 2], {"i": "long"}, drop=True, segment="MONTH"))
    done.set()
    thread.join()
    writer.close()
    assert set(seen) <= set(sizes)
    last = EmbeddedStore(home, open_database(home))
    assert count(last) == sizes[0]
    assert len(files(home)) == 1
    last.close()


def test_a_callers_transaction_decides(filled: EmbeddedStore, home: Path) -> None:
    connection = open_database(home)
    inside = EmbeddedStore(home, connection)
    connection.execute("BEGIN IMMEDIATE")
    inside.drop("t")
    connection.execute("ROLLBACK")
    assert count(inside) == 6
    connection.execute("BEGIN IMMEDIATE")
    inside.drop("t")
    connection.execute("COMMIT")
    assert inside.data_sources() == ()
    inside.close()


@pytest.mark.parametrize("many", [1, 10**9])
@pytest.mark.parametrize("kept", [0, 600])
def test_a_damaged_segment_file_is_named(
    filled: EmbeddedStore, home: Path, monkeypatch: pytest.MonkeyPatch, kept: int, many: int
) -> None:
    monkeypatch.setattr("hivedruid.embedded.store.MANY", many)
    (damaged,) = files(home)
    content = damaged.read_bytes()
    kept = min(kept, len(content) - 8)
    damaged.write_bytes(b"PAR1" + bytes(len(content) - 4 - kept) + content[len(content) - kept :])
    scan = {"queryType": "scan", "dataSource": "t", "columns": ["s"], "intervals": ["0000/3000"]}
    with pytest.raises(DruidError, match="segment file of data source t is damaged") as raised:
        list(filled.rows(read(scan, "s")))
    assert str(damaged) in raised.value.message
    assert raised.value.hint is not None
