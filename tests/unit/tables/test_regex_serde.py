"""The groups of RegexSerDe's regular expression."""

from __future__ import annotations

import pytest

from hivedruid.spark.serde import group_texts


@pytest.mark.parametrize(
    ("pattern", "groups"),
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
def test_groups_are_counted_as_in_java(pattern: str, groups: int) -> None:
    texts = group_texts("value", 4, {"input.regex": pattern})
    assert [text == "CAST(NULL AS STRING)" for text in texts] == [number > groups for number in range(1, 5)]
