"""Druid's values as Hive types."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from hivedruid.catalog.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    HiveType,
    array_of,
    decimal,
)
from hivedruid.errors import DruidError
from hivedruid.plan.decode import decode_rows
from hivedruid.plan.physical import Field
from hivedruid.results import Batch, Batches


def decoded(value: object, type_: HiveType, zone: str = "UTC") -> object:
    ((found,),) = decode_rows([(value,)], (Field("x", type_),), zone)
    return found


def test_booleans_are_longs_and_times_are_milliseconds() -> None:
    assert decoded(1, BOOLEAN) is True
    assert decoded(0, BOOLEAN) is False
    assert decoded(-1, TIMESTAMP) == datetime(1969, 12, 31, 23, 59, 59, 999000)
    assert decoded(86_400_000, DATE) == date(1970, 1, 2)
    assert decoded(1577836800000, TIMESTAMP_LTZ, "US/Pacific") == datetime(2020, 1, 1, tzinfo=UTC)


def test_a_zoned_time_is_shown_in_the_sessions_zone_in_the_right_one_of_two_equal_hours() -> None:
    first, second = (decoded(ms, TIMESTAMP_LTZ, "US/Pacific") for ms in (1604219400000, 1604223000000))
    assert isinstance(first, datetime)
    assert isinstance(second, datetime)
    assert (first.hour, first.fold, second.hour, second.fold) == (1, 0, 1, 1)
    assert first.tzinfo == ZoneInfo("US/Pacific")


def test_numbers_keep_their_value_and_get_their_type() -> None:
    assert (decoded(5, DOUBLE), type(decoded(5, DOUBLE))) == (5.0, float)
    assert (decoded(5.0, BIGINT), type(decoded(5.0, INT))) == (5, int)
    assert decoded(1.5, FLOAT) == 1.5
    assert decoded(2**63 - 1, BIGINT) == 2**63 - 1


ARROW: list[tuple[HiveType, pa.Array]] = [
    (BOOLEAN, pa.array([1, 0, None])),
    (BIGINT, pa.array([2**63 - 1, -(2**63), None])),
    (INT, pa.array([5.9, -5.9, None])),
    (DOUBLE, pa.array([5, -7, None])),
    (DOUBLE, pa.array([0.1, float("inf"), None])),
    (FLOAT, pa.array([0.1, 2.0, None])),
    (STRING, pa.array(["", "日", None])),
    (TIMESTAMP, pa.array([-1, -62_135_596_800_000, 253_402_300_799_999, None])),
    (DATE, pa.array([-1, -62_135_596_800_000, 253_402_300_799_999, None])),
    (TIMESTAMP_LTZ, pa.array([1604219400000, -1, None])),
    (decimal(10, 2), pa.array([0.125, -3.0, None])),
]


@pytest.mark.parametrize(("type_", "column"), ARROW)
def test_columns_are_decoded_as_their_cells(type_: HiveType, column: pa.Array) -> None:
    fields = (Field("x", type_),)
    by_cell = list(decode_rows([(cell,) for cell in column.to_pylist()], fields, "US/Pacific"))
    for form in (column, column.to_pylist()):
        rows = decode_rows(Batches(iter([Batch(len(column), (form,))])), fields, "US/Pacific")
        assert repr(list(rows)) == repr(by_cell)


def test_null_stays_null_and_text_stays_text() -> None:
    for type_ in (BOOLEAN, BIGINT, DOUBLE, STRING, TIMESTAMP, TIMESTAMP_LTZ, DATE):
        assert decoded(None, type_) is None
    assert decoded("", STRING) == ""


def test_a_single_value_of_a_multi_value_dimension_is_a_list_of_one() -> None:
    assert decoded("a", array_of(STRING)) == ["a"]
    assert decoded(["a", "b"], array_of(STRING)) == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "type_", "zone"),
    [
        (253_402_300_800_000, TIMESTAMP, "UTC"),
        (253_402_300_800_000, DATE, "UTC"),
        (253_402_300_799_999, TIMESTAMP_LTZ, "Asia/Tokyo"),
        (-(1 << 63), TIMESTAMP, "UTC"),
        ((1 << 63) - 1, TIMESTAMP_LTZ, "UTC"),
        ("2020-01-01", TIMESTAMP, "UTC"),
        ([1], BIGINT, "UTC"),
    ],
)
def test_a_value_that_its_type_does_not_hold_is_named(value: object, type_: HiveType, zone: str) -> None:
    rows = decode_rows([(1, 0), (2, value)], (Field("k", BIGINT), Field("at", type_)), zone)
    assert next(rows)[0] == 1
    with pytest.raises(DruidError) as error:
        next(rows)
    batch = Batch(2, ([1, 2], [0, value] if not isinstance(value, int) else pa.array([0, value])))
    rows = decode_rows(Batches(iter([batch])), (Field("k", BIGINT), Field("at", type_)), zone)
    assert next(rows)[0] == 1
    with pytest.raises(DruidError, match="column 'at' has"):
        next(rows)
    assert error.value.message == f"column 'at' has {value!r}, which is not a valid {type_}"
    assert ("9999" in (error.value.hint or "")) == type_.is_time
