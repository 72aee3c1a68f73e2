"""Recorded responses of Druid 33, decoded."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest

from hivedruid.catalog.types import BIGINT, DOUBLE, STRING, TIMESTAMP, HiveType, array_of
from hivedruid.errors import DruidError
from hivedruid.plan.physical import DruidRead, Field
from hivedruid.responses import answers
from hivedruid.responses.stream import TruncatedError

SCAN = {"queryType": "scan", "dataSource": "d"}


def rows(query: dict[str, Any], fields: Sequence[tuple[str, HiveType]], answer: Any, size: int = 11) -> list[Any]:
    text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    read = DruidRead(query, tuple(Field(name, type_) for name, type_ in fields))
    return list(answers.rows(read, [text[at : at + size] for at in range(0, len(text), size)]))


def batch(columns: list[str], *events: list[Any]) -> dict[str, Any]:
    return {"segmentId": "d_1", "columns": columns, "events": list(events), "rowSignature": [{"name": "x"}]}


def test_a_scan_in_the_order_of_its_fields() -> None:
    answer = [
        batch(["__time", "s"], [1, "a"], [2, None]),
        batch(["__time", "s"]),
        batch(["s", "__time"], [["b", "c"], 3]),
    ]
    assert rows(SCAN, [("s", STRING), ("__time", TIMESTAMP)], answer) == [("a", 1), (None, 2), ('["b","c"]', 3)]
    assert rows(SCAN, [("__time", TIMESTAMP), ("s", STRING)], answer) == [(1, "a"), (2, None), (3, '["b","c"]')]
    assert rows(SCAN, [("s", STRING)], answer) == [("a",), (None,), ('["b","c"]',)]
    assert rows(SCAN, [("s", STRING), ("s", STRING)], answer)[0] == ("a", "a")
    assert rows(SCAN, [], answer) == [(), (), ()]


def test_a_scan_without_rows() -> None:
    assert rows(SCAN, [("s", STRING)], []) == []


def test_a_field_that_the_answer_has_not() -> None:
    with pytest.raises(DruidError, match="no field 'z'; its fields are s"):
        rows(SCAN, [("z", STRING)], [batch(["s"], ["a"])])


def test_not_a_number_and_infinities_are_floats_only_in_number_columns() -> None:
    answer = [batch(["d", "s"], ["NaN", "NaN"], ["-Infinity", "Infinity"], [1.5, "x"], [None, None])]
    found = rows(SCAN, [("d", DOUBLE), ("s", STRING)], answer)
    assert math.isnan(found[0][0])
    assert found[0][1] == "NaN"
    assert found[1:] == [(-math.inf, "Infinity"), (1.5, "x"), (None, None)]


def test_whole_numbers_stay_exact() -> None:
    assert rows(SCAN, [("l", BIGINT)], [batch(["l"], [9007199254740993])]) == [(9007199254740993,)]


def test_a_multi_value_is_a_list() -> None:
    answer = [batch(["m"], [["a", "b"]], ["c"], [None])]
    assert rows(SCAN, [("m", array_of(STRING))], answer) == [(["a", "b"],), ("c",), (None,)]


def test_values_of_other_types_than_the_field() -> None:
    """Columns of Druid may have values of several types, in one segment or in several."""
    answer = [batch(["x"], [1], [2.5], [True], ["a"], [{"a": [1.5, None]}], [[1, "b"]], [1e10], [None])]
    texts = ["1", "2.5", "true", "a", '{"a":[1.5,null]}', '[1,"b"]', "1.0E10", None]
    assert [row[0] for row in rows(SCAN, [("x", STRING)], answer)] == texts
    answer = [batch(["x"], [[1, None]], [2], [[]], [None])]
    assert rows(SCAN, [("x", array_of(STRING))], answer) == [(["1", None],), ("2",), ([],), (None,)]
    assert rows(SCAN, [("x", array_of(BIGINT))], answer) == [([1, None],), (2,), ([],), (None,)]
    assert repr(rows(SCAN, [("x", array_of(DOUBLE))], answer)) == "[([1.0, None],), (2.0,), ([],), (None,)]"
    assert repr(rows(SCAN, [("x", DOUBLE)], [batch(["x"], [3], ["NaN"])])) == "[(3.0,), (nan,)]"


def test_timeseries_times_are_milliseconds() -> None:
    answer = [
        {"timestamp": "2013-06-30T17:00:00.000-07:00", "result": {"n": 1, "x": "NaN"}},
        {"timestamp": None, "result": {"n": 2, "x": 0.5}},
    ]
    found = rows({"queryType": "timeseries"}, [("timestamp", TIMESTAMP), ("n", BIGINT), ("x", DOUBLE)], answer)
    assert found[0][:2] == (1372636800000, 1)
    assert math.isnan(found[0][2])
    assert found[1] == (None, 2, 0.5)


def test_top_n() -> None:
    answer = [{"timestamp": "1970-01-01T00:00:00.000Z", "result": [{"s": None, "n": 1}, {"s": "a", "n": 2}]}]
    assert rows({"queryType": "topN"}, [("n", BIGINT), ("s", STRING)], answer) == [(1, None), (2, "a")]
    assert rows({"queryType": "topN"}, [("n", BIGINT)], [{"timestamp": "1970-01-01T00:00:00.000Z", "result": []}]) == []


def test_group_by() -> None:
    answer: list[Any] = [
        {"version": "v1", "timestamp": "1970-01-01T00:00:00.001Z", "event": {"s": "a", "n": 2, "p": None}}
    ]
    query = {"queryType": "groupBy"}
    assert rows(query, [("p", BIGINT), ("s", STRING), ("n", BIGINT)], answer) == [(None, "a", 2)]
    assert rows(query, [("timestamp", TIMESTAMP)], answer) == [(1,)]
    answer[0]["event"]["timestamp"] = "a column of that name"
    assert rows(query, [("timestamp", STRING)], answer) == [("a column of that name",)]


def test_time_boundary() -> None:
    answer = [
        {"timestamp": "x", "result": {"maxTime": "1970-01-01T00:00:00.005Z", "minTime": "1970-01-01T00:00:00.000Z"}}
    ]
    fields = [("minTime", TIMESTAMP), ("maxTime", TIMESTAMP)]
    assert rows({"queryType": "timeBoundary"}, fields, answer) == [(0, 5)]


@pytest.mark.parametrize("cut", [1, 2, 30, 75])
def test_an_answer_without_its_end_is_truncated(cut: int) -> None:
    text = json.dumps([batch(["l"], [1], [2], [3])]).encode()
    with pytest.raises(TruncatedError):
        rows(SCAN, [("l", BIGINT)], text[:-cut])


def test_a_query_without_rows() -> None:
    with pytest.raises(DruidError, match="segmentMetadata"):
        rows({"queryType": "segmentMetadata"}, [], [])


def test_scans_go_out_in_the_shortest_format_and_other_queries_as_they_are() -> None:
    assert answers.sent({"queryType": "scan", "resultFormat": "list"})["resultFormat"] == "compactedList"
    assert answers.sent({"queryType": "topN", "threshold": 1}) == {"queryType": "topN", "threshold": 1}
