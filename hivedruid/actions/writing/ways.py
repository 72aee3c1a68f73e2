"""Who builds the segments of a write to Druid: Spark, or a task of Druid. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.writing.model import IngestDruid, SegmentWriting
from hivedruid.druid.ingestion import CONCURRENT_LOCKS
from hivedruid.druid.segment_plan import segment_plan
from hivedruid.errors import Span, UnsupportedError
from hivedruid.filesystems import local_path
from hivedruid.plan.nodes import Node, TableScan
from hivedruid.plan.statistics import estimate_rows
from hivedruid.setting_types import other_machines

if TYPE_CHECKING:
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.actions.statement_plan import Note
    from hivedruid.catalog.table import Table
    from hivedruid.catalog.types import HiveType
    from hivedruid.plan.file_columns import FileColumns

SETTING = "hivedruid.druid.write"
FEW_ROWS = 100_000
FEW_BYTES = 8 << 20
"""The estimated rows, or bytes of the tables that are read, below which a task of Druid is about as fast."""


def with_way(
    action: IngestDruid,
    node: Node,
    columns: FileColumns | None,
    types: Mapping[str, HiveType],
    snapshot: Snapshot,
    note: Note,
    span: Span | None,
) -> IngestDruid:
    """The action with the way that the setting requires, or that suits it best. `node` computes the rows, which may be
    `columns` of files; `types` are those of the staged fields. Raises UnsupportedError if segments are required and
    cannot be built."""
    setting, root = snapshot.settings.get(SETTING, "auto"), snapshot.segment_root
    if root is None:
        return action
    is_required = setting == "segments"
    reason = root.problem or _concurrent(action) or ("" if is_required else _other_machines(snapshot.settings))
    because = f"{SETTING}=segments"
    if not is_required:
        size = _size(node, snapshot)
        if not size:
            return action
        because = size
    if not reason:
        try:
            plan = segment_plan(action.spec, types)
        except UnsupportedError as error:
            reason = error.message
        else:
            copied = None if other_machines(snapshot.settings) else columns
            return replace(action, segments=SegmentWriting(plan, root.folder, is_required, because, copied))
    if is_required:
        raise UnsupportedError(
            f"cannot build the segments of {action.table.full_name}: {reason}", span=span, hint=f"SET {SETTING}=auto"
        )
    if root.is_refused:
        note(f"a Druid task builds the segments of {action.table.full_name}: {reason}", span)
    return replace(action, native_because=reason)


def may_copy(table: Table, settings: Mapping[str, str]) -> bool:
    """Whether Spark's Python workers may write the files of a table: Parquet files on this machine."""
    is_here = local_path(table.location or "") is not None and not other_machines(settings)
    return is_here and table.has_parquet_files and not table.metastore


def _other_machines(settings: Mapping[str, str]) -> str:
    """Why Spark is not assumed to have access to deep storage; "" if it runs on this machine."""
    elsewhere = other_machines(settings)
    return f"Spark runs on other machines ({elsewhere}), which may not have access to deep storage" if elsewhere else ""


def _concurrent(action: IngestDruid) -> str:
    """Why only Druid's task replaces rows beside a supervisor: it passes the new version on to running tasks, whose
    unpublished rows would be hidden otherwise. "" if it replaces nothing, or there is no supervisor."""
    is_concurrent = bool((action.spec.get("context") or {}).get(CONCURRENT_LOCKS))
    return "rows are replaced while the table ingests" if is_concurrent and action.replaces != "nothing" else ""


def _size(node: Node, snapshot: Snapshot) -> str:
    """The estimated size of the rows, for EXPLAIN; "" if there are few."""
    rows = estimate_rows(node, snapshot.statistics, snapshot.zone)
    if rows is not None:
        return f"about {rows:,} rows" if rows >= FEW_ROWS else ""
    tables = {(each.table.database, each.table.name) for each in node.walk() if isinstance(each, TableScan)}
    known = [found.bytes if (found := snapshot.statistics.get(table)) is not None else None for table in tables]
    total = sum(size for size in known if size is not None)
    if not known or None in known:
        return "an unknown number of rows"
    return f"rows of tables with {total / 1e6:,.0f} MB" if total >= FEW_BYTES else ""
