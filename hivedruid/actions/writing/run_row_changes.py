"""Run UPDATE, DELETE and MERGE."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from hivedruid.actions.select.reduce import reduced
from hivedruid.actions.services import Services

if TYPE_CHECKING:
    from hivedruid.actions.writing.model import ChangeTableRows, MergeTableRows
    from hivedruid.catalog.table import Table


def run(action: ChangeTableRows, services: Services) -> None:
    if action.changes_nothing:
        return
    from hivedruid.actions.tiering.deletions import delete_archived, forget_sums
    from hivedruid.spark import row_changes

    def change() -> None:
        subqueries = {view: reduced(job, services) for view, job in action.subqueries.items()}
        with _changed(action.table, services) as table:
            row_changes.change_rows(
                services.spark(), table, action.condition, action.assignments, subqueries, by_rows=action.by_rows
            )

    if action.tiered is None:
        change()
    elif action.assignments:
        forget_sums(action.table, action.condition, services)
        change()
    else:
        delete_archived(action.table, action.tiered, action.condition, change, services)


def merge(action: MergeTableRows, services: Services) -> None:
    from hivedruid.spark import row_changes

    if action.changes_nothing and (action.table.metastore or not services.spark().iceberg.may_exist(action.table)):
        return
    clauses = [(step.kind, step.condition, step.assignments) for step in action.steps]
    with _changed(action.table, services) as table:
        row_changes.merge_rows(services.spark(), table, reduced(action.job, services), action.on, clauses)
    if not action.table.is_written and not action.table.metastore:
        services.catalog.mark_written(action.table, written=True)


def _changed(table: Table, services: Services) -> AbstractContextManager[Table]:
    """The table as Spark changes it."""
    if not table.metastore:
        return nullcontext(table)
    return services.spark().changed_in_metastore(table, partial(services.metastore.commit_iceberg, table))
