"""Nested calls: an expression that is used several times is computed once, and the results do not change."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.embedded.binding import factor, is_long, once
from hivedruid.embedded.expressions import translate
from hivedruid.embedded.macros import MACROS
from hivedruid.embedded.sql import Sql, identifier
from hivedruid.embedded.store import EmbeddedStore

COLUMNS = {"__time": "LONG", "s": "STRING", "l": "LONG", "d": "DOUBLE"}
ROWS: list[list[Any]] = [
    [1442019600000, "12ab", 7, 2.5],
    [1446366600000, None, None, None],  # 2015-11-01 01:30 in Los Angeles, the first of two
]
MOST_COPIES = 50
ZONE = "'America/Los_Angeles'"


def values(store: EmbeddedStore, expression: str) -> list[Any]:
    query = {
        "queryType": "scan",
        "dataSource": {
            "type": "inline",
            "columnNames": list(COLUMNS),
            "columnTypes": list(COLUMNS.values()),
            "rows": ROWS,
        },
        "intervals": ["0000/3000"],
        "virtualColumns": [{"type": "expression", "name": "v", "expression": expression}],
        "columns": ["v"],
        "resultFormat": "compactedList",
    }
    return [event[0] for event in store.answer(query)[0]["events"]]


def sql(expression: str) -> str:
    return translate(expression, lambda name: Sql(identifier(name), COLUMNS[name])).text


def nested(template: str, innermost: str, depth: int) -> str:
    for _ in range(depth):
        innermost = template.format(innermost)
    return innermost


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (nested("timestamp_parse(timestamp_format({}, null, " + ZONE + "), null, " + ZONE + ")", "__time", 6),
         [1442019600000, 1446366600000]),
        (nested("timestamp_floor({}, 'P1M', null, " + ZONE + ")", "__time", 8), [1441090800000, 1446361200000]),
        (nested("timestamp_shift(timestamp_ceil({}, 'P1D', null, " + ZONE + "), 'P1D', -1, " + ZONE + ")", "__time", 6),
         [1441522800000, 1445929200000]),
        (nested("lpad({}, 6, '0')", "s", 8), ["0012ab", None]),
        (nested("cast(cast({}, 'STRING'), 'DOUBLE')", "d", 8), [2.5, None]),
        (nested("substring({}, cast(concat('', 0), 'LONG'), strlen(s))", "s", 6), ["12ab", None]),
        (nested("(({} + 1) * 3 - 3) / 3", "l", 10), [7, None]),
        (nested("case_searched({0} == 7, {0}, 0)", "l", 4), [7, 0]),
        (nested("case_simple({}, 7, 7, 0)", "l", 12), [7, 0]),
        (nested("nvl(regexp_extract({}, '[0-9a-z]+', 0), 'x')", "s", 12), ["12ab", "x"]),
        (nested("abs(-(round({}, -1)))", "l", 8), [10, None]),
        (" && ".join(f"(100 / l) > {n}" for n in range(14)), [1, None]),
    ],
)  # fmt: skip
def test_calls_within_calls_are_answered_at_once(recorded: EmbeddedStore, expression: str, expected: list[Any]) -> None:
    assert len(sql(expression)) < 400 * len(expression)  # if each call doubled its argument, it would be millions
    assert values(recorded, expression) == expected


@pytest.mark.parametrize(
    "expression",
    ["l * 2 + 1", "lpad(s, 6, '0')", "substring(s, 0, 2)", f"timestamp_floor(__time, 'P1M', null, {ZONE})", "cast(d, 'LONG')"],
)  # fmt: skip
def test_functions_of_columns_have_no_let(expression: str) -> None:
    assert "lambda b" not in sql(expression)


def test_what_a_condition_guards_stays_guarded(recorded: EmbeddedStore) -> None:
    deep = nested("({} + 1 - 1)", "l", 8)
    assert values(recorded, f"case_searched(l == 7, 1, 100 / ({deep} - 7))") == [1, None]
    assert values(recorded, f"{deep} != 7 && (100 / ({deep} - 7)) > 1") == [0, None]
    assert values(recorded, f"case_simple({deep}, 7, 1, 100 / ({deep} - 7))") == [1, None]


def test_a_text_is_named_only_where_it_is_used_twice() -> None:
    text = "length(" + "x" * 400 + ")"
    assert is_long(text)
    assert once([text], lambda texts: f"abs({texts[0]})") == f"abs({text})"
    assert once([text], lambda texts: f"{texts[0]} * {texts[0]}") == (
        f"list_transform([{{'f0': {text}}}], lambda b0: b0.f0 * b0.f0)[1]"
    )
    assert once([text], lambda texts: f"druid_divide({texts[0]}, 2)").startswith("list_transform([{")
    assert once([text], lambda texts: f"druid_wrap({texts[0]})") == f"druid_wrap({text})"


@pytest.mark.parametrize("signature", MACROS)
def test_no_macro_copies_an_argument_often(signature: str) -> None:
    """DuckDB takes 0.4 s to bind a macro that copies its arguments 700 times."""
    assert factor(signature.partition("(")[0]) < MOST_COPIES
