"""The parts of conditions that a Hive metastore evaluates."""

from __future__ import annotations

from datetime import date

import pytest

from hivedruid.actions.partitioning.elsewhere import metastore_condition
from hivedruid.catalog.layout import PartitionField
from hivedruid.catalog.table import Column, Table
from hivedruid.catalog.types import BIGINT, BOOLEAN, DATE, DOUBLE, STRING
from hivedruid.plan.rex import Call, Literal, Ref, Rex

COLUMNS = (
    Column("a", BIGINT),
    Column("s", STRING),
    Column("i", BIGINT),
    Column("d", DATE),
    Column("x", DOUBLE),
    Column("date", STRING),
)
TABLE = Table(
    "db", "t", "files", COLUMNS, partition_spec=tuple(PartitionField(column.name) for column in COLUMNS[1:])
)  # fmt: skip
IDS = {f"{column.name}#0": column.name for column in COLUMNS}
TYPES = {column.name: column.type for column in COLUMNS}


def compare(column: str, op: str, *values: object) -> Rex:
    type_ = TYPES[column]
    return Call(BOOLEAN, op, (Ref(type_, f"{column}#0"), *(Literal(type_, value) for value in values)))


def text(*parts: Rex) -> str | None:
    return metastore_condition(TABLE, IDS, parts[0] if len(parts) == 1 else Call(BOOLEAN, "and", parts))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (compare("s", "=", "x"), 's = "x"'),
        (compare("i", ">=", 5), "i >= 5"),
        (compare("d", "<", date(2024, 1, 2)), 'd < "2024-01-02"'),
        (compare("s", "in", "x", "y"), '(s = "x" or s = "y")'),
        (Call(BOOLEAN, "or", (compare("s", "=", "x"), compare("i", "=", 1))), '(s = "x" or i = 1)'),
    ],
)
def test_conditions_that_the_metastore_evaluates(part: Rex, expected: str) -> None:
    assert text(part) == expected


@pytest.mark.parametrize(
    "part",
    [
        compare("a", "=", 1),  # not a partition column
        compare("s", "<>", "x"),
        compare("x", "=", 1.5),
        compare("date", "=", "2024-01-01"),  # a word of the metastore's language
        compare("s", "=", None),
        compare("s", "=", 'a"b'),
        compare("s", "=", "a\\b"),
        compare("s", "in", "x", None),
        Call(BOOLEAN, "or", (compare("s", "=", "x"), compare("a", "=", 1))),
        Call(BOOLEAN, "not", (compare("s", "=", "x"),)),
        Call(BOOLEAN, "=", (Call(STRING, "upper", (Ref(STRING, "s#0"),)), Literal(STRING, "X"))),
    ],
)
def test_conditions_that_it_does_not_evaluate(part: Rex) -> None:
    assert text(part) is None


def test_the_other_parts_are_kept() -> None:
    assert text(compare("s", "=", "x"), compare("a", "=", 1), compare("i", "<", 3)) == 's = "x" and i < 3'
    assert metastore_condition(TABLE, IDS, None) is None
