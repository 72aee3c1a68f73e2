"""The groups of RegexSerDe's regular expression."""

from __future__ import annotations

import pytest

from hivedruid.spark.regex_serde import groups


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("a", 0),
        ("(a)(b(c))", 3),
        (r"\((a)\)", 1),
        ("(?:a)(?i)(?=b)(?<!c)(?<name>d)", 1),
        ("[(](a)[^)(]", 1),
        ("[]()](a)", 1),
        (r"\Q(x\E(a)", 1),
        (r"[\](](a)", 1),
    ],
)
def test_groups_are_counted_as_in_java(pattern: str, count: int) -> None:
    assert groups(pattern) == count
