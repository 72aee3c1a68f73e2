"""The segments of the data sources whose rows a statement reads on Spark, or returns: facts that are read after its
first build, since most statements need none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hivedruid.actions.model import Action
from hivedruid.actions.select.model import RunDruidQuery
from hivedruid.actions.snapshot import Snapshot
from hivedruid.actions.statement_plan import StatementPlan
from hivedruid.catalog.statistics import TableStatistics
from hivedruid.engine.capabilities import SegmentStorage
from hivedruid.engine.engine import DruidEngine
from hivedruid.engine.kinds import find, require
from hivedruid.filesystems import Access, local_path, open_location
from hivedruid.plan.nodes import DruidQuery, TableScan
from hivedruid.plan.physical import DruidInput
from hivedruid.plan.segment_files import FEW, READ, SegmentFiles
from hivedruid.plan.segment_queries import ServedSegments, least_rows
from hivedruid.plan.segment_scans import ScannedSegments, estimated_rows
from hivedruid.setting_types import other_machines

if TYPE_CHECKING:
    from hivedruid.plan.split import QueryPlan


def needed_segments(built: StatementPlan, snapshot: Snapshot, druid: Callable[[], DruidEngine]) -> ScannedSegments:
    """The segments of the data sources that may be read in place of queries; empty if there are none."""
    sources = {source for action in built.actions for source in _scanned(action)}
    result = _result_query(built)
    if not (sources or result) or snapshot.unreachable is not None:
        return {}
    engine = druid()
    if find(engine, SegmentStorage) is None:
        return {}
    if result is not None:
        files = _of_result(result, snapshot.settings, engine)
        return {} if files is None else {result[2].table.data_source: files}
    names = sorted(sources)
    found = engine.each([partial(_needed, source, snapshot.settings) for source in names])
    return {name: each for name, each in zip(names, found, strict=True) if each is not None}


def _result_query(built: StatementPlan) -> tuple[QueryPlan, DruidQuery, TableScan] | None:
    """The plan of a result that consists of stored rows of one data source, its query and its table."""
    if not built.actions or not isinstance(action := built.actions[-1], RunDruidQuery) or action.read.scanned is None:
        return None
    plan = built.plans[-1]
    query = plan.node
    if not isinstance(query, DruidQuery) or not isinstance(query.source, TableScan):
        return None
    return plan, query, query.source


def _of_result(
    result: tuple[QueryPlan, DruidQuery, TableScan], settings: Mapping[str, str], engine: DruidEngine
) -> SegmentFiles | None:
    """The files of the data source of a result, None if the query is to be sent."""
    plan, query, source = result
    storage = require(engine, SegmentStorage)
    mode = settings.get(READ, "auto")
    data_source = source.table.data_source
    statistics = engine.statistics(data_source) if mode == "auto" else None
    if mode == "query" or (mode == "auto" and estimated_rows(plan, query, source, statistics) < FEW):
        return None
    files = storage.segment_files(data_source)
    if mode == "auto":
        files = _existing(files, settings)
    return None if files.problem else files


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
    return _existing(files, settings)


def _existing(files: SegmentFiles, settings: Mapping[str, str]) -> SegmentFiles:
    """The files, if this process has access to them."""
    if files.problem or not files.files:
        return files
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
