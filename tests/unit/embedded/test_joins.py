"""Native joins and unnests on the embedded store: it refuses queries that Druid refuses or answers wrongly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivedruid.embedded.store import EmbeddedStore
from hivedruid.errors import DruidError
from tests.support.loads import ingest
from tests.support.native_json import COUNT, Json, equals, inline, inner_scan, join, scan, total, virtual

START = 1704067200000
DAY = 86_400_000
KEYS = inline("k:STRING n:LONG", ["a", 1], ["a", 2], ["c", 3], [None, 4])
ON = '(s == "j0.k")'


@pytest.fixture
def filled(store: EmbeddedStore, index_task: Callable[..., Json], write_rows: Callable[..., Path]) -> EmbeddedStore:
    rows = [{"__time": START + i * DAY, "s": s, "m": m, "l": i} for i, (s, m) in enumerate([("a", ["x", "y"]), ("b", "x"), (None, None)])]  # fmt: skip
    ingest(store, index_task("t", write_rows(rows), {"s": "string", "m": "string", "l": "long"}))
    return store


def rows(store: EmbeddedStore, query: Json) -> list[Any]:
    """The rows of a scan, in any order."""
    return sorted((row for part in store.answer(query) for row in part["events"]), key=repr)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("INNER", [["a", 1], ["a", 2]]),
        ("LEFT", [["a", 1], ["a", 2], ["b", None], [None, None]]),
        ("RIGHT", [["a", 1], ["a", 2], [None, 3], [None, 4]]),
        ("FULL", [["a", 1], ["a", 2], ["b", None], [None, 3], [None, 4], [None, None]]),
    ],
)
def test_join(filled: EmbeddedStore, kind: str, expected: list[Any]) -> None:
    left = inner_scan("t", "s:STRING")
    assert rows(filled, scan(join(left, KEYS, ON, kind), "s", "j0.n")) == expected


@pytest.mark.parametrize("kind", ["RIGHT", "FULL"])
def test_stored_rows_have_no_right_join(filled: EmbeddedStore, kind: str) -> None:
    with pytest.raises(DruidError, match=f"a {kind} join with stored rows on its left") as error:
        filled.answer(scan(join("t", KEYS, ON, kind), "s"))
    assert error.value.hint == "make the left side a query"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (join("t", KEYS, '(m == "j0.k")'), "multi-value dimension"),
        (join("t", inner_scan("t", "m:STRING"), '(s == "j0.m")'), "multi-value dimension"),
        (join("t", inline("s:STRING", ["a"]), '("x" == "j0.s")', "SIDEWAYS"), "SIDEWAYS"),
        (join(inline("ab:STRING", ["x"]), inline("b:STRING", ["x"]), "(ab == ab)", prefix="a"), "two columns named 'ab'"),
        (join("t", KEYS, '(s == "j0.k") && (l > "j0.n")'), "non-equi-join condition"),
    ],
)  # fmt: skip
def test_refused_joins(filled: EmbeddedStore, source: Json, message: str) -> None:
    with pytest.raises(DruidError, match=message):
        filled.answer(scan(source, "s"))


def test_keys_that_are_no_numbers_alike_do_not_match(filled: EmbeddedStore) -> None:
    left = inline("a:DOUBLE", [1.0], [-0.0], [0.5], [9007199254740992.0])
    right = inline("b:LONG", [1], [0], [9007199254740993])
    assert rows(filled, scan(join(left, right, '(a == "j0.b")'), "a", "j0.b")) == [[1.0, 1]]


def test_buckets_without_end_over_rows_without_segments(filled: EmbeddedStore) -> None:
    daily = {**total(inner_scan("t", "__time:LONG"), COUNT), "granularity": "day"}
    with pytest.raises(DruidError, match="bounded intervals"):
        filled.answer(daily)
    answer = filled.answer({**daily, "intervals": ["2023-12-31/P4D"]})
    assert [bucket["result"]["c"] for bucket in answer] == [0, 1, 1, 1]


def test_no_row_of_a_right_join_is_lost_to_the_intervals(filled: EmbeddedStore) -> None:
    source = join(inner_scan("t", "__time:LONG s:STRING"), KEYS, ON, "RIGHT")
    query = {**scan(source, "s", "j0.n"), "intervals": ["2024-01-02/P1D"]}
    assert rows(filled, query) == [[None, 1], [None, 2], [None, 3], [None, 4]]


def test_unnest(filled: EmbeddedStore) -> None:
    def source(expression: str, **more: Any) -> Json:
        return {"type": "unnest", "base": {"type": "table", "name": "t"}, "virtualColumn": virtual("u", expression, "STRING"), **more}  # fmt: skip

    assert rows(filled, scan(source('"m"'), "l", "u")) == [[0, "x"], [0, "y"], [1, "x"], [2, None]]
    assert rows(filled, scan(source("mv_to_array(m)"), "l", "u")) == [[0, "x"], [0, "y"], [1, "x"]]
    assert rows(filled, scan(source('"m"', unnestFilter=equals("u", "y")), "l", "u")) == [[0, "y"]]
    hiding = {**source("mv_to_array(m)"), "virtualColumn": virtual("l", "mv_to_array(m)", "STRING")}
    assert rows(filled, scan(hiding, "l", "s")) == [["x", "a"], ["x", "b"], ["y", "a"]]
