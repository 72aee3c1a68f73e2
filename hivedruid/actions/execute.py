"""Run actions: the only door to effects. It decides nothing; what is done is what the actions say."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.actions.model import Action, AnswerRows, IngestDruid, RunDruidQuery, RunSparkJob, WriteTable
from hivedruid.actions.reduce import reduced
from hivedruid.catalog.store import Catalog
from hivedruid.errors import ExecutionError, ResourceError
from hivedruid.plan.physical import DruidInput, DruidRead, SparkJob
from hivedruid.results import Result, begun

if TYPE_CHECKING:
    from hivedruid.actions import changes as c
    from hivedruid.druid.engine import DruidEngine
    from hivedruid.spark.jobs import SparkRunner


@dataclass
class Services:
    """What actions act on. `druid` and `spark` are only called where they are needed; the callbacks change the session.

    `confirm` asks a person whether what it is told may be done.
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
    confirm: Callable[[str], bool]


Instead = Callable[[ResourceError], Sequence[Action]]
"""The actions of the same statement, in the same order, that ask less of Druid."""


def execute(actions: Sequence[Action], services: Services, query_id: str, instead: Instead) -> Result:
    """Run the actions in order; the answer is that of the one that has one.

    The native queries carry `query_id` and the session's query context. From an action that Druid refuses for lack of resources on, those of `instead`
    are run in its place: a refusal comes before the first row, and before anything is written.
    """
    result = Result()
    actions = _with_context(_with_ids(actions), query_id, services.query_context())
    refusals = 0
    done = 0
    while done < len(actions):
        try:
            answer, taken = _execute_next(actions[done:], services)
        except ResourceError as refused:
            refusals += 1
            if refusals > 1:
                raise
            actions = _with_context(_with_ids(instead(refused)), f"{query_id}-scans", services.query_context())
            continue
        result = answer or result
        done += taken
    return result


def _execute_next(actions: Sequence[Action], services: Services) -> tuple[Result | None, int]:
    """Run the first action, or the first two where they become visible together; the answer, and how many ran."""
    if _makes_druid_table(actions):
        return _create_druid_table_as(actions, services), 2
    return _EXECUTORS[type(actions[0]).__name__](actions[0], services), 1


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


def _with_ids(actions: Sequence[Action]) -> list[Action]:
    """CREATE TABLE … AS writes before the table is in the catalog: both actions get the same new `table_id`."""
    from uuid import uuid4

    found: list[Action] = []
    for action in actions:
        if isinstance(action, WriteTable) and not action.table.table_id:
            found.append(replace(action, table=replace(action.table, table_id=uuid4().hex)))
        elif type(action).__name__ == "AddTable" and found and isinstance(found[-1], WriteTable):
            found.append(replace(action, table=found[-1].table))  # type: ignore[call-arg]
        else:
            found.append(action)
    return found


def _makes_druid_table(actions: Sequence[Action]) -> bool:
    return len(actions) == 2 and isinstance(actions[0], IngestDruid) and type(actions[1]).__name__ == "AddTable"


def _create_druid_table_as(actions: Sequence[Action], services: Services) -> Result:
    """The rows and the table become visible in one commit: a crash leaves neither."""
    ingest, add = actions
    assert isinstance(ingest, IngestDruid)
    with staged(ingest, services) as (spec, rows):
        if rows == 0:
            services.catalog.add(add.table)  # type: ignore[attr-defined]
            return Result()
        services.druid().ingest(spec, also=lambda: services.catalog.add(add.table))  # type: ignore[attr-defined]
    return Result()


class staged:  # noqa: N801 - used as a function
    """The job's rows in a fresh staging folder, and the spec that names it; the folder goes in any case."""

    def __init__(self, action: IngestDruid, services: Services) -> None:
        from hivedruid.scratch import fresh_folder

        self.action = action
        self.services = services
        self.directory = fresh_folder(services.home / "staging")

    def __enter__(self) -> tuple[dict[str, Any], int]:
        try:
            self.directory.mkdir(parents=True)
            rows = self.services.spark().stage(
                reduced(self.action.job, self.services), self.action.table, self.directory
            )
        except OSError as error:
            self._clean()
            raise ExecutionError(
                f"cannot write to {self.directory.parent}: {error.strerror}",
                hint="free space, or choose another --home",
            ) from error
        except BaseException:
            self._clean()
            raise
        return _spec_with_base_dir(self.action.spec, self.directory), rows

    def __exit__(self, *_: object) -> None:
        self._clean()

    def _clean(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)


def _spec_with_base_dir(spec: Any, directory: Path) -> dict[str, Any]:
    task = dict(spec)
    task["spec"] = {**task["spec"], "ioConfig": {**task["spec"]["ioConfig"]}}
    io = task["spec"]["ioConfig"]
    io["inputSource"] = {**io["inputSource"], "baseDir": str(directory)}
    return task


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
    with staged(action, services) as (spec, rows):
        if rows or action.overwrite:
            services.druid().ingest(spec)


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
    if action.delete_data and in_druid:
        services.druid().drop(action.table.data_source, purge=action.purge)
    services.catalog.remove(action.table)
    if action.delete_data and not in_druid:
        _delete_data(action.table, services)


def _delete_data(table: Any, services: Services) -> None:
    if table.kind == "druid":
        services.druid().drop(table.data_source)
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
    _delete_data(action.table, services)


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


# by name, so that a query does not load the actions of DDL
_EXECUTORS: dict[str, Callable[[Any, Services], Result | None]] = {
    "RunDruidQuery": _run_druid_query,
    "RunSparkJob": _run_spark_job,
    "AnswerRows": _answer_rows,
    "IngestDruid": _ingest_druid,
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
    "Watch": _watch,
    "ShutDownTask": _watch,
}
