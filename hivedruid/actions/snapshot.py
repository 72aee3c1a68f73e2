"""Facts from outside that building actions needs, read beforehand so that building stays pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Table
from hivedruid.druid.engine import NO_LIMITS, DruidLimits

if TYPE_CHECKING:
    from hivedruid.catalog.materialized_views import SourceState, ViewFacts
    from hivedruid.catalog.statistics import Statistics
    from hivedruid.ingestion.lifecycle import IngestionFacts
    from hivedruid.jobs.job import KnownJob


@dataclass(frozen=True)
class Snapshot:
    """The catalog, settings and clock as of one statement.

    `tables` holds what the statement names (views' tables too), by (database, name). `discovered` maps a
    data source that a CREATE names, if it exists, to its segmentMetadata answer: the column types by their name in Druid.
    `all_tables` holds every table of the databases that SHOW TABLES and DROP DATABASE name, `variables` the hivevars.
    `limits` are the Druid's own; `absent` are the data sources of named tables that it does not have; `unreachable` is
    why it could not be asked, where the statement can do without. `scans_only` keeps everything but scans out of Druid.
    `plan_only`: the actions are shown, not run. `ingestions` are what is known of the ingestion into the tables that
    are fed from Kafka and may change with the statement, by (database, name); none where nothing can be ingested.
    `fresh_id` is for a table that is made and started by the same statement. `statistics` are what is known of the rows
    of the tables that are read, by (database, name). `materialized_views` are those that matter to the statement, and
    `source_states` the state of the tables that a build of one reads, by `database.name`. `jobs` are those that matter to
    the statement, newest first: of SHOW JOBS all, of one that writes those that have not ended or were its own.
    """

    settings: Mapping[str, str]
    now: datetime
    database: str = "default"
    databases: tuple[str, ...] = ("default",)
    tables: Mapping[tuple[str, str], Table] = field(default_factory=dict)
    discovered: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    all_tables: tuple[Table, ...] = ()
    database_comments: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    limits: DruidLimits = NO_LIMITS
    absent: tuple[str, ...] = ()
    unreachable: str | None = None
    scans_only: bool = False
    plan_only: bool = False
    ingestions: Mapping[tuple[str, str], IngestionFacts] = field(default_factory=dict)
    fresh_id: str = ""
    statistics: Statistics = field(default_factory=dict)
    materialized_views: tuple[ViewFacts, ...] = ()
    source_states: Mapping[str, SourceState] = field(default_factory=dict)
    jobs: tuple[KnownJob, ...] = ()

    def table(self, database: str | None, name: str) -> Table | None:
        return self.tables.get(((database or self.database).lower(), name.lower()))

    @property
    def zone(self) -> str:
        """The session's time zone (hive.local.time.zone), LOCAL resolved by whoever made the snapshot."""
        return self.settings.get("hive.local.time.zone", "UTC")

    def within(self, database: str) -> Snapshot:
        """The same facts as seen from another current database."""
        return self if database == self.database else replace(self, database=database)
