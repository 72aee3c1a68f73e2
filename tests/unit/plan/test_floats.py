"""Comparisons of FLOAT with other numbers: Hive 4.0.1 makes them as FLOAT, except with DOUBLE."""

from __future__ import annotations

import random
import struct
from decimal import Decimal
from fractions import Fraction

import pytest

from hivedruid.plan.floats import nearest
from hivedruid.plan.show import tree
from tests.support.planning import plan


def shown(condition: str) -> str:
    """The condition, as the plan has it."""
    (line,) = [line for line in tree(plan(f"SELECT 1 FROM ev WHERE {condition}", rules=()).node) if "Filter" in line]
    return line


@pytest.mark.parametrize(
    "condition",
    [
        "score = 0.1", "0.1 = score", "score <> 0.1", "score > 0.1BD", "score <= 0.05 + 0.05", "score <=> 0.1", "score = 1e-1",
        "score = 0.1D", "0.1D > score", "score = '0.1'", "score IN (0.1, 0.3)", "score IN (0.1D, 1)", "score IN ('0.1', '0.3')",
        "score BETWEEN 0.1 AND 0.3", "CASE score WHEN 0.1D THEN true END", "score IS DISTINCT FROM 0.1", "(score, 1) IN ((0.1, 1))",
        "CAST(clicks AS FLOAT) = 0.1", "CAST(0.1 AS FLOAT) = 0.1", "-score > 0.1", "nullif(score, 0.1) IS NULL",
    ],
)  # fmt: skip
def test_a_constant_is_rounded_to_float(condition: str) -> None:
    assert "0.10000000149011612" in shown(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "score = CAST(0.1 AS DOUBLE)", "CAST(0.1 AS FLOAT) = 0.1D", "CAST(score AS DOUBLE) = 0.1D", "score BETWEEN 0.1D AND 0.3D",
        "CAST(0.1 AS FLOAT) = '0.1'", "revenue = 0.1", "revenue = CAST(0.1 AS FLOAT)", "score = revenue", "score = 0.5", "score > 5",
        "score IN (0.25, 1)", "score < 1e40",
    ],
)  # fmt: skip
def test_other_constants_stay(condition: str) -> None:
    assert "0.10000000149011612" not in shown(condition)


@pytest.mark.parametrize(
    ("condition", "side"),
    [("score = imps", "imps"), ("clicks > score", "clicks"), ("score = CAST(city AS DECIMAL(4,2))", "city")],
)
def test_integers_and_decimals_become_float(condition: str, side: str) -> None:
    assert "float" in shown(condition).lower()


def test_having_compares_an_aggregate_as_a_column() -> None:
    node = plan("SELECT country FROM ev GROUP BY country HAVING max(score) = 0.1D", rules=()).node
    assert "0.10000000149011612" in "\n".join(tree(node))


def test_the_nearest_float_is_rounded_once() -> None:
    rng = random.Random(7)
    for _ in range(2000):
        (low,) = struct.unpack("f", struct.pack("i", rng.randrange(0x30000000, 0x50000000)))
        (high,) = struct.unpack("f", struct.pack("i", struct.unpack("i", struct.pack("f", low))[0] + 1))
        middle = Decimal(low) + (Decimal(high) - Decimal(low)) / 2
        for number in (
            middle + Decimal(1).scaleb(-40),
            middle - Decimal(1).scaleb(-40),
            Decimal(low),
            Decimal(repr(high)),
        ):
            for signed in (number, -number):
                single = nearest(signed)
                assert single in (low, high, -low, -high)
                assert abs(Fraction(single) - Fraction(signed)) <= abs(Fraction(high) - Fraction(low)) / 2
