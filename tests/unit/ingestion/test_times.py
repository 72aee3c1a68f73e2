"""Unlikely times, and the formats that explain them."""

from __future__ import annotations

import pytest

from hivedruid.ingestion.times import UnlikelyTimes
from tests.unit.ingestion.world import NOW

SECOND = 1_768_472_000
"""In January 2026."""


@pytest.mark.parametrize(
    ("time", "read_as", "format_"),
    [
        (SECOND, "auto", "posix"),
        (SECOND, "millis", "posix"),
        (SECOND * 1_000_000, "posix", "millis"),
        (SECOND * 1_000_000, "millis", "micro"),
        (SECOND * 1_000_000_000, "auto", "nano"),
        (20260115, "auto", "yyyyMMdd"),
        (2026011510, "auto", "yyyyMMddHH"),
        (2026011510 * 1000, "posix", "yyyyMMddHH"),
        (20260115103000, "millis", "yyyyMMddHHmmss"),
        (2026999999, "auto", ""),
        (SECOND, "iso", ""),
        (77, "auto", ""),
    ],
)
def test_the_format_that_makes_them_likely(time: int, read_as: str, format_: str) -> None:
    unlikely = UnlikelyTimes.of([time, SECOND * 1000], NOW)
    assert unlikely is not None
    assert (unlikely.rows, unlikely.format(read_as, NOW)) == (1, format_)


def test_likely_times() -> None:
    """Also before 1970, and of the next year."""
    assert UnlikelyTimes.of([], NOW) is None
    assert UnlikelyTimes.of([-1, SECOND * 1000, 1_820_000_000_000, 31_536_000_000], NOW) is None


def test_the_evidence_counts_both_ends() -> None:
    found = UnlikelyTimes.of([3, 1_893_456_000_000], NOW)
    assert found is not None
    assert found.evidence(NOW) == "1 in 1970, 1 after 2027, from 1970-01-01T00:00:00.003Z to 2030-01-01T00:00:00.000Z"
