"""Writes whose rows are few enough to be evaluated in this process, without Spark: whether, and how."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.model import Action
from hivedruid.actions.writing.model import IngestDruid, WriteTable
from hivedruid.engine.kinds import session_kind
from hivedruid.filesystems import local_path
from hivedruid.plan.segment_files import READ

if TYPE_CHECKING:
    from hivedruid.actions.services import Services
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.evaluation.local import LocalInput
    from hivedruid.evaluation.relations import Rows
    from hivedruid.jobs.staged import StagedRows
    from hivedruid.plan.split import QueryPlan

SETTING = "hivedruid.write.local.rows"
STAGING_ROOT = "hivedruid.staging.root"


def locally(action: Action, plan: QueryPlan, snapshot: Snapshot) -> Action:
    """The action with the plan for local evaluation of its rows, if they are few and it can write them. Pure."""
    from hivedruid.evaluation.exactness import NotLocal
    from hivedruid.evaluation.local import local_plan

    if snapshot.scans_only or not isinstance(action, IngestDruid | WriteTable) or not _can_write(action, snapshot):
        return action
    try:
        local = local_plan(plan, action.job, SETTING, snapshot.small_files)
    except NotLocal:
        return action
    if any(_may_be_large(each, plan, snapshot) for each in local.inputs):
        return action
    rows = plan.context.rows(plan.node)
    return action if rows is not None and rows > local.most else replace(action, local=local)


def _may_be_large(item: LocalInput, plan: QueryPlan, snapshot: Snapshot) -> bool:
    """Whether an input consists of rows stored in a cluster of which the number is not known, or which are to be read
    from segment files. Spark reads many rows from these, and one query that returns too many would be sent in vain."""
    if item.read.query["queryType"] != "scan" or session_kind(snapshot.settings).is_in_home:
        return False
    return snapshot.settings.get(READ) == "segments" or plan.context.rows(item.node) is None


def _can_write(action: IngestDruid | WriteTable, snapshot: Snapshot) -> bool:
    if isinstance(action, IngestDruid):
        return _can_stage(action, snapshot)
    from hivedruid.actions.writing.local_tables import is_suitable

    return is_suitable(action, snapshot.settings)


def _can_stage(action: IngestDruid, snapshot: Snapshot) -> bool:
    """Whether a file in a folder of this machine is all that the write needs: Spark builds segments, divides the rows
    of tiered tables, and has access to other storage."""
    root = snapshot.settings.get(STAGING_ROOT, "")
    return action.segments is None and not action.table.is_tiered and (not root or local_path(root) is not None)


def staged(action: IngestDruid, folder: str, services: Services, *, skip_timeless: bool) -> StagedRows | None:
    """The rows of a job, evaluated and staged in this process; None if only Spark can compute them."""
    path = local_path(folder)
    rows = _few_rows(action, services) if path is not None else None
    if rows is None or path is None:
        return None
    from hivedruid.actions.writing import local_staging
    from hivedruid.evaluation.exactness import Unsure

    types = [column.type for column in action.job.columns]
    shared = services.setting("hivedruid.staging.shared") == "true"
    try:
        return local_staging.stage(
            rows, action.table, types, action.spec, path, skip_timeless=skip_timeless, shared=shared
        )
    except Unsure:
        return None


def written(action: WriteTable, services: Services) -> bool:
    """Whether the rows were evaluated and written in this process; otherwise nothing was."""
    rows = _few_rows(action, services)
    if rows is None:
        return False
    from hivedruid.actions.writing import local_tables

    return local_tables.write(rows, action.table, services)


def _few_rows(action: IngestDruid | WriteTable, services: Services) -> Rows | None:
    """The rows of a write, evaluated in this process; None if only Spark can compute them, or if there are too many."""
    if action.local is None:
        return None
    from hivedruid.actions.select.run import local_rows

    rows = local_rows(action.local, services)
    return None if rows is None or len(rows) > action.local.most else rows
