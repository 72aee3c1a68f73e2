"""When rows are considered the same before and after segments are rewritten."""

from __future__ import annotations

from math import inf, nan

import pytest

from hivedruid.clients.measured import Measured, Measures
from hivedruid.jobs.staged import NumberType, Sum

LONG, DOUBLE, FLOAT = (Sum(2**53 + 1), Sum(0.1 + 0.2, 0.4), Sum(1.0, 1.0))


@pytest.mark.parametrize(
    ("kind", "before", "after", "same"),
    [
        ("LONG", LONG, LONG, True),
        ("LONG", LONG, Sum(2**53), False),
        ("DOUBLE", DOUBLE, Sum(0.3, 0.4), True),
        ("DOUBLE", Sum(0.0, 1e12), Sum(1e-4, 1e12), True),
        ("DOUBLE", DOUBLE, Sum(0.3001, 0.4), False),
        ("DOUBLE", Sum(nan, nan), Sum(nan, nan), True),
        ("DOUBLE", Sum(inf, inf), Sum(inf, inf), True),
        ("DOUBLE", DOUBLE, Sum(nan, nan), False),
        ("DOUBLE", DOUBLE, Sum(inf, inf), False),
        ("FLOAT", FLOAT, Sum(1.000001, 1.0), True),
        ("FLOAT", FLOAT, Sum(1.1, 1.1), False),
    ],
)
def test_sums(kind: NumberType, before: Sum, after: Sum, same: bool) -> None:
    measures = Measures({"n": kind}, merges=False)
    found = list(measures.differences(Measured(1, {"n": before}), Measured(1, {"n": after})))
    assert (found == []) is same
    assert same or found == [f"the sum of n was {before.total} and is {after.total}"]


def test_rows_count_unless_they_may_be_merged() -> None:
    one, two = Measured(1, {}), Measured(2, {})
    assert list(Measures({}, merges=False).differences(two, one)) == ["the number of rows was 2 and is 1"]
    assert list(Measures({}, merges=True).differences(two, one)) == []
