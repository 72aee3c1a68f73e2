"""The process that runs the operations of a statement holds a lock of the catalog.

The lock ends with the process. An operation that has neither ended nor is locked was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hivedruid.catalog.named_locks import NamedLocks, named_locks
from hivedruid.catalog.store import Catalog
from hivedruid.errors import ConnectError, ExecutionError
from hivedruid.operations.operation import Operation
from hivedruid.operations.store import Operations


def lock_name(statement_id: str) -> str:
    """The lock that a process holds while it runs the operations of a statement."""
    return f"statement-{statement_id}"


def is_running(home: Path, catalog: Catalog, statement_id: str) -> bool:
    """Whether a process runs the operations of a statement."""
    return named_locks(home, catalog).is_held(lock_name(statement_id))


def last_alive(home: Path, catalog: Catalog, statement_id: str) -> float:
    """When a process last ran the operations of a statement, in seconds since 1970; 0 if that is not known."""
    return named_locks(home, catalog).last_alive(lock_name(statement_id))


@contextmanager
def owned(home: Path, operation: Operation, store: Operations) -> Iterator[None]:
    """Hold the lock that the operations of a statement share. Raises ExecutionError if another session holds it."""
    locks, name = named_locks(home, store.catalog), lock_name(operation.statement_id)
    with locks.exclusive(name, patience=1.0) as alone:  # longer than `is_running` holds it to probe
        if not alone:
            raise ExecutionError(
                f"job {operation.id} is already running in another session", hint="SHOW JOBS shows its state"
            )
        try:
            with locks.alive(name):
                yield
        except BaseException:
            with suppress(ConnectError):  # the error of a lost connection must not take the place of this one
                _forget(locks, name, operation, store)
            raise
        _forget(locks, name, operation, store)


def _forget(locks: NamedLocks, name: str, operation: Operation, store: Operations) -> None:
    if all(other.has_ended for other in store.of_statement(operation.statement_id)):
        locks.forget(name)
