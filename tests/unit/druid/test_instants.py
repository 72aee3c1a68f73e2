from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.druid.instants import millis
from hivedruid.druid.intervals import iso
from hivedruid.errors import DruidError


@given(st.integers(-(1 << 62), (1 << 62) - 1))
def test_what_is_written_is_read(instant: int) -> None:
    assert millis(iso(instant)) == instant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00.000Z", 0),
        ("2013-06-30T17:00:00.000-07:00", 1372636800000),
        ("2013-07-01T05:30:00.001+05:30", 1372636800001),
        ("-146136543-09-08T08:23:32.096Z", -(1 << 62)),
        ("1969-12-31T23:59:59Z", -1000),
    ],
)
def test_offsets_and_far_years(text: str, expected: int) -> None:
    assert millis(text) == expected


@pytest.mark.parametrize("text", ["", "2013-07-01", "2013-07-01T00:00:00.000", "now"])
def test_what_is_no_instant(text: str) -> None:
    with pytest.raises(DruidError, match="not a valid ISO 8601 instant"):
        millis(text)
