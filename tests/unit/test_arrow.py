"""Results as Arrow record batches: each Hive type has an Arrow type with the same values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hivedruid.arrow import record_batches, schema_of
from hivedruid.catalog.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL_DAY_TIME,
    INTERVAL_YEAR_MONTH,
    STRING,
    TIMESTAMP_LTZ,
    UNKNOWN,
    VOID,
    HiveType,
    array_of,
    decimal,
)
from hivedruid.cells import DayTimeInterval, YearMonthInterval
from hivedruid.errors import ExecutionError
from hivedruid.results import Batch, Batches, ResultColumn

PAIR = HiveType("struct", children=(INT, array_of(STRING)), fields=("a", "b"))
MAP = HiveType("map", children=(STRING, decimal(20, 2)))


def table(types: Sequence[HiveType], rows: Any) -> pa.Table:
    columns = [ResultColumn(f"c{number}", type_) for number, type_ in enumerate(types)]
    return pa.Table.from_batches(
        list(record_batches(columns, rows, "Asia/Kolkata")), schema_of(columns, "Asia/Kolkata")
    )


def test_nested_values() -> None:
    row = ({"a": 1, "b": ["x", None]}, {"k": Decimal("123456789012345678.90"), "n": None}, [[1], None], None)
    found = table([PAIR, MAP, array_of(array_of(INT)), VOID], [row, (None, None, None, None)])
    assert [str(kind) for kind in found.schema.types] == [
        "struct<a: int32, b: list<item: string>>", "map<string, decimal128(20, 2)>", "list<item: list<item: int32>>", "null",
    ]  # fmt: skip
    first, second = found.to_pylist()
    assert (first["c0"], dict(first["c1"]), first["c2"]) == row[:3]
    assert list(second.values()) == [None] * 4


def test_instants_and_intervals() -> None:
    found = table(
        [TIMESTAMP_LTZ, INTERVAL_YEAR_MONTH, INTERVAL_DAY_TIME],
        [(datetime(2020, 1, 1, tzinfo=UTC), YearMonthInterval(-14), DayTimeInterval(days=-1, microseconds=5))],
    )
    assert str(found.schema.types[0]) == "timestamp[us, tz=Asia/Kolkata]"
    (row,) = found.to_pylist()
    assert row["c0"] == datetime(2020, 1, 1, tzinfo=UTC)
    assert row["c1"] == pa.MonthDayNano([-14, 0, 0])
    assert row["c2"] == timedelta(days=-1, microseconds=5)


def test_a_type_that_only_spark_knows_is_text() -> None:
    found = table([UNKNOWN, array_of(UNKNOWN)], [(1.5, [1, "a"]), (Decimal("1.50"), None), (None, [None])])
    assert found.column(0).to_pylist() == ["1.5", "1.50", None]
    assert found.column(1).to_pylist() == [["1", "a"], None, [None]]


def test_columns_that_arrive_as_arrow_get_the_type_of_the_column() -> None:
    batch = Batch(2, (pa.array([1, None], pa.int64()), pa.array([True, None]), [1.5, None], [1.1, None]))
    found = table([INT, BOOLEAN, DOUBLE, FLOAT], Batches(iter([batch])))
    assert [str(kind) for kind in found.schema.types] == ["int32", "bool", "double", "float"]
    assert found.column(0).to_pylist() == [1, None]


def test_a_value_of_another_type_is_an_error() -> None:
    with pytest.raises(ExecutionError, match="column 'c0' has a value that is not a valid bigint"):
        table([BIGINT], [("a",)])
