"""Which patterns of strings are parsed by hivedruid's own rules. Their results are compared with Hive's in tests/hive."""

from __future__ import annotations

import pytest

from hivedruid.plan.time_shapes import SHORT_MONTHS, shapes


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        ("yyyy-MM-dd", {"y": 0, "M": 5, "d": 8}),
        ("dd MMM yyyy", {"d": 0, "M": 3, "y": 7}),
        ("yyyyMMddHHmmssSSS", {"y": 0, "M": 4, "d": 6, "H": 8, "m": 10, "s": 12, "S": 14}),
        ("yyyy-M-d H", {"y": 0, "M": 5, "d": None, "H": None}),
        ("yyyy-MM-dd'T'HH''XXX", {"y": 0, "M": 5, "d": 8, "H": 11, "z": 14}),
        ("uuuu年LL月dd日", {"y": 0, "M": 5, "d": 8}),
    ],
)
def test_the_places_of_fields(pattern: str, places: dict[str, int | None]) -> None:
    (shape,) = shapes(pattern) or ()
    assert {letter: place.position for letter, place in shape.places.items()} == places


def test_an_optional_part_is_tried_first() -> None:
    found = shapes("yyyy-MM-dd[ HH:mm[:ss]]") or ()
    assert ["".join(shape.places) for shape in found] == ["yMdHms", "yMdHm", "yMd"]


@pytest.mark.parametrize(
    "pattern",
    [
        "yyyyMd",  # which digits are the month depends on their number
        "yyyyMMdd[HHmm]",  # java.time reads all digits as the year
        "yyyyMMdd00",
        "yyyy-MM-dd G",
        "yyyy-DDD",
        "yyyy-MM-dd yy",
        "yyyy-MM",
        "yyyy-MM-dd a",  # 6 or 18 o'clock since Java 16, midnight before
        "yyyy-MM-dd]",
        "yyyy-MM-dd é",  # also matches É
        "".join(f"[{mark}]" for mark in "-/:.,") + "yyyy-MM-dd",
    ],
)
def test_other_patterns_are_not_parsed(pattern: str) -> None:
    assert shapes(pattern) is None


def test_each_month_is_found_by_its_name() -> None:
    (shape,) = shapes("d MMMM yyyy") or ()
    names = ["January", "february", "MARCH", "April", "May", "June", "July", "August", "September", "October"]
    names += ["November", "December"]
    moments = [shape.wall_clock(f"1 {name} 2024") for name in names]
    assert [moment.month for moment in moments if moment] == list(range(1, 13))
    assert len(SHORT_MONTHS) == 36
