"""The result of a statement, a frozen value that `render` formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from hivedruid.catalog.types import STRING, HiveType
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

Row: TypeAlias = tuple[Any, ...]
Column: TypeAlias = "Sequence[Any] | pa.Array"
"""The cells of one column: Python values, or an Arrow array, which may have a dictionary of strings."""
PART = 1 << 14
"""Rows that become Python values, or text, at a time: they fit into the processor's cache."""


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
    column whose rows are lines of text (EXPLAIN, SHOW CREATE TABLE), printed unchanged; `is_json`: the lines are one
    JSON document (EXPLAIN FORMATTED).
    """

    columns: tuple[ResultColumn, ...] = ()
    rows: Iterable[Row] = field(default=())
    is_text: bool = False
    is_json: bool = False


@dataclass(frozen=True)
class Batch:
    """Consecutive rows, as columns."""

    size: int
    columns: tuple[Column, ...]

    @property
    def is_arrow(self) -> bool:
        return any(not isinstance(column, Sequence) for column in self.columns)

    def parts(self, rows: int) -> Iterator[Batch]:
        """The same rows in batches of at most so many."""
        if self.size <= rows:
            yield self
            return
        for start in range(0, self.size, rows):
            columns = tuple(column[start : start + rows] for column in self.columns)
            yield Batch(min(rows, self.size - start), columns)

    def rows(self) -> Iterator[Row]:
        return zip(*map(values, self.columns), strict=True) if self.columns else repeat((), self.size)


class Batches(Iterator[Row]):
    """Rows that arrive in batches of columns. It iterates over the rows; who can handle columns reads `batches`
    instead. Only one of the two is consumed."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self.batches = batches
        self._rows = chain.from_iterable(part.rows() for batch in batches for part in batch.parts(PART))

    def __next__(self) -> Row:
        return next(self._rows)

    def close(self) -> None:
        """End the reading early."""
        if callable(close := getattr(self.batches, "close", None)):
            close()

    def mapped(self, change: Callable[[tuple[Column, ...]], tuple[Column, ...]]) -> Batches:
        """The same number of rows, with other columns."""
        return Batches(Batch(batch.size, change(batch.columns)) for batch in self.batches)


def unique_names(columns: Iterable[ResultColumn]) -> list[str]:
    """The names of the columns; a repeated name gets a number (`a`, `a_1`)."""
    names: dict[str, None] = {}
    again: dict[str, int] = {}
    for column in columns:
        name = column.name
        while name in names:
            again[column.name] = again.get(column.name, 0) + 1
            name = f"{column.name}_{again[column.name]}"
        names[name] = None
    return list(names)


def values(column: Column) -> Sequence[Any]:
    """The cells of a column as Python values."""
    if isinstance(column, Sequence):
        return column
    cells: list[Any] = column.to_pylist()
    return cells


def through(rows: Iterable[Row], passing: Callable[[Iterator[Any]], Iterator[Any]]) -> Iterator[Row]:
    """The same rows through an iterator that passes on unchanged what it gets: rows, or whole batches of them."""
    return Batches(passing(rows.batches)) if isinstance(rows, Batches) else passing(iter(rows))


def size(item: Row | Batch) -> int:
    """The number of rows of what `through` passes on."""
    return item.size if isinstance(item, Batch) else 1


def begun(rows: Iterable[Row]) -> Iterator[Row]:
    """The same rows with the first one already computed, so that early failures are raised here."""
    return through(rows, _begun)


def _begun(items: Iterable[Any]) -> Iterator[Any]:
    iterator = iter(items)
    try:
        first = next(iterator)
    except StopIteration:
        return iter(())
    return chain((first,), iterator)


def text_result(column: str, text: str, *, is_json: bool = False) -> Result:
    """Lines of text as a result of one string column; `is_json`: they are one JSON document."""
    lines = text.split("\n") if is_json else text.splitlines()
    return Result((ResultColumn(column, STRING),), [(line,) for line in lines], is_text=True, is_json=is_json)
