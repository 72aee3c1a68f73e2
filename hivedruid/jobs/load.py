"""The load of staged rows by an engine, and the journal of its progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from hivedruid.druid.ingestion import Replaces
from hivedruid.jobs.staged import StagedRows
from hivedruid.lazy_dataclass import dataclass

LoadState = Literal["staged", "submitted", "published"]


@dataclass(frozen=True)
class Load:
    """`task` is the id of the task, chosen before anything is sent; `spec` the task, complete except for its id.

    `state` and `notes` are those of an earlier process that this one resumes; `notes` was written to the journal by the
    engine, and only the engine reads it.
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
    """The number of ingested rows, of published segments, and their size in bytes."""

    task: str
    rows: int
    segments: int
    size: int = 0


class Journal(Protocol):
    """Records the progress of a load. Each call is durable when it returns."""

    def submitted(self, notes: Mapping[str, Any]) -> None:
        """The task is about to be submitted: from now on Druid may have it."""

    def published(self, notes: Mapping[str, Any]) -> None:
        """The task has succeeded: its segments are in Druid's metadata."""

    def verified(self, report: LoadReport) -> None:
        """The rows can be queried and match the staged rows. The statement's catalog changes are committed now."""

    def rolled_back(self, reason: str) -> None:
        """No rows of the task are in Druid, or will be: it failed, was shut down, or was rolled back."""


class NoJournal:
    """For a load that is never resumed."""

    def submitted(self, notes: Mapping[str, Any]) -> None:
        pass

    def published(self, notes: Mapping[str, Any]) -> None:
        pass

    def verified(self, report: LoadReport) -> None:
        pass

    def rolled_back(self, reason: str) -> None:
        pass
