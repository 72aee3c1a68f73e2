"""The SQL of comparisons that readers of files evaluate by bounds. What the readers do is in
tests/unit/spark/test_pruning.py."""

from __future__ import annotations

import math

import pytest

from hivedruid.catalog.types import BIGINT, BOOLEAN, DOUBLE, FLOAT, INT, HiveType
from hivedruid.plan.rex import Call, Literal, Ref, Rex
from hivedruid.plan.spark_pruning import Pruning
from hivedruid.plan.spark_rex import SparkRex

X, F, I, B = Ref(DOUBLE, "x"), Ref(FLOAT, "f"), Ref(INT, "i"), Ref(BIGINT, "b")  # noqa: E741
ORC = Pruning(by_bounds=True)
ICEBERG = Pruning(by_bounds=True, without_nan="iceberg")
PARQUET = Pruning(by_bounds=True, without_nan="parquet")
TRUNCATED = Pruning(by_bounds=True, without_nan="iceberg", width=10)
M, Z, NAN = (f"CAST('{text}' AS DOUBLE)" for text in ("-0.0", "0.0", "nan"))
FIRST = -(1 << 31)


def sql(pruning: Pruning, op: str, *args: Rex) -> str:
    return SparkRex("UTC", lambda _: "", pruning).sql(Call(BOOLEAN, op, args))


@pytest.mark.parametrize(
    ("pruning", "op", "args", "expected"),
    [
        (Pruning(), "=", (X, Literal(INT, 0)), "(`x` = 0)"),
        (ORC, "=", (X, Literal(INT, 0)), f"((`x` >= {M}) AND (`x` <= {Z}))"),
        (ORC, "=", (Literal(DOUBLE, -0.0), X), f"((`x` >= {M}) AND (`x` <= {Z}))"),
        (ORC, "<", (X, Literal(DOUBLE, 0.0)), f"(`x` < {M})"),
        (ORC, ">", (Literal(DOUBLE, 0.0), X), f"(`x` < {M})"),
        (ORC, "in", (X, Literal(INT, 0), Literal(INT, 7)), f"((`x` IN (7)) OR ((`x` >= {M}) AND (`x` <= {Z})))"),
        (ORC, "<>", (F, Literal(INT, 0)), f"(NOT ((`f` >= {M}) AND (`f` <= {Z})))"),
        (ORC, ">", (X, Literal(INT, 5)), "(`x` > 5)"),
        (ICEBERG, ">", (X, Literal(INT, 5)), f"((`x` > 5) OR (`x` = {NAN}))"),
        (ICEBERG, "<=", (X, Literal(INT, 5)), f"((`x` <= 5) AND NOT (`x` = {NAN}))"),
        (ICEBERG, "=", (X, Literal(INT, 5)), "(`x` = 5)"),
        (ICEBERG, "=", (X, Literal(DOUBLE, math.nan)), f"(`x` = {NAN})"),
        (PARQUET, "<>", (X, Literal(INT, 5)), "((`x` <> 5) OR isnan(`x`))"),
        (PARQUET, "=", (X, Literal(DOUBLE, math.nan)), f"((`x` = {NAN}) OR isnan(`x`))"),
        (ICEBERG, "=", (X, F), "(`x` = `f`)"),
        (TRUNCATED, "<", (I, Literal(INT, 0)), "(shiftleft(`i`, 0) < 0)"),
        (TRUNCATED, ">=", (I, Literal(INT, 5)), "((`i` >= 5) AND (shiftleft(`i`, 0) >= 5))"),
        (TRUNCATED, ">", (I, Literal(INT, FIRST + 3)), f"(shiftleft(`i`, 0) > {FIRST + 3})"),
        (TRUNCATED, "=", (I, Literal(INT, 5)), "(`i` = 5)"),
        (ICEBERG, "<", (I, Literal(INT, 0)), "(`i` < 0)"),
    ],
)
def test_forms(pruning: Pruning, op: str, args: tuple[Rex, ...], expected: str) -> None:
    assert sql(pruning, op, *args) == expected


def test_a_constant_that_spark_computes_is_compared_outside_of_the_reader() -> None:
    """Spark passes the result of a subquery to the reader, too."""
    unknown = Call(DOUBLE, "sqrt", (Literal(DOUBLE, 0.0),))
    assert sql(ORC, "=", X, unknown).startswith("((`x` + 0) = ")


def test_other_types_are_unchanged() -> None:
    assert sql(TRUNCATED, "<", Ref(HiveType("decimal", (5, 2)), "d"), Literal(INT, 0)) == "(`d` < 0)"
    assert sql(TRUNCATED, "<", B, Literal(BIGINT, 0)) == "(shiftleft(`b`, 0) < CAST('0' AS BIGINT))"
