"""Read tiered tables: what Druid and the catalog say before a query, and whether it is still so after it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic, sleep
from typing import IO, TYPE_CHECKING, Any

from hivedruid.actions.tiering.decisions import decided, is_same, touched
from hivedruid.catalog.archives import Batch, Batches
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table
from hivedruid.druid.interval_sets import ALL, IntervalSet, intersection, merged
from hivedruid.engine.archiving import Holding
from hivedruid.engine.capabilities import Archiving
from hivedruid.engine.engine import DruidEngine
from hivedruid.engine.kinds import require
from hivedruid.errors import ConnectError, DruidError, ExecutionError, TiersChangedError
from hivedruid.operations.archives import ArchiveJob
from hivedruid.operations.loads import IN_DRUID, LoadJob
from hivedruid.operations.store import Operations
from hivedruid.plan.tiers import TierFacts
from hivedruid.results import Result, through
from hivedruid.scratch import make_scratch, scratch_folder

if TYPE_CHECKING:
    from hivedruid.actions.select.model import TieredTable
    from hivedruid.actions.services import Services
    from hivedruid.actions.statement_plan import StatementPlan
    from hivedruid.plan.facts import PlannerFacts

LOCK_PATIENCE = 600.0
"""Seconds to wait for statements that write rows of a table elsewhere, or move its rows."""
PATIENCE = 30.0
"""Seconds to wait until Druid shows one side of a switch that it is making."""
ADDED_PATIENCE = 10.0
"""Seconds to wait until Druid shows all rows of an INSERT; then those are read that it shows."""
POLL = 0.25
"""Seconds between two looks."""
IN_MEMORY = 64 * 1024 * 1024
"""Bytes of a result that are kept in memory until it is checked; more are in a temporary file."""
CHUNK = 1000
"""Rows that are stored together."""


def gather_tiers(
    tables: Mapping[tuple[str, str], Table], catalog: Catalog, *, every_batch: bool = False
) -> dict[tuple[str, str], TierFacts]:
    """What the catalog says about the tiered tables, before Druid is queried."""
    batches = Batches(catalog)
    read = batches.of if every_batch else batches.current
    tiered = {key: table.table_id for key, table in tables.items() if table.is_tiered}
    return {key: TierFacts(read(id_), edge=batches.edge(id_)) for key, id_ in tiered.items()}


def asked_of_druid(
    built: StatementPlan, facts: PlannerFacts, druid: Callable[[], DruidEngine], catalog: Catalog
) -> Mapping[tuple[str, str], TierFacts] | None:
    """The facts about the tiered tables whose queries read times of archived rows, completed by what Druid shows; None
    if there are none."""
    found: dict[tuple[str, str], TierFacts] = {}
    for plan in built.plans:
        for key, spans in plan.tier_spans.items():
            known = facts.tiers[key]
            if key not in found and not known.asked and Batches(catalog).may_hold(facts.tables[key].table_id, spans):
                found[key] = ask_druid(facts.tables[key], known, spans, druid(), catalog)
                if any(action.writes is not None for action in built.actions):
                    _refuse_undecided(facts.tables[key], known)
    return {**facts.tiers, **found} if found else None


def with_segments(
    built: StatementPlan, facts: PlannerFacts, druid: Callable[[], DruidEngine]
) -> Mapping[tuple[str, str], TierFacts]:
    """The facts with all segments of the tiered tables that the queries read, for EXPLAIN; without them if Druid cannot
    be reached."""
    found = dict(facts.tiers)
    with suppress(ConnectError, DruidError):
        for key in {key for plan in built.plans for key in plan.tier_spans}:
            listed = require(druid(), Archiving).visible(facts.tables[key].data_source, ALL)
            spans = tuple((each.start, each.end) for each in listed if not each.is_tombstone)
            found[key] = replace(found[key], segments=spans, has_all=True)
    return found


def _refuse_undecided(table: Table, known: TierFacts) -> None:
    """Refuse to write rows elsewhere that an interrupted job may be moving: they are not read again after the write."""
    for batch in known.batches:
        if batch.state in ("staged", "switched") and batch.effect != "added":
            raise ExecutionError(
                f"job {batch.id}, which moves rows of {table.full_name}, was interrupted",
                hint=f"run RESUME JOB '{batch.id}', and rerun the statement",
            )


def ask_druid(table: Table, known: TierFacts, spans: IntervalSet, engine: DruidEngine, catalog: Catalog) -> TierFacts:
    """The facts as Druid shows them; waits while its queries still read archived rows, at most PATIENCE seconds. Raises
    TiersChangedError."""
    archiving = require(engine, Archiving)
    begun = monotonic()
    while True:
        try:
            waits_for_added = monotonic() - begun < ADDED_PATIENCE
            switched = _switched(table, touched(known.batches, spans), archiving, catalog, waits_for_added)
            segments = archiving.visible(table.data_source, spans)
            seen = merged((s.start, s.end) for s in segments if not s.is_tombstone)
            hidden = Batches(catalog).hidden(table.table_id, intersection(seen, spans))
            return decided(table.full_name, known, hidden, switched, segments, spans)
        except TiersChangedError:
            if monotonic() - begun > PATIENCE:
                raise
        sleep(POLL)


def _switched(
    table: Table, batches: Sequence[Batch], archiving: Archiving, catalog: Catalog, waits_for_added: bool
) -> set[str]:
    """The staged batches whose transaction Druid has made. Raises TiersChangedError while not all rows of it can be
    read; for added rows only if they are to be waited for."""
    found: set[str] = set()
    for batch in batches:
        if batch.state != "staged":
            continue
        job = Operations(catalog).find(batch.id)
        if isinstance(job, ArchiveJob) and archiving.is_removed(Holding.of_notes(job.holding)):
            found.add(batch.id)
        elif isinstance(job, LoadJob) and job.state in IN_DRUID and (seen := archiving.loaded(job.load())) != "none":
            if seen == "some" and (batch.effect == "removed" or waits_for_added):
                raise TiersChangedError(
                    f"queries of Druid do not read all rows yet that job {job.id} adds to {table.full_name}",
                    hint="rerun the statement",
                )
            found.add(batch.id)
    return found


def checked(result: Result, tables: Sequence[TieredTable], services: Services) -> Result:
    """The result, read to its end, if the same rows counted as archived all the time. Raises TiersChangedError."""

    def spooled(items: Iterator[Any]) -> Iterator[Any]:
        kept = _Spool(services.home)
        try:
            kept.fill(items)
            for item in tables:
                _check(item, services)
        except BaseException:
            kept.close()
            raise
        return kept.items()

    return replace(result, rows=through(result.rows, spooled))


def _check(item: TieredTable, services: Services) -> None:
    before, table = item.facts, item.table
    now = TierFacts(Batches(services.catalog).since(table.table_id, before.batches))
    if now.batches != before.batches or any(not batch.is_decided for batch in now.batches):
        now = ask_druid(table, now, before.asked, services.druid(), services.catalog) if now.batches else now
    else:
        now = before
    if not is_same(before, now):
        raise TiersChangedError(f"rows of {table.full_name} were moved while the query ran", hint="rerun the statement")


class _Spool:
    """Items in memory, and beyond a size in a temporary file; they are read once."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._chunks: list[bytes] = []
        self._file: IO[bytes] | None = None
        self._in_file = 0

    def fill(self, items: Iterator[Any]) -> None:
        size = 0
        while chunk := list(islice(items, CHUNK)):
            data = pickle.dumps(chunk, protocol=pickle.HIGHEST_PROTOCOL)
            size += len(data)
            if size <= IN_MEMORY:
                self._chunks.append(data)
                continue
            if self._file is None:
                folder = scratch_folder(self._home)
                make_scratch(folder)
                self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - closed by `items` and `close`
            self._file.write(data)
            self._in_file += 1

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def items(self) -> Iterator[Any]:
        try:
            for data in self._chunks:
                yield from pickle.loads(data)  # noqa: S301 - written by `fill`
            if self._file is not None:
                self._file.seek(0)
                for _ in range(self._in_file):
                    yield from pickle.load(self._file)  # noqa: S301 - written by `fill`
        finally:
            self.close()


def lock_name(table: Table) -> str:
    """The lock that statements hold while they write rows of a tiered table elsewhere, and those that move its rows."""
    return f"tiers-{table.table_id}"
