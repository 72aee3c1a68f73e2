"""Run VERIFY TABLE."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from math import floor

from hivedruid.actions.services import Services
from hivedruid.actions.tiering.build import summed
from hivedruid.actions.tiering.decisions import touched
from hivedruid.actions.tiering.deletions import settle
from hivedruid.actions.tiering.model import VerifyArchive
from hivedruid.actions.tiering.reading import lock_name
from hivedruid.actions.tiering.verification import Counted, findings
from hivedruid.catalog.archives import Batches
from hivedruid.catalog.tiers import cold_part
from hivedruid.catalog.types import BIGINT, STRING
from hivedruid.druid.interval_sets import ALL, merged
from hivedruid.engine.capabilities import Archiving
from hivedruid.results import Result, ResultColumn

COLUMNS = tuple(
    ResultColumn(name, type_)
    for name, type_ in {
        "table": STRING, "part": STRING, "batch": STRING, "recorded": BIGINT, "rows": BIGINT, "state": STRING,
    }.items()
)  # fmt: skip


def verify(action: VerifyArchive, services: Services) -> Result:
    table, batches = action.table, Batches(services.catalog)
    with services.locks.exclusive(lock_name(table)) as alone:
        if alone:  # otherwise it belongs to a statement that runs
            settle(cold_part(table), services)
    before = [batch for batch in batches.of(table.table_id) if action.times == ALL or batch.id in action.batches]
    counted = list(_counted(action, services))
    after = batches.of(table.table_id)
    if action.times != ALL:
        known, after = {batch.id for batch in after}, tuple(touched(after, action.times))
        counted = [each for each in counted if each.batch not in known - {batch.id for batch in after}]
    spans = merged((each.start, each.end) for batch in after for each in batch.intervals)
    segments = services.engine(Archiving).visible(table.data_source, spans)
    found = findings(before, counted, after, segments)
    rows = ((table.full_name, each.part, each.batch, each.recorded, each.rows, each.state) for each in found)
    return Result(COLUMNS, rows)


def _counted(action: VerifyArchive, services: Services) -> Iterator[Counted]:
    """Before the first rows are written, there is no Iceberg table."""
    if action.job is None:
        return
    spark = services.spark()
    if action.table.is_written or spark.iceberg.may_exist(cold_part(action.table)):
        names = [column.name for column in summed(action.table)]
        for batch, rows, first, last, *sums in spark.rows(action.job):
            yield Counted(batch, rows, _millis(first), _millis(last), dict(zip(names, sums, strict=True)))


def _millis(time: datetime | None) -> int | None:
    """TIMESTAMP is in UTC."""
    if time is None:
        return None
    return floor((time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp() * 1000)
