"""`index_parallel` into the embedded store: it stores what Druid stores."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivedruid.embedded.store import EmbeddedStore
from hivedruid.errors import DruidError
from hivedruid.jobs.load import Load, NoJournal
from hivedruid.jobs.staged import StagedRows
from hivedruid.sketches import library
from tests.support.loads import ingest

DAY = 86_400_000
START = 1704067200000
"""2024-01-01T00:00Z"""

Task = Callable[..., dict[str, Any]]
Write = Callable[..., Path]


def scan(store: EmbeddedStore, data_source: str, *columns: str) -> list[list[Any]]:
    query = {"queryType": "scan", "dataSource": data_source, "columns": list(columns), "resultFormat": "compactedList"}
    return [event for part in store.answer(query) for event in part["events"]]


def test_types(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    rows: list[dict[str, Any]] = [
        {"l": 9007199254740993, "d": 0.1, "f": 16777217, "s": "a"},
        {"l": True, "d": "NaN", "f": 0.1, "s": False},
        {"l": 12.9, "d": 3, "f": None, "s": 5.50},
        {"l": "12", "s": ""},
        {"l": None, "d": None, "s": None},
        {"l": "-7.0", "d": "1e3", "s": 1.5e18},
        {},
    ]
    folder = write_rows({"__time": START + i, "i": i, **row} for i, row in enumerate(rows))
    dimensions = {"i": "long", "l": "long", "d": "double", "f": "float", "s": "string"}
    report = ingest(store, index_task("t", folder, dimensions))
    assert (report.rows, report.segments) == (7, 1)
    assert store.schema("t") == {"__time": "LONG", "i": "LONG", "l": "LONG", "d": "DOUBLE", "f": "FLOAT", "s": "STRING"}
    assert scan(store, "t", "l", "d", "f", "s") == [
        [9007199254740993, 0.1, 16777216.0, "a"],
        [1, "NaN", 0.1, "false"],
        [12, 3.0, None, "5.5"],
        [12, None, None, ""],
        [None, None, None, None],
        [-7, 1000.0, None, "1.5E18"],
        [None, None, None, None],
    ]


def test_multiple_values_are_sorted(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    values: list[Any] = [["b", "a"], ["x"], [], None, ["c", None, "c"], "d", [2, 10]]
    folder = write_rows({"__time": START + i, "s": value} for i, value in enumerate(values))
    ingest(store, index_task("t", folder, {"s": "string"}))
    assert store.schema("t")["s"] == "ARRAY<STRING>"
    assert [row[0] for row in scan(store, "t", "s")] == [
        ["a", "b"],
        "x",
        None,
        None,
        [None, "c", "c"],
        "d",
        ["10", "2"],
    ]


@pytest.mark.parametrize(
    ("handling", "expected"),
    [
        ("SORTED_ARRAY", [[None, "a", "b", "b"], ["c", "c"]]),
        ("SORTED_SET", [[None, "a", "b"], "c"]),
        ("ARRAY", [["b", "a", None, "b"], ["c", "c"]]),
    ],
)
def test_multiple_values_are_kept_as_the_spec_wants(
    store: EmbeddedStore, index_task: Task, write_rows: Write, handling: str, expected: list[Any]
) -> None:
    folder = write_rows([{"__time": START, "s": ["b", "a", None, "b"]}, {"__time": START + 1, "s": ["c", "c"]}])
    task = index_task("t", folder, {"s": "string"})
    task["spec"]["dataSchema"]["dimensionsSpec"]["dimensions"][0]["multiValueHandling"] = handling
    ingest(store, task)
    assert [row[0] for row in scan(store, "t", "s")] == expected


def test_single_values_in_arrays_are_plain_strings(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    folder = write_rows([{"__time": START, "s": ["a"]}, {"__time": START + 1, "s": []}])
    ingest(store, index_task("t", folder, {"s": "string"}))
    assert store.schema("t")["s"] == "STRING"
    assert scan(store, "t", "s") == [["a"], [None]]


def test_rollup_and_query_granularity(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    rows = [
        {"__time": START + 1000, "k": "a", "n": 1, "x": 0.5},
        {"__time": START + 2000, "k": "a", "n": 9223372036854775807, "x": 0.25},
        {"__time": START + 3000, "k": None, "n": 3},
        {"__time": START + 3_600_000, "k": "a"},
    ]
    metrics = [
        {"type": "longSum", "name": "n", "fieldName": "n"},
        {"type": "count", "name": "count"},
        {"type": "doubleMax", "name": "x", "fieldName": "x"},
    ]
    report = ingest(
        store, index_task("t", write_rows(rows), {"k": "string"}, metrics, rollup=True, query="HOUR", segment="MONTH")
    )
    assert (report.rows, report.segments) == (4, 1)
    assert scan(store, "t") == [  # columns: dimensions as given, metrics by name
        [START, None, 1, 3, None],
        [START, "a", 2, -9223372036854775808, 0.5],
        [START + 3_600_000, "a", 1, None, None],
    ]


SKETCHES = [
    {"type": "thetaSketch", "name": "t", "fieldName": "u"},
    {"type": "HLLSketchBuild", "tgtHllType": "HLL_4", "name": "h", "fieldName": "u"},
    {"type": "quantilesDoublesSketch", "name": "q", "fieldName": "x"},
]
MERGED = [
    {"type": "thetaSketch", "isInputThetaSketch": True, "size": 16384, "name": "t", "fieldName": "t"},
    {"type": "HLLSketchMerge", "tgtHllType": "HLL_4", "lgK": 12, "name": "h", "fieldName": "h"},
    {"type": "quantilesDoublesSketch", "k": 128, "name": "q", "fieldName": "q"},
]


def estimates(row: list[Any]) -> list[float | None]:
    """The distinct values of the theta and HLL sketches, and the number of values of the quantiles sketch."""
    theta, hll, quantiles = (None if text is None else b64decode(text) for text in row)
    assert theta is not None
    assert quantiles is not None
    distinct = None if hll is None else round(library.estimate("hll", hll))
    return [library.estimate("theta", theta), distinct, library.count("quantiles", quantiles)]


def test_sketches_are_built_and_merged(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    rows = [{"__time": START, "k": n % 2, "u": f"é{n % 6}", "x": n} for n in range(24)] + [{"__time": START, "k": 2}]
    ingest(store, index_task("t", write_rows(rows), {"k": "long"}, SKETCHES, rollup=True))
    assert store.schema("t")["h"] == "COMPLEX<HLLSketch>"
    built = scan(store, "t", "t", "h", "q")
    assert [estimates(row) for row in built[:2]] == [[3.0, 3, 12], [3.0, 3, 12]]
    assert estimates(built[2]) == [0.0, None, 0]  # of no values, as in Druid
    sketches = [{"__time": START, **dict(zip("thq", row, strict=True))} for row in built]
    ingest(store, index_task("merged", write_rows(sketches, name="sketches"), {}, MERGED, rollup=True))
    assert [estimates(row) for row in scan(store, "merged", "t", "h", "q")] == [[6.0, 6, 24]]


def test_without_rollup_each_row_has_a_sketch(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    rows = [{"__time": START, "u": "a", "x": 1}, {"__time": START, "u": "b", "x": 2}]
    ingest(store, index_task("t", write_rows(rows), {}, SKETCHES))
    assert [estimates(row) for row in scan(store, "t", "t", "h", "q")] == [[1.0, 1, 1], [1.0, 1, 1]]


def test_without_rollup_every_row_stays(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    rows = [{"__time": START, "k": "a", "n": 1}] * 3
    metrics = [{"type": "longSum", "name": "n", "fieldName": "n"}, {"type": "count", "name": "c"}]
    assert ingest(store, index_task("t", write_rows(rows), {"k": "string"}, metrics)).rows == 3
    assert scan(store, "t", "n", "c") == [[1, 1]] * 3


def test_segments_by_interval_sorted_by_time_and_dimensions(
    store: EmbeddedStore, home: Path, index_task: Task, write_rows: Write
) -> None:
    rows = [{"__time": START + day * DAY, "k": k} for day in (2, 0, 1) for k in ("b", None, "a")]
    report = ingest(store, index_task("t", write_rows(rows), {"k": "string"}))
    assert report.segments == 3
    assert len(list((home / "segments").rglob("*.parquet"))) == 3
    assert scan(store, "t", "__time", "k") == [[START + day * DAY, k] for day in range(3) for k in (None, "a", "b")]


def test_large_intervals_are_cut(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    folder = write_rows({"__time": START + i, "i": i} for i in range(10))
    assert ingest(store, index_task("t", folder, {"i": "long"}, rows_per_segment=4)).segments == 3
    assert [row[0] for row in scan(store, "t", "i")] == list(range(10))


def test_a_hash_divides_the_rows_of_an_interval(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    folder = write_rows({"__time": START + day * DAY, "i": i, "s": str(i)} for i in range(100) for day in (0, 1))
    task = index_task("t", folder, {"i": "long", "s": "string"})
    task["spec"]["tuningConfig"] |= {
        "partitionsSpec": {"type": "hashed", "numShards": 3},
        "forceGuaranteedRollup": True,
        "indexSpec": {"bitmap": {"type": "concise"}},
    }
    report = ingest(store, task)
    assert (report.rows, report.segments) == (200, 6)
    assert sorted(row[0] for row in scan(store, "t", "i")) == sorted([*range(100)] * 2)
    assert all(segment.start % DAY == 0 for segment in store.segments("t"))


def test_gzip_and_several_files(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    folder = write_rows([{"__time": START, "i": 1}])
    with gzip.open(folder / "more.json.gz", "wt") as file:
        file.write(json.dumps({"__time": START + 1, "i": 2}) + "\n")
    (folder / "empty.json").write_text("")
    (folder / "_SUCCESS").write_text("not json")
    ingest(store, index_task("t", folder, {"i": "long"}, pattern="*.json*"))
    assert scan(store, "t", "i") == [[1], [2]]


@pytest.mark.parametrize(
    ("format_", "value"),
    [
        ("millis", START),
        ("millis", str(START)),
        ("auto", START),
        ("auto", "2024-01-01T00:00:00Z"),
        ("auto", "2024-01-01 00:00:00"),
        ("iso", "2024-01-01T02:00:00+02:00"),
        ("posix", START // 1000),
    ],
)
def test_time_formats(store: EmbeddedStore, index_task: Task, write_rows: Write, format_: str, value: object) -> None:
    spec = index_task("t", write_rows([{"ts": value}]), {}, time={"column": "ts", "format": format_})
    ingest(store, spec)
    assert scan(store, "t", "__time") == [[START]]


def test_append_and_overwrite(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    def rows(name: str, *days: int) -> Path:
        return write_rows([{"__time": START + day * DAY, "k": name} for day in days], name)

    ingest(store, index_task("t", rows("one", 0, 1), {"k": "string"}))
    ingest(store, index_task("t", rows("two", 1, 2), {"k": "string"}, append=True))
    assert scan(store, "t", "k") == [["one"], ["one"], ["two"], ["two"]]
    ingest(store, index_task("t", rows("three", 1), {"k": "string"}))
    assert scan(store, "t", "k") == [["one"], ["three"], ["two"]]
    interval = ["2024-01-01/2024-01-03"]
    ingest(store, index_task("t", rows("four", 0), {"k": "string"}, drop=True, intervals=interval))
    assert scan(store, "t", "k") == [["four"], ["two"]]
    ingest(store, index_task("t", rows("five", 9), {"k": "string"}, drop=True))
    assert scan(store, "t", "k") == [["five"]]


def test_rows_outside_the_intervals_are_thrown_away(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    folder = write_rows([{"__time": START}, {"__time": START + DAY}])
    report = ingest(store, index_task("t", folder, {}, intervals=["2024-01-02/2024-01-03"]))
    assert report.rows == 1


def test_rows_beside_the_replaced_interval_stay(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    """A segment of a month loses the replaced day, as on a cluster, where a newer version hides it."""
    folder = write_rows([{"__time": START, "k": "old"}, {"__time": START + DAY, "k": "stays"}], "old")
    ingest(store, index_task("t", folder, {"k": "string"}, segment="MONTH"))
    new = write_rows([{"__time": START, "k": "new"}], "new")
    ingest(store, index_task("t", new, {"k": "string"}, segment="DAY"))
    assert scan(store, "t", "k") == [["new"], ["stays"]]
    ingest(store, index_task("t", write_rows([{"__time": START + DAY, "k": "too"}], "too"), {"k": "string"}))
    assert scan(store, "t", "k") == [["new"], ["too"]]
    assert len(store.segments("t")) == 2
    whole = write_rows([{"__time": START + day * DAY, "k": str(day)} for day in range(31)], "whole")
    ingest(store, index_task("u", whole, {"k": "string"}, segment="MONTH"))
    ingest(store, index_task("u", whole, {"k": "string"}, segment="DAY"))
    assert len(scan(store, "u", "k")) == len(store.segments("u")) == 31


def test_empty_input_with_drop_existing_empties_the_data_source(
    store: EmbeddedStore, home: Path, index_task: Task, write_rows: Write
) -> None:
    ingest(store, index_task("t", write_rows([{"__time": START}]), {}))
    report = ingest(store, index_task("t", write_rows([], "none"), {}, drop=True))
    assert (report.rows, report.segments) == (0, 0)
    assert store.data_sources() == ()
    assert list((home / "segments").rglob("*.parquet")) == []


def test_schemas_may_differ_between_segments(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    ingest(store, index_task("t", write_rows([{"__time": START, "a": 1, "b": "x"}]), {"a": "long", "b": "string"}))
    later = write_rows([{"__time": START + DAY, "a": "2", "b": ["y", "z"], "c": 0.5}], "later")
    ingest(store, index_task("t", later, {"a": "string", "b": "string", "c": "double"}, append=True))
    assert store.schema("t") == {"__time": "LONG", "a": "STRING", "b": "ARRAY<STRING>", "c": "DOUBLE"}
    assert scan(store, "t", "a", "b", "c") == [["1", "x", None], ["2", ["y", "z"], 0.5]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"__time": START}, {"__time": None}, {}], "2 of 3 rows have no valid time"),
        ([{"__time": "yesterday"}], 'for example "yesterday"'),
        ([{"__time": START, "l": "12.7"}], "1 values in numeric columns are not numbers"),
        ([{"__time": START, "l": "abc"}, {"__time": START, "l": 1}], "1 values in numeric columns are not numbers"),
    ],
)
def test_rows_that_cannot_be_stored(
    store: EmbeddedStore, home: Path, index_task: Task, write_rows: Write, rows: list[Any], message: str
) -> None:
    with pytest.raises(DruidError, match=message):
        ingest(store, index_task("t", write_rows(rows), {"l": "long"}))
    assert store.data_sources() == ()
    assert list((home / "segments").rglob("*.parquet")) == []


def test_malformed_json_is_a_one_line_error(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    folder = write_rows([{"__time": START}])
    (folder / "bad.json").write_text('{"__time": 1}\n{"__time": \n')
    with pytest.raises(DruidError) as error:
        ingest(store, index_task("t", folder, {}))
    assert "bad.json" in error.value.message
    assert "\n" not in error.value.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "index_kafka"}, "index_kafka"),
        ({"spec": {}}, "dataSchema"),
    ],
)
def test_specs_that_are_refused(
    store: EmbeddedStore, index_task: Task, tmp_path: Path, change: Any, message: str
) -> None:
    task = {**index_task("t", tmp_path, {}), **change}
    with pytest.raises(DruidError, match=message):
        store.ingest(Load("task", task, StagedRows(str(tmp_path), 0)), NoJournal())


def test_dimension_types_that_are_refused(store: EmbeddedStore, index_task: Task, tmp_path: Path) -> None:
    with pytest.raises(DruidError, match="type 'json'"):
        ingest(store, index_task("t", tmp_path, {"x": "json"}))


def test_odd_names(store: EmbeddedStore, home: Path, index_task: Task, write_rows: Write) -> None:
    name = "../a/b 'c' \"d\" é"
    folder = write_rows([{"__time": START, 'quo"te': "x", "two words": 1}])
    ingest(store, index_task(name, folder, {'quo"te': "string", "two words": "long"}))
    assert store.data_sources() == (name,)
    assert scan(store, name, 'quo"te', "two words") == [["x", 1]]
    assert all(home / "segments" in path.parents for path in home.parent.rglob("*.parquet"))


def test_names_that_differ_in_case_alone(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    folder = write_rows([{"__time": START, "page": "a", "Page": "b", "PAGE": "c"}, {"__time": START + 1, "PAge": "x"}])
    ingest(store, index_task("t", folder, {"page": "string", "Page": "string"}))
    assert list(store.schema("t")) == ["__time", "page", "Page"]
    assert scan(store, "t", "Page", "page", "PAGE") == [["b", "a", None], [None, None, None]]
    group = {"queryType": "groupBy", "dataSource": "t", "dimensions": ["Page", "page"], "granularity": "all"}
    events = [row["event"] for row in store.answer({**group, "aggregations": [{"type": "count", "name": "Count"}]})]
    assert events == [{"Page": None, "page": None, "Count": 1}, {"Page": "b", "page": "a", "Count": 1}]


def test_floats_that_are_no_finite_numbers(store: EmbeddedStore, index_task: Task, write_rows: Write) -> None:
    values = ["NaN", "Infinity", "-Infinity", 1e39, 0.1]
    folder = write_rows({"__time": START + i, "f": value} for i, value in enumerate(values))
    ingest(store, index_task("t", folder, {"f": "float"}))
    assert scan(store, "t", "f") == [["NaN"], ["Infinity"], ["-Infinity"], ["Infinity"], [0.1]]
