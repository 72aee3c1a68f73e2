"""The segments of the data sources that a statement scans on Spark: facts that are read after its first build, since
most statements need none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from hivedruid.actions.model import Action
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import StatementPlan
from hivedruid.catalog.statistics import TableStatistics
from hivedruid.engine.capabilities import SegmentStorage
from hivedruid.engine.engine import DruidEngine
from hivedruid.engine.kinds import find, require
from hivedruid.filesystems import Access, local_path, open_location
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.segment_files import FEW, READ, SegmentFiles
from hivedruid.plan.segment_queries import ServedSegments, least_rows
from hivedruid.plan.segment_scans import ScannedSegments
from hivedruid.setting_types import other_machines


def needed_segments(built: StatementPlan, snapshot: Snapshot, druid: Callable[[], DruidEngine]) -> ScannedSegments:
    """The segments of the data sources that Spark may read in place of queries; empty if there are none."""
    sources = {source for action in built.actions for source in _scanned(action)}
    if not sources or snapshot.unreachable is not None:
        return {}
    engine = druid()
    if find(engine, SegmentStorage) is None:
        return {}
    names = sorted(sources)
    found = engine.each([partial(_needed, source, snapshot.settings) for source in names])
    return {name: each for name, each in zip(names, found, strict=True) if each is not None}


def _needed(source: str, settings: Mapping[str, str], engine: DruidEngine) -> SegmentFiles | ServedSegments | None:
    """The segments of a data source, None if queries are to be used."""
    storage = require(engine, SegmentStorage)
    mode = settings.get(READ, "auto")
    statistics = engine.statistics(source)
    rows = (statistics.rows or 0) if statistics is not None else 0
    if mode == "segments" or (mode == "auto" and rows >= FEW):
        files = _reachable(storage.segment_files(source), settings, mode)
        if not files.problem:
            return files
    return _sendable(storage, source, statistics, settings) if rows >= least_rows(settings) else None


def _scanned(action: Action) -> set[str]:
    """The data sources whose stored rows a Spark job of the action reads."""
    inputs = [item for job in action.jobs for item in job.inputs if isinstance(item, DruidInput)]
    return {source for item in inputs if (source := item.read.scanned) is not None}


def _reachable(files: SegmentFiles, settings: Mapping[str, str], mode: str) -> SegmentFiles:
    """The files, if the processes that read them have access: by `auto`, Spark on this machine with the file system of
    deep storage; otherwise every host of Spark is assumed to have it."""
    if files.problem or mode == "segments" or not files.files:
        return files
    if elsewhere := other_machines(settings):
        problem = f"Spark runs on other machines ({elsewhere}), which may not have access to deep storage"
        return replace(files, problem=problem)
    place = files.files[0].location
    try:
        is_there = open_location(place, Access.of(settings)).exists()
    except OSError as error:
        return replace(files, problem=f"cannot access {place}: {error}")
    if not is_there:
        return replace(files, problem=f"{place} does not exist{' on this machine' if local_path(place) else ''}")
    return files


def _sendable(
    storage: SegmentStorage, source: str, statistics: TableStatistics | None, settings: Mapping[str, str]
) -> ServedSegments:
    """The segments for queries of Spark. Secrets and certificates do not leave this machine."""
    given = [key for key, value in settings.items() if value and key.startswith(("druid.auth.", "druid.tls."))]
    if given and (elsewhere := other_machines(settings)):
        problem = f"Spark runs on other machines ({elsewhere}), to which {', '.join(sorted(given))} is not sent"
        return ServedSegments(statistics=statistics, problem=problem)
    return storage.served_segments(source)
