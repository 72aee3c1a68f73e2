"""The comparison of two results."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from hivedruid.catalog.types import HiveType

Rows = list[tuple[Any, ...]]


def same(found: Rows, expected: Rows, types: list[HiveType], *, ordered: bool) -> bool:
    """Whether the results are equal as lists or as multisets; doubles to 1e-9, floats to single precision."""
    if len(found) != len(expected):
        return False
    tolerances = [1e-6 if t.name == "float" else 1e-9 for t in types]
    if not ordered:
        found, expected = sorted(found, key=sort_key), sorted(expected, key=sort_key)
    if all(_same_row(a, b, tolerances) for a, b in zip(found, expected, strict=True)):
        return True
    return not ordered and _matched(found, expected, tolerances)


def _matched(found: Rows, expected: Rows, tolerances: list[float]) -> bool:
    """Sorting may separate rows whose doubles differ in the last digit: search a match for each."""
    left = list(expected)
    for row in found:
        partner = next((i for i, other in enumerate(left) if _same_row(row, other, tolerances)), None)
        if partner is None:
            return False
        left.pop(partner)
    return True


def _same_row(a: tuple[Any, ...], b: tuple[Any, ...], tolerances: list[float]) -> bool:
    return all(same_value(x, y, t) for x, y, t in zip(a, b, tolerances, strict=True))


def same_value(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance, abs_tol=0.0) or a == b
    if isinstance(a, float) or isinstance(b, float) or isinstance(a, bool) or isinstance(b, bool):
        return type(a) is type(b) and a == b
    return bool(a == b)


def sort_key(row: tuple[Any, ...]) -> list[tuple[int, Any]]:
    """Sorts rows of any values, nulls first."""
    return [_cell_key(cell) for cell in row]


def _cell_key(cell: Any) -> tuple[int, Any]:
    if cell is None:
        return (0, 0)
    if isinstance(cell, float):
        return (1, 0.0) if math.isnan(cell) else (2, float(f"{cell:.6g}") if math.isfinite(cell) else cell)
    return (3, cell if isinstance(cell, str) else str(cell))


def shown(rows: Iterable[tuple[Any, ...]], most: int = 12) -> str:
    listed = sorted(rows, key=sort_key)
    lines = [f"    {row!r}" for row in listed[:most]]
    return "\n".join([*lines, *([f"    … {len(listed) - most} more"] if len(listed) > most else [])]) or "    (none)"
