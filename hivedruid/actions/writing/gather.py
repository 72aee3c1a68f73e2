"""Read the operations that SHOW JOBS lists, or that matter to a statement, and where it can write segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.store import Catalog
from hivedruid.engine.capabilities import SegmentPublishing, SegmentRoot
from hivedruid.engine.kinds import require, session_kind
from hivedruid.errors import ConnectError, DruidError
from hivedruid.filesystems import Access
from hivedruid.operations.operation import KnownOperation, Operation
from hivedruid.operations.owner import is_running, last_alive
from hivedruid.operations.store import Operations
from hivedruid.setting_types import seconds

if TYPE_CHECKING:
    from hivedruid.actions.facts import Facts
    from hivedruid.catalog.table import Table
    from hivedruid.parser.statements import Statement


def gather_jobs(
    catalog: Catalog, home: Path, settings: Mapping[str, str], *, every: bool
) -> tuple[KnownOperation[Operation], ...]:
    """Newest first: `every` job, or the unfinished ones and the other jobs of their statements."""
    store = Operations(catalog)
    jobs = store.all() if every else store.of_unfinished_statements()
    latest: dict[str, float] = {}
    for job in jobs:
        changed = datetime.fromisoformat(job.changed).timestamp()
        latest[job.statement_id] = max(changed, latest.get(job.statement_id, changed))
    unfinished = {job.statement_id for job in jobs if not job.has_ended}
    running = {statement for statement in unfinished if is_running(home, catalog, statement)}
    window = seconds(settings["hivedruid.job.repeat.within"])
    now = datetime.now(UTC).timestamp()
    recent = {one for one in unfinished if now - max(latest[one], last_alive(home, catalog, one)) <= window}
    return tuple(
        KnownOperation(job, is_running=job.statement_id in running, is_recent=job.statement_id in recent)
        for job in jobs
    )


def gather_segment_root(statement: Statement, tables: Iterable[Table], facts: Facts) -> SegmentRoot | None:
    """Where the statement can write segments; None if it writes none, or if the settings or the engine exclude it."""
    if "segment root" not in statement.needs or facts.settings.get("hivedruid.druid.write") == "native":
        return None
    if not session_kind(facts.settings).has(SegmentPublishing) or not _writes_to_druid(statement, tables):
        return None
    try:
        folder = facts.settings["hivedruid.druid.deep.storage"]
        return require(facts.druid(), SegmentPublishing).segment_root(folder, Access.of(facts.settings))
    except (ConnectError, DruidError) as error:
        return SegmentRoot("", error.message)


def _writes_to_druid(statement: Statement, tables: Iterable[Table]) -> bool:
    from hivedruid.parser.statements.ddl import CreateTable

    if isinstance(statement, CreateTable):
        return statement.query is not None and "DruidStorageHandler" in (statement.storage_handler or "")
    return any(table.has_data_source for table in tables)
