"""DELETE of archived rows of a tiered table: the numbers of rows that the catalog has recorded of their batches.

The rows leave the cold part in one commit of Iceberg. What it will do is recorded before it, as a batch without times,
so that a process that is killed in between leaves no wrong numbers:

    planned ── the rows are deleted, and the numbers are less ──► done
       └────── the rows are still there ──► cancelled

All of this is done under the exclusive lock of the table (`reading.unmoved`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from uuid import uuid4

from hivedruid.actions.services import Services
from hivedruid.catalog.archives import Batch, Batches, Removal
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table


def delete_archived(
    table: Table, tiered: Table, condition: str | None, delete: Callable[[], None], services: Services
) -> None:
    """Delete rows of the cold part `table`, and keep the recorded numbers of rows right."""
    settle(table, services)
    counts = _counted(table, condition, services)
    if not counts:
        return
    known = {batch.id for batch in Batches(services.catalog).of(table.table_id)}
    of_batches = tuple((batch, rows) for batch, rows in counts.items() if batch in known)
    if not of_batches:  # rows of other tools, which are not recorded
        delete()
        return
    deletion = Batch(
        f"{tiered.name}_{uuid4().hex[:12]}", table.table_id, "planned", (), 0, "removed",
        Removal(0, counts=of_batches),
    )  # fmt: skip
    Batches(services.catalog).keep(deletion)
    delete()
    _record(deletion, services.catalog)


def settle(table: Table, services: Services) -> None:
    """Find out whether the rows of interrupted deletions left the cold part `table`."""
    batches = Batches(services.catalog)
    begun = [batch for batch in batches.of(table.table_id) if _is_deletion(batch) and not batch.is_decided]
    if not begun:
        return
    found = _counted(table, None, services)
    recorded = {batch.id: batch.rows for batch in batches.of(table.table_id)}
    for deletion in begun:
        counts = _counts(deletion)
        if all(found.get(batch, 0) == recorded.get(batch, 0) - rows for batch, rows in counts.items()):
            _record(deletion, services.catalog)
        else:
            batches.keep(replace(deletion, state="cancelled"))


def _is_deletion(batch: Batch) -> bool:
    """Whether a batch is that of a DELETE: those of other statements have times when the rows are counted."""
    return batch.effect == "removed" and not batch.intervals and bool(_counts(batch))


def _counts(batch: Batch) -> Mapping[str, int]:
    return dict(batch.removal.counts) if batch.removal is not None else {}


def _record(deletion: Batch, catalog: Catalog) -> None:
    batches, counts = Batches(catalog), _counts(deletion)
    with catalog.transaction():
        for batch in batches.of(deletion.table_id):
            if batch.id in counts:
                batches.keep(replace(batch, rows=batch.rows - counts[batch.id]))
        batches.keep(replace(deletion, state="done"))


def _counted(table: Table, condition: str | None, services: Services) -> Mapping[str, int]:
    from hivedruid.spark.tiers import count_rows

    return count_rows(services.spark(), table, condition or "TRUE")
