"""UPDATE and DELETE of archived rows of a tiered table: the numbers of rows that the catalog has recorded of their
batches, and the sums, which are not known any more.

Deleted rows leave the cold part in one commit of Iceberg. What it will do is recorded before it, as a batch without
times, so that a process that is killed in between leaves no wrong numbers:

    planned ── the rows are deleted, and the numbers are less ──► done
       └────── the rows are still there ──► cancelled

All of this is done under the exclusive lock of the table (`exclusion.unmoved`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from uuid import uuid4

from hivedruid.actions.services import Services
from hivedruid.catalog.archives import Batch, Batches, Removal
from hivedruid.catalog.table import Table


def delete_archived(
    table: Table, tiered: Table, condition: str | None, delete: Callable[[], None], services: Services
) -> None:
    """Delete rows of the cold part `table`, and keep the recorded numbers of rows right."""
    settle(table, services)
    counts = _counted(table, condition, services)
    if not counts:
        return
    batches = Batches(services.catalog)
    last = max((batch.number for batch in batches.of(table.table_id)), default=0)
    id_, removal = f"{tiered.name}_{uuid4().hex[:12]}", Removal(last, counts=tuple(counts.items()))
    deletion = Batch(id_, table.table_id, "planned", (), effect="removed", removal=removal)
    batches.keep(deletion)
    delete()
    batches.end_removal(deletion)


def forget_sums(table: Table, condition: str | None, services: Services) -> None:
    """Before an UPDATE: VERIFY TABLE does not compare the sums of the batches that have such rows."""
    counts, batches = _counted(table, condition, services), Batches(services.catalog)
    for batch in batches.of(table.table_id):
        if batch.id in counts and batch.sums:
            batches.keep(replace(batch, sums=()))


def settle(table: Table, services: Services) -> None:
    """Find out whether the rows of interrupted deletions have left the cold part `table`."""
    batches = Batches(services.catalog)
    every = batches.of(table.table_id)
    begun = [batch for batch in every if batch.deleted and not batch.is_decided]
    if not begun:
        return
    found = _counted(table, None, services)
    for deletion in begun:
        known = [(batch, deletion.deleted.get(batch.id, 0)) for batch in every]
        if all(found.get(batch.id, 0) == batch.rows - rows for batch, rows in known if rows):
            batches.end_removal(deletion)
        else:
            batches.keep(replace(deletion, state="cancelled"))


def _counted(table: Table, condition: str | None, services: Services) -> Mapping[str, int]:
    from hivedruid.spark.tiers import count_rows

    return count_rows(services.spark(), table, condition or "TRUE")
