"""Which statements about tiered tables exclude each other, by the locks of these tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from hivedruid.actions.families import family_of
from hivedruid.actions.tiering.reading import LOCK_PATIENCE, lock_name
from hivedruid.errors import ExecutionError

if TYPE_CHECKING:
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.catalog.named_locks import NamedLocks
    from hivedruid.parser.statements import Statement


@contextmanager
def unmoved(locks: NamedLocks, snapshot: Snapshot, statement: Statement) -> Iterator[bool]:
    """Inside the context no other statement moves rows of the tiered tables that a statement writes elsewhere or
    changes, and none that writes rows of them elsewhere runs while it moves rows itself.

    Whether there are locks for that: what is known of these tables may have changed until they were taken.
    """
    with ExitStack() as stack:
        moved = _moved(statement, snapshot.database) & {*snapshot.tiers}
        keys = moved | _locked(statement, snapshot)
        for key in sorted(keys):
            name = lock_name(snapshot.tables[key])
            if key not in moved:
                stack.enter_context(locks.shared(name))
            elif not stack.enter_context(locks.exclusive(name, patience=LOCK_PATIENCE)):
                raise ExecutionError(
                    f"timed out after {LOCK_PATIENCE:g} s waiting for statements that read or move rows of"
                    f" {snapshot.tables[key].full_name}",
                    hint="rerun the statement when they have ended",
                )
        yield bool(keys)


def _locked(statement: Statement, snapshot: Snapshot) -> set[tuple[str, str]]:
    """The tiered tables whose rows a statement writes elsewhere, or which it changes."""
    match family_of(statement):
        case "writing":
            return {*snapshot.tiers} & snapshot.queried
        case "ddl" | "materialized":
            return {*snapshot.tiers}
        case _:
            return set()


def _moved(statement: Statement, database: str) -> set[tuple[str, str]]:
    """The tables between whose parts a statement moves rows itself, or whose archived rows it changes."""
    from hivedruid.parser.statements.tiering import UnarchiveTable
    from hivedruid.parser.statements.writing import ChangeRows, Insert

    names = [target.table for target in statement.targets if target.overwrite] if isinstance(statement, Insert) else []
    names += [statement.name] if isinstance(statement, UnarchiveTable) else []
    names += [statement.table] if isinstance(statement, ChangeRows) else []
    return {((name.database or database).lower(), name.name.lower()) for name in names}
