"""Paths of get_json_object(); each was tested with Hive 4.0.1 over objects and arrays."""

from __future__ import annotations

import pytest

from hivedruid.plan.json_path import spark_path


@pytest.mark.parametrize(
    ("path", "spark"),
    [
        ("$", "$"),
        ("$.a.b[0][*]", "$['a']['b'][0][*]"),
        ("$.k e", "$['k e']"),
        ("$.a:b-c", "$['a:b-c']"),
        ("$[1].a", "$[1]['a']"),
        ("$.[0]", "$[0]"),
        ("$.a[-1]", "$['a']"),
        ("$.a[0:1]", "$['a']"),
        ("$.a[", "$['a']"),
        ("$.a]", "$['a']"),
    ],
)
def test_a_path_for_spark(path: str, spark: str) -> None:
    assert spark_path(path) == spark


@pytest.mark.parametrize("path", ["", "a", ".a", "$a", "$..a", "$.a.", "$.*", "$.'a'", "$['a']", '$["a"]', "$.ä"])
def test_a_path_with_which_hive_finds_nothing(path: str) -> None:
    assert spark_path(path) is None
