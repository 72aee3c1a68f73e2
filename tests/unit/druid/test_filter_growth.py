"""The number of comparisons of filters while their lists are merged."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.druid.filter_lists import merged


class Counted(dict[str, Any]):
    """A filter that counts how often filters are compared."""

    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return super().__eq__(other)

    __hash__ = None


@pytest.mark.parametrize("op", ["and", "or"])
def test_filters_are_not_compared_in_pairs(op: str) -> None:
    number = 400
    fields: list[dict[str, Any]] = [
        Counted(type="like", dimension="page", pattern=f"%{n % (number // 2)}%") for n in range(number)
    ]
    Counted.comparisons = 0
    result = merged(op, fields)
    assert [field["pattern"] for field in result] == [f"%{n}%" for n in range(number // 2)]
    assert Counted.comparisons <= number
