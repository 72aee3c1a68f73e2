"""The interface of an engine: the embedded store, or a Druid cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hivedruid.catalog.statistics import TableStatistics
    from hivedruid.druid.limits import DruidLimits
    from hivedruid.engine.segments import ListedSegment, StoredSegment
    from hivedruid.ingestion.lifecycle import IngestionChange, IngestionFacts
    from hivedruid.ingestion.offsets import Move
    from hivedruid.jobs.load import Journal, Load, LoadReport
    from hivedruid.plan.physical import DruidRead


class DruidEngine(Protocol):
    """Answers native queries and runs ingestion tasks. All methods raise DruidError or ConnectError.

    A data source that does not exist has no rows and no schema.
    """

    @property
    def url(self) -> str:
        """Its `druid.url`, as shown in messages."""

    def data_sources(self) -> tuple[str, ...]:
        """The names of all data sources, sorted."""

    def schema(self, data_source: str) -> Mapping[str, str]:
        """Druid type by column: `__time` first, multi-value strings as ARRAY<STRING>; empty for a data source that does not exist."""

    def limits(self) -> DruidLimits:
        """The limits beyond which queries are refused; read once."""

    def statistics(self, data_source: str) -> TableStatistics | None:
        """Statistics that need no scan of the rows; as of the last call of `schema`, if there was one."""

    def analysed(self, data_source: str, columns: Mapping[str, str]) -> TableStatistics:
        """Statistics from a scan of all rows; `columns` gives the Druid type of each column whose values are counted."""

    def segments(self, data_source: str) -> tuple[StoredSegment, ...]:
        """The segments that queries read now, ordered by time."""

    def listed_segments(self, data_source: str) -> tuple[ListedSegment, ...]:
        """All segments, including those that queries do not read, ordered by time, version and number."""

    def rows(self, read: DruidRead) -> Iterator[tuple[Any, ...]]:
        """The rows of a native query, streamed: the values of `read.fields`, in order.

        LONG is int (times are milliseconds), DOUBLE float, FLOAT the float that its decimal text spells, STRING str,
        a multi-value with several values a list. Raises ResourceError before the first row, or never.
        """

    def write_parquet(self, read: DruidRead, columns: Sequence[str], path: Path) -> None:
        """The rows of a native query as one Parquet file, its fields named `columns`; it is written even if there are no rows.

        LONG is BIGINT, DOUBLE and FLOAT are DOUBLE (a FLOAT as its decimal text spells it), STRING is VARCHAR.
        """

    def check(self, spec: Mapping[str, Any]) -> None:
        """Called before rows are staged. Raises DruidError for an input source that this engine does not support."""

    def ingest(self, load: Load, journal: Journal) -> LoadReport:
        """Run an `index_parallel` task over staged rows; returns when the rows can be queried and are verified.

        Afterwards either all rows are in Druid, each exactly once, or none. If an error leaves that undecided, the journal
        records it, and another call with its state and notes resumes from there. Without rows no task is submitted, and
        only the replacement requested by "all" is done. Ctrl-C shuts the task down.
        """

    def roll_back(self, load: Load, journal: Journal) -> None:
        """Roll back a load: shut its task down, drop the segments that it published, and restore those that it replaced."""

    def drop(self, data_source: str, *, purge: bool = False) -> None:
        """Drop all segments of a data source; returns when no query reads them any more.

        A cluster only marks them as unused; with `purge` it deletes them.
        """

    def ingestion_facts(
        self,
        data_source: str,
        *,
        whole: bool,
        informed: bool = False,
        feed: Mapping[str, Any] | None = None,
        moment: int | None = None,
    ) -> IngestionFacts | None:
        """The state of the supervisor of a data source; None if this engine does not ingest from Kafka.

        `whole` adds its status and the workers. With `informed` the call waits, for some seconds if needed, until the
        supervisor knows the offsets of its tasks. With `feed`, a supervisor spec, the offsets of the topic are read from
        Kafka, and those at `moment` (ms); they are omitted if Kafka cannot be reached.
        """

    def change_ingestion(
        self,
        change: IngestionChange,
        *,
        patience: float,
        moving: Callable[[tuple[Move, ...]], None],
        accepted: Callable[[Mapping[str, Any]], None],
        on_step: Callable[[], None],
    ) -> tuple[Move, ...]:
        """Run the steps and wait for their effect; returns the changed offsets.

        `moving` is called before offsets change, and may raise to prevent it.
        """

    def close(self) -> None:
        """Close files and connections."""
