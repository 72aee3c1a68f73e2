"""Results of Druid 33.0.0, recorded from a cluster of that version: expressions, filters, whole native queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hivedruid.embedded.store import EmbeddedStore
from hivedruid.errors import DruidError

DATA = Path(__file__).parent / "data"


def lines(name: str) -> list[str]:
    return (DATA / name).read_text().splitlines()


ROW = {
    "__time": ("LONG", 1442019600000),
    "s": ("STRING", "abcdef"),
    "l": ("LONG", 7),
    "d": ("DOUBLE", 7.9),
    "num": ("STRING", "12.7"),
    "e": ("STRING", ""),
    "t": ("LONG", 1442019600000),
    "sun": ("LONG", 1442106000000),
}
"""The row that the expressions are evaluated on; `n` is a column that does not exist. 2015-09-12T01:00Z, a Saturday."""


def evaluate(store: EmbeddedStore, expression: str) -> Any:
    query = {
        "queryType": "scan",
        "dataSource": {
            "type": "inline",
            "columnNames": list(ROW),
            "columnTypes": [type_ for type_, _ in ROW.values()],
            "rows": [[value for _, value in ROW.values()]],
        },
        "intervals": ["0000/3000"],
        "virtualColumns": [{"type": "expression", "name": "v", "expression": expression}],
        "columns": ["v"],
        "resultFormat": "compactedList",
    }
    return store.answer(query)[0]


@pytest.mark.parametrize("line", lines("expressions.tsv"), ids=lambda line: line.split("\t")[0])
def test_expression(recorded: EmbeddedStore, line: str) -> None:
    expression, type_, value = line.split("\t")
    answer = evaluate(recorded, expression)
    got = answer["events"][0][0]
    wanted = json.loads(value)
    assert (type(got), got) == (type(wanted), wanted)
    if type_ != "null" and got not in ("NaN", "Infinity", "-Infinity") and not type_.startswith("FLOAT"):
        assert answer["rowSignature"][0]["type"] == ("STRING" if isinstance(wanted, str) else type_)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("l / 0", "/ by zero"),
        ("7 % 0", "/ by zero"),
        ("div(l, 0)", "/ by zero"),
        ("if(0 == 0, null, div(3, 0))", "/ by zero"),  # constants are folded first, in spite of guarding conditions
        ("if(0 == 0, null, 3 % 0)", "/ by zero"),
        ("substring(s, -1, 3)", "begin -1"),
        ("left(s, -1)", "needs a positive integer"),
        ("2 ^ -1", "must be >= 0"),
        ("trunc(d)", "function 'trunc' is not defined"),
        ("roumd(d)", "function 'roumd' is not defined"),
        ("log(2, 8)", "Function\\[log\\] requires 1 argument"),
        ("substring(s, 0)", "Function\\[substring\\] requires 3 arguments"),
        ("9223372036854775808", "out of the range of LONG"),
        ("timestamp_floor(t, 'P1W', '', 'UTC')", 'Invalid format: ""'),
        ("timestamp_floor(t, 'junk')", "Invalid period 'junk'"),
        ("timestamp_floor(t, 'P1D', null, 'Nowhere/Land')", "Unknown TimeZone 'Nowhere/Land'"),
        ("timestamp_parse('2020-01-01', '', 'UTC')", "Invalid pattern specification"),
        ("timestamp_extract(t, 'MICROSECOND', 'UTC')", "does not support the unit 'MICROSECOND'"),
        ("timestamp('junk')", "Invalid format"),
        ("unix_timestamp(t)", "first argument should be a STRING but got LONG"),
        ("'a' - 'b'", "operator '-' is not supported on type STRING"),
        ("CAST(1, 'BIGINT')", "does not support the type 'BIGINT'"),
        ("regexp_extract(s, 'b', 1)", "No group 1"),
        ("regexp_like(s, '(?=b)')", "look-around"),
        ("mv_to_array('a')", "should be an identifier"),
        ("like(s, s)", "must be a literal"),
    ],
)
def test_expression_error(recorded: EmbeddedStore, expression: str, message: str) -> None:
    with pytest.raises(DruidError, match=message) as error:
        evaluate(recorded, expression)
    assert "\n" not in error.value.message


@pytest.mark.parametrize("operator", ["==", "!=", "<", ">="])
def test_a_comparison_of_null_with_nan_is_null(recorded: EmbeddedStore, operator: str) -> None:
    missing = "CAST(regexp_extract(s, 'x'), 'DOUBLE')"
    for left, right in (("NaN", missing), (missing, "NaN")):
        assert evaluate(recorded, f"{left} {operator} {right}")["events"] == [[None]]


def test_misspelt_function_has_a_hint(recorded: EmbeddedStore) -> None:
    with pytest.raises(DruidError) as error:
        evaluate(recorded, "strlem(s)")
    assert error.value.hint == "did you mean 'strlen'?"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("if(l == 0, 1 / l, 5)", None),
        ("case_searched(isnull(num), 1, l > 3, 9 / (l - 6), 9 / (l - 7))", 9),
        ("(l != 7) && (9 / (l - 7) > 1)", 0),
        ("(l == 7) || (9 / (l - 7) > 1)", 1),
    ],
)
def test_guarded_division(recorded: EmbeddedStore, expression: str, value: int | None) -> None:
    assert evaluate(recorded, expression.replace("5)", "null)"))["events"][0][0] == value


@pytest.mark.parametrize("line", lines("filters.jsonl"))
def test_filter(recorded: EmbeddedStore, line: str) -> None:
    case = json.loads(line)

    def kept(spec: dict[str, Any]) -> list[int]:
        query = {"queryType": "scan", "dataSource": "values", "intervals": ["0000/3000"], "columns": ["id"]}
        answer = recorded.answer({**query, "filter": spec, "resultFormat": "compactedList"})
        return [event[0] for part in answer for event in part["events"]]

    assert kept(case["filter"]) == case["true"]
    assert kept({"type": "not", "field": case["filter"]}) == case["false"]


def same(one: Any, other: Any) -> bool:
    """Equal, except for the last digits of a double."""
    if type(one) is not type(other):
        return False
    match one:
        case float():
            return one == other or abs(one - other) <= 1e-12 * max(abs(one), abs(other))
        case list():
            return len(one) == len(other) and all(map(same, one, other))
        case dict():
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


@pytest.mark.parametrize("line", lines("answers.jsonl"), ids=lambda line: str(json.loads(line)["query"]["queryType"]))
def test_query(recorded: EmbeddedStore, line: str) -> None:
    case = json.loads(line)
    answer: Any = recorded.answer(case["query"])
    if case["query"]["queryType"] == "scan":  # a broker returns its rows in parts, one for each segment
        answer = [event for part in answer for event in part["events"]]
    assert same(answer, case["answer"]), answer
