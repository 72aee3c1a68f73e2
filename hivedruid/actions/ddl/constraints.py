"""The checks of the enabled constraints of a table that CREATE or ALTER TABLE defines. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.catalog.table import Table
    from hivedruid.errors import Span


def check_constraints(table: Table, before: Table | None, span: Span | None, snapshot: Snapshot) -> None:
    """Raise SemanticError, at `span`, for an expression of CHECK or DEFAULT that the table cannot have."""
    if any(constraint.enabled and constraint.text for constraint in table.constraints):
        from hivedruid.actions.writing.row_constraints import check_definitions  # the planner takes time to import

        check_definitions(table, before, span, snapshot)
