"""Read tiered tables: what Druid and the catalog say before a query, and whether it is still so after it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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
from hivedruid.druid.interval_sets import IntervalSet, intersection
from hivedruid.engine.archiving import Holding
from hivedruid.engine.capabilities import Archiving
from hivedruid.engine.engine import DruidEngine
from hivedruid.engine.kinds import require
from hivedruid.errors import ExecutionError, TiersChangedError
from hivedruid.operations.archives import ArchiveJob
from hivedruid.operations.store import Operations
from hivedruid.plan.tiers import TierFacts
from hivedruid.results import Result, through

if TYPE_CHECKING:
    from hivedruid.actions.select.model import TieredTable
    from hivedruid.actions.services import Services
    from hivedruid.actions.statement_plan import StatementPlan
    from hivedruid.plan.facts import PlannerFacts

PATIENCE = 30.0
"""Seconds to wait until Druid shows one side of a switch that it is making."""
POLL = 0.25
"""Seconds between two looks."""
IN_MEMORY = 64 * 1024 * 1024
"""Bytes of a result that are kept in memory until it is checked; more are in a temporary file."""
CHUNK = 1000
"""Rows that are stored together."""
CHANGING = ("writing", "ddl", "materialized")
"""The families of statements that write rows of tables elsewhere, or change tables."""


def gather_tiers(tables: Mapping[tuple[str, str], Table], catalog: Catalog) -> dict[tuple[str, str], TierFacts]:
    """What the catalog says about the tiered tables, before Druid is queried."""
    return {key: TierFacts(Batches(catalog).of(t.table_id)) for key, t in tables.items() if t.is_tiered}


def asked_of_druid(
    built: StatementPlan, facts: PlannerFacts, druid: Callable[[], DruidEngine], catalog: Catalog
) -> Mapping[tuple[str, str], TierFacts] | None:
    """The facts about the tiered tables whose queries read times of archived rows, completed by what Druid shows; None
    if there are none."""
    found: dict[tuple[str, str], TierFacts] = {}
    for plan in built.plans:
        for key, spans in plan.tier_spans.items():
            known = facts.tiers[key]
            if key not in found and not known.asked and intersection(spans, known.times):
                found[key] = ask_druid(facts.tables[key], known, spans, druid(), catalog)
                if any(action.writes is not None for action in built.actions):
                    _refuse_undecided(facts.tables[key], known)
    return {**facts.tiers, **found} if found else None


def _refuse_undecided(table: Table, known: TierFacts) -> None:
    """Refuse to write rows elsewhere that an interrupted archive job may be moving: they are not read again after the
    write."""
    for batch in known.batches:
        if batch.state in ("staged", "switched"):
            raise ExecutionError(
                f"job {batch.id}, which archives rows of {table.full_name}, was interrupted",
                hint=f"run RESUME JOB '{batch.id}', and rerun the statement",
            )


def ask_druid(table: Table, known: TierFacts, spans: IntervalSet, engine: DruidEngine, catalog: Catalog) -> TierFacts:
    """The facts as Druid shows them; waits while its queries still read archived rows, at most PATIENCE seconds. Raises
    TiersChangedError."""
    archiving = require(engine, Archiving)
    deadline = monotonic() + PATIENCE
    while True:
        removed = _removed(touched(known.batches, spans), archiving, catalog)
        segments = archiving.visible(table.data_source, spans)
        try:
            return decided(table.full_name, known.batches, removed, segments, spans)
        except TiersChangedError:
            if monotonic() > deadline:
                raise
        sleep(POLL)


def _removed(batches: Sequence[Batch], archiving: Archiving, catalog: Catalog) -> set[str]:
    """The staged batches whose rows Druid no longer has."""
    found: set[str] = set()
    for batch in batches:
        if batch.state == "staged":
            job = Operations(catalog).find(batch.id)
            if isinstance(job, ArchiveJob) and archiving.is_removed(Holding.of_notes(job.holding)):
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
    now = TierFacts(Batches(services.catalog).of(table.table_id))
    if now.batches != before.batches or any(not batch.is_decided for batch in now.batches):
        now = ask_druid(table, now, before.asked, services.druid(), services.catalog) if now.batches else now
    else:
        now = before
    if not is_same(before, now):
        raise TiersChangedError(
            f"rows of {table.full_name} were archived while the query ran", hint="rerun the statement"
        )


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
                self._file = TemporaryFile(dir=self._home)  # noqa: SIM115 - closed by `items` and `close`
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


def lock_path(home: Path, table: Table) -> Path:
    """The file that statements lock while they write rows of a tiered table elsewhere, and archive jobs while they
    move rows."""
    return home / "locks" / f"tiers-{table.table_id}"


@contextmanager
def unmoved(home: Path, snapshot: PlannerFacts) -> Iterator[None]:
    """No archive job moves rows of the tiered tables of a statement inside the context."""
    from hivedruid import locks

    with ExitStack() as stack:
        for key in sorted(snapshot.tiers):
            stack.enter_context(locks.shared(lock_path(home, snapshot.tables[key])))
        yield
