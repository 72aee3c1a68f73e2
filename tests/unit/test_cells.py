from __future__ import annotations

import json
import struct
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.catalog import types
from hivedruid.catalog.types import HiveType, array_of, decimal
from hivedruid.cells import YearMonthInterval, hive_text, json_text
from hivedruid.java_numbers import double_text, float_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (1e-5, "1.0E-5"),
        (9999999.0, "9999999.0"),
        (9999999.999, "9999999.999"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (1e10, "1.0E10"),
        (1e16, "1.0E16"),
        (-1.5e300, "-1.5E300"),
        (100.0, "100.0"),
        (5e-324, "5.0E-324"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (3, "3.0"),
    ],
)
def test_double_is_written_as_java_does(value: float, text: str) -> None:
    assert double_text(value) == text


def single(value: float) -> float:
    number: float = struct.unpack("f", struct.pack("f", value))[0]
    return number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (single(0.1), "0.1"),
        (single(3.4028235e38), "3.4028235E38"),
        (single(16777216.0), "1.6777216E7"),
        (single(1.1), "1.1"),
        (single(1e-45), "1.0E-45"),
        (float("nan"), "NaN"),
        (1e300, "1.0E300"),
    ],
)
def test_float_is_written_with_the_digits_of_single_precision(value: float, text: str) -> None:
    assert float_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_double_text_reads_back(value: float) -> None:
    assert float(double_text(value)) == value


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float_text_reads_back_and_is_short(value: float) -> None:
    text = float_text(value)
    assert single(float(text)) == value
    assert sum(c.isdigit() for c in text.partition("E")[0].strip("-0.").replace(".", "")) <= 9


STRUCT = HiveType("struct", children=(types.INT, types.STRING), fields=("a", "b"))


@pytest.mark.parametrize(
    ("hive", "value", "text"),
    [
        (types.BOOLEAN, True, "true"),
        (types.BOOLEAN, 0, "false"),
        (types.BIGINT, -5, "-5"),
        (decimal(10, 3), Decimal("1.500"), "1.500"),
        (decimal(38, 0), Decimal("1E+20"), "100000000000000000000"),
        (types.STRING, "ä\tb", "ä\tb"),
        (types.DATE, date(2015, 9, 12), "2015-09-12"),
        (types.TIMESTAMP, datetime(2015, 9, 12), "2015-09-12 00:00:00"),
        (types.TIMESTAMP, datetime(2015, 9, 12, 1, 2, 3, 500000), "2015-09-12 01:02:03.5"),
        (types.TIMESTAMP, datetime(1, 1, 1, 0, 0, 0, 1), "0001-01-01 00:00:00.000001"),
        (types.TIMESTAMP_LTZ, datetime(2015, 9, 12, 0, 46, 58, 771000, UTC), "2015-09-12 00:46:58.771 UTC"),
        (types.TIMESTAMP_LTZ, datetime(2015, 9, 12, tzinfo=ZoneInfo("US/Pacific")), "2015-09-12 00:00:00.0 US/Pacific"),
        (
            types.TIMESTAMP_LTZ,
            datetime(2015, 9, 12, tzinfo=timezone(timedelta(hours=5.5))),
            "2015-09-12 00:00:00.0 +05:30",
        ),
        (types.BINARY, b"abc", "abc"),
        (types.BINARY, b"\xff\x00", "FF00"),
        (types.INTERVAL_DAY_TIME, timedelta(days=1, seconds=3661, microseconds=5), "1 01:01:01.000005000"),
        (types.INTERVAL_DAY_TIME, timedelta(hours=-1), "-0 01:00:00.000000000"),
        (types.INTERVAL_YEAR_MONTH, YearMonthInterval(-14), "-1-2"),
        (array_of(types.STRING), ["a", None, 'q"\n'], '["a",null,"q\\"\\n"]'),
        (array_of(types.DOUBLE), [1.0, float("nan")], "[1.0,NaN]"),
        (array_of(types.TIMESTAMP), [datetime(2015, 9, 12)], '["2015-09-12 00:00:00"]'),
        (HiveType("map", children=(types.STRING, types.INT)), {"k": 1, "l": None}, '{"k":1,"l":null}'),
        (HiveType("map", children=(types.INT, types.STRING)), {1: "x"}, '{1:"x"}'),
        (STRUCT, {"b": "x", "a": 1}, '{"a":1,"b":"x"}'),
        (STRUCT, (1, None), '{"a":1,"b":null}'),
        (array_of(STRUCT), [{"a": 1, "b": "ä"}], '[{"a":1,"b":"ä"}]'),
        (types.UNKNOWN, [1, "x", {"k": 2.0}], '[1,"x",{"k":2.0}]'),
        (types.UNKNOWN, Decimal("1.0"), "1.0"),
        (types.UNKNOWN, datetime(2015, 9, 12), "2015-09-12 00:00:00"),
    ],
)
def test_values_are_written_as_hive_does(hive: HiveType, value: object, text: str) -> None:
    assert hive_text(hive)(value) == text


@pytest.mark.parametrize(
    ("hive", "value", "expected"),
    [
        (types.STRING, None, None),
        (types.STRING, 'q"\x01', 'q"\x01'),
        (types.BIGINT, 2**63 - 1, 2**63 - 1),
        (types.DOUBLE, float("nan"), "NaN"),
        (types.DOUBLE, 1e10, 1e10),
        (types.FLOAT, single(0.1), 0.1),
        (types.BOOLEAN, False, False),
        (types.DATE, date(2015, 9, 12), "2015-09-12"),
        (HiveType("map", children=(types.INT, types.DOUBLE)), {1: float("inf")}, {"1": "Infinity"}),
        (array_of(STRUCT), [None, (1, "x")], [None, {"a": 1, "b": "x"}]),
        (types.UNKNOWN, {"k": [True, None]}, {"k": [True, None]}),
    ],
)
def test_json_is_valid_json(hive: HiveType, value: object, expected: object) -> None:
    assert json.loads(json_text(hive)(value)) == expected


def test_every_type_has_a_text() -> None:
    for name in types.TYPES:
        if name not in ("array", "map", "struct"):
            hive_text(HiveType(name))
