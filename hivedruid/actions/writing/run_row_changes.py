"""Run UPDATE and DELETE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hivedruid.actions.services import Services

if TYPE_CHECKING:
    from hivedruid.actions.writing.model import ChangeTableRows


def run(action: ChangeTableRows, services: Services) -> None:
    if action.changes_nothing:
        return
    from hivedruid.actions.tiering.deletions import delete_archived, forget_sums
    from hivedruid.spark import row_changes

    def change() -> None:
        row_changes.change_rows(
            services.spark(), action.table, action.condition, action.assignments, by_rows=action.by_rows
        )

    if action.tiered is None:
        change()
    elif action.assignments:
        forget_sums(action.table, action.condition, services)
        change()
    else:
        delete_archived(action.table, action.tiered, action.condition, change, services)
