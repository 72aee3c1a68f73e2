"""The facts that planning needs besides the query, gathered beforehand so that planning is pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from hivedruid.catalog.functions import TEMPORARY, Functions, UserFunction, named
from hivedruid.catalog.table import Table
from hivedruid.druid.limits import NO_LIMITS, DruidLimits
from hivedruid.errors import SemanticError, Span
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.catalog.materialized_views import ViewFacts
    from hivedruid.catalog.statistics import Statistics
    from hivedruid.plan.file_counts import FileCount, PartitionChoice
    from hivedruid.plan.java_calls import Signatures
    from hivedruid.plan.nodes import TableScan
    from hivedruid.plan.rex import Rex
    from hivedruid.plan.segment_scans import ScannedSegments
    from hivedruid.plan.tiers import TierFacts
    from hivedruid.plan.topic_scans import TopicState


@dataclass(frozen=True)
class PlannerFacts:
    """Tables, settings and clock for one statement, and the limits of the engine. `tables` contains the tables that the
    statement names, including those of views, by (database, name). `limits` are those of the engine. `scans_only` keeps
    everything but scans out of Druid, `reads_whole_files` the conditions of a Spark job out of its scans of managed
    tables. `traces_rules`: the plan after each rule is kept. `statistics` describes the rows
    of the tables that are read, by (database, name). `materialized_views` are those that matter to the statement.
    `segments` are those of data sources that Spark may read in place of native queries; None if it is not yet known
    which data sources are needed. `topics` are the offsets of Kafka tables that are read, by (database, name), once the
    times whose offsets are needed are known. `tiers` describes the parts of tiered tables, by (database, name).
    `answers` contains the rows of native queries that have run for this statement, by the text of the query
    (`plan.ask_first`); None if none may be run. `functions` are those that users created, `signatures`
    what calls of those in Java return; None if Spark cannot be asked.
    """

    settings: Mapping[str, str]
    now: datetime
    database: str = "default"
    databases: tuple[str, ...] = ("default",)
    tables: Mapping[tuple[str, str], Table] = field(default_factory=dict)
    limits: DruidLimits = NO_LIMITS
    scans_only: bool = False
    reads_whole_files: bool = False
    traces_rules: bool = False
    statistics: Statistics = field(default_factory=dict)
    materialized_views: tuple[ViewFacts, ...] = ()
    answers: Mapping[str, Sequence[Any]] | None = None
    segments: ScannedSegments | None = None
    topics: Mapping[tuple[str, str], TopicState] = field(default_factory=dict)
    tiers: Mapping[tuple[str, str], TierFacts] = field(default_factory=dict)
    functions: Functions = field(default_factory=dict)
    signatures: Signatures | None = None

    def table(self, database: str | None, name: str) -> Table | None:
        return self.tables.get(((database or self.database).lower(), name.lower()))

    def function(self, database: str | None, name: str) -> UserFunction | None:
        return named(self.functions, database, self.database, name)

    @property
    def function_names(self) -> tuple[str, ...]:
        """The functions of users, as a statement may call them."""
        short = {TEMPORARY, self.database}
        return tuple(sorted(f.name if f.database in short else f.full_name for f in self.functions.values()))

    def file_count(self, scan: TableScan, condition: Rex | None) -> FileCount | None:
        """The files of a managed table that can have rows of a condition; None if that is not known."""
        del scan, condition
        return None

    def partition_choice(self, table: Table, ids: Mapping[str, str], condition: Rex | None) -> PartitionChoice | None:
        """The partitions of an external table that can have rows of a condition, whose columns have these names by
        their ids; None for other tables."""
        del table, ids, condition
        return None

    def snapshot_of(self, table: Table, version: int | str | datetime, span: Span | None) -> int:
        """The snapshot of a managed table with an id, of a tag or branch, or that was current at a time. Raises
        SemanticError if there is none."""
        del version
        raise SemanticError(f"the snapshots of {table.full_name} are not known", span=span)

    def number_of_files(self, table: Table) -> int | None:
        """The files of a managed table; None if that is not known."""
        del table
        return None

    @property
    def zone(self) -> str:
        """The session's time zone (hive.local.time.zone), with LOCAL already resolved."""
        return self.settings.get("hive.local.time.zone", "UTC")

    def within(self, database: str) -> Self:
        """The same facts with another current database."""
        return self if database == self.database else replace(self, database=database)
