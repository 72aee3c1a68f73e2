"""What becomes of an interrupted operation.

For each kind these are the actions of RESUME JOB and CANCEL JOB, or why there are none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.errors import ExecutionError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.operations.store import AnyOperation, Operations

if TYPE_CHECKING:
    from hivedruid.actions.services import Services


@dataclass(frozen=True)
class Refusal:
    """Why an operation cannot be resumed or cancelled, and what to do instead."""

    message: str
    hint: str


@dataclass(frozen=True)
class Recovery:
    """What RESUME JOB and CANCEL JOB do.

    `repair` is the statement that ends the operation, `next` all that the user can do; both are empty for an operation
    that has ended.
    """

    resume: Action | Refusal
    cancel: Action | Refusal
    repair: str = ""
    next: str = ""

    @classmethod
    def of_ended(cls, operation: Operation) -> Recovery:
        """Nothing can be done with an operation that has ended."""
        ended = Refusal(f"job {operation.id} is {operation.state}", "nothing to cancel")
        return cls(ended, ended)

    @classmethod
    def of_running(cls, operation: Operation) -> Recovery:
        """Nothing can be done with an operation that another session runs, but to wait."""
        wait = "wait for it to finish, or press Ctrl-C in that session"
        refused = Refusal(f"job {operation.id} is running in another session", wait)
        return cls(refused, refused, "", wait)


class Handler(Protocol):
    """The module of a kind of operations."""

    def recovery(self, known: KnownOperation[Operation]) -> Recovery: ...

    def details(self, operation: Operation, snapshot: Snapshot) -> Iterable[tuple[str, str]]:
        """The rows of DESCRIBE JOB that only this kind has, and empty ones, which are left out."""


def handler(kind: str) -> Handler:
    """The module of a kind, loaded on first use. A new kind is a row here."""
    match kind:
        case "load" | "view":
            from hivedruid.actions.writing import recovery as loads

            return loads
        case "ingestion":
            from hivedruid.actions.ingesting import recovery as changes

            return changes
        case "managed view":
            from hivedruid.actions.materialized import recovery as views

            return views
        case "compaction":
            from hivedruid.actions.compacting import recovery as compactions

            return compactions
        case "rewrite":
            from hivedruid.actions.compacting import rewrite_recovery as rewrites

            return rewrites
        case "topic":
            from hivedruid.actions.writing import topic_recovery as topics

            return topics
        case "partitions":
            from hivedruid.actions.partitioning import recovery as partitions

            return partitions
        case "archive":
            from hivedruid.actions.tiering import recovery as archives

            return archives
        case _:
            raise AssertionError(f"no recovery for operations of kind {kind}")


def current(operation: AnyOperation, services: Services) -> AnyOperation:
    """The operation as the catalog has it now, which must belong to the session's Druid. Raises ExecutionError."""
    stored = Operations(services.catalog).current(operation)
    if stored.druid != services.setting("druid.url"):
        raise ExecutionError(f"job {operation.id} writes to {stored.druid}", hint=f"SET druid.url={stored.druid}")
    return stored


def recovery(known: KnownOperation[Operation]) -> Recovery:
    return handler(known.operation.kind).recovery(known)
