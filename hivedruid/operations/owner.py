"""The process that runs the operations of a statement holds a lock file.

The operating system releases the lock when the process dies. An operation that has neither ended nor is locked was
interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hivedruid import locks
from hivedruid.errors import ExecutionError
from hivedruid.operations.operation import Operation
from hivedruid.operations.store import Operations


def lock_path(home: Path, statement_id: str) -> Path:
    """The file that is locked, and touched, while a process runs the operations of a statement."""
    return home / "locks" / f"statement-{statement_id}"


def is_running(home: Path, statement_id: str) -> bool:
    """Whether a process runs the operations of a statement."""
    return locks.is_held(lock_path(home, statement_id))


@contextmanager
def owned(home: Path, operation: Operation, store: Operations) -> Iterator[None]:
    """Hold the lock that the operations of a statement share. Raises ExecutionError if another session holds it."""
    path = lock_path(home, operation.statement_id)
    with locks.exclusive(path, patience=1.0) as alone:  # longer than `is_running` holds it to probe
        if not alone:
            raise ExecutionError(
                f"job {operation.id} is already running in another session", hint="SHOW JOBS shows its state"
            )
        try:
            with locks.heartbeat(path):
                yield
        finally:
            if all(other.has_ended for other in store.of_statement(operation.statement_id)):
                path.unlink(missing_ok=True)
