"""Conditions that follow from others, compared with a computation over every value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hivedruid.plan.implication import ALL, HIGH, LOW, Values, complement, intersection, union, within
from hivedruid.plan.redundancy import redundant

NUMBERS = range(-1, 8)
"""Values between, below and above the cuts of the sets."""


def spans(cuts: list[int]) -> Values:
    edges = [LOW if cut < 0 else HIGH if cut > 6 else (1, cut, 0) for cut in sorted(cuts)]
    return union([tuple((a, b) for a, b in zip(edges[::2], edges[1::2], strict=False) if a < b)])


SETS = st.lists(st.integers(-1, 7), max_size=8).map(spans)


def values(each: Values) -> set[int]:
    return {n for n in NUMBERS if any(low <= (1, n, 0) < high for low, high in each)}


@given(st.lists(SETS, min_size=1, max_size=9))
def test_those_that_follow_from_the_others(sets: list[Values]) -> None:
    remaining = dict(enumerate(sets))
    for position in reversed(range(len(sets))):
        others = [values(each) for n, each in remaining.items() if n != position]
        if others and set.intersection(*others) <= values(sets[position]):
            del remaining[position]
    assert sorted({*range(len(sets))} - {*redundant(sets)}) == sorted(remaining)


@given(st.lists(SETS, min_size=1, max_size=5))
def test_sets_are_sets(sets: list[Values]) -> None:
    assert values(intersection(*sets)) == set.intersection(*map(values, sets))
    assert values(union(sets)) == set.union(*map(values, sets))
    assert values(complement(sets[0])) == {*NUMBERS} - values(sets[0])
    assert within(sets[0], sets[-1]) == (values(sets[0]) <= values(sets[-1]))


def test_one_always_remains() -> None:
    assert redundant([ALL]) == []
    assert redundant([ALL, ALL]) == [1]
