"""Actions of DDL and utility statements: catalog changes, settings, and answers known without running anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hivedruid.actions.model import Action
from hivedruid.catalog.table import Table
from hivedruid.ingestion.lifecycle import IngestionChange
from hivedruid.results import ResultColumn

if TYPE_CHECKING:
    from hivedruid.actions.compaction import ConfigureCompaction


@dataclass(frozen=True)
class AddTable(Action):
    """Put a table or view into the catalog (over a view of the same name with `replace`)."""

    table: Table
    replace: bool = False


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


@dataclass(frozen=True)
class RemoveTable(Action):
    """Take a table out of the catalog; with `delete_data` what it stores goes as well.

    `ingestion` and automatic `compaction` end before that. With `purge` Druid's segments are deleted, not only marked as unused.
    """

    table: Table
    delete_data: bool
    ingestion: ChangeIngestion | None = None
    purge: bool = False
    compaction: ConfigureCompaction | None = None


@dataclass(frozen=True)
class ReplaceTable(Action):
    """The same table (by `table_id`) with other properties, columns or name."""

    before: Table
    after: Table


@dataclass(frozen=True)
class EmptyTable(Action):
    """Remove all rows of a table; with `purge` Druid's segments are deleted, not only marked as unused."""

    table: Table
    purge: bool = False


@dataclass(frozen=True)
class AddDatabase(Action):
    name: str
    comment: str = ""


@dataclass(frozen=True)
class RemoveDatabase(Action):
    """Take a database out; its `tables` (CASCADE) are removed before it."""

    name: str
    tables: tuple[RemoveTable, ...] = ()


@dataclass(frozen=True)
class UseDatabaseAction(Action):
    name: str


@dataclass(frozen=True)
class ChangeSetting(Action):
    """SET key=value. The value is checked; `hivevar:name` is a variable, every other key a setting."""

    key: str
    value: str


@dataclass(frozen=True)
class ResetSetting(Action):
    """Back to the default, for one key or (None) for all."""

    key: str | None = None


@dataclass(frozen=True)
class Show(Action):
    """Answer with rows that the catalog and the settings already hold."""

    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    is_text: bool = False


def names_only(actions: Iterable[Action]) -> Iterator[Action]:
    """What of the actions concerns the catalog, the settings and answers from them: no data is read, written or deleted."""
    for action in actions:
        if isinstance(action, RemoveTable):
            yield replace(action, delete_data=False, ingestion=None, compaction=None)
        elif isinstance(action, RemoveDatabase):
            yield replace(
                action,
                tables=tuple(
                    replace(removal, delete_data=False, ingestion=None, compaction=None) for removal in action.tables
                ),
            )
        elif isinstance(action, _ABOUT_NAMES):
            yield action
        elif type(action).__name__ == "BuildView" and action.creates:  # type: ignore[attr-defined]
            yield AddTable(action.table)  # type: ignore[attr-defined]


_ABOUT_NAMES = (AddTable, ReplaceTable, AddDatabase, UseDatabaseAction, ChangeSetting, ResetSetting, Show)
