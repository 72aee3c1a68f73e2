"""A pattern that is compiled at its first use does what `re.compile` gives."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from hivedruid.lazy_regex import regex

CALLS: list[Callable[[re.Pattern[str]], Any]] = [
    lambda of: of.sub("-", "ab AB"),
    lambda of: of.fullmatch("ab"),
    lambda of: [match.span("x") for match in of.finditer("ab AB")],
    lambda of: (of.pattern, of.flags, of.groups, of.groupindex),
    lambda of: (of.search("ab") is not None, of.search("") is None),
]


@pytest.mark.parametrize("call", CALLS)
def test_the_first_call_and_the_second_are_those_of_a_pattern(call: Callable[[re.Pattern[str]], Any]) -> None:
    lazy = regex("a(?P<x>b)", re.I)
    expected = repr(call(re.compile("a(?P<x>b)", re.I)))
    assert [repr(call(lazy)), repr(call(lazy))] == [expected] * 2


def test_copies() -> None:
    lazy = regex("a")
    assert all(each.sub("b", "a") == "b" for each in (copy.copy(lazy), copy.deepcopy(lazy)))


def test_a_wrong_pattern_is_told_at_the_first_use() -> None:
    with pytest.raises(re.error, match="unterminated"):
        regex("(").search("")
