"""ORDER BY: nulls as specified by the key, strings by code points (the order of their UTF-8 bytes)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hivedruid.evaluation.aggregates import key
from hivedruid.evaluation.exactness import NotLocal
from hivedruid.evaluation.expressions import Row, Scope, compiled
from hivedruid.plan.rex import SortKey


def ordered(keys: tuple[SortKey, ...], scope: Scope) -> Callable[[list[int], Sequence[Row]], list[int]]:
    """A sort of row numbers; the sort is stable."""
    steps = []
    for item in reversed(keys):
        if item.rex.type.name == "unknown" or item.rex.type.children:
            raise NotLocal(f"ORDER BY {item.rex.type}")
        steps.append((compiled(item.rex, scope), item))

    def sort(numbers: list[int], rows: Sequence[Row]) -> list[int]:
        for value, item in steps:
            numbers = _by(numbers, lambda n, value=value: key(value(rows[n])), item)  # type: ignore[misc]
        return numbers

    return sort


def _by(numbers: list[int], value: Callable[[int], Any], item: SortKey) -> list[int]:
    keyed = [(value(n), n) for n in numbers]
    nulls = [n for v, n in keyed if v is None]
    rest = [n for _, n in sorted((p for p in keyed if p[0] is not None), key=lambda p: p[0], reverse=item.descending)]
    return nulls + rest if item.nulls_first else rest + nulls
