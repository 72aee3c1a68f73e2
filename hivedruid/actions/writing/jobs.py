"""The actions for unfinished jobs of earlier processes that write to Druid. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.ddl.model import AddTable
from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.writing.model import ResumeLoad, RollBackLoad, SkipTarget
from hivedruid.catalog.table import Table
from hivedruid.engine.kinds import kind_of
from hivedruid.errors import ExecutionError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.loads import IN_DRUID, LoadJob, ViewJob, known_loads
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.script import SourceStatement
from hivedruid.secret_text import mask_text

if TYPE_CHECKING:
    from hivedruid.druid.ingestion import Replaces

_EXPLAIN = re.compile(r"\AEXPLAIN\s+((EXTENDED|FORMATTED|CBO)\s+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Origin:
    """The statement that jobs belong to; `text` is for display, `fingerprint` is equal for equivalent statements."""

    text: str
    fingerprint: str
    druid: str


def origin(source: SourceStatement, settings: Mapping[str, str], database: str) -> Origin:
    """Equal for equal text, current database, time zone and Druid; for EXPLAIN, that of the explained statement."""
    text = _EXPLAIN.sub("", source.text.strip())
    druid = settings["druid.url"]
    what = "\n".join((text, database, settings.get("hive.local.time.zone", ""), druid))
    return Origin(mask_text(text), hashlib.sha256(what.encode()).hexdigest(), druid)


def with_earlier(actions: tuple[Action, ...], found: Origin, snapshot: Snapshot) -> tuple[Action, ...]:
    """The actions of a statement that writes, with those for unfinished jobs before or instead of them.

    An interrupted statement that is rerun resumes all of its targets if a load was already submitted for one: no row is
    duplicated. Otherwise it is computed again. Jobs of other statements that write to the same data sources are
    completed first, or cancelled if they would create the table that this statement creates. Raises ExecutionError if
    another process is creating that table, or if a table would be emptied, dropped or replaced while another process
    replaces its rows.
    """
    ingests = [ingest for action in actions if (ingest := action.ingests) is not None]
    written = {ingest.table.data_source: ingest.replaces for ingest in ingests}
    removed = {table.data_source for table in _removed(actions)}
    created = {a.table.data_source for a in actions if isinstance(a, AddTable) and a.table.has_data_source}
    if not written and not removed:
        return actions
    earlier = _interrupted(found, snapshot.jobs) if written else {}
    own = {job.id for job in earlier.values()}
    before: list[Action] = []
    for known in reversed(known_loads(snapshot.jobs)):
        job = known.operation
        if job.has_ended or job.id in own or job.druid != found.druid:
            continue
        creates_the_same = job.definition != "" and job.data_source in created
        if known.is_running:
            _refuse_conflict(job, creates_the_same or job.data_source in removed, written.get(job.data_source))
        elif job.data_source in removed:
            before.append(RollBackLoad(job, with_table=True))
        elif job.data_source in written:
            before.append(ResumeLoad(job) if _is_resumable(job) and not creates_the_same else RollBackLoad(job))
    return (*before, *_replaced(actions, earlier))


def _refuse_conflict(job: LoadJob, is_exclusive: bool, replaces: Replaces | None) -> None:
    """Raise ExecutionError if a statement must not run concurrently with the job of another process.

    `is_exclusive`: it creates, empties or drops the job's table. Of two concurrent
    statements that replace all rows, the rows of both would remain.
    """
    if is_exclusive or (job.replaces == replaces == "all" and not kind_of(job.druid).is_transactional):
        raise ExecutionError(
            f"another session is writing to {job.full_name}",
            hint=f"wait for it to finish, or run CANCEL JOB '{job.id}'",
        )


def resumed_table(found: Origin, snapshot: Snapshot) -> ResumeLoad | None:
    """The job of an interrupted CREATE TABLE … AS to resume: its table or data source may already exist, which is no
    error.

    It is resumed however long ago it was interrupted: a table can be created only once.
    """
    job = _interrupted(found, snapshot.jobs, however_long_ago=True).get(0)
    return ResumeLoad(job, is_rerun=True) if job is not None and job.definition and _is_resumable(job) else None


def without_unfinished(snapshot: Snapshot) -> Snapshot:
    """The snapshot without the data sources that belong to an unfinished CREATE TABLE … AS: `with_earlier` cancels that
    job before another statement creates the table."""
    loads = (known.operation for known in known_loads(snapshot.jobs))
    jobs = (job for job in loads if job.definition and not job.has_ended)
    unfinished = {job.data_source for job in jobs if job.druid == snapshot.settings["druid.url"]}
    if unfinished.isdisjoint(snapshot.discovered):
        return snapshot
    found = {name: schema for name, schema in snapshot.discovered.items() if name not in unfinished}
    return replace(snapshot, discovered=found)


def _is_resumable(job: LoadJob) -> bool:
    return not isinstance(job, ViewJob) and job.state in (*IN_DRUID, "verified")


def _removed(actions: Iterable[Action]) -> Iterator[Table]:
    for action in actions:
        yield from (table for table in action.empties if table.has_data_source)


def _interrupted(
    found: Origin, jobs: Sequence[KnownOperation[Operation]], *, however_long_ago: bool = False
) -> dict[int, LoadJob]:
    """The jobs of the last run of the same statement, by target, if that run was interrupted, and not long ago."""
    loads = [known for known in known_loads(jobs) if not isinstance(known.operation, ViewJob)]
    same = [known for known in loads if known.operation.fingerprint == found.fingerprint]
    last = [known for known in same if known.operation.statement_id == same[0].operation.statement_id]
    if not last or any(known.is_running for known in last):
        return {}
    if not however_long_ago and not all(known.is_recent for known in last):
        return {}
    return (
        {}
        if all(known.operation.has_ended for known in last)
        else {known.operation.number: known.operation for known in last}
    )


def _replaced(actions: Sequence[Action], earlier: Mapping[int, LoadJob]) -> Iterator[Action]:
    """Replace actions by resumed jobs. All targets are staged before one is submitted; after that, no target is
    recomputed."""
    resumes = any(job.state in (*IN_DRUID, "verified", "cleaned") for job in earlier.values())
    number = 0
    for action in actions:
        if action.ingests is None:
            yield action
            continue
        job = earlier.get(number)
        number += 1
        if job is not None and resumes:
            yield SkipTarget(job) if job.has_ended else ResumeLoad(job, is_rerun=True)
            continue
        if job is not None and not job.has_ended:
            yield RollBackLoad(job)
        yield action
