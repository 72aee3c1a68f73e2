"""Whether a result is right: as the peer's test expects it, or else as Spark computes it over the raw rows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal

from hivedruid.catalog.types import HiveType
from hivedruid.cells import hive_text
from hivedruid.plan.literals import zone_of
from tests.conformance.answers import Table_, Truth
from tests.conformance.cases import Case

Verdict = Literal["equal", "open", "other", "wrong"]
"""`equal`: the expected rows. `open`: other rows or another order than the peer's, which the SQL allows as well.
`other`: Spark's rows, not the peer's: the peer has another meaning. `wrong`: not Spark's rows either."""

RELATIVE, ABSOLUTE = 1e-11, 1e-9


def verdict(
    case: Case, types: Sequence[HiveType], rows: Table_, *, asserted: bool, truth: Callable[[], Truth]
) -> Verdict:
    """`asserted`: the expected rows were computed from the queried rows."""
    expected = case.expected
    has_expected = asserted and (expected.rows is not None or expected.count is not None)
    if has_expected and _as_expected(case, types, rows):
        return "equal"
    true = truth()
    if not _is_true(rows, true, types):
        return "wrong"
    if not has_expected:
        return "equal"
    return "open" if _is_possible(case, types, true) else "other"


# --- against the peer's rows -----------------------------------------------------------------------------------------


def _as_expected(case: Case, types: Sequence[HiveType], rows: Table_) -> bool:
    expected = case.expected
    if expected.rows is None:
        return expected.count is None or len(rows) == expected.count
    if expected.check == "ordered-prefix":
        rows = rows[: len(expected.rows)]
    if len(rows) != len(expected.rows):
        return False
    reads = _reader(case, types)
    if _lists(rows, expected.rows, reads):
        return True
    return expected.check == "unordered" and _multisets(rows, expected.rows, reads)


Reader = Callable[[tuple[Any, ...], tuple[str | None, ...]], bool]


def _reader(case: Case, types: Sequence[HiveType]) -> Reader:
    """Whether a row of ours is the peer's row of strings."""
    zone = zone_of(case.zone) or UTC
    is_hive = case.peer.name == "hive"

    def same(row: tuple[Any, ...], texts: tuple[str | None, ...]) -> bool:
        return len(row) == len(texts) and all(
            _same_cell(value, text, kind, zone, is_hive=is_hive)
            for value, text, kind in zip(row, texts, types, strict=False)
        )

    return same


def _same_cell(value: Any, text: str | None, kind: HiveType, zone: Any, *, is_hive: bool) -> bool:
    if value is None or text is None:
        return value is None and (text is None or (is_hive and text == "NULL"))
    if isinstance(value, bool):
        return text.lower() in (("true", "1") if value else ("false", "0"))
    if isinstance(value, datetime):
        shown = value.astimezone(zone) if value.tzinfo else value
        return text == (hive_text(kind)(shown) if is_hive else f"{shown:%Y-%m-%d %H:%M:%S}")
    if isinstance(value, date):
        return text == value.isoformat()
    if isinstance(value, str):
        return text == value or _close_texts(value, text)
    try:
        return _close(float(value), float(text), kind)
    except (TypeError, ValueError):
        return text == hive_text(kind)(value)


def _close(a: float, b: float, kind: HiveType) -> bool:
    relative = 1e-6 if kind.name == "float" else RELATIVE
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=relative, abs_tol=ABSOLUTE)


_DIGITS = re.compile(r"-?\d+\.\d{6,}(?:[eE][-+]?\d+)?")


def _close_texts(a: str, b: str) -> bool:
    """Whether two strings differ only in the last digits of long numbers: sums of doubles depend on the order of
    addition.
    """
    numbers, others = _DIGITS.findall(a), _DIGITS.findall(b)
    if not numbers or len(numbers) != len(others) or _DIGITS.sub("", a) != _DIGITS.sub("", b):
        return False
    return all(math.isclose(float(x), float(y), rel_tol=RELATIVE) for x, y in zip(numbers, others, strict=True))


def _lists(rows: Table_, texts: Sequence[tuple[str | None, ...]], same: Reader) -> bool:
    return len(rows) == len(texts) and all(same(a, b) for a, b in zip(rows, texts, strict=True))


def _multisets(rows: Table_, texts: Sequence[tuple[str | None, ...]], same: Reader) -> bool:
    """Whether every row of strings matches a different one of the rows."""
    left = list(rows)
    for text in texts:
        place = next((i for i, row in enumerate(left) if same(row, text)), None)
        if place is None:
            return False
        left.pop(place)
    return True


def _is_possible(case: Case, types: Sequence[HiveType], true: Truth) -> bool:
    """Whether the peer's rows are a valid result of the query, too."""
    rows = case.expected.rows
    if rows is None:
        return False
    every = true.rows if true.every is None else true.every
    return len(rows) <= len(every) and len(rows) < 1000 and _multisets(every, rows, _reader(case, types))


# --- against Spark's rows --------------------------------------------------------------------------------------------


def _is_true(rows: Table_, true: Truth, types: Sequence[HiveType]) -> bool:
    if len(rows) != len(true.rows):
        return False
    places = true.keys
    if places and not all(
        _same_value(row[i], other[i], types[i]) for row, other in zip(rows, true.rows, strict=True) for i in places
    ):
        return False
    return _among(rows, true.rows, types) or (true.every is not None and _among(rows, true.every, types))


def _among(rows: Table_, others: Table_, types: Sequence[HiveType]) -> bool:
    """Whether every row matches a different one of the others. The last digits of doubles may differ, so a row is
    searched first among those that round to the same values, and then among all remaining rows.
    """
    near: dict[tuple[Any, ...], Table_] = {}
    for other in others:
        near.setdefault(_rounded(other), []).append(other)
    odd = [row for row in rows if not _taken(row, near.get(_rounded(row), []), types)]
    if not odd:
        return True
    left = [other for bucket in near.values() for other in bucket]
    return len(odd) <= MOST_ODD and all(_taken(row, left, types) for row in odd)


MOST_ODD = 200
"""Maximum number of rows without a match after rounding; with more the result is different."""


def _taken(row: tuple[Any, ...], left: Table_, types: Sequence[HiveType]) -> bool:
    """Remove the row from the remaining ones; whether it was among them."""
    place = next((i for i, other in enumerate(left) if _same_row(row, other, types)), None)
    if place is not None:
        left[place] = left[-1]
        left.pop()
    return place is not None


def _rounded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([_rounded_cell(value) for value in row])


def _rounded_cell(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.6g}" if value else "0"
    if isinstance(value, str):
        return _DIGITS.sub("", value)
    return (
        tuple(map(_rounded_cell, value))
        if isinstance(value, list)
        else str(value)
        if isinstance(value, dict)
        else value
    )


def _same_row(a: tuple[Any, ...], b: tuple[Any, ...], types: Sequence[HiveType]) -> bool:
    return all(_same_value(x, y, kind) for x, y, kind in zip(a, b, types, strict=True))


def _same_value(a: Any, b: Any, kind: HiveType) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return _close(a, b, kind)
    if isinstance(a, str) and isinstance(b, str):
        return a == b or _close_texts(a, b)
    return type(a) is type(b) and bool(a == b)
