"""The home's own Iceberg catalog, read without Spark, and the layout of earlier versions."""

from __future__ import annotations

import gzip
import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyarrow import orc

from hivedruid.arrow_buffers import array
from hivedruid.errors import ExecutionError
from hivedruid.iceberg import appends, home_catalog
from hivedruid.iceberg.metadata import TableState, local_path, read
from hivedruid.iceberg.schemas import Field

DOCUMENT = {
    "current-snapshot-id": 7,
    "snapshots": [
        {"snapshot-id": 6, "summary": {"total-records": "5"}},
        {"snapshot-id": 7, "summary": {"total-records": "9", "total-data-files": "2", "total-files-size": "640"}},
    ],
}


def old_table(home: Path, *versions: int, hint: str | None = None) -> Path:
    metadata = home_catalog.folder(home, "abc") / "metadata"
    metadata.mkdir(parents=True)
    for version in versions:
        (metadata / f"v{version}.metadata.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    if hint is not None:
        (metadata / "version-hint.text").write_text(hint, encoding="utf-8")
    return metadata


def enter(home: Path, location: str) -> None:
    home_catalog.prepare(home)
    with closing(sqlite3.connect(home_catalog.catalog_file(home))) as connection, connection:
        connection.execute(
            "INSERT INTO iceberg_tables VALUES ('hivedruid', 'tables', 'abc', ?, NULL, 'TABLE')", (location,)
        )


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    assert home_catalog.registered(tmp_path, "abc") is None
    assert home_catalog.state(tmp_path, "abc") is None
    home_catalog.remove(tmp_path, "abc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("uri", ["", "file:", "file://"])
def test_a_table_of_the_catalog(tmp_path: Path, uri: str) -> None:
    file = home_catalog.folder(tmp_path, "abc") / "metadata" / "00001-x.metadata.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    enter(tmp_path, f"{uri}{file}")
    assert home_catalog.current_metadata(tmp_path, "abc") == file
    state = home_catalog.state(tmp_path, "abc")
    assert state == TableState("00001-x.metadata.json", 7, 9, 2, 640)
    assert state is not None
    assert state.token == "00001-x.metadata.json 7"
    home_catalog.remove(tmp_path, "abc")
    assert home_catalog.state(tmp_path, "abc") is None


def test_the_catalog_counts_before_the_former_layout(tmp_path: Path) -> None:
    metadata = old_table(tmp_path, 1, 2, hint="2")
    enter(tmp_path, str(metadata / "v1.metadata.json"))
    assert home_catalog.current_metadata(tmp_path, "abc") == metadata / "v1.metadata.json"
    assert home_catalog.to_register(tmp_path, "abc") is None


@pytest.mark.parametrize(
    ("versions", "hint", "expected"),
    [
        ((1, 2, 3), "3", 3),
        ((1, 2, 3), "2\n", 3),
        ((8, 9, 10), "9", 10),
        ((8, 9, 10), None, 10),
        ((1, 2), "half", 2),
        ((), None, None),
    ],
)
def test_former_layout(tmp_path: Path, versions: tuple[int, ...], hint: str | None, expected: int | None) -> None:
    metadata = old_table(tmp_path, *versions, hint=hint)
    found = home_catalog.to_register(tmp_path, "abc")
    assert found == (None if expected is None else metadata / f"v{expected}.metadata.json")


def test_former_layout_without_the_version_of_its_hint(tmp_path: Path) -> None:
    """An older metadata version would return outdated rows."""
    old_table(tmp_path, 1, 2, hint="7")
    with pytest.raises(ExecutionError, match=r"version 7 of the metadata in .* is missing"):
        home_catalog.to_register(tmp_path, "abc")


def test_compressed_metadata(tmp_path: Path) -> None:
    metadata = old_table(tmp_path, hint="1")
    (metadata / "v1.gz.metadata.json").write_bytes(gzip.compress(json.dumps(DOCUMENT).encode()))
    state = home_catalog.state(tmp_path, "abc")
    assert state is not None
    assert state.rows == 9


@pytest.mark.parametrize("text", ["", "{", "[]", '{"current-snapshot-id": 7, "snapshots": 3}'])
def test_metadata_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    file = tmp_path / "v1.metadata.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"v1\.metadata\.json is not the metadata of an Iceberg table"):
        read(file)


@pytest.mark.parametrize("current", [None, -1])
def test_before_the_first_commit(tmp_path: Path, current: int | None) -> None:
    file = tmp_path / "v1.metadata.json"
    file.write_text(json.dumps({"current-snapshot-id": current}), encoding="utf-8")
    assert read(file).rows == 0


def test_made_by_several_processes_at_once(tmp_path: Path) -> None:
    threads = [threading.Thread(target=home_catalog.prepare, args=(tmp_path,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with closing(sqlite3.connect(home_catalog.catalog_file(tmp_path))) as connection:
        assert connection.execute("SELECT count(*) FROM iceberg_namespace_properties").fetchone() == (1,)
    assert home_catalog.catalog_file(tmp_path).stat().st_mode & 0o077 == 0


def test_no_database(tmp_path: Path) -> None:
    home_catalog.catalog_file(tmp_path).write_text("this is no database, but long enough to be looked at" * 9)
    for call in (home_catalog.prepare, lambda home: home_catalog.registered(home, "abc")):
        with pytest.raises(ExecutionError, match="cannot open the Iceberg catalog"):
            call(tmp_path)


def test_empty_file(tmp_path: Path) -> None:
    """The files of a process that was killed before its first transaction."""
    home_catalog.catalog_file(tmp_path).touch()
    assert home_catalog.registered(tmp_path, "abc") is None
    home_catalog.prepare(tmp_path)
    assert home_catalog.registered(tmp_path, "abc") is None


# --- commits without Spark -----------------------------------------------------------------------------------------

FIELDS = (Field(1, "n", "int"), Field(2, "text", "string"))


def append_row(home: Path, number: int) -> None:
    target = appends.target(home, "abc", FIELDS)
    assert target is not None
    appends.append(target, [pa.array([number], pa.int32()), pa.array([f"row {number}"])])


def test_concurrent_commits(tmp_path: Path) -> None:
    """No row is lost, from the first commit on, which several sessions make at once."""
    home_catalog.prepare(tmp_path)
    start = threading.Barrier(4)

    def append_some(first: int) -> None:
        start.wait()
        for number in range(first, first + 5):
            append_row(tmp_path, number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append_some, range(0, 20, 5)))
    files = home_catalog.files(tmp_path, "abc")
    paths = [local_path(file.path) for file in files.data]
    assert sorted(n for path in paths for n in orc.read_table(path)["n"].to_pylist()) == list(range(20))
    state = home_catalog.state(tmp_path, "abc")
    assert state is not None
    assert (state.rows, state.files, state.bytes) == (20, 20, sum(path.stat().st_size for path in paths))
    history = home_catalog.history(tmp_path, "abc")
    assert history is not None
    assert len(list(history.ancestors())) == 20
    metadata = home_catalog.folder(tmp_path, "abc") / "metadata"
    assert sorted(path.name[:5] for path in metadata.glob("*.json")) == [f"{number:05}" for number in range(20)]
    assert len(list(metadata.glob("snap-*"))) == 20


def test_former_metadata_files_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appends, "FORMER_METADATA", 2)
    home_catalog.prepare(tmp_path)
    for number in range(5):
        append_row(tmp_path, number)
    metadata = home_catalog.folder(tmp_path, "abc") / "metadata"
    assert sorted(path.name[:5] for path in metadata.glob("*.json")) == ["00002", "00003", "00004"]
    assert [file.rows for file in home_catalog.files(tmp_path, "abc").data] == [1] * 5


def test_a_dropped_table_is_not_created_again(tmp_path: Path) -> None:
    home_catalog.prepare(tmp_path)
    append_row(tmp_path, 1)
    target = appends.target(tmp_path, "abc", FIELDS)
    assert target is not None
    home_catalog.remove(tmp_path, "abc")
    before = sorted(home_catalog.folder(tmp_path, "abc").rglob("*.*"))
    with pytest.raises(appends.GoneError):
        appends.append(target, [pa.array([2], pa.int32()), pa.array(["row"])])
    assert home_catalog.registered(tmp_path, "abc") is None
    assert sorted(home_catalog.folder(tmp_path, "abc").rglob("*.*")) == before


def test_other_tables_are_left_to_spark(tmp_path: Path) -> None:
    home_catalog.prepare(tmp_path)
    append_row(tmp_path, 1)
    path = home_catalog.current_metadata(tmp_path, "abc")
    assert path is not None
    plain = json.loads(path.read_text())
    assert appends.target(tmp_path, "abc", FIELDS[:1]) is None
    assert appends.target(tmp_path, "abc", (FIELDS[0], Field(2, "text", "long"))) is None
    for change in (
        {"format-version": 3},
        {"default-sort-order-id": 1},
        {"default-spec-id": 1, "partition-specs": [*plain["partition-specs"], {"spec-id": 1, "fields": []}]},
        {"partition-specs": [{"spec-id": 0, "fields": [{"name": "n", "transform": "identity", "source-id": 1}]}]},
        {"properties": {**plain["properties"], "write.data.path": "/elsewhere"}},
        {"properties": {**plain["properties"], "write.format.default": "parquet"}},
    ):
        path.write_text(json.dumps({**plain, **change}))
        assert appends.target(tmp_path, "abc", FIELDS) is None, change
    path.write_text(json.dumps({**plain, "properties": {**plain["properties"], "owner": "a"}}))
    assert appends.target(tmp_path, "abc", FIELDS) is not None


TOKYO = ZoneInfo("Asia/Tokyo")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.bool_(), [True, None, False]),
        (pa.int32(), [1, None, -(2**31), 2**31 - 1]),
        (pa.int64(), [1, None, -(2**63), 2**63 - 1]),
        (pa.float32(), [1.5, None, -0.0, float("inf"), 1.1754943508222875e-38]),
        (pa.float64(), [1.5, None, -0.0, float("inf"), 5e-324]),
        (pa.decimal128(10, 2), [Decimal("1.50"), None, Decimal("-99999999.99"), Decimal("1E+3"), Decimal("0.1"), Decimal("-0.00")]),
        (pa.decimal128(38, 10), [Decimal("9" * 28 + "." + "9" * 10), Decimal("-1E-10")]),
        (pa.string(), ["", None, "äöü 漢字 😀"]),
        (pa.binary(), [b"", None, b"\0\xff"]),
        (pa.date32(), [date(1582, 10, 15), None, date(9999, 12, 31)]),
        (pa.timestamp("us"), [datetime(1583, 1, 1), None, datetime(9999, 12, 31, 23, 59, 59, 999999)]),
        (pa.timestamp("us", "UTC"), [datetime(1583, 1, 1, tzinfo=UTC), None, datetime(2024, 1, 1, 9, 0, 0, 1, TOKYO)]),
        (pa.int64(), [None, None]),
    ],
    ids=str,
)  # fmt: skip
def test_arrays_of_columns(kind: pa.DataType, values: list[Any]) -> None:
    """As Arrow makes them, which needs pandas."""
    made = array(values, kind)
    made.validate(full=True)
    assert made.equals(pa.array(values, kind))
    assert str(made.to_pylist()) == str(pa.array(values, kind).to_pylist())


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.int32(), 2**31), (pa.string(), "\ud800"), (pa.decimal128(4, 2), Decimal("100")),
        (pa.decimal128(4, 2), Decimal("0.001")), (pa.string(), 1), (pa.date32(), "2024-01-01"),
    ],
)  # fmt: skip
def test_values_that_a_column_does_not_have(kind: pa.DataType, value: Any) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError, OverflowError)):
        array([value], kind)
