"""Run actions: the only door to effects. It decides nothing; what is done is what the actions say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.actions.model import (
    Action,
    AnswerRows,
    IngestDruid,
    RunDruidQuery,
    RunSparkJob,
    WriteTable,
    ingest_of,
)
from hivedruid.actions.reduce import reduced
from hivedruid.catalog.store import Catalog
from hivedruid.errors import ResourceError
from hivedruid.plan.physical import DruidInput, DruidRead, SparkJob
from hivedruid.results import Result, begun

if TYPE_CHECKING:
    from hivedruid.actions import changes as c
    from hivedruid.actions.jobs import Origin
    from hivedruid.druid.engine import DruidEngine
    from hivedruid.jobs.job import Job
    from hivedruid.spark.jobs import SparkRunner


@dataclass
class Services:
    """What actions act on. `druid` and `spark` are only called where they are needed; the callbacks change the session.

    `note` is for what a person should know, `tell` for what was done; `confirm` asks whether what it is told may be done.
    """

    home: Path
    catalog: Catalog
    druid: Callable[[], DruidEngine]
    spark: Callable[[], SparkRunner]
    use_database: Callable[[str], None]
    change_setting: Callable[[str, str], None]
    reset_setting: Callable[[str | None], None]
    zone: Callable[[], str]
    query_context: Callable[[], Mapping[str, Any]]
    setting: Callable[[str], str]
    note: Callable[[str], None]
    tell: Callable[[str], None]
    confirm: Callable[[str], bool]


Instead = Callable[[ResourceError], Sequence[Action]]
"""The actions of the same statement, in the same order, that ask less of Druid."""


def execute(
    actions: Sequence[Action], services: Services, query_id: str, instead: Instead, origin: Origin | None = None
) -> Result:
    """Run the actions in order; the answer is that of the one that has one.

    The native queries carry `query_id` and the session's query context. From an action that Druid refuses for lack of resources on, those of `instead`
    are run in its place: a refusal comes before the first row, and before anything is written. `origin` is the statement that jobs
    come from, where there are any.
    """
    if origin is None:
        return _execute_all(actions, services, query_id, instead, [])
    from hivedruid.actions.run_jobs import statement_jobs

    with statement_jobs(actions, services, origin, query_id) as jobs:
        return _execute_all(actions, services, query_id, instead, jobs)


def _execute_all(
    actions: Sequence[Action], services: Services, query_id: str, instead: Instead, jobs: Sequence[Job]
) -> Result:
    result = Result()
    actions = _with_context(_with_ids(actions, jobs), query_id, services.query_context())
    refusals = 0
    done = 0
    while done < len(actions):
        try:
            if isinstance(actions[done], IngestDruid | WriteTable):
                _stage_all(actions[done:], services)
            answer = _EXECUTORS[type(actions[done]).__name__](actions[done], services)
        except ResourceError as refused:
            refusals += 1
            if refusals > 1:
                raise
            actions = _with_context(_with_ids(instead(refused), jobs), f"{query_id}-scans", services.query_context())
            continue
        result = answer or result
        done += 1
    return result


def _stage_all(actions: Sequence[Action], services: Services) -> None:
    """The rows of all targets are computed before the first of them changes what the others read."""
    ingests = [action for action in actions if isinstance(action, IngestDruid)]
    if ingests:
        from hivedruid.actions import run_jobs

        for action in ingests:
            run_jobs.stage(action, services)


def _with_context(actions: Sequence[Action], query_id: str, given: Mapping[str, Any]) -> list[Action]:
    """Every native query knows its statement: the id of a single one, numbered where there are more."""
    numbers = count(1)

    def named(read: DruidRead, name: str) -> DruidRead:
        context = {**given, **read.query.get("context", {}), "queryId": name}
        return replace(read, query={**read.query, "context": context})

    def named_input(item: DruidInput) -> DruidInput:
        reducers = [
            replace(r, keys=named(r.keys, f"{query_id}-{next(numbers)}")) if isinstance(r.keys, DruidRead) else r
            for r in item.reducers
        ]
        return replace(item, read=named(item.read, f"{query_id}-{next(numbers)}"), reducers=tuple(reducers))

    def named_job(job: SparkJob) -> SparkJob:
        inputs = [named_input(item) if isinstance(item, DruidInput) else item for item in job.inputs]
        return replace(job, inputs=tuple(inputs))

    found: list[Action] = []
    for action in actions:
        if isinstance(action, RunDruidQuery):
            found.append(replace(action, read=named(action.read, query_id)))
        elif isinstance(action, RunSparkJob | IngestDruid | WriteTable):
            found.append(replace(action, job=named_job(action.job)))
        elif type(action).__name__ == "BuildView":
            write: IngestDruid | WriteTable = action.write  # type: ignore[attr-defined]
            found.append(replace(action, write=replace(write, job=named_job(write.job))))  # type: ignore[call-arg]
        else:
            found.append(action)
    return found


def _with_ids(actions: Sequence[Action], jobs: Sequence[Job]) -> list[Action]:
    """What is written to Druid knows its job, and the table of CREATE TABLE … AS comes with it.

    A Hive-side table is written before it is in the catalog: both actions get the same new `table_id`.
    """
    from uuid import uuid4

    left = list(jobs)
    found: list[Action] = []
    for action in actions:
        ingest = ingest_of(action)
        if ingest is not None:
            ingest = replace(ingest, job_id=left.pop(0).id)
            found.append(ingest if isinstance(action, IngestDruid) else replace(action, write=ingest))  # type: ignore[call-arg]
        elif isinstance(action, WriteTable) and not action.table.table_id:
            found.append(replace(action, table=replace(action.table, table_id=uuid4().hex)))
        elif type(action).__name__ == "AddTable" and found and isinstance(found[-1], WriteTable):
            found.append(replace(action, table=found[-1].table))  # type: ignore[call-arg]
        elif not (type(action).__name__ == "AddTable" and found and isinstance(found[-1], IngestDruid)):
            found.append(action)
    return found


def _run_druid_query(action: RunDruidQuery, services: Services) -> Result:
    from hivedruid.plan.decode import decode_rows

    rows = begun(services.druid().rows(action.read))
    return Result(action.columns, decode_rows(rows, action.read.fields, action.zone))


def _run_spark_job(action: RunSparkJob, services: Services) -> Result:
    return Result(
        action.job.columns, _in_zone(begun(services.spark().rows(reduced(action.job, services))), services.zone())
    )


def _in_zone(rows: Iterator[tuple[Any, ...]], zone: str) -> Iterator[tuple[Any, ...]]:
    """Zoned timestamps arrive in UTC and are shown in the session's zone."""
    from datetime import datetime

    from hivedruid.plan.literals import zone_of

    session = zone_of(zone)

    def shown(value: Any) -> Any:
        return value.astimezone(session) if isinstance(value, datetime) and value.tzinfo is not None else value

    for row in rows:
        yield tuple(shown(value) for value in row)


