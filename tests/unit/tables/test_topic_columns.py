"""Columns for the fields of JSON records."""

from __future__ import annotations

import pytest

from hivedruid.errors import SemanticError
from hivedruid.tables.topic_columns import topic_columns


def columns(*values: str) -> dict[str, str]:
    return {column.name: str(column.type) for column in topic_columns([v.encode() for v in values], "t")}


@pytest.mark.parametrize(
    ("texts", "type_"),
    [
        (("1", "-9223372036854775808"), "bigint"),
        (("1", "9223372036854775808"), "decimal(38,0)"),
        (("1", "1e400"), "double"),
        (("9" * 39,), "string"),
        (("1", "1.5"), "double"),
        (("9223372036854775808", "1.5"), "double"),
        (("true", "false"), "boolean"),
        (("true", "1"), "string"),
        (('"2024-01-01"',), "string"),
        (("null", "7"), "bigint"),
        (("null",), "string"),
        (("[]", "[1]", "[1.5, null]"), "array<double>"),
        (("[]",), "array<string>"),
        (("[1]", "1"), "string"),
        (('{"A": 1}', '{"a": 2.5, "b": [{}]}'), "struct<a:double,b:array<string>>"),
        (('{"a": 1}', "null", '"x"'), "string"),
        (("{}",), "string"),
    ],
)
def test_types(texts: tuple[str, ...], type_: str) -> None:
    assert columns(*(f'{{"c": {text}}}' for text in texts)) == {"c": type_}


def test_names_are_in_the_order_of_their_first_value_and_regardless_of_case() -> None:
    found = columns('{"b": 1, "A": 1, "__offset": 5}', '{"c": "x", "B": 1.5}')
    assert list(found.items()) == [("b", "double"), ("a", "bigint"), ("c", "string")]


@pytest.mark.parametrize("text", ["[1]", "x,y", "", "\x00\x00\x01"])
def test_records_that_are_not_objects(text: str) -> None:
    with pytest.raises(SemanticError, match="a record is not a JSON object"):
        columns('{"a": 1}', text)


def test_no_fields() -> None:
    for values in ((), ("{}",)):
        with pytest.raises(SemanticError, match="topic 't' has no records with fields"):
            columns(*values)
