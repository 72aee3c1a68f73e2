"""Batches of JSON records that Arrow parses, and those that are left to `plain_json`; tests/unit/spark/test_plain_json.py
compares both with SQL."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from hivedruid.uniform_json import UniformJson


def parser() -> UniformJson:
    return UniformJson({"a": pa.int64(), "b": pa.string(), "d": pa.float64()})


def rows(values: list[bytes | None], by: UniformJson | None = None) -> list[Any] | None:
    columns = (by or parser()).columns(pa.array(values, pa.binary()))
    return None if columns is None else [column.to_pylist() for column in columns]


def test_columns_of_records() -> None:
    values = [b'{"a":1,"b":"x","d":1}', b' {"d":-0.5,"b":null} \n', b'{\n "b":\n "\\u00e9"\n}']
    assert rows([*values]) == [[1, None, None], ["x", None, "é"], [1.0, -0.5, None]]


def test_names_that_are_not_columns() -> None:
    """They are learned from the first batch; others of their type, and nested ones, may follow."""
    by = parser()
    assert rows([b'{"a":1,"x":1,"y":{"z":[1]},"t":"2024-01-01"}'], by) == [[1], [None], [None]]
    assert rows([b'{"a":2,"x":0.5,"y":{"z":[]},"t":"text"}', b'{"a":3}'], by) == [[2, 3], [None] * 2, [None] * 2]
    assert rows([b'{"a":4,"w":true}'], by) == [[4], [None], [None]], "another shape"


def test_names_in_another_case() -> None:
    by = parser()
    assert rows([b'{"A":1,"b":"x"}'], by) == [[1], ["x"], [None]]
    assert rows([b'{"A":2,"D":1}'], by) == [[2], [None], [1.0]]
    assert rows([b'{"a":3}'], by) == [[3], [None], [None]]
    assert rows([b'{"a":3}', b'{"A":4}'], by) is None
    assert rows([b'{"\xe2\x84\xaa":1}'], by) is None, "the Kelvin sign, which is k in lower case"


@pytest.mark.parametrize(
    "values",
    [
        [], [None], [b""], [b"null"], [b"[]"], [b"1"], [b'{"a":1'], [b'{"a":1}{"a":2}'], [b'{"a":1} x'],
        [b'{"a":[{}', b"{}]}"], [b'{"b":"{}', b'{"b":"}'], [b'{"a":1}{"a":2}', b""], [b'{"a":1,"a":2}'],
        [b'{"x":1,"x":2}'], [b'{"a":"1"}'], [b'{"a":1.0}'], [b'{"a":9223372036854775808}'], [b'{"b":1}'],
        [b'{"d":NaN}'], [b'{"x":NaN}'], [b'{"x":[{"y":Infinity}]}'], [b'{"d":1e400}'], [b'{"d":-0}'],
        [b'{"b":"\xff"}'], [b'{"x":"\xed\xa0\x80"}'], [b'{"b":"\\ud800"}'], [b'{"b":"a\tb"}'], [b"{'a':1}"], [b'{"a":1,}'],
        [b'{"a":1}', None], [b'{"x":1}', b'{"x":"y"}'],
    ],
)  # fmt: skip
def test_batches_that_are_left(values: list[bytes | None]) -> None:
    assert rows(values) is None


def test_names_that_are_data() -> None:
    """They are not made into a schema that grows without limit, nor looked for again in each batch."""
    by = parser()
    assert rows([f'{{"a":1,"x":{{"{"k" * 9}{number}":1}}}}'.encode() for number in range(2_000)], by) is None
    assert rows([b'{"a":1}'], by) is None


def test_nested_deeper_than_the_stack() -> None:
    assert rows([b'{"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}"]) is None
