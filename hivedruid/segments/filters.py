"""Filters that a segment evaluates itself, as values. `matching` evaluates them.

A comparison with null is never true. There is no negation, so that null needs no third truth value.
"""

from __future__ import annotations

from hivedruid.lazy_dataclass import dataclass

Value = str | int | float


@dataclass(frozen=True)
class In:
    """The column has one of the values; with several values in a row, at least one of them."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Range:
    """The column is within the bounds; None is no bound. Strings are compared by their UTF-16 units, as in Java."""

    column: str
    lower: Value | None = None
    upper: Value | None = None
    is_lower_open: bool = False
    is_upper_open: bool = False


@dataclass(frozen=True)
class Prefix:
    """The column, a string, begins with the text."""

    column: str
    text: str


@dataclass(frozen=True)
class IsNull:
    column: str


@dataclass(frozen=True)
class NotNull:
    column: str


@dataclass(frozen=True)
class And:
    parts: tuple[Filter, ...]


@dataclass(frozen=True)
class Or:
    parts: tuple[Filter, ...]


Leaf = In | Range | Prefix | IsNull | NotNull
Filter = Leaf | And | Or


def utf16(text: str) -> bytes:
    """A key that sorts texts as Java does."""
    return text.encode("utf-16-be", "surrogatepass")
