"""The result of a statement, a frozen value that `render` formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from hivedruid.catalog.types import STRING, HiveType


@dataclass(frozen=True)
class ResultColumn:
    name: str
    type: HiveType


@dataclass(frozen=True)
class Result:
    """The result of one statement.

    `rows` is consumed once and may be computed while it is read. Cells are Python values: None, bool, int, float, str,
    bytes, Decimal, date, naive datetime (`timestamp`), aware datetime (`timestamp with local time zone`, in the
    session's zone), list, dict. A statement without a result (DDL, INSERT) has no columns. `is_text`: one string
    column whose rows are lines of text (EXPLAIN, SHOW CREATE TABLE), printed unchanged.
    """

    columns: tuple[ResultColumn, ...] = ()
    rows: Iterable[tuple[Any, ...]] = field(default=())
    is_text: bool = False


def begun(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The same rows with the first one already computed, so that early failures are raised here."""
    iterator = iter(rows)
    try:
        first = next(iterator)
    except StopIteration:
        return iter(())
    return chain((first,), iterator)


def text_result(column: str, text: str) -> Result:
    """Lines of text as a result of one string column."""
    return Result((ResultColumn(column, STRING),), [(line,) for line in text.splitlines()], is_text=True)
