"""The external facts that building actions needs, read beforehand so that building is pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hivedruid.catalog.table import Table
from hivedruid.plan.facts import PlannerFacts

if TYPE_CHECKING:
    from hivedruid.catalog.materialized_views import SourceState
    from hivedruid.ingestion.lifecycle import IngestionFacts
    from hivedruid.operations.operation import KnownOperation, Operation


@dataclass(frozen=True)
class Snapshot(PlannerFacts):
    """The facts of one statement: the planner's, and those of the families of statements.

    `discovered` maps a data source that a CREATE names, if it exists, to its segmentMetadata answer: the column types by
    their name in Druid. `all_tables` holds every table of the databases that SHOW TABLES and DROP DATABASE name, too;
    `variables` are the hivevars. `read` are the Druid tables whose rows the statement reads or adds to, `absent` those of
    their data sources that Druid does not have; `unreachable` is why it could not be asked, where the statement can do
    without. `plan_only`: the actions are shown, not run. `ingestions` are what is known of the ingestion into the tables
    that are fed from Kafka and may change with the statement, by (database, name); none where nothing can be ingested.
    `fresh_id` is for a table that is made and started by the same statement. `source_states` are the state of the tables
    that a build of a materialized view reads, by `database.name`. `jobs` are those that matter to the statement, newest
    first: of SHOW JOBS all, of one that writes those that have not ended or were its own.
    """

    discovered: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    database_comments: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    read: tuple[Table, ...] = ()
    unreachable: str | None = None
    plan_only: bool = False
    ingestions: Mapping[tuple[str, str], IngestionFacts] = field(default_factory=dict)
    fresh_id: str = ""
    source_states: Mapping[str, SourceState] = field(default_factory=dict)
    jobs: tuple[KnownOperation[Operation], ...] = ()
