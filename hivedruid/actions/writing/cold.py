"""What a write to a tiered table does to its cold part, step by step with its job.

    planned ── rows before the edge are added as a batch, or rows to remove are counted ──► staged
    staged ── the job is verified: Druid has its rows ──► done, or switched if rows are to be removed
    switched ── they are deleted ──► done

The batch has the id of the job. See `catalog.archives` for what counts in each state.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.services import Services
from hivedruid.actions.tiering.deletions import settle
from hivedruid.actions.writing.model import ColdRows, IngestDruid
from hivedruid.catalog.archives import Batch, Batches, Effect, Interval
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table
from hivedruid.catalog.tiers import cold_part
from hivedruid.errors import ExecutionError
from hivedruid.plan.nodes import PlanColumn
from hivedruid.plan.spark_pruning import Pruning
from hivedruid.plan.spark_rex import SparkRex
from hivedruid.plan.spark_text import quote_identifier
from hivedruid.plan.tiers import removed_rows

if TYPE_CHECKING:
    from hivedruid.jobs.staged import StagedRows
    from hivedruid.operations.loads import LoadJob
    from hivedruid.spark.tiers import Division


def begin(action: IngestDruid, services: Services) -> Division | None:
    """Record the batch of a write, before the first of its rows is in the cold part; returns how rows are divided."""
    cold = action.cold
    if cold is None:
        return None
    if cold.removal is not None:
        settle(cold.table, services)
    effect: Effect = "added" if cold.removal is None else "removed"
    batch = Batch(action.job_id, cold.table.table_id, "planned", (), 0, effect, cold.removal)
    Batches(services.catalog).keep(batch)
    if cold.edge is None:
        return None
    from hivedruid.spark.tiers import Division

    return Division(cold.table, cold.edge, action.job_id)


def staged_batch(
    action: IngestDruid, staged: StagedRows, division: Division | None, services: Services
) -> Batch | None:
    """The batch after the rows are staged, to be recorded together with them; None without one.

    Raises ExecutionError if rows that were to be brought back into Druid have changed.
    """
    cold, batch = action.cold, Batches(services.catalog).find(action.job_id)
    if cold is None or batch is None:
        return None
    if cold.removal is None:
        added = division.added if division is not None else None
        if added is None:
            return replace(batch, state="staged")
        return replace(batch, state="staged", rows=added.rows, intervals=(Interval(added.first, added.last + 1),))
    spans = staged.intervals if cold.times is None else cold.times
    batch = replace(batch, state="staged", intervals=tuple(Interval(*span) for span in spans))
    counts = _counted(cold, batch, services)
    if not cold.removal.of_others and sum(rows for _, rows in counts) != staged.rows:
        raise ExecutionError(
            f"the rows of {cold.table.full_name} were changed while they were read", hint="rerun the statement"
        )
    return replace(batch, removal=replace(cold.removal, counts=counts))


def _counted(cold: ColdRows, batch: Batch, services: Services) -> tuple[tuple[str, int], ...]:
    from hivedruid.spark.tiers import count_rows

    return tuple(count_rows(services.spark(), cold.table, _condition(cold.table, batch, services)).items())


def _condition(table: Table, batch: Batch, services: Services) -> str:
    """The rows that a batch removes, as Spark's SQL."""
    columns = tuple(PlanColumn(column.name, column.name, column.type) for column in table.columns)
    rex = removed_rows(columns, batch, Batches(services.catalog).of(batch.table_id))
    return SparkRex("UTC", lambda _: "", Pruning.of((table,))).sql(
        rex, {column.id: quote_identifier(column.name) for column in columns}
    )


def rows_of(job: LoadJob, services: Services) -> int:
    """The number of rows that a job has added to the cold part."""
    batch = Batches(services.catalog).find(job.id)
    return batch.rows if batch is not None and batch.effect == "added" else 0


def switched(job: LoadJob, catalog: Catalog) -> None:
    """Record that the rows of a job are in Druid, as part of the caller's transaction."""
    batch = Batches(catalog).find(job.id)
    if batch is None or batch.is_decided:
        return
    Batches(catalog).keep(replace(batch, state="switched" if batch.effect == "removed" else "done"))
    if batch.rows and (table := _table_of(job, catalog)) is not None:
        catalog.mark_written(table, written=True)


def complete(job: LoadJob, services: Services) -> None:
    """Delete the rows that a verified job has replaced."""
    batches = Batches(services.catalog)
    batch, table = batches.find(job.id), _table_of(job, services.catalog)
    if batch is None or table is None or batch.state != "switched":
        return
    from hivedruid.spark.tiers import delete_rows

    cold = cold_part(table)
    delete_rows(services.spark(), cold, _condition(cold, batch, services))
    batches.end_removal(batch)


def cancel(job: LoadJob, services: Services) -> None:
    """Delete the rows that a cancelled job has added to the cold part."""
    batches = Batches(services.catalog)
    batch, table = batches.find(job.id), _table_of(job, services.catalog)
    if batch is None or table is None or batch.is_decided:
        return
    if batch.effect == "added":
        from hivedruid.spark.tiers import delete_batch

        delete_batch(services.spark(), cold_part(table), batch.id)
    batches.keep(replace(batch, state="cancelled"))


def _table_of(job: LoadJob, catalog: Catalog) -> Table | None:
    """None if it was dropped, or is another one now."""
    table = catalog.find(job.database, job.table)
    return table if table is not None and table.table_id == job.table_id else None
