"""The operations in the catalog."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from hivedruid import instants
from hivedruid.catalog.operation_records import OperationRecord, OperationRecords
from hivedruid.catalog.store import Catalog
from hivedruid.errors import ExecutionError
from hivedruid.operations.kinds import KINDS
from hivedruid.operations.operation import COMMON, Operation
from hivedruid.secret_text import redact

MOST_ENDED = 1000
"""The number of ended operations that are kept."""

AnyOperation = TypeVar("AnyOperation", bound=Operation)


class TransitionError(Exception):
    """A transition that the kind of the operation does not allow: a bug."""


class Operations:
    """Every change is one transaction. Raises ExecutionError if the catalog cannot be written."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._records = OperationRecords(catalog)

    @property
    def catalog(self) -> Catalog:
        return self._catalog

    def find(self, operation_id: str) -> Operation | None:
        record = self._records.find(operation_id)
        return _from_record(record) if record is not None else None

    def all(self) -> tuple[Operation, ...]:
        """Newest first."""
        return tuple(map(_from_record, self._records.all()))

    def unfinished(self) -> tuple[Operation, ...]:
        """Those that have not ended, newest first, running or not."""
        return tuple(map(_from_record, self._records.unfinished()))

    def of_unfinished_statements(self) -> tuple[Operation, ...]:
        """Those of the statements with an operation that has not ended, newest first."""
        return tuple(map(_from_record, self._records.of_unfinished_statements()))

    def of_statement(self, statement_id: str) -> tuple[Operation, ...]:
        return tuple(map(_from_record, self._records.of_statement(statement_id)))

    def current(self, operation: AnyOperation) -> AnyOperation:
        """The operation as the catalog has it now. Raises ExecutionError if it has been deleted."""
        found = self.find(operation.id)
        if found is None:
            raise ExecutionError(f"job {operation.id} no longer exists", hint="SHOW JOBS lists the jobs")
        assert isinstance(found, type(operation))
        return found

    def begin(self, operations: Iterable[Operation]) -> None:
        """Record all operations of a statement at once, including those not yet started.

        The oldest operations that have ended are deleted.
        """
        now = instants.now()
        with self._catalog.transaction():
            for operation in operations:
                self._records.add(_to_record(replace(operation, created=now, changed=now, version=1)))
            self._records.remove_ended(MOST_ENDED)

    def move(self, operation: AnyOperation, state: str, **changes: Any) -> AnyOperation:
        """Record the operation in another state, with changed fields, and return it.

        Raises ExecutionError if another process has changed it concurrently, and TransitionError if its kind does not
        allow the transition.
        """
        if not operation.allows(state):
            raise TransitionError(f"a {operation.kind} operation cannot change from {operation.state} to {state}")
        if "error" in changes:
            changes["error"] = redact(changes["error"])
        moved = replace(operation, state=state, changed=instants.now(), version=operation.version + 1, **changes)
        if not self._records.update(_to_record(moved), operation.version):
            stored = self.find(operation.id)
            now = "gone" if stored is None else stored.state
            raise ExecutionError(
                f"job {operation.id} was changed by another session: it is now {now}", hint="SHOW JOBS"
            )
        return moved


def _to_record(operation: Operation) -> OperationRecord:
    common = {name: getattr(operation, name) for name in COMMON}
    notes = json.dumps(operation.notes())
    return OperationRecord(**common, kind=operation.kind, ended=operation.has_ended, notes=notes)


def _from_record(record: OperationRecord) -> Operation:
    common = {name: getattr(record, name) for name in COMMON}
    return KINDS[record.kind].of_notes(json.loads(record.notes), **common)
