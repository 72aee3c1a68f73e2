from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.errors import DruidError
from hivedruid.responses.stream import JsonStream, TruncatedError

VALUES = [1, -2.5, 'a,]b"é😀', None, True, [1, [2, 3]], {"k": [{"z": "}]"}]}, 9007199254740993, [], {}, "", 1e22]
TEXT = json.dumps(VALUES, ensure_ascii=False).encode()


def pieces(text: bytes, size: int) -> list[bytes]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 1000])
def test_items_are_the_same_however_the_text_is_cut(size: int) -> None:
    stream = JsonStream(pieces(TEXT, size))
    assert list(stream.array()) == VALUES
    stream.end()


TEXTS = st.text('[]{},":\\é', max_size=6)
CELLS = st.one_of(
    st.none(), st.integers(), st.floats(allow_nan=False), TEXTS, st.lists(st.lists(TEXTS, max_size=2), max_size=2),
    st.dictionaries(TEXTS, TEXTS, max_size=2),
)  # fmt: skip
ROWS = st.lists(st.lists(CELLS, max_size=3), max_size=6) | st.lists(
    st.dictionaries(TEXTS, CELLS, max_size=3), max_size=6
)


@given(st.lists(ROWS, max_size=4), st.integers(1, 200))
def test_rows_are_the_same_however_the_text_is_cut(batches: list[list[Any]], size: int) -> None:
    """Whole rows are decoded together, without the brackets and commas in their strings and those of later arrays."""
    text = json.dumps([{"events": rows} for rows in batches], ensure_ascii=False, separators=(",", ":"))
    stream = JsonStream(pieces(text.encode(), size))
    stream.expect("[")
    found: list[list[Any]] = []
    while stream.peek() != "]":
        if found:
            stream.expect(",")
        found += [list(stream.array()) for key in stream.object() if key == "events"]
    stream.expect("]")
    stream.end()
    assert found == batches


@pytest.mark.parametrize("length", range(len(TEXT)))
def test_a_text_that_ends_too_early_is_truncated(length: int) -> None:
    stream = JsonStream(pieces(TEXT[:length], 5))
    with pytest.raises(TruncatedError):
        list(stream.array())


def test_what_has_come_is_given_before_the_text_turns_out_to_be_truncated() -> None:
    items = JsonStream([b"[[1,2],", b"[3,4],[5"]).array()
    assert [next(items), next(items)] == [[1, 2], [3, 4]]
    with pytest.raises(TruncatedError):
        next(items)


def test_an_object_is_read_key_by_key() -> None:
    stream = JsonStream([b' { "a" : [1,', b'2] , "b": 17} '])
    found = {key: stream.value() for key in stream.object()}
    assert found == {"a": [1, 2], "b": 17}
    stream.end()


def test_an_empty_array_and_an_empty_object() -> None:
    assert list(JsonStream([b" [ ] "]).array()) == []
    assert list(JsonStream([b"{}"]).object()) == []


@pytest.mark.parametrize("text", [b'{"error": 1}', b"[1 2]", b"<html>"])
def test_what_is_no_such_json_is_an_error(text: bytes) -> None:
    with pytest.raises(DruidError, match="not JSON rows"):
        list(JsonStream([text]).array())


def test_something_after_the_end_is_an_error() -> None:
    stream = JsonStream([b"[1]", b"\n", b"x"])
    assert list(stream.array()) == [1]
    with pytest.raises(DruidError, match="not JSON"):
        stream.end()


def test_what_is_no_utf_8_is_an_error() -> None:
    with pytest.raises(DruidError, match="UTF-8"):
        list(JsonStream([b'["\xff"]']).array())
