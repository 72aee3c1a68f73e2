"""Read what SHOW PROBLEMS needs to know of tiered tables."""

from __future__ import annotations

from datetime import UTC, datetime

from hivedruid.actions.services import Services
from hivedruid.actions.tiering.problems import WatchedTier
from hivedruid.catalog.archives import Batches
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table
from hivedruid.engine.capabilities import Retention, SegmentLists
from hivedruid.engine.kinds import find
from hivedruid.errors import ConnectError, DruidError
from hivedruid.iceberg import home_catalog
from hivedruid.iceberg.catalog import is_own
from hivedruid.operations.archives import ArchiveJob
from hivedruid.operations.owner import is_running
from hivedruid.operations.store import Operations


def watched_tiers(services: Services) -> tuple[WatchedTier, ...]:
    return tuple(_watched(table, services) for table in tiered_tables(services.catalog))


def tiered_tables(catalog: Catalog) -> list[Table]:
    names = [(each.database, each.name) for each in catalog.druid_tables()]
    return [table for key in names if (table := catalog.find(*key)) is not None and table.is_tiered]


def _watched(table: Table, services: Services) -> WatchedTier:
    """What Druid does not tell is left out: that it is not reachable is a problem of its own."""
    batches = Batches(services.catalog).of(table.table_id)
    history = home_catalog.history(services.home, table.table_id) if is_own(services.settings) else None
    now, segments, rules = datetime.now(UTC), None, None
    try:
        segments = services.engine(SegmentLists).segments(table.data_source)
        retention = find(services.druid(), Retention)
        if retention is not None:
            rules = retention.retention_rules([table.data_source])[table.data_source]
    except (ConnectError, DruidError) as error:
        services.note(f"{table.full_name}: {error.message}")
    is_archived = any(
        isinstance(job, ArchiveJob)
        and job.table_id == table.table_id
        and is_running(services.home, services.catalog, job.statement_id)
        for job in Operations(services.catalog).unfinished()
    )
    return WatchedTier(table, now, batches, segments, rules, history, is_archived)
