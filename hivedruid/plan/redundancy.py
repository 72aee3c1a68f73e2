"""Which of several conditions on one expression follow from the others."""

from __future__ import annotations

from collections.abc import Sequence

from hivedruid.plan.implication import Values, complement


def redundant(sets: Sequence[Values]) -> list[int]:
    """The positions of the sets that contain the intersection of the remaining ones; of equal sets the later ones. One
    set always remains. Raises TypeError if values are not comparable.

    A set is redundant if the others exclude each value that it excludes. The sets that exclude a value are counted, so
    that the work is n log n.
    """
    excluded = [complement(values) for values in sets]
    cuts = sorted({cut for values in excluded for span in values for cut in span})
    places = {cut: place for place, cut in enumerate(cuts)}
    ranges = [[(places[low], places[high]) for low, high in values] for values in excluded]
    counts = _Counts(len(cuts))
    for own in ranges:
        for start, end in own:
            counts.add(start, end, 1)
    found: list[int] = []
    for position in reversed(range(len(sets))):
        own = ranges[position]
        if len(found) < len(sets) - 1 and all(counts.least(start, end) > 1 for start, end in own):
            found.append(position)
            for start, end in own:
                counts.add(start, end, -1)
    return found


class _Counts:
    """A number for each place, as a segment tree: `_sums` are added to all places below a node, `_least` is the least
    number below it without the sums above it."""

    def __init__(self, size: int) -> None:
        self._leaves = 1 << max(size - 1, 0).bit_length()
        self._sums = [0] * (2 * self._leaves)
        self._least = [0] * (2 * self._leaves)

    def add(self, start: int, end: int, number: int) -> None:
        """Add a number to the places from `start` up to `end`, which is excluded."""
        nodes = self._nodes(start, end)
        for node in nodes:
            self._sums[node] += number
            self._least[node] += number
        for parent in sorted({above for node in nodes for above in _above(node)}, reverse=True):
            self._least[parent] = min(self._least[2 * parent], self._least[2 * parent + 1]) + self._sums[parent]

    def least(self, start: int, end: int) -> int:
        return min(
            self._least[node] + sum(self._sums[above] for above in _above(node)) for node in self._nodes(start, end)
        )

    def _nodes(self, start: int, end: int) -> list[int]:
        """The fewest nodes with exactly these places below them."""
        found: list[int] = []
        low, high = start + self._leaves, end + self._leaves
        while low < high:
            if low & 1:
                found.append(low)
                low += 1
            if high & 1:
                high -= 1
                found.append(high)
            low, high = low >> 1, high >> 1
        return found


def _above(node: int) -> list[int]:
    found = []
    while node > 1:
        node >>= 1
        found.append(node)
    return found
