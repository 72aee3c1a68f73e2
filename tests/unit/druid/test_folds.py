"""The `expression` aggregators of strings."""

from __future__ import annotations

import pytest

from hivedruid.druid.folds import extreme


@pytest.mark.parametrize("op", ["min", "max"])
def test_the_first_value_has_a_type(op: str) -> None:
    """With a bare null, the accumulator of Druid 37 is a LONG, and every string becomes 0 (make druid37)."""
    assert extreme("m", op, "town")["initialValue"] == "CAST(null,'STRING')"
