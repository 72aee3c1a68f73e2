"""A query of another project's suite: where it is, its text there and in Hive's dialect, its tables, its expected rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Row = Sequence[Any]
Verdict = Literal["equal", "wrong", "not Hive's SQL", "needs Spark", "refused", "not comparable"]
VERDICTS: tuple[Verdict, ...] = ("equal", "wrong", "not Hive's SQL", "needs Spark", "refused", "not comparable")


class Expected(Protocol):
    """What a suite expects of a query."""

    def matches(self, rows: Sequence[Row]) -> bool:
        """Whether these are the expected rows. Raises NotComparable with the reason if that cannot be decided."""

    @property
    def text(self) -> str:
        """For the file of wrong results."""


class NotComparable(Exception):  # noqa: N818 - an outcome, not an error
    """The suite's result means nothing for Hive: the message is the reason."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a suite. Its rows are stored in Druid's form: times as milliseconds."""

    name: str
    columns: tuple[tuple[str, str], ...]
    """Names and Hive types."""
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Case:
    """`retry`: another text of the query and a reason. The query is not comparable, for that reason, if its rows are not
    the expected ones, and those of the other text are."""

    place: str
    original: str
    sql: str
    expected: Expected
    tables: tuple[Table, ...] = ()
    views: tuple[str, ...] = ()
    retry: tuple[str, str] | None = None
    reason: str = ""
    """Why the query is not comparable, known without running it."""


@dataclass(frozen=True)
class Outcome:
    case: Case
    verdict: Verdict
    reason: str = ""
    rows: tuple[Row, ...] = field(default=(), repr=False)
