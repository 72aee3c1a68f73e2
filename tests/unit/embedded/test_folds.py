"""Expression aggregators on the embedded store: aggregates of DuckDB and folds of a list have the same results."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.embedded.store import EmbeddedStore
from hivedruid.errors import DruidError
from tests.support.native_json import Json, bits, extreme, fold, group, inline, moments, total

ROWS = inline(
    "g:LONG s:STRING l:LONG d:DOUBLE",
    *[[i % 3, None if i % 5 == 0 else f"é{i % 7}", None if i % 4 == 0 else i * 37 - 200, i * 1.25 - 7] for i in range(40)],
)  # fmt: skip


def listed(aggregator: Json) -> Json:
    """The same fold in a form that the store does not recognize."""
    inner = aggregator.get("aggregator", aggregator)
    changed = inner | {"fold": f"nvl({inner['fold']}, null)"}
    if inner["initialValue"].startswith("ARRAY"):
        changed = inner | {"fold": inner["fold"].replace("+ 1.0", "+ 1.00000")}
        changed["fold"] = changed["fold"].replace("array_offset(__acc,0)", "(array_offset(__acc,0) * 1.0)", 1)
    return {**aggregator, "aggregator": changed} if "aggregator" in aggregator else changed


def near(value: Any) -> Any:
    return [float(f"{item:.12g}") for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "aggregator",
    [
        extreme("m", "s", ">"),
        extreme("m", "s", "<"),
        bits("m", "l", "bitwiseAnd", -1),
        bits("m", "l", "bitwiseOr", 0),
        bits("m", "l", "bitwiseXor", 0),
        moments("m", "d"),
        moments("m", "l"),
    ],
    ids=lambda spec: str(spec.get("aggregator", spec)["fold"])[:60],
)
def test_known_folds(store: EmbeddedStore, aggregator: Json) -> None:
    for query in (total(ROWS, aggregator), group(ROWS, "g:LONG", aggregator), total(ROWS, aggregator, filter={"type": "false"})):  # fmt: skip
        other = {**query, "aggregations": [listed(aggregator)]}
        known, folded = ([row.get("event", row.get("result", {})) for row in store.answer(q)] for q in (query, other))
        assert [near(row["m"]) for row in known] == [near(row["m"]) for row in folded]


@pytest.mark.parametrize(
    ("more", "expected"),
    [({}, None), ({"isNullUnlessAggregated": True}, None), ({"isNullUnlessAggregated": False}, 7)],
)
def test_a_fold_of_nothing(store: EmbeddedStore, more: Json, expected: int | None) -> None:
    spec = fold("m", "l", "7", "__acc + l", "__acc + m", **more)
    assert store.answer(total(ROWS, spec, filter={"type": "false"}))[0]["result"]["m"] == expected


def test_null_inputs_and_finalize(store: EmbeddedStore) -> None:
    values = inline("l:LONG", [1], [None], [2])
    poisoned = fold("m", "l", "0", "__acc + l", "__acc + m")
    assert store.answer(total(values, poisoned))[0]["result"]["m"] is None
    spared = poisoned | {"shouldAggregateNullInputs": False, "finalize": "o * 10"}
    assert store.answer(total(values, spared))[0]["result"]["m"] == 30


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (fold("m", "l", "null", "bitwiseAnd(__acc + 0, l)", "__acc"), "changes its type from STRING to LONG"),
        (fold("m", "s", "ARRAY<STRING>[]", "if(isnull(s), __acc, array_append(__acc, s))", "__acc"), "both scalar and array"),
        (fold("m", "s", "null", "concat(__acc, s)", ""), "has no combine"),
        (fold("m", "s", "''", "concat(__acc, d)", "__acc"), "reads 'd'"),
    ],
)  # fmt: skip
def test_refused_folds(store: EmbeddedStore, spec: Json, message: str) -> None:
    with pytest.raises(DruidError, match=message):
        store.answer(total(ROWS, spec))


def test_quantiles_are_values_of_the_data(store: EmbeddedStore) -> None:
    sketch = {"type": "quantilesDoublesSketch", "name": "q", "fieldName": "l"}
    field = {"type": "fieldAccess", "fieldName": "q"}
    post = {
        "type": "quantilesDoublesSketchToQuantiles",
        "name": "p",
        "fractions": [0.0, 0.5, 0.75, 1.0],
        "field": field,
    }
    values = inline("l:LONG", [10], [30], [None], [20], [40])
    assert store.answer(total(values, sketch, postAggregations=[post]))[0]["result"] == {"q": 4, "p": [10, 20, 30, 40]}
    above = {"type": "expression", "name": "e", "expression": "q * 2"}
    assert store.answer(total(values, sketch, postAggregations=[above]))[0]["result"]["e"] == 8