def _answer_rows(action: AnswerRows, _services: Services) -> Result:
    return Result(action.columns, iter(action.rows))


def _ingest_druid(action: IngestDruid, services: Services) -> None:
    from hivedruid.actions import run_jobs

    run_jobs.carry_on(action, services)


def _job(action: Any, services: Services) -> None:
    from hivedruid.actions import run_jobs

    run_jobs.EXECUTORS[type(action)](action, services)


def _write_table(action: WriteTable, services: Services) -> None:
    services.spark().write(reduced(action.job, services), action.table, action.overwrite)


def _add_table(action: c.AddTable, services: Services) -> None:
    if action.replace:
        with services.catalog.transaction():
            existing = services.catalog.find(action.table.database, action.table.name)
            if existing is not None:
                services.catalog.remove(existing)
            services.catalog.add(action.table)
    else:
        services.catalog.add(action.table)


def _remove_table(action: c.RemoveTable, services: Services) -> None:
    """The catalog first: what a crash leaves behind is data without a name, never a name without data.

    Druid comes before the catalog: where it cannot be reached nothing is done, and DROP can be said again.
    """
    in_druid = action.table.kind == "druid"
    if action.ingestion is not None:
        _change_ingestion(action.ingestion, services)
    if action.compaction is not None:
        _compaction(action.compaction, services)
    if action.delete_data and in_druid:
        services.druid().drop(action.table.data_source, purge=action.purge)
    services.catalog.remove(action.table)
    if action.delete_data and not in_druid:
        _delete_data(action.table, services)


