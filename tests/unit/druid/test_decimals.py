"""Decimals: computed in their smallest unit, compared as integers, read from the nearest double."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.catalog.types import decimal
from hivedruid.druid.casts import _largest
from hivedruid.plan.decode import decoder
from tests.support.planning import is_pushed, where

SOLVED: list[tuple[str, dict[str, Any]]] = [
    ("clicks * 1.5 > 10", {"lower": 7}),  # 10 / 1.5 is not an integer
    ("clicks * 1.5 >= 9", {"lower": 6}),
    ("1.5 * clicks + 2 < 8", {"upper": 4, "upperOpen": True}),
    ("-1.5 * clicks < 3", {"lower": -2, "lowerOpen": True}),
    ("10 - clicks * 0.5 >= 7.5", {"upper": 5}),
    ("clicks > 1.5 + 2", {"lower": 4}),
]


@pytest.mark.parametrize(("condition", "bounds"), SOLVED)
def test_a_constant_factor_moves_over_to_the_constant(condition: str, bounds: dict[str, Any]) -> None:
    assert where(condition)[1] == {"type": "range", "column": "clicks", "matchValueType": "LONG", **bounds}


def test_an_equation_without_a_whole_solution_is_false_and_null_for_null() -> None:
    assert where("clicks * 1.5 = 1")[1] == {"type": "expression", "expression": '("clicks" != "clicks")'}
    assert where("clicks * 2.5 = 5")[1] == {
        "type": "equals",
        "column": "clicks",
        "matchValueType": "LONG",
        "matchValue": 2,
    }


@pytest.mark.parametrize("expression", ["clicks * 1.5", "CAST(revenue AS decimal(16,2))", "imps * 0.12345678"])
def test_more_digits_than_a_double_tells_apart_stay_on_spark(expression: str) -> None:
    assert not is_pushed(f"SELECT {expression} FROM ev")


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**11) + 1, max_value=10**11 - 1))
def test_every_decimal_of_fifteen_digits_comes_back_from_its_double(value: Decimal) -> None:
    read = decoder(decimal(15, 4), "UTC")
    assert read is not None
    assert read(float(value)) == value


@pytest.mark.parametrize(("precision", "scale"), [(10, 2), (15, 2), (5, 5), (3, 0), (15, 15)])
def test_the_largest_double_rounds_to_the_largest_decimal(precision: int, scale: int) -> None:
    unit, limit = Decimal(1).scaleb(-scale), Decimal(10) ** (precision - scale)
    from math import inf, nextafter

    largest = _largest(precision, scale)
    assert Decimal(repr(largest)).quantize(unit, "ROUND_HALF_UP") < limit
    assert Decimal(repr(nextafter(largest, inf))).quantize(unit, "ROUND_HALF_UP") >= limit
