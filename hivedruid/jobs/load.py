"""One ingestion of staged rows: what is handed to a Druid, and what it tells on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from hivedruid.druid.ingestion import Replaces
from hivedruid.jobs.staged import StagedRows

LoadState = Literal["staged", "submitted", "published"]


@dataclass(frozen=True)
class Load:
    """`task` is the id of the task, chosen before anything is sent; `spec` the task, complete but for its id.

    `state` and `notes` are those of an earlier process that this one goes on from: `notes` is what the engine gave to
    its journal, and nobody else's business.
    """

    task: str
    spec: Mapping[str, Any]
    staged: StagedRows
    replaces: Replaces = "nothing"
    state: LoadState = "staged"
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def data_source(self) -> str:
        return str(self.spec["spec"]["dataSchema"]["dataSource"])


@dataclass(frozen=True)
class LoadReport:
    """`rows` that were read and kept; `segments` that queries now read because of them, and their bytes in Druid."""

    task: str
    rows: int
    segments: int
    size: int = 0


class Journal(Protocol):
    """Where an ingestion leaves word of how far it is. Each call is durable when it returns."""

    def submitted(self, notes: Mapping[str, Any]) -> None:
        """The task is about to be handed over: from here on Druid may have it."""

    def published(self, notes: Mapping[str, Any]) -> None:
        """The task has succeeded: its segments are in Druid's metadata."""

    def verified(self, report: LoadReport) -> None:
        """The rows can be queried, and are those that were staged. What the statement changes in the catalog is changed now."""

    def withdrawn(self, reason: str) -> None:
        """Nothing of the task is in Druid, or will be: it failed, was shut down, or was taken back."""


class NoJournal:
    """Of an ingestion that nobody goes on with."""

    def submitted(self, notes: Mapping[str, Any]) -> None:
        pass

    def published(self, notes: Mapping[str, Any]) -> None:
        pass

    def verified(self, report: LoadReport) -> None:
        pass

    def withdrawn(self, reason: str) -> None:
        pass