def _delete_data(table: Any, services: Services, *, purge: bool = False) -> None:
    if table.kind == "druid":
        services.druid().drop(table.data_source, purge=purge)
    elif table.kind in ("iceberg", "files"):
        services.spark().drop(table)


def _change_ingestion(action: c.ChangeIngestion, services: Services) -> None:
    from hivedruid.actions.run_ingestion import change_ingestion

    change_ingestion(action, services)


def _forget_specs(action: c.ForgetSpecs, services: Services) -> None:
    from hivedruid.actions.run_ingestion import forget_specs

    forget_specs(action, services)


def _replace_table(action: c.ReplaceTable, services: Services) -> None:
    services.catalog.replace(action.after)


def _empty_table(action: c.EmptyTable, services: Services) -> None:
    _delete_data(action.table, services, purge=action.purge)


def _add_database(action: c.AddDatabase, services: Services) -> None:
    services.catalog.add_database(action.name, action.comment)


def _remove_database(action: c.RemoveDatabase, services: Services) -> None:
    for removal in action.tables:
        _remove_table(removal, services)
    services.catalog.remove_database(action.name)


def _use_database(action: c.UseDatabaseAction, services: Services) -> None:
    services.use_database(action.name)


def _change_setting(action: c.ChangeSetting, services: Services) -> None:
    services.change_setting(action.key, action.value)


def _reset_setting(action: c.ResetSetting, services: Services) -> None:
    services.reset_setting(action.key)


def _check_ingestion(action: Any, services: Services) -> None:
    from hivedruid.actions.check_ingestion import run

    run(action, services)


def _build_view(action: Any, services: Services) -> None:
    from hivedruid.actions.run_materialized import build_view

    build_view(action, services)


def _show(action: c.Show, _services: Services) -> Result:
    return Result(action.columns, iter(action.rows), action.is_text)


def _compute_statistics(action: Any, services: Services) -> None:
    from hivedruid.actions import analyze

    analyze.run(action, services)


def _watch(action: Action, services: Services) -> Result | None:
    from hivedruid.actions import watch

    return watch.execute(action, services)


def _compaction(action: Action, services: Services) -> Result | None:
    from hivedruid.actions import run_compaction

    return run_compaction.execute(action, services)


# by name, so that a query does not load the actions of DDL
_EXECUTORS: dict[str, Callable[[Any, Services], Result | None]] = {
    "RunDruidQuery": _run_druid_query,
    "RunSparkJob": _run_spark_job,
    "AnswerRows": _answer_rows,
    "IngestDruid": _ingest_druid,
    "ContinueJob": _job,
    "CancelJob": _job,
    "LeaveTarget": _job,
    "WriteTable": _write_table,
    "CheckIngestion": _check_ingestion,
    "AddTable": _add_table,
    "RemoveTable": _remove_table,
    "ReplaceTable": _replace_table,
    "EmptyTable": _empty_table,
    "AddDatabase": _add_database,
    "RemoveDatabase": _remove_database,
    "UseDatabaseAction": _use_database,
    "ChangeSetting": _change_setting,
    "ResetSetting": _reset_setting,
    "Show": _show,
    "BuildView": _build_view,
    "ComputeStatistics": _compute_statistics,
    "ChangeIngestion": _change_ingestion,
    "ForgetSpecs": _forget_specs,
    "CompactSegments": _compaction,
    "ConfigureCompaction": _compaction,
    "ListCompactions": _compaction,
    "ListSegments": _compaction,
    "Watch": _watch,
    "ShutDownTask": _watch,
}
