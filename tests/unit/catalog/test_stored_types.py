"""The common type of segments, and how columns read it. Druid's rule was read from ColumnType.leastRestrictiveType."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from hivedruid.catalog.stored_types import CAST, JSON, MIXED, ROWS, common_type, reading_of, schema_of
from hivedruid.catalog.types import BIGINT, DOUBLE, FLOAT, STRING, array_of
from tests.support import data_sources

PAGE = Path(__file__).parents[3] / "docs" / "data-sources.md"


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["LONG"], "LONG"),
        (["LONG", "FLOAT"], "DOUBLE"),
        (["FLOAT", "DOUBLE", "LONG"], "DOUBLE"),
        (["STRING", "DOUBLE", "LONG"], "STRING"),
        (["ARRAY<STRING>", "STRING"], "ARRAY<STRING>"),
        (["ARRAY<LONG>", "STRING", "DOUBLE"], "ARRAY<STRING>"),
        (["ARRAY<LONG>", "DOUBLE"], "ARRAY<DOUBLE>"),
        (["COMPLEX<json>", "LONG", "STRING"], "COMPLEX<json>"),
        (["COMPLEX<json>", "ARRAY<LONG>"], "COMPLEX<json>"),
        (["COMPLEX<thetaSketch>", "STRING"], "STRING"),
        (["COMPLEX<thetaSketch>", "COMPLEX<hyperUnique>"], "STRING"),
    ],
)
def test_the_common_type_does_not_depend_on_the_order(types: list[str], expected: str) -> None:
    assert {common_type(order) for order in permutations(types)} == {expected}


def test_a_schema_counts_the_segments_of_each_type() -> None:
    segments = [{"a": "LONG", "b": "STRING"}, {"a": "DOUBLE", "b": "ARRAY<STRING>"}, {"a": "LONG", "c": "LONG"}]
    schema = schema_of(segments)
    assert dict(schema) == {"__time": "LONG", "a": "DOUBLE", "b": "ARRAY<STRING>", "c": "LONG"}
    assert schema.differing == {"a": {"LONG": 2, "DOUBLE": 1}}, "a multi-value string has one type in Druid"
    assert not schema_of([])


def test_readings() -> None:
    assert reading_of(BIGINT, "LONG") == ""
    assert reading_of(STRING, "ARRAY<STRING>") == ""
    assert reading_of(STRING, "LONG") == CAST
    assert reading_of(DOUBLE, "LONG") == CAST
    assert reading_of(DOUBLE, "FLOAT") == reading_of(FLOAT, "FLOAT") == ""
    assert reading_of(STRING, "FLOAT") == ROWS
    assert reading_of(STRING, "COMPLEX<json>") == JSON
    assert reading_of(STRING, "COMPLEX<thetaSketch>") == ROWS
    assert reading_of(array_of(BIGINT), "ARRAY<LONG>") == ROWS
    assert reading_of(array_of(STRING), "ARRAY<STRING>", ("ARRAY<STRING>", "LONG")) == MIXED
    assert reading_of(DOUBLE, "DOUBLE", ("DOUBLE", "LONG")) == CAST
    assert reading_of(DOUBLE, "DOUBLE", ("DOUBLE", "FLOAT")) == MIXED


def test_the_page_lists_every_kind() -> None:
    assert data_sources.table() in PAGE.read_text(encoding="utf-8")
