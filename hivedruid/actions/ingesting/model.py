"""The actions that check, start, stop and change the ingestion from Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Table
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.ingestion.checks import Mode
    from hivedruid.ingestion.lifecycle import IngestionChange


@dataclass(frozen=True)
class CheckIngestion(Action):
    """Check whether the ingestion into a table can start: WARN notes the findings, REFUSE fails the statement."""

    table: Table
    spec: Mapping[str, Any]
    mode: Mode


@dataclass(frozen=True)
class CheckTopic(Action):
    """Check whether the topic of a new Kafka table exists: WARN notes that it does not, REFUSE fails the statement."""

    table: Table
    mode: Mode


@dataclass(frozen=True)
class ChangeIngestion(Action):
    """Start, stop or change the ingestion into a table from Kafka, and record it in the catalog.

    `before` is the table before the same statement changed it: it is restored if Druid refuses the change.
    """

    change: IngestionChange
    before: Table | None = None

    @property
    def table(self) -> Table:
        return self.change.table

    @property
    def by_version(self) -> tuple[str, ...]:
        version = self.change.version
        return (version.reason("supervisor ids"),) if version is not None and self.change.verb == "START" else ()


@dataclass(frozen=True)
class ForgetSpecs(Action):
    """ROLLBACK INGESTION: discard the specs that were submitted after `version`.

    `resubmits`: the spec is submitted to Druid, too; until that is done, the rollback is pending.
    """

    table: Table
    version: int
    resubmits: bool = False


IngestingAction = CheckIngestion | CheckTopic | ChangeIngestion | ForgetSpecs
