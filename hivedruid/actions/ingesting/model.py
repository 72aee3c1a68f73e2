"""The actions that check, start, stop and change the ingestion from Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Table
from hivedruid.ingestion.lifecycle import IngestionChange

if TYPE_CHECKING:
    from hivedruid.ingestion.checks import Mode


@dataclass(frozen=True)
class CheckIngestion(Action):
    """Look whether the ingestion into a table could start: WARN tells what is wrong, REFUSE does not go on then."""

    table: Table
    spec: Mapping[str, Any]
    mode: Mode


@dataclass(frozen=True)
class ChangeIngestion(Action):
    """Start, stop or change what feeds a table from Kafka, and remember it in the catalog.

    `before` is the table as it was before the same statement changed it: where Druid refuses, it is that again.
    """

    change: IngestionChange
    before: Table | None = None

    @property
    def table(self) -> Table:
        return self.change.table


@dataclass(frozen=True)
class ForgetSpecs(Action):
    """ROLLBACK INGESTION: the specs that were sent after `version` are as if they had not been.

    `resubmits`: Druid has to hear of it, too; until that is done, the roll back counts as begun.
    """

    table: Table
    version: int
    resubmits: bool = False


IngestingAction = CheckIngestion | ChangeIngestion | ForgetSpecs
