"""The base of all operations. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

from hivedruid.errors import HiveDruidError
from hivedruid.lazy_dataclass import dataclass

Transitions = Mapping[str, tuple[str, ...]]
"""The states of a kind in order, and those that follow each. A state that none follows is final."""


def error_text(error: BaseException) -> str:
    """The `error` of an operation that ended, or was interrupted, by an exception."""
    return error.message if isinstance(error, HiveDruidError) else type(error).__name__


@dataclass(frozen=True, kw_only=True)
class Operation:
    """Unfinished or ended work of one statement on one table. Each kind is a subclass; its own fields are its notes.

    `id` is the id in RESUME JOB and CANCEL JOB. `statement_id` is shared by the operations of one statement: a process
    that runs them holds the lock file of that name. `statement` names the statement in SHOW JOBS, `text` is its text
    for display, secrets masked. `table_id` is "" if the operation itself creates the table. `druid` is the druid.url.
    `version` counts the changes of the record. `created` and `changed` are ISO 8601 in UTC.
    """

    kind: ClassVar[str]
    transitions: ClassVar[Transitions]

    id: str
    statement_id: str
    statement: str
    database: str
    table: str
    table_id: str
    druid: str
    text: str
    state: str
    version: int = 0
    error: str = ""
    created: str = ""
    changed: str = ""

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.table}"

    @property
    def has_ended(self) -> bool:
        return not self.transitions[self.state]

    def allows(self, state: str) -> bool:
        """Whether the operation may change to that state, or stay in it with other notes, unless it has ended."""
        return state in self.transitions[self.state] or (state == self.state and not self.has_ended)

    def notes(self) -> dict[str, Any]:
        """The fields of the kind as JSON values."""
        return {name: getattr(self, name) for name in self._own_fields()}

    @classmethod
    def of_notes(cls, notes: Mapping[str, Any], **common: Any) -> Self:
        """The inverse of `notes`. Unknown keys, written by another version of hivedruid, are ignored."""
        own = cls._own_fields()
        return cls(**common, **{name: value for name, value in notes.items() if name in own})

    @classmethod
    def _own_fields(cls) -> tuple[str, ...]:
        return tuple(item.name for item in fields(cls) if item.name not in COMMON)


COMMON = frozenset(item.name for item in fields(cast("Any", Operation)))
"""The fields that every kind has."""


AnyOperation_co = TypeVar("AnyOperation_co", bound=Operation, covariant=True)


@dataclass(frozen=True)
class KnownOperation(Generic[AnyOperation_co]):
    """An operation; whether a process runs it, and whether it changed recently (hivedruid.job.repeat.within)."""

    operation: AnyOperation_co
    is_running: bool
    is_recent: bool = True
