"""What a Druid does for us, whichever it is: the embedded store or a cluster."""

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
        """What `druid.url` is for it, as messages name it."""

    def data_sources(self) -> tuple[str, ...]:
        """The names of all data sources, sorted."""

    def schema(self, data_source: str) -> Mapping[str, str]:
        """Druid type by column: `__time` first, multi-value strings as ARRAY<STRING>; empty where there is none."""

    def limits(self) -> DruidLimits:
        """What this Druid refuses beyond; asked once."""

    def statistics(self, data_source: str) -> TableStatistics | None:
        """What it knows of the rows without looking at them; as of the last `schema` of it, where that has been asked."""

    def analysed(self, data_source: str, columns: Mapping[str, str]) -> TableStatistics:
        """The same after a look at all rows: how many values the columns have, Druid's types by name."""

    def segments(self, data_source: str) -> tuple[StoredSegment, ...]:
        """What queries read of a data source now, in order of time."""

    def listed_segments(self, data_source: str) -> tuple[ListedSegment, ...]:
        """All segments, also those that queries do not read, in order of time, version and number."""

    def rows(self, read: DruidRead) -> Iterator[tuple[Any, ...]]:
        """The rows of a native query as they come: the values of `read.fields`, in order.

        LONG is int (times are milliseconds), DOUBLE float, FLOAT the float that its decimal text spells, STRING str,
        a multi-value with several values a list. Raises ResourceError before the first row, or never.
        """

    def write_parquet(self, read: DruidRead, columns: Sequence[str], path: Path) -> None:
        """The rows of a native query as one Parquet file, its fields named `columns`; also where there are no rows.

        LONG is BIGINT, DOUBLE and FLOAT are DOUBLE (a FLOAT as its decimal text spells it), STRING is VARCHAR.
        """

    def check(self, spec: Mapping[str, Any]) -> None:
        """Before rows are staged: raises DruidError for an input source that this Druid has not."""

    def ingest(self, load: Load, journal: Journal) -> LoadReport:
        """Run an `index_parallel` task over staged rows, and return when these can be queried and have been verified.

        All of its rows are in Druid afterwards, each once, or none; where an error leaves that open, the journal says so, and
        another call with its state and notes goes on from there. Also where there are no rows: then nothing is
        sent but what "all" asks for. Ctrl-C shuts the task down.
        """

    def withdraw(self, load: Load, journal: Journal) -> None:
        """Shut down what was submitted, and take back what was published: Druid is as it was before, as far as it is ours."""

    def drop(self, data_source: str, *, purge: bool = False) -> None:
        """Drop all segments of a data source; returns when no query sees them any more.

        A cluster keeps them as unused, and gives them back when asked; with `purge` it deletes them.
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
        """What is known of the supervisor of a data source; None where nothing can be ingested from Kafka.

        `whole`: its status and the workers, too; `informed`: when the supervisor knows how far its tasks have read, for
        which it may need some seconds. With `feed`, a supervisor's spec, Kafka is asked for the offsets of
        the topic, also for those at a `moment` in ms; where it cannot be asked they are left out.
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
        """Do it step by step, and wait until it is so; the offsets that were moved. `moving` is told before they are, and may refuse."""

    def close(self) -> None:
        """Let go of files and connections."""
