from __future__ import annotations

import pytest

from hivedruid.terminal import display_width, pad, printable, printable_lines


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("👩‍👩‍👧", 2), ("ä", 1)],
)
def test_display_width(text: str, width: int) -> None:
    assert display_width(text) == width


def test_pad_counts_cells() -> None:
    assert pad("日", 4) == "日  "
    assert pad("日", 4, right=True) == "  日"
    assert pad("a", 3, right=True) == "  a"
    assert pad("long", 2) == "long"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ä 日本 \xa0", "plain ä 日本 \xa0"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x1b[31mred\x00", "\\x1b[31mred\\x00"),
        ("\x9b31m", "\\x9b31m"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("\ud800", "\\ud800"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
    ],
)
def test_printable_spells_out_what_moves_the_cursor(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_stay_lines() -> None:
    assert printable_lines("a\tb\n\x1b[2J\r\nc\n") == "a\tb\n\\x1b[2J\\r\nc\n"
