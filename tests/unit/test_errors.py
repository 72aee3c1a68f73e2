"""Suggestions for misspelt names."""

from __future__ import annotations

import random
from difflib import SequenceMatcher

import pytest

from hivedruid.errors import did_you_mean
from tests.support.instructions import instructions


def closest(name: str, candidates: list[str]) -> str | None:
    """The suggestion, by comparing all candidates."""
    matcher = SequenceMatcher(b=name)
    ratios = []
    for candidate in candidates:
        matcher.set_seq1(candidate)
        ratios.append((matcher.ratio(), candidate))
    ratio, found = max(ratios, default=(0.0, ""))
    return f"did you mean '{found}'?" if ratio >= 0.6 and found else None


@pytest.mark.parametrize("letters", ["ab", "abc_", "abcdefgh_01"])
def test_the_suggestion_is_the_most_similar_name(letters: str) -> None:
    chance = random.Random(letters)

    def word() -> str:
        return "".join(chance.choices(letters, k=chance.randint(0, 9)))

    for _ in range(500):
        name, candidates = word(), [word() for _ in range(chance.randint(0, 40))]
        assert did_you_mean(name, candidates) == closest(name, candidates)


def test_a_name_with_a_line_break_is_not_suggested() -> None:
    assert did_you_mean("wiki", ["wik\ni", "wikis"]) == "did you mean 'wikis'?"
    assert did_you_mean("wi\nki", ["wiki"]) == "did you mean 'wiki'?"


@pytest.mark.parametrize("name", ["sales_2024_x", "sales_2025_17", "t12345", "sales_of_2024"])
def test_thousands_of_similar_names_are_not_compared_one_by_one(name: str) -> None:
    alike = [f"sales_2024_{n}" for n in range(1000)]
    assert instructions(lambda: did_you_mean(name, alike)) < 500 * len(alike)
