"""The interface that every engine has: the embedded store, or a Druid cluster. What only some have is in
`capabilities`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from hivedruid.catalog.statistics import TableStatistics
    from hivedruid.druid.limits import DruidLimits
    from hivedruid.plan.physical import DruidRead

T = TypeVar("T")


class DruidEngine(Protocol):
    """Answers native queries. All methods raise DruidError or ConnectError.

    A data source that does not exist has no rows and no schema.
    """

    @property
    def url(self) -> str:
        """Its `druid.url`, as shown in messages; `kinds.kind_of` finds its kind by it."""

    def data_sources(self) -> tuple[str, ...]:
        """The names of all data sources, sorted."""

    def schema(self, data_source: str) -> Mapping[str, str]:
        """Druid type by column: `__time` first, multi-value strings as ARRAY<STRING>; empty for a data source that does
        not exist."""

    def refusal_of_name(self, data_source: str) -> str:
        """Why requests about a data source of this name are refused, although Druid accepts the name; "" if they are
        not. Sends nothing for ordinary names."""

    def limits(self) -> DruidLimits:
        """The limits beyond which queries are refused; read once."""

    def statistics(self, data_source: str) -> TableStatistics | None:
        """Statistics that need no scan of the rows; as of the last call of `schema`, if there was one."""

    def analysed(self, data_source: str, columns: Mapping[str, str]) -> TableStatistics:
        """Statistics from a scan of all rows; `columns` gives the Druid type of each column whose values are
        counted."""

    def rows(self, read: DruidRead) -> Iterator[tuple[Any, ...]]:
        """The rows of a native query, streamed: the values of `read.fields`, in order.

        LONG is int (times are milliseconds), DOUBLE float, FLOAT the float that its decimal text spells, STRING str,
        a multi-value with several values a list. Raises ResourceError before the first row, or never.
        """

    def write_parquet(self, read: DruidRead, columns: Sequence[str], path: Path) -> None:
        """The rows of a native query as one Parquet file, its fields named `columns`; it is written even if there are
        no rows.

        LONG is BIGINT, DOUBLE and FLOAT are DOUBLE (a FLOAT as its decimal text spells it), STRING is VARCHAR.
        """

    def each(self, asked: Sequence[Callable[[DruidEngine], T]]) -> list[T]:
        """The results of independent requests, in order. A cluster is sent several at a time, each from a thread of its
        own."""
        return [ask(self) for ask in asked]

    def interrupt(self) -> None:
        """End the native queries that other threads are waiting for; these threads get a DruidError. Without such
        queries nothing happens."""

    def close(self) -> None:
        """Close files and connections."""
