"""The facts that planning needs besides the query, gathered beforehand so that planning is pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from hivedruid.catalog.table import Table
from hivedruid.druid.limits import NO_LIMITS, DruidLimits

if TYPE_CHECKING:
    from hivedruid.catalog.materialized_views import ViewFacts
    from hivedruid.catalog.statistics import Statistics


@dataclass(frozen=True)
class PlannerFacts:
    """Tables, settings and clock for one statement, and Druid's limits. `tables` contains what the statement names
    (views' tables too), by (database, name); `all_tables` holds every table of the databases that an error may name.
    `limits` are the Druid's own. `scans_only` keeps everything but scans out of Druid.
    `traces_rules`: the plan after each rule is kept. `statistics` are what is known
    of the rows of the tables that are read, by (database, name). `materialized_views` are those that matter to the
    statement. `answers` are the rows that native queries have answered for this statement, by their texts
    (`plan.ask_first`); None where none is to be asked.
    """

    settings: Mapping[str, str]
    now: datetime
    database: str = "default"
    databases: tuple[str, ...] = ("default",)
    tables: Mapping[tuple[str, str], Table] = field(default_factory=dict)
    all_tables: tuple[Table, ...] = ()
    limits: DruidLimits = NO_LIMITS
    scans_only: bool = False
    traces_rules: bool = False
    statistics: Statistics = field(default_factory=dict)
    materialized_views: tuple[ViewFacts, ...] = ()
    answers: Mapping[str, Sequence[Any]] | None = None

    def table(self, database: str | None, name: str) -> Table | None:
        return self.tables.get(((database or self.database).lower(), name.lower()))

    @property
    def zone(self) -> str:
        """The session's time zone (hive.local.time.zone), with LOCAL already resolved."""
        return self.settings.get("hive.local.time.zone", "UTC")

    def within(self, database: str) -> Self:
        """The same facts with another current database."""
        return self if database == self.database else replace(self, database=database)
