"""Which columns of data sources that others made are read from segment files, and as which types."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hivedruid.catalog.statistics import TableStatistics
from hivedruid.catalog.stored_types import CAST, JSON, MIXED, ROWS
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, TIMESTAMP, array_of
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.segment_files import READ, FileScan, SegmentFile, SegmentFiles, SegmentKey
from hivedruid.plan.segment_scans import SegmentScans
from hivedruid.plan.split import spark_job
from tests.support.planning import plan, snapshot

STORED = {
    "__time": "LONG", "page": "STRING", "price": "DOUBLE", "code": "STRING", "payload": "COMPLEX<json>", "ids": "ARRAY<LONG>",
    "latest": "COMPLEX<serializablePairLongString>", "users": "COMPLEX<KllDoublesSketch>", "other": "COMPLEX<approximateHistogram>",
}  # fmt: skip
TABLE = Table(
    "default", "t", "druid",
    (
        Column("__time", TIMESTAMP), Column("page", STRING), Column("price", DOUBLE, reading=CAST),
        Column("code", STRING, reading=CAST), Column("payload", STRING, reading=JSON),
        Column("ids", array_of(BIGINT), reading=MIXED), Column("latest", STRING, reading=ROWS),
        Column("users", STRING, reading=ROWS), Column("other", STRING, reading=ROWS),
    ),
    external=True, properties={"druid.datasource": "t"},
)  # fmt: skip
KNOWN = SegmentFiles((SegmentFile("s", 0, 86_400_000, "v", 0, "/segments/s", 1000),), (), STORED)


def scanned(sql: str) -> DruidInput:
    made = plan(sql, tables=(TABLE,), settings={READ: "segments"})
    names = tuple(column.name for column in made.columns)
    (item,) = spark_job(made, names, replace(snapshot(), segments={"t": KNOWN})).inputs
    assert isinstance(item, DruidInput)
    return item


def test_fields_and_their_types() -> None:
    scan = scanned("SELECT page, price, code, payload, ids, latest, users FROM t").scan
    assert isinstance(scan, FileScan)
    assert dict(zip(scan.fields, scan.types, strict=True)) == {
        "page": "STRING", "price": "DOUBLE", "code": "STRING", "payload": "STRING", "ids": "ARRAY<LONG>", "latest": "STRING",
        "users": "STRING",
    }  # fmt: skip


@pytest.mark.parametrize("condition", ["price > 5", "code = '7'", "price IS NULL", "ids IS NULL"])
def test_spark_evaluates_conditions_on_columns_of_several_types(condition: str) -> None:
    item = scanned(f"SELECT page FROM t WHERE {condition} AND page = 'x'")
    assert isinstance(item.scan, FileScan)
    assert set(item.scan.fields) == {"page", condition.split(maxsplit=1)[0]}
    assert item.read.query["filter"]["column"] == "page"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT other FROM t",
        "SELECT get_json_object(payload, '$.a'), soundex(page) FROM t",
        "SELECT page FROM t WHERE get_json_object(payload, '$.a') = 'x'",
    ],
)
def test_queries_that_druid_answers(sql: str) -> None:
    """Values that are not read from files, and values at paths, for which Druid need not return the documents."""
    assert scanned(sql).scan is None


@pytest.mark.parametrize(
    ("sql", "fields"),
    [
        ("SELECT page, ids, page FROM t", ("page", "ids", "page")),
        ("SELECT price FROM t WHERE page = 'x' AND `__time` > '2024-01-01'", ("price",)),
        ("SELECT payload FROM t WHERE page IS NULL", ("payload",)),
        ("SELECT page FROM t WHERE price > 5", None),
        ("SELECT upper(page) FROM t", None),
        ("SELECT page, other FROM t", None),
        ("SELECT page FROM t LIMIT 3", None),
        ("SELECT page, `__time` FROM t ORDER BY `__time`", None),
        ("SELECT page FROM t GROUP BY page", None),
        ("SELECT count(*) FROM t", None),
    ],
)
def test_results(sql: str, fields: tuple[str, ...] | None) -> None:
    """Only what the reader of files computes alone; all else is queried."""
    made = plan(sql, tables=(TABLE,), settings={READ: "segments"})
    scan = SegmentScans(made, {"t": KNOWN}, {}).of_result()
    assert (None if scan is None else scan.fields) == fields


@pytest.mark.parametrize(
    ("rows", "change", "is_read"),
    [
        (10_000, {}, True),
        (9_999, {}, False),
        (20_000_000, {}, True),
        (20_000, {"growing": (SegmentKey(0, 1, "v", 0),)}, False),
        (20_000, {"files": (replace(KNOWN.files[0], location="s3://bucket/segment"),)}, False),
    ],
)
def test_auto_reads_many_rows_of_this_machine(rows: int, change: dict[str, Any], is_read: bool) -> None:
    made = plan("SELECT page FROM t", tables=(TABLE,), settings={READ: "auto"})
    known = replace(KNOWN, statistics=TableStatistics(rows=rows), **change)
    scan = SegmentScans(made, {"t": known}, {}).of_result()
    assert (scan is not None and scan.is_in_process) == is_read
