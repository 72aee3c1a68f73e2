"""The values of the properties of streams."""

from __future__ import annotations

import pytest

from hivedruid.streams.properties import PROPERTIES, REJECTS

LONG = "9" * 5000


@pytest.mark.parametrize("name", sorted({*PROPERTIES} - {REJECTS}))
def test_a_number_of_thousands_of_digits_is_not_valid(name: str) -> None:
    """Python converts at most 4,300 digits."""
    for text in (LONG, f"PT{LONG}S", f"P{LONG}D", f"0:{LONG}", f"{LONG}:1"):
        assert not PROPERTIES[name].is_valid(text)
